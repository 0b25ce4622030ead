"""Messages become records, and records messages."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Row, Types
from scurry.common.serialization import DeserializationSchema, RowFieldExtractorSchema, SimpleStringSchema
from scurry.connectors.kafka.records import ConsumerRecord, KafkaMessages, KafkaRecordDeserializationSchema
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema
from scurry.connectors.messages import Decoder, RecordDecoder, ValueDecoder
from scurry.connectors.source import MalformedRecords
from scurry.datastream.formats.json import JsonRowDeserializationSchema
from scurry.errors import MalformedRecordError, SchemaRegistryError


class Message:
    """What librdkafka hands out."""

    def __init__(self, offset: int, value: bytes | None, time: int = 0, key: bytes | None = None) -> None:
        self._parts = offset, value, time, key

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return self._parts[0]

    def value(self) -> bytes | None:
        return self._parts[1]

    def timestamp(self) -> tuple[int, int]:
        return 1, self._parts[2]

    def key(self) -> bytes | None:
        return self._parts[3]

    def headers(self) -> None:
        return None


def decoded(decoder: Decoder, *messages: Message) -> list[Any]:
    """Records with their timestamps; in place of a message that holds none the error."""
    found: list[Any] = []
    for block in decoder.decode(KafkaMessages(), messages):
        values, times = (block.errors, block.timestamps) if isinstance(block, MalformedRecords) else block
        found += zip(values, times or [], strict=True)
    return found


def test_values_keep_their_timestamps_and_those_without_are_skipped() -> None:
    messages = [Message(0, b"a", 10), Message(1, None, 20), Message(2, b"b", 30)]
    assert decoded(ValueDecoder(SimpleStringSchema()), *messages) == [("a", 10), ("b", 30)]


class Unreachable(DeserializationSchema):
    """A schema whose registry is away."""

    def deserialize(self, message: bytes) -> Any:
        raise SchemaRegistryError("nobody there")


def test_a_message_is_not_to_blame_for_a_registry_that_is_away() -> None:
    with pytest.raises(SchemaRegistryError, match="nobody there"):
        decoded(ValueDecoder(Unreachable()), Message(0, b"a"))


def test_a_malformed_value_takes_its_place_between_the_records() -> None:
    schema = JsonRowDeserializationSchema.builder().type_info(Types.ROW_NAMED(["n"], [Types.INT()])).build()
    messages = [Message(16, b'{"n": 1}', 5), Message(17, b"{oops", 6), Message(18, None, 7), Message(19, b"{}", 8)]
    before, (malformed, time), behind = decoded(ValueDecoder(schema), *messages)
    assert (before, behind, time) == ((Row(n=1), 5), (Row(n=None), 8), 6)
    assert isinstance(malformed, MalformedRecordError)
    assert str(malformed).startswith("topic 't', partition 3, offset 17: malformed record '{oops'")
    assert malformed.record == b"{oops"


@pytest.mark.parametrize("texts", [["x"], ["x", "1"], ["1", "x"], ["1", "x", "y", "2"], ["1", "x", "2", "y"]])
def test_each_message_is_read_once_whatever_is_malformed(texts: list[str]) -> None:
    asked: list[bytes] = []

    class Numbers(SimpleStringSchema):
        def deserialize(self, message: bytes) -> Any:
            asked.append(message)
            return int(message)

    messages = [Message(number, text.encode(), number) for number, text in enumerate(texts)]
    found = decoded(ValueDecoder(Numbers()), *messages)
    assert [str(each) if type(each) is int else each.record.decode() for each, _ in found] == texts
    assert [time for _, time in found] == list(range(len(texts)))
    assert asked == [text.encode() for text in texts]


def test_many_values_are_read_at_once_where_the_schema_can() -> None:
    class Words(SimpleStringSchema):
        def deserialize_all(self, messages: list[bytes]) -> list[str]:
            return [f"{len(messages)} at once"] * len(messages)

    messages = [Message(0, b"a", 10), Message(1, b"b", 20)]
    assert decoded(ValueDecoder(Words()), *messages) == [("2 at once", 10), ("2 at once", 20)]


def test_a_schema_that_overrides_how_one_value_is_read_is_asked_for_each() -> None:
    class Shouting(SimpleStringSchema):
        def deserialize(self, message: bytes) -> str:
            return super().deserialize(message).upper()

    assert decoded(ValueDecoder(Shouting()), Message(0, b"a", 10)) == [("A", 10)]


def test_what_cannot_be_read_at_once_is_reported_with_its_place() -> None:
    class Numbers(SimpleStringSchema):
        def deserialize(self, message: bytes) -> Any:
            return int(message)

        def deserialize_all(self, messages: list[bytes]) -> list[Any]:
            return list(map(int, messages))

    number, (malformed, _) = decoded(ValueDecoder(Numbers()), Message(0, b"1"), Message(1, b"x"))
    assert number == (1, 0)
    assert "offset 1: malformed record 'x'" in str(malformed)


def test_a_deserializer_that_runs_out_of_items_loses_nothing() -> None:
    class First(SimpleStringSchema):
        def deserialize(self, message: bytes) -> Any:
            return next(iter(message.decode()))

    found = decoded(ValueDecoder(First()), Message(0, b"ab"), Message(1, b""), Message(2, b"cd"))
    assert [getattr(each, "reason", each) for each, _ in found] == ["a", "StopIteration: ", "c"]


class Everything(KafkaRecordDeserializationSchema):
    def deserialize(self, record: ConsumerRecord) -> Any:
        return None if record.key == b"skip" else (record.offset, record.key, record.value, record.timestamp)


def test_a_record_deserializer_sees_everything_and_may_skip() -> None:
    messages = [Message(4, b"v", 7, b"k"), Message(5, b"v", 8, b"skip")]
    assert decoded(RecordDecoder(Everything()), *messages) == [((4, b"k", b"v", 7), 7)]


def test_a_failing_record_deserializer_is_reported_with_the_place() -> None:
    class Failing(KafkaRecordDeserializationSchema):
        def deserialize(self, record: ConsumerRecord) -> Any:
            return 1 // (record.offset - 5)

    _, (malformed, _) = decoded(RecordDecoder(Failing()), Message(4, b"x"), Message(5, b"x", 0, b"k"))
    assert "offset 5: malformed record 'x': ZeroDivisionError" in str(malformed)
    assert (malformed.record.key, malformed.record.value) == (b"k", b"x")


def test_records_become_topic_key_value_timestamp_and_headers() -> None:
    class FirstField(SimpleStringSchema):
        def serialize(self, value: Any) -> bytes:
            return super().serialize(value[1])

    serializer = KafkaRecordSerializationSchema(
        FirstField(), None, lambda row: f"topic-{row[1]}", RowFieldExtractorSchema(0), lambda row: [("h", row[0])]
    )
    assert serializer.records([Row(b"k", "v"), Row(b"l", "w")], [5, -1]) == [
        ("topic-v", b"k", b"v", 5, [("h", b"k")]),
        ("topic-w", b"l", b"w", 0, [("h", b"l")]),
    ]


def test_without_timestamps_records_get_the_time_of_writing() -> None:
    serializer = KafkaRecordSerializationSchema(SimpleStringSchema(), "t")
    assert serializer.records(["a"], None) == [("t", None, b"a", 0, None)]
