"""MessageLinesFormat and its writer: files with one message per line, such as a JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriter, BulkWriterFactory, DeserializationSchema, SerializationSchema
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.ranges import LineNumbers, compressed, open_decompressed, owned_blocks
from scurry.connectors.files.formats.stream import StreamFormat
from scurry.connectors.source import Block, MalformedRecords
from scurry.errors import MalformedRecordError

_CHUNK_LINES = 4096


@dataclass(frozen=True)
class MessageLinesFormat(StreamFormat):
    r"""Deserialize records from lines, which end at `\n` or `\r\n`; blank lines are skipped.

    Files named .gz, .gzip, .bz2, .xz, .deflate or .zst are decompressed.

    Attributes:
        schema: Deserializes a line; lines for which it returns None are skipped.
    """

    schema: DeserializationSchema

    @property
    def produced_type(self) -> TypeInformation | None:
        """The schema's type."""
        return self.schema.get_produced_type()

    def splittable(self, path: str) -> bool:
        """Return whether the file is not compressed."""
        return not compressed(path)

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Block]:
        with open_decompressed(fs, path) as file:
            for offset, data in owned_blocks(file, path, start, end):
                yield from self._parsed(bytes(data), LineNumbers(fs, path, offset))

    def _parsed(self, data: bytes, lines: LineNumbers) -> Iterator[Block]:
        deserialize, position = self.schema.deserialize, 0
        chunk: list[Any] = []
        for line in data.split(b"\n"):
            begin, position = position, position + len(line) + 1
            if not line or line.isspace():
                continue
            try:
                record = deserialize(line)
            except Exception as error:
                if chunk:
                    yield chunk
                    chunk = []
                yield MalformedRecords([_malformed(error, data, begin, line, lines)])
                continue
            if record is not None:
                chunk.append(record)
                if len(chunk) == _CHUNK_LINES:
                    yield chunk
                    chunk = []
        if chunk:
            yield chunk


def _malformed(error: Exception, data: bytes, begin: int, line: bytes, lines: LineNumbers) -> MalformedRecordError:
    reason = error.reason if isinstance(error, MalformedRecordError) else f"{type(error).__name__}: {error}"
    stripped = line.strip()
    if stripped in (b"[", b"{", b"]", b"}") or (stripped[:1] == b"[" and stripped[-1:] == b","):
        reason += "; each line must be one whole record, not a part of JSON that is laid out over several lines"
    text = line.decode("utf-8", "replace").rstrip("\r")
    return MalformedRecordError(lines.path, lines.of(data, begin), text, reason)


@dataclass(frozen=True)
class MessageLinesWriterFactory(BulkWriterFactory):
    """Create writers of one line per record.

    Attributes:
        schema: Serializes a record to the bytes of a line, which must not contain a line break.
    """

    schema: SerializationSchema

    concatenable: ClassVar[bool] = True

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _LineWriter(self.schema, stream)


class _LineWriter(BulkWriter):
    def __init__(self, schema: SerializationSchema, stream: BinaryIO) -> None:
        self._serialize = schema.serialize
        self._stream = stream

    def write(self, values: list[Any]) -> None:
        self._stream.write(b"".join([self._serialize(value) + b"\n" for value in values]))

    def finish(self) -> None:
        return
