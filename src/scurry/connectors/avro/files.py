"""Avro files: reads and writes rows or dicts in object container files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriter, BulkWriterFactory
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.avro.generic import GenericRecordAvroTypeInfo
from scurry.connectors.avro.library import fastavro
from scurry.connectors.avro.records import record_maker
from scurry.connectors.avro.rows import row_reader
from scurry.connectors.avro.schema import AvroSchema, row_type_of
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.format import BulkFormat
from scurry.connectors.source import Block, MalformedRecords
from scurry.errors import MalformedRecordError, TypeMismatchError, UnsupportedError

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
_META = {"type": "map", "values": "bytes"}
#: Blocks are decoded together up to this many bytes.
_DECODED_BYTES = 1024 * 1024
_SCANNED_BYTES = 64 * 1024


@dataclass(frozen=True)
class AvroFileFormat(BulkFormat):
    """Read values of a schema from Avro files, which contain the schema they were written with.

    Fields are matched by Avro's rules of schema resolution. A byte range owns the blocks that begin in it. A damaged
    block, from its first unreadable record on, is one malformed record; so is a file that is not an Avro file.

    Attributes:
        schema: The schema to read.
        rows: Whether records are Rows, as from `AvroRowDeserializationSchema`; otherwise dicts.
    """

    schema: AvroSchema
    rows: bool = False

    @property
    def produced_type(self) -> TypeInformation | None:
        return row_type_of(self.schema) if self.rows else GenericRecordAvroTypeInfo(self.schema)

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Block]:
        convert = row_reader(self.schema) if self.rows else None
        with fs.open_input(path) as file:
            container = _Container.of(file, path)
            if container is None:
                if start == 0:  # once per file
                    yield MalformedRecords([MalformedRecordError(path, None, "", "this is no Avro file")])
                return
            decode = _Decoder(container.header, self.schema, path).decode
            gathered: list[_Block] = []
            for block in container.blocks(start, end):
                if isinstance(block, MalformedRecordError):
                    yield from decode(gathered, convert)
                    yield MalformedRecords([block])
                    gathered = []
                    continue
                gathered.append(block)
                if sum(len(each.content) for each in gathered) >= _DECODED_BYTES:
                    yield from decode(gathered, convert)
                    gathered = []
            yield from decode(gathered, convert)


@dataclass(frozen=True)
class _Block:
    """A block of records: its position, and its bytes up to the next one."""

    position: int
    content: bytes


class _Container:
    """Read the blocks of a file."""

    def __init__(self, file: BinaryIO, path: str, header: bytes) -> None:
        self._file = file
        self._path = path
        self.header = header
        self._sync = header[-_SYNC_BYTES:]

    @classmethod
    def of(cls, file: BinaryIO, path: str) -> _Container | None:
        """Read the header of a file, from its beginning; return None if it is not an Avro file."""
        if file.read(len(_MAGIC)) != _MAGIC:
            return None
        try:
            fastavro().schemaless_reader(file, _META)
        except Exception:  # invalid lengths may raise any error
            return None
        end = file.tell() + _SYNC_BYTES
        file.seek(0)
        return cls(file, path, file.read(end))

    def blocks(self, start: int, end: int) -> Iterator[_Block | MalformedRecordError]:
        """Yield the blocks that begin in a range, and an error for each damaged part."""
        position: int | None = len(self.header) if start <= len(self.header) else self._after_sync(start - _SYNC_BYTES)
        while position is not None and position < end:
            self._file.seek(position)
            content = self._content()
            if content == b"":
                return
            if content is None or not content.endswith(self._sync):
                reason = f"the block at byte {position} does not end where it should: the file is damaged or cut off"
                yield MalformedRecordError(self._path, None, f"block at byte {position}", reason)
                position = self._after_sync(position)
                continue
            yield _Block(position, content)
            position += len(content)

    def _content(self) -> bytes | None:
        """Return the block at the file's position with its sync marker; b"" at the end, None if its size is invalid."""
        head = self._file.read(20)
        if not head:
            return b""
        _, first = _long(head, 0)
        size, begin = _long(head, first)
        if first == 0 or begin == 0 or size < 0:
            return None
        rest = size + _SYNC_BYTES - (len(head) - begin)
        return head[: begin + size + _SYNC_BYTES] if rest <= 0 else head + self._file.read(rest)

    def _after_sync(self, position: int) -> int | None:
        """Return the position behind the first sync marker that begins at `position` or later."""
        self._file.seek(position)
        data = b""
        while chunk := self._file.read(_SCANNED_BYTES):
            data += chunk
            found = data.find(self._sync)
            if found >= 0:
                return position + found + _SYNC_BYTES
            position += max(0, len(data) - _SYNC_BYTES + 1)
            data = data[-_SYNC_BYTES + 1 :]
        return None


def _long(data: bytes, position: int) -> tuple[int, int]:
    """Decode a number; return it and the position behind it, which is 0 if there is no number."""
    value = shift = 0
    for index in range(position, len(data)):
        value |= (data[index] & 0x7F) << shift
        if data[index] < 0x80:
            return (value >> 1) ^ -(value & 1), index + 1
        shift += 7
    return 0, 0


class _Decoder:
    """Decode blocks to records."""

    def __init__(self, header: bytes, schema: AvroSchema, path: str) -> None:
        self._module = fastavro()
        self._header = header
        self._schema = schema
        self._path = path

    def decode(self, blocks: list[_Block], convert: Callable[[Any], Any] | None) -> Iterator[Block]:
        """Yield the records of blocks."""
        if not blocks:
            return
        records: list[Any] = []
        failure = self._read(b"".join(block.content for block in blocks), records)
        if failure is not None and len(blocks) > 1:
            for block in blocks:
                yield from self.decode([block], convert)
            return
        if records:
            yield records if convert is None else list(map(convert, records))
        if failure is not None:
            where = f"block at byte {blocks[0].position}"
            reason = f"the {where} cannot be read from its record {len(records) + 1} on ({failure})"
            yield MalformedRecords([MalformedRecordError(self._path, None, where, reason)])

    def _read(self, data: bytes, records: list[Any]) -> str | None:
        """Append the records of blocks; return the reason if reading failed before the end."""
        try:
            for record in self._module.reader(io.BytesIO(self._header + data), self._schema.parsed):
                records.append(record)
        except self._module.read.SchemaResolutionError as error:
            reason = f"it was written with a schema that cannot be read as the declared one: {error}"
            raise MalformedRecordError(self._path, None, "", reason) from None
        except Exception as error:  # invalid lengths or indexes may raise any error
            if "codec" in str(error):
                raise UnsupportedError(f"{self._path}: {error}") from None
            return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return None


@dataclass(frozen=True)
class AvroFileWriterFactory(BulkWriterFactory):
    """Create writers of Avro files.

    Attributes:
        schema: The schema of the values.
        codec: Compression of the blocks, one of `CODECS`.
    """

    schema: AvroSchema
    codec: str = "null"

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer of Rows or dicts to an open stream."""
        made = record_maker(self.schema)
        return AvroWriter(self.schema, self.codec, stream, lambda values: map(made, values))


class AvroWriter(BulkWriter):
    """Write an Avro file.

    Args:
        schema: The schema of the records.
        codec: Compression of the blocks, one of `CODECS`.
        stream: The open file.
        records: Makes fastavro's records of what is written.
    """

    def __init__(
        self, schema: AvroSchema, codec: str, stream: BinaryIO, records: Callable[[list[Any]], Iterable[Any]]
    ) -> None:
        self._schema = schema
        self._records = records
        self._writer = fastavro().write.Writer(stream, schema.parsed, codec)

    def write(self, values: list[Any]) -> None:
        """Write records.

        Raises:
            TypeMismatchError: One does not fit the schema.
        """
        write = self._writer.write
        for record in self._records(values):
            try:
                write(record)
            except Exception as error:
                raise TypeMismatchError(f"Avro {self._schema}", record, str(error) or type(error).__name__) from None

    def finish(self) -> None:
        """Write the remaining records."""
        self._writer.flush()
