"""Systems of messages: how messages are read, and how records are made of them. Tables make rows of them as well."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

from scurry._dataclasses import dataclass
from scurry.common.serialization import DeserializationSchema
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.source import (
    FETCHED,
    BatchLimits,
    Chunk,
    ChunkSizer,
    Enumerator,
    MalformedRecords,
    Source,
    sliced_with_timestamps,
)
from scurry.errors import MalformedRecordError
from scurry.sql.types import DataType

#: A block of records with their timestamps.
Block = tuple[list[Any], list[int]] | MalformedRecords


class MessageSystem(ABC):
    """Access to the messages of a system, which are those of its client library; picklable.

    Attributes:
        metadata: The metadata of messages that columns of tables may have, with their types.
        written: The metadata that sinks write.
    """

    metadata: ClassVar[Mapping[str, DataType]]
    written: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def key(self, message: Any) -> bytes | None:
        """Return the key of a message."""

    @abstractmethod
    def value(self, message: Any) -> bytes | None:
        """Return the value of a message, None for a message without one."""

    @abstractmethod
    def timestamp(self, message: Any) -> int:
        """Return the timestamp of a message in milliseconds."""

    @abstractmethod
    def record(self, message: Any) -> Any:
        """Return a complete message, for deserializers of streams: picklable, and none of the client library's."""

    @abstractmethod
    def read(self, key: str, message: Any) -> Any:
        """Return a value of the metadata of a message, as a value of its type."""

    @abstractmethod
    def place(self, message: Any) -> str:
        """Return where a message is, for errors."""


class MessageScan(ABC):
    """The messages that are read of a system; picklable.

    Attributes:
        system: The system, which knows what is in a message.
    """

    system: ClassVar[MessageSystem]

    @property
    @abstractmethod
    def ends(self) -> bool:
        """Return whether reading ends."""

    def channels(self, parallelism: int) -> int:
        """Return the number of readers in streams, each with its own watermark; by default the parallelism."""
        return parallelism

    @abstractmethod
    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of ranges of messages, whose works are lists of ranges."""

    @abstractmethod
    def messages(self, part: Any) -> Iterator[Sequence[Any]]:
        """Yield the messages of a range, in blocks; runs in a task.

        Args:
            part: One of the ranges that the enumerator assigned, or one of `parts()`.
        """

    @abstractmethod
    def parts(self) -> list[Any]:
        """Return the ranges of all messages that there are now, up to the end of reading, for BATCH."""


def fetched(scan: MessageScan, part: Any) -> Iterator[Sequence[Any]]:
    """Yield the messages of a range, in blocks, and note how late each block has come; for streams and tables."""
    note, timestamp = FETCHED.get(), scan.system.timestamp
    for messages in scan.messages(part):
        if messages:
            note(timestamp(messages[-1]))
        yield messages


class RecordDeserializer(Protocol):
    """Make records of complete messages, those of `MessageSystem.record`; None for a message that is skipped."""

    def deserialize(self, record: Any) -> Any:
        """Return the record of a message."""

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the records."""


class Decoder(ABC):
    """Turn messages into records. Picklable."""

    @property
    @abstractmethod
    def produced_type(self) -> TypeInformation:
        """The type of the records."""

    @abstractmethod
    def decode(self, system: MessageSystem, messages: Sequence[Any]) -> Iterator[Block]:
        """Yield the records of messages, and `MalformedRecords` for messages that cannot be decoded."""


@dataclass(frozen=True)
class ValueDecoder(Decoder):
    """Decode the values of messages; messages without a value are skipped."""

    schema: DeserializationSchema

    @property
    def produced_type(self) -> TypeInformation:
        """The schema's type."""
        return self.schema.get_produced_type()

    @cached_property
    def _at_once(self) -> Callable[[list[bytes]], list[Any]] | None:
        """The schema's `deserialize_all`, unless a subclass overrides only `deserialize`."""
        for cls in type(self.schema).__mro__:
            if "deserialize_all" in vars(cls):
                return None if cls is DeserializationSchema else self.schema.deserialize_all
            if "deserialize" in vars(cls):
                return None
        return None

    def decode(self, system: MessageSystem, messages: Sequence[Any]) -> Iterator[Block]:
        """Yield the records of the messages' values."""
        values: list[Any] = list(map(system.value, messages))
        if None in values:
            messages = [message for message, value in zip(messages, values, strict=True) if value is not None]
            values = [value for value in values if value is not None]
        at_once = self._at_once
        if at_once is not None:
            try:
                decoded = at_once(values)
            except Exception:
                pass  # decoding one by one finds the malformed message
            else:
                yield _present(decoded, system, messages)
                return
        yield from _one_by_one(self.schema.deserialize, values, system, messages)


@dataclass(frozen=True)
class RecordDecoder(Decoder):
    """Decode complete messages."""

    schema: RecordDeserializer

    @property
    def produced_type(self) -> TypeInformation:
        """The schema's type."""
        return self.schema.get_produced_type()

    def decode(self, system: MessageSystem, messages: Sequence[Any]) -> Iterator[Block]:
        """Yield the records that the schema returns for the messages."""
        yield from _one_by_one(self.schema.deserialize, list(map(system.record, messages)), system, messages)


def _one_by_one(
    deserialize: Callable[[Any], Any], inputs: Sequence[Any], system: MessageSystem, messages: Sequence[Any]
) -> Iterator[Block]:
    """Yield the deserialized inputs, one per message; continue behind those that fail, as malformed records."""
    left, begin = iter(inputs), 0
    while begin < len(inputs):
        decoded: list[Any] = []
        malformed: MalformedRecords | None = None
        try:
            for each in left:  # not map, which would end at a StopIteration of the deserializer
                decoded.append(deserialize(each))
        except ConnectionError:  # not the message's fault
            raise
        except Exception as error:
            at = begin + len(decoded)
            times = [system.timestamp(messages[at])]
            malformed = MalformedRecords([_malformed(system, messages[at], inputs[at], error)], times)
        end = begin + len(decoded)
        yield _present(decoded, system, messages[begin:end])
        if malformed is not None:
            yield malformed
            end += 1
        begin = end


def _present(decoded: list[Any], system: MessageSystem, messages: Sequence[Any]) -> Block:
    times = list(map(system.timestamp, messages))
    if None not in decoded:
        return decoded, times
    kept = [position for position, record in enumerate(decoded) if record is not None]
    return [decoded[position] for position in kept], [times[position] for position in kept]


def _malformed(system: MessageSystem, message: Any, record: Any, error: Exception) -> MalformedRecordError:
    reason = error.reason if isinstance(error, MalformedRecordError) else f"{type(error).__name__}: {error}"
    text = bytes(system.value(message) or b"").decode("utf-8", "replace")
    malformed = MalformedRecordError(system.place(message), None, text, reason, record)
    malformed.__cause__ = error
    return malformed


@dataclass(frozen=True)
class MessageSource(Source):
    """Read messages as records: for each micro-batch the driver assigns ranges of messages, which the tasks fetch.

    The ranges are part of the checkpoint, so a repeated batch reads the same messages.

    Attributes:
        scan: The messages to read.
        decoder: Converts messages to records.
        bounded: Whether the source is bounded when the scan ends.
        drop_malformed: Whether malformed messages are skipped instead of failing the job.
    """

    scan: MessageScan
    decoder: Decoder
    bounded: bool = False
    drop_malformed: bool = False

    @property
    def meets_malformed_records(self) -> bool:
        """True: reading continues behind a malformed message."""
        return True

    @property
    def produced_type(self) -> TypeInformation:
        """The deserializer's type."""
        return self.decoder.produced_type

    def channels(self, parallelism: int) -> int:
        """Return the number of readers of the scan."""
        return self.scan.channels(parallelism)

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return the enumerator of the scan."""
        return self.scan.create_enumerator(self.channels(parallelism), limits)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of the assigned ranges, which take turns."""
        return sliced_with_timestamps(self._in_turns(work), sizer)

    def _in_turns(self, work: Sequence[Any]) -> Iterator[Block]:
        ranges = list(map(self._blocks, work))
        while ranges:
            for each in list(ranges):
                block = next(each, None)
                if block is None:
                    ranges.remove(each)
                else:
                    yield block

    def _blocks(self, part: Any) -> Iterator[Block]:
        convert = self.decoder.produced_type.block_converter()
        for messages in fetched(self.scan, part):
            for block in self.decoder.decode(self.scan.system, messages):
                if isinstance(block, MalformedRecords):
                    yield replace(block, dropped=self.drop_malformed)
                else:
                    values, times = block
                    yield (values if convert is None else convert(values)), times
