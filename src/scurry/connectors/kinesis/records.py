"""Records of Kinesis as messages, those that producers have aggregated included."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, NamedTuple

from scurry.connectors.messages import MessageSystem
from scurry.sql.types import DataType, LocalZonedTimestampType, VarCharType

_NAME = VarCharType(128).not_null()


class KinesisRecord(NamedTuple):
    """A record of a stream.

    Attributes:
        stream: The name or the ARN of the stream, as the source has it.
        shard_id: The shard.
        sequence_number: Its number in the shard.
        partition_key: The key that chose the shard.
        timestamp: When it arrived, about, in milliseconds since 1970.
        data: Its bytes.
        sub_sequence: Its place among the records that a producer aggregated; 0 for others.
    """

    stream: str
    shard_id: str
    sequence_number: str
    partition_key: str
    timestamp: int
    data: bytes
    sub_sequence: int = 0


class KinesisMessages(MessageSystem):
    """The records of streams; the partition key is the key."""

    metadata: ClassVar[Mapping[str, DataType]] = {
        "timestamp": LocalZonedTimestampType(3).not_null(),
        "shard-id": _NAME,
        "sequence-number": _NAME,
    }

    def key(self, message: KinesisRecord) -> bytes | None:
        return message.partition_key.encode()

    def value(self, message: KinesisRecord) -> bytes | None:
        return message.data

    def timestamp(self, message: KinesisRecord) -> int:
        return message.timestamp

    def record(self, message: KinesisRecord) -> KinesisRecord:
        return message

    def read(self, key: str, message: KinesisRecord) -> Any:
        return _READERS[key](message)

    def place(self, message: KinesisRecord) -> str:
        """Return stream, shard and sequence number."""
        return f"stream {message.stream!r}, {message.shard_id}, sequence number {message.sequence_number}"


_READERS: dict[str, Callable[[KinesisRecord], Any]] = {
    "timestamp": lambda message: message.timestamp,
    "shard-id": lambda message: message.shard_id,
    "sequence-number": lambda message: message.sequence_number,
}

#: First bytes of the data of aggregated records; a digest follows the records.
_MAGIC = b"\xf3\x89\x9a\xc2"
_DIGEST_BYTES = 16


def millis_of(answer: Mapping[str, Any]) -> int:
    """Return when a record arrived, in milliseconds since 1970."""
    return int(round(answer["ApproximateArrivalTimestamp"].timestamp() * 1000))


def records_of(stream: str, shard_id: str, keys: tuple[int, int], answer: Mapping[str, Any]) -> Iterator[KinesisRecord]:
    """Yield the records that a record of an answer of the service has.

    Args:
        stream: The stream.
        shard_id: The shard.
        keys: The first and the last hash key of the shard: a producer that did not know of another shard yet puts
            records of aggregates again whose keys are outside.
        answer: The record as botocore has it.
    """
    data: bytes = answer["Data"]
    number, time = answer["SequenceNumber"], millis_of(answer)
    if data[: len(_MAGIC)] == _MAGIC:
        body, digest = data[len(_MAGIC) : -_DIGEST_BYTES], data[-_DIGEST_BYTES:]
        if hashlib.md5(body, usedforsecurity=False).digest() == digest:
            for place, (key, hash_key, part) in enumerate(_aggregated(body)):
                if keys[0] <= hash_key <= keys[1]:
                    yield KinesisRecord(stream, shard_id, number, key, time, part, place)
            return
    yield KinesisRecord(stream, shard_id, number, answer["PartitionKey"], time, data)


def _aggregated(body: bytes) -> Iterator[tuple[str, int, bytes]]:
    found = _message().FromString(body)
    for each in found.records:
        key = found.partition_key_table[each.partition_key_index]
        if each.HasField("explicit_hash_key_index"):
            yield key, int(found.explicit_hash_key_table[each.explicit_hash_key_index]), each.data
        else:
            yield key, hash_key_of(key), each.data


def hash_key_of(partition_key: str) -> int:
    """Return the hash key that the service makes of a partition key."""
    return int.from_bytes(hashlib.md5(partition_key.encode(), usedforsecurity=False).digest(), "big")


@cache
def _message() -> Any:
    """Return the class of AggregatedRecord, as the Kinesis Producer Library defines it."""
    from google.protobuf import descriptor_pb2

    from scurry.connectors.protobuf import defined

    field = descriptor_pb2.FieldDescriptorProto
    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="aggregated.proto", package="scurry.kinesis", syntax="proto2")
    record = file.message_type.add(name="Record")
    for number, name, kind in (
        (1, "partition_key_index", field.TYPE_UINT64),
        (2, "explicit_hash_key_index", field.TYPE_UINT64),
        (3, "data", field.TYPE_BYTES),
    ):
        record.field.add(name=name, number=number, type=kind, label=field.LABEL_OPTIONAL)
    whole = file.message_type.add(name="AggregatedRecord")
    for number, name in ((1, "partition_key_table"), (2, "explicit_hash_key_table")):
        whole.field.add(name=name, number=number, type=field.TYPE_STRING, label=field.LABEL_REPEATED)
    whole.field.add(
        name="records",
        number=3,
        type=field.TYPE_MESSAGE,
        label=field.LABEL_REPEATED,
        type_name=".scurry.kinesis.Record",
    )
    return defined(files.SerializeToString(), "scurry.kinesis.AggregatedRecord")
