"""Streams of Redis as scans of messages; ids of entries are positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from scurry._dataclasses import dataclass
from scurry.connectors.messages import MessageSystem
from scurry.connectors.queues.positions import BlockCount, PositionScan, StreamReader, patiently
from scurry.connectors.redis.client import RedisServer
from scurry.connectors.source import MEASURED
from scurry.errors import SourceNotFoundError
from scurry.sql.types import (
    MAX_LENGTH,
    DataType,
    LocalZonedTimestampType,
    MapType,
    VarBinaryType,
    VarCharType,
)

#: Entries that a reader fetches at once.
BLOCK_ENTRIES = 4096
#: The position before all entries.
BEGINNING = "0-0"
_LAST_NUMBER = (1 << 64) - 1
_STRING = VarCharType(MAX_LENGTH)
#: Finds the id behind some entries in the server, so that the driver does not fetch them.
_AHEAD = "local found = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], ARGV[3], 'COUNT', ARGV[2]) "
_AHEAD += "if #found == 0 then return ARGV[1] end return found[#found][1]"


class RedisEntry(NamedTuple):
    """An entry of a stream.

    Attributes:
        stream: The key of the stream.
        id: The id of the entry, `milliseconds-number`.
        fields: Names and values, in order.
        value_field: The field that is the value of the message.
        key_field: The field that is its key.
    """

    stream: str
    id: str
    fields: Mapping[bytes, bytes]
    value_field: bytes = b"value"
    key_field: bytes = b"key"


class RedisMessages(MessageSystem):
    """The entries of streams."""

    metadata: ClassVar[Mapping[str, DataType]] = {
        "stream": _STRING.not_null(),
        "id": _STRING.not_null(),
        "timestamp": LocalZonedTimestampType(3).not_null(),
        "headers": MapType(_STRING.not_null(), VarBinaryType(MAX_LENGTH).not_null()).not_null(),
    }
    written = ("headers",)

    def key(self, message: RedisEntry) -> bytes | None:
        return message.fields.get(message.key_field)

    def value(self, message: RedisEntry) -> bytes | None:
        return message.fields.get(message.value_field)

    def timestamp(self, message: RedisEntry) -> int:
        """Return the milliseconds of the id: when the entry was added, unless its writer has chosen the id."""
        return int(message.id.partition("-")[0])

    def record(self, message: RedisEntry) -> RedisEntry:
        return message

    def read(self, key: str, message: RedisEntry) -> Any:
        return _READERS[key](message)

    def place(self, message: RedisEntry) -> str:
        """Return stream and id."""
        return f"stream {message.stream!r}, entry {message.id}"


def _others(message: RedisEntry) -> list[tuple[str, bytes]]:
    own = (message.value_field, message.key_field)
    return [(name.decode("utf-8", "replace"), value) for name, value in message.fields.items() if name not in own]


_READERS: dict[str, Callable[[RedisEntry], Any]] = {
    "stream": lambda message: message.stream,
    "id": lambda message: message.id,
    "timestamp": lambda message: int(message.id.partition("-")[0]),
    "headers": _others,
}


@dataclass(frozen=True)
class RedisStreams(PositionScan):
    """Streams, each read from id to id.

    Attributes:
        server: The address of the server.
        streams: The keys of the streams.
        begin: Start of reading: `earliest`, `latest`, an id, behind which it does, or milliseconds.
        bounded: Whether reading ends at the entries that there are when the job starts.
        value_field: The field that is the value of a message.
        key_field: The field that is its key.
    """

    system: ClassVar[MessageSystem] = RedisMessages()
    server: RedisServer
    streams: tuple[str, ...]
    begin: str | int = "earliest"
    bounded: bool = False
    value_field: str = "value"
    key_field: str = "key"

    @property
    def stop(self) -> bool:
        """Return whether reading ends."""
        return self.bounded

    def channels(self, parallelism: int) -> int:
        """Return the number of streams: each has its own watermark."""
        return len(self.streams)

    def create_reader(self) -> StreamReader:
        """Return the access to the streams."""
        return _Reader(self)

    def messages(self, part: tuple[str, str, str]) -> Iterator[Sequence[RedisEntry]]:
        """Yield the entries behind an id, up to another one."""
        stream, start, end = part
        client, count, size, at_once = self.server.client(), 0, 0, BlockCount(BLOCK_ENTRIES)
        value, key = self.value_field.encode(), self.key_field.encode()
        try:
            while start != end:
                found = patiently(
                    lambda start=start: self.server.asked(  # type: ignore[misc]
                        lambda: client.xrange(stream, f"({start}", end, at_once.messages), reads=True
                    )
                )
                if not found:  # the last ones have been deleted
                    break
                block = [RedisEntry(stream, each.decode(), fields, value, key) for each, fields in found if fields]
                start = found[-1][0].decode()
                count += len(block)
                bytes_of_block = sum(len(one) for entry in block for one in entry.fields.values())
                at_once.came(len(block), bytes_of_block)
                size += bytes_of_block
                yield block
        finally:
            client.close()
        MEASURED.get()(count, size)


class _Reader(StreamReader):
    def __init__(self, scan: RedisStreams) -> None:
        self._scan = scan
        self._client = scan.server.client()

    def streams(self) -> Sequence[str]:
        return self._scan.streams

    def start(self, stream: str) -> str:
        begin = self._scan.begin
        if isinstance(begin, int):
            return f"{begin - 1}-{_LAST_NUMBER}" if begin > 0 else BEGINNING
        if begin == "latest":
            found = self._ask(stream, lambda: self._client.xrevrange(stream, count=1))
            return str(found[0][0].decode()) if found else BEGINNING
        return BEGINNING if begin == "earliest" else begin

    def advance(self, stream: str, position: str, limit: int, stop: str | None) -> str:
        arguments = (1, stream, position, limit, stop or "+")
        return str(self._ask(stream, lambda: self._client.eval(_AHEAD, *arguments)).decode())

    def _ask(self, stream: str, ask: Callable[[], Any]) -> Any:
        try:
            return self._scan.server.asked(ask, reads=True)
        except Exception as error:
            if "WRONGTYPE" in str(error):
                raise SourceNotFoundError(
                    f"Redis at {self._scan.server.place}: {stream!r} is no stream; check the name of the stream"
                ) from None
            raise

    def close(self) -> None:
        self._client.close()
