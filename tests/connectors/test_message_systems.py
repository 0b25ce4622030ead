"""A system of messages is a scan and what is in its messages: streams and tables read it by the same two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from scurry.common import Configuration
from scurry.common.serialization import SimpleStringSchema
from scurry.common.typeinfo import TypeInformation, Types
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.connectors.messages import (
    Decoder,
    MessageScan,
    MessageSource,
    MessageSystem,
    RecordDecoder,
    ValueDecoder,
)
from scurry.connectors.sink import Sink
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.connectors.split_queues import SplitEnumerator
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import JobError
from scurry.sql.catalog.table_options import Options, TableOption
from scurry.sql.connectors import factories
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.messages.factory import FORMAT_OPTIONS, MessageFactory
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.types import BigIntType, DataType
from scurry.table import EnvironmentSettings, TableEnvironment


@dataclass(frozen=True)
class Letter:
    """A message of the post."""

    box: int
    number: int
    text: bytes | None


class Post(MessageSystem):
    metadata: ClassVar[Mapping[str, DataType]] = {"number": BigIntType().not_null()}

    def key(self, message: Letter) -> bytes | None:
        return str(message.box).encode()

    def value(self, message: Letter) -> bytes | None:
        return message.text

    def timestamp(self, message: Letter) -> int:
        return message.number * 1000

    def record(self, message: Letter) -> Any:
        return message.box, message.number, message.text

    def read(self, key: str, message: Letter) -> Any:
        return message.number

    def place(self, message: Letter) -> str:
        return f"box {message.box}, letter {message.number}"


#: The texts of the boxes.
BOXES: dict[int, list[bytes | None]] = {}


@dataclass(frozen=True)
class PostScan(MessageScan):
    system: ClassVar[MessageSystem] = Post()
    ends: ClassVar[bool] = True

    def channels(self, parallelism: int) -> int:
        return len(BOXES)

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        return SplitEnumerator(self.parts(), channels)

    def messages(self, part: int) -> Iterator[Sequence[Any]]:
        yield [Letter(part, number, text) for number, text in enumerate(BOXES[part])]

    def parts(self) -> list[Any]:
        return sorted(BOXES)


class PostFactory(MessageFactory):
    identifier = "post"
    system_name = "Post"
    system = PostScan.system

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        return FORMAT_OPTIONS

    def scan(self, options: Options) -> MessageScan:
        return PostScan()

    def topics(self, options: Options) -> tuple[str, ...]:
        return ("letters",)

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        raise AssertionError("nothing is written")


@pytest.fixture(autouse=True)
def boxes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(factories, "_registered", {"post": PostFactory})
    BOXES.update({1: [b"a", None, b"b"], 2: [b"c"]})
    yield
    BOXES.clear()


def read(decoder: Decoder, drop_malformed: bool = False) -> list[Any]:
    env = StreamExecutionEnvironment(Configuration.from_dict({"scurry.runner": "local"}))
    source = MessageSource(PostScan(), decoder, True, drop_malformed)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "letters")
    with stream.execute_and_collect() as found:
        return sorted(found)


def test_streams_read_values() -> None:
    assert read(ValueDecoder(SimpleStringSchema())) == ["a", "b", "c"]


class Complete:
    """Everything of a letter, but no empty ones."""

    def deserialize(self, record: Any) -> Any:
        return None if record[2] is None else record

    def get_produced_type(self) -> TypeInformation:
        return Types.PICKLED_BYTE_ARRAY()


def test_streams_read_complete_messages() -> None:
    assert read(RecordDecoder(Complete())) == [(1, 0, b"a"), (1, 2, b"b"), (2, 0, b"c")]


class Letters(SimpleStringSchema):
    def deserialize(self, message: bytes) -> str:
        assert message != b"b", "torn"
        return super().deserialize(message)


def test_malformed_messages_of_streams_are_dropped_or_fail_with_their_place() -> None:
    assert read(ValueDecoder(Letters()), drop_malformed=True) == ["a", "c"]
    with pytest.raises(JobError, match="box 1, letter 2: malformed record 'b'"):
        read(ValueDecoder(Letters()))


@pytest.mark.parametrize("settings", [EnvironmentSettings.in_batch_mode(), EnvironmentSettings.in_streaming_mode()])
def test_tables_read_values_keys_and_metadata(settings: EnvironmentSettings) -> None:
    env = TableEnvironment.create(settings)
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        "CREATE TABLE letters (box STRING, text STRING, `number` BIGINT METADATA) WITH ('connector' = 'post', "
        "'value.format' = 'raw', 'key.format' = 'raw', 'key.fields' = 'box', 'value.fields-include' = 'EXCEPT_KEY')"
    )
    with env.execute_sql("SELECT * FROM letters").collect() as rows:
        assert sorted(map(tuple, rows)) == [("1", "a", 0), ("1", "b", 2), ("2", "c", 0)]
