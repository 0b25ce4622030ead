"""A malformed message means the same in all queues: it fails with its place, is left out, or is set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from scurry.common.serialization import DeserializationSchema, SimpleStringSchema
from scurry.common.typeinfo import Types
from scurry.connectors.kafka.dynamic.topics import DynamicMessages
from scurry.connectors.kafka.records import KafkaMessages
from scurry.connectors.kinesis.records import KinesisMessages, KinesisRecord
from scurry.connectors.log.records import LogMessages
from scurry.connectors.messages import Decoder, MessageScan, MessageSource, MessageSystem, RecordDecoder, ValueDecoder
from scurry.connectors.mqtt.source import MqttMessage, MqttMessages
from scurry.connectors.nats.streams import NatsMessage, NatsMessages
from scurry.connectors.pubsub.source import PubSubMessage, PubSubMessages
from scurry.connectors.pulsar.messages import PulsarMessages
from scurry.connectors.rabbitmq.messages import RabbitMessages, RMQMessage
from scurry.connectors.redis.streams import RedisEntry, RedisMessages
from scurry.connectors.source import BatchLimits, ChunkSizer, Enumerator, MalformedRecords
from scurry.datastream.connectors.dynamic_kafka import DynamicKafkaSource
from scurry.datastream.connectors.kafka import KafkaSource
from scurry.datastream.connectors.kinesis import KinesisStreamsSource
from scurry.datastream.connectors.log import FileLogSource
from scurry.datastream.connectors.mqtt import MqttSource
from scurry.datastream.connectors.nats import NatsSource
from scurry.datastream.connectors.pubsub import PubSubSource
from scurry.datastream.connectors.pulsar import PulsarSource
from scurry.datastream.connectors.redis import RedisStreamSource
from scurry.datastream.formats.json import JsonRowDeserializationSchema
from scurry.errors import MalformedRecordError
from scurry.sql.catalog.table_options import Options
from scurry.sql.connectors.messages.rows import MessageRows
from scurry.sql.connectors.messages.source import MessageTableSource
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.message_format import bound_format
from scurry.sql.types import BigIntType


class KafkaMessage:
    """A message of librdkafka."""

    def __init__(self, value: bytes) -> None:
        self._value = value

    def key(self) -> bytes:
        return b"k"

    def value(self) -> bytes:
        return self._value

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return 7

    def timestamp(self) -> tuple[int, int]:
        return 1, 5

    def headers(self) -> None:
        return None


@dataclass(frozen=True)
class Queue:
    """A system of messages.

    Attributes:
        system: What is in its messages.
        message: Makes a message of a value.
        place: The place of each, as errors name it.
    """

    system: MessageSystem
    message: Callable[[bytes], Any]
    place: str


class PulsarClientMessage:
    """A message as Pulsar's client gives it: its methods return what it has."""

    def __init__(self, value: bytes) -> None:
        had = {"topic_name": "t", "partition_key": "k", "data": value, "has_null_value": False, "producer_name": "p"}
        had |= {"publish_timestamp": 4, "event_timestamp": 5, "properties": {}}
        had |= {"message_id": self, "serialize": b"\x07"}
        for name, each in had.items():
            setattr(self, name, partial(lambda found: found, each))


OF_KAFKA = "topic 't', partition 3, offset 7"
QUEUES = {
    "kafka": Queue(KafkaMessages(), KafkaMessage, OF_KAFKA),
    "dynamic-kafka": Queue(DynamicMessages(), lambda value: ("c", KafkaMessage(value)), f"cluster 'c', {OF_KAFKA}"),
    "log": Queue(LogMessages(), lambda value: ("t", 3, 7, 5, b"k", value, []), OF_KAFKA),
    "pulsar": Queue(
        PulsarMessages(),
        PulsarClientMessage,
        "topic 't', published at 4, id 07",
    ),
    "kinesis": Queue(
        KinesisMessages(),
        lambda value: KinesisRecord("s", "shard-1", "7", "k", 5, value),
        "stream 's', shard-1, sequence number 7",
    ),
    "rabbitmq": Queue(
        RabbitMessages(),
        lambda value: RMQMessage("q", value, "", "q", 5, False, None, "k", None, {}),
        "queue 'q', correlation id 'k'",
    ),
    "nats": Queue(
        NatsMessages(), lambda value: NatsMessage("s", "k", 7, 5, value, {}), "stream 's', subject 'k', sequence 7"
    ),
    "mqtt": Queue(MqttMessages(), lambda value: MqttMessage("k", value, 1, False, False, 5), "topic 'k'"),
    "pubsub": Queue(
        PubSubMessages(),
        lambda value: PubSubMessage("s", value, {}, "7", "k", 5, None),
        "subscription 's', message id '7'",
    ),
    "redis-stream": Queue(
        RedisMessages(), lambda value: RedisEntry("s", "5-7", {b"value": value, b"key": b"k"}), "stream 's', entry 5-7"
    ),
}
GOOD = b'{"a": 1}'


def of_change(key: str, operation: str, data: str) -> bytes:
    return f'{{"{key}": "{operation}", "data": {data}}}'.encode()


#: By format of tables: a good message, and bad ones.
FORMATS: dict[str, tuple[bytes, Sequence[bytes]]] = {
    "json": (GOOD, [b"{", b"\xff", b'{"a": "x"}', b""]),
    "csv": (b"1", [b"x", b"1,2", b'"1']),
    "raw": ((1).to_bytes(8, "big"), [b"\1"]),
    "debezium-json": (b'{"before": null, "after": {"a": 1}, "op": "c"}', [b"{", b'{"op": "x"}', b"[]"]),
    "canal-json": (of_change("type", "INSERT", '[{"a": 1}]'), [b"{", of_change("type", "x", "[]")]),
    "maxwell-json": (of_change("type", "insert", '{"a": 1}'), [b"{", of_change("type", "x", "{}")]),
    "ogg-json": (b'{"after": {"a": 1}, "op_type": "I"}', [b"{", b'{"op_type": "x"}']),
    "avro": (b"\2\2", [b"\2", b"\4"]),
}
#: Formats that do not leave out malformed messages.
STRICT = {"raw", "avro"}
MESSAGES = [(name, bad) for name, (_, several) in FORMATS.items() for bad in several]


@dataclass(frozen=True)
class Given(MessageScan):
    """Some messages."""

    queue: Queue
    values: tuple[bytes, ...]
    ends = True

    @property
    def system(self) -> MessageSystem:  # type: ignore[override]
        return self.queue.system

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        raise AssertionError("the test reads")

    def messages(self, part: Any) -> Iterator[Sequence[Any]]:
        yield list(map(self.queue.message, self.values))

    def parts(self) -> list[Any]:
        return [0]


@pytest.fixture(params=QUEUES)
def queue(request: pytest.FixtureRequest) -> Queue:
    return QUEUES[request.param]


def rows(queue: Queue, name: str, values: Sequence[bytes], options: dict[str, str]) -> list[dict[str, Any]]:
    column = FormatColumn("a", BigIntType())
    found = bound_format(Options({"format": name, **options}), "", name, [column], "scan")
    source = MessageTableSource(Given(queue, tuple(values)), MessageRows(queue.system, found, None, "", {}, {}))
    return [row for changes in source.read(0, ["a"]) for row in changes.batch.to_pylist()]


@pytest.mark.parametrize(("name", "bad"), MESSAGES, ids=str)
def test_a_table_fails_with_the_place_of_a_message_that_it_cannot_read(name: str, bad: bytes) -> None:
    good = FORMATS[name][0]
    as_kafka = outcome(QUEUES["kafka"], name, [good, bad, good])
    for queue in QUEUES.values():
        assert rows(queue, name, [good], {}) == [{"a": 1}]
        found = outcome(queue, name, [good, bad, good])
        assert type(found) is type(as_kafka)
        if isinstance(found, MalformedRecordError):
            assert found.place == queue.place
            assert bool(getattr(found, "__notes__", ())) == (name not in STRICT)


def outcome(queue: Queue, name: str, values: Sequence[bytes]) -> list[dict[str, Any]] | Exception:
    try:
        return rows(queue, name, values, {})
    except MalformedRecordError as error:
        return error


@pytest.mark.parametrize(("name", "bad"), [each for each in MESSAGES if each[0] not in STRICT], ids=str)
def test_a_table_leaves_out_what_its_format_ignores(name: str, bad: bytes) -> None:
    good, ignoring = FORMATS[name][0], {f"{name}.ignore-parse-errors": "true"}
    for queue in QUEUES.values():
        found = rows(queue, name, [good, bad, good], ignoring)
        assert [row for row in found if row["a"] is not None] == [{"a": 1}] * 2
        assert found == rows(QUEUES["kafka"], name, [good, bad, good], ignoring)


class Strict(SimpleStringSchema):
    """Texts, of which some are refused, all at once or one by one."""

    def deserialize(self, message: bytes) -> str:
        text = message.decode("utf-8")
        if text == "torn":
            raise ValueError("torn")
        return text


class Complete:
    """Reads complete messages, some of which it refuses."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def deserialize(self, record: Any) -> Any:
        if any(b"torn" in field for field in values_of(record)):
            raise ValueError("torn")
        return "text"

    def get_produced_type(self) -> Any:
        return Types.STRING()


def values_of(record: Any) -> list[bytes]:
    found: list[bytes] = []
    for field in record:
        found += [field] if isinstance(field, bytes) else []
        found += field.values() if isinstance(field, dict) else []
    return found


JSON = JsonRowDeserializationSchema.builder().type_info(Types.ROW_NAMED(["a"], [Types.INT()])).build()
SCHEMAS: dict[str, tuple[Callable[[Queue], Decoder], bytes, bytes]] = {
    "own": (lambda queue: ValueDecoder(Strict()), b"text", b"torn"),
    "json": (lambda queue: ValueDecoder(JSON), GOOD, b"{"),
    "complete": (lambda queue: RecordDecoder(Complete(queue)), b"text", b"torn"),
}


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("drops", [False, True])
def test_a_stream_gets_the_others_and_the_place_of_a_malformed_message(queue: Queue, schema: str, drops: bool) -> None:
    make, good, bad = SCHEMAS[schema]
    source = MessageSource(Given(queue, (good, bad, bad, good)), make(queue), True, drops)
    chunks = list(source.read([0], ChunkSizer(10)))
    malformed = [chunk for chunk in chunks if isinstance(chunk, MalformedRecords)]
    values = [value for chunk in chunks if not isinstance(chunk, MalformedRecords) for value in chunk[0]]
    assert len(values) == 2
    assert [error.place for each in malformed for error in each.errors] == [queue.place] * 2
    assert {each.dropped for each in malformed} == {drops}
    assert [time for each in malformed for time in each.timestamps or ()] == [5, 5]
    error = malformed[0].errors[0]
    assert error.record == (queue.system.record(queue.message(bad)) if schema == "complete" else bad)


def texts(builder: Any, method: str = "set_value_only_deserializer") -> Any:
    schema: DeserializationSchema = SimpleStringSchema()
    return getattr(builder, method)(schema)


BUILDERS: dict[str, Callable[[], Any]] = {
    "kafka": lambda: texts(KafkaSource.builder()),
    "dynamic-kafka": lambda: texts(DynamicKafkaSource.builder()),
    "log": lambda: texts(FileLogSource.builder()),
    "pulsar": lambda: texts(PulsarSource.builder(), "set_deserialization_schema"),
    "kinesis": lambda: texts(KinesisStreamsSource.builder(), "set_deserialization_schema"),
    "nats": lambda: texts(NatsSource.builder()),
    "mqtt": lambda: texts(MqttSource.builder()),
    "pubsub": lambda: texts(PubSubSource.builder()),
    "redis-stream": lambda: texts(RedisStreamSource.builder()),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_builders_of_sources_can_drop_malformed_messages(name: str) -> None:
    builder = BUILDERS[name]()
    assert builder.drop_malformed_records() is builder and builder._drop_malformed


def test_each_system_of_messages_is_among_these() -> None:
    def below(kind: type[Any]) -> set[type[Any]]:
        return {kind} | {each for sub in kind.__subclasses__() for each in below(sub)}

    known = {type(each.system) for each in QUEUES.values()}
    others = below(MessageSystem) - known - {MessageSystem}
    assert {each for each in others if each.__module__.startswith("scurry.")} == set()
