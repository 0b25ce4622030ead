"""Files whose lines are messages: read through a decoder, written through an encoder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO

from scurry._dataclasses import dataclass
from scurry.common._process import threads
from scurry.common.serialization import BulkWriter, BulkWriterFactory
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.ranges import compressed, open_decompressed, owned_blocks
from scurry.errors import MalformedRecordError
from scurry.sql.catalog.table_options import Options
from scurry.sql.formats.contract import FileReader, FormatColumn, FormatFactory
from scurry.sql.formats.messages import DecodedMessages, DecodingError, MessageDecoder, MessageEncoder

if TYPE_CHECKING:
    import pyarrow as pa

#: bytes of lines that become one batch of rows: what is done once per batch costs little beside them
_BLOCK_BYTES = 8 * 1024 * 1024
#: lines decoded at once, where a block is not
_LINES = 8192


@dataclass(frozen=True)
class LineReader(FileReader):
    """Read files with one message per line.

    Attributes:
        decoder: Decodes them.
    """

    decoder: MessageDecoder
    splittable = True

    def read(self, fs: FileSystem, path: str, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the lines that begin in a range."""
        for decoded in self.read_changes(fs, path, start, end):
            yield decoded.batch

    def read_changes(self, fs: FileSystem, path: str, start: int, end: int) -> Iterator[DecodedMessages]:
        """Yield the rows of the lines that begin in a range, with their kinds of change."""
        quick = self.decoder.block_decoder()
        whole = compressed(path)
        with open_decompressed(fs, path) as file:
            blocks = owned_blocks(file, path, start, (1 << 62) if whole else end, _BLOCK_BYTES)
            for offset, block, batch in _decoded_ahead(blocks, quick):
                if batch is not None:
                    yield DecodedMessages(batch)
                    continue
                lines = bytes(block).split(b"\n")
                if not lines[-1]:
                    lines.pop()
                for at in range(0, len(lines), _LINES):
                    some = [line.removesuffix(b"\r") for line in lines[at : at + _LINES]]
                    try:
                        yield self.decoder.decode_messages(some)
                    except DecodingError as error:
                        line = None if start else _lines_before(fs, path, offset) + at + error.index + 1
                        text = some[error.index].decode("utf-8", "replace")
                        malformed = MalformedRecordError(path, line, text, error.reason)
                        raise malformed.with_hint(error.hint) from None


def _decoded_ahead(
    blocks: Iterable[tuple[int, bytearray]], decode: Callable[[bytes | bytearray], pa.RecordBatch | None] | None
) -> Iterator[tuple[int, bytearray, pa.RecordBatch | None]]:
    """Yield blocks and their rows; decode a block in a thread while the caller processes the rows of the one before.

    pyarrow and numpy decode without Python's lock.
    """
    if decode is None:
        for offset, block in blocks:
            yield offset, block, None
        return
    waiting: tuple[int, bytearray, Future[pa.RecordBatch | None]] | None = None
    pool = _decoder_of(os.getpid())
    for offset, block in blocks:
        earlier, waiting = waiting, (offset, block, pool.submit(decode, block))
        if earlier is not None:
            yield earlier[0], earlier[1], earlier[2].result()
    if waiting is not None:
        yield waiting[0], waiting[1], waiting[2].result()


@lru_cache(maxsize=1)
def _decoder_of(process: int) -> Executor:
    """Return the thread of a process that decodes: each new thread would keep memory of its own.

    Args:
        process: Its id: a forked process has no threads of the one before.
    """
    return threads.pool(1, "scurry-decoder")


def _lines_before(fs: FileSystem, path: str, offset: int) -> int:
    """Count the lines before an offset: only a message about a wrong one needs it."""
    with open_decompressed(fs, path) as file:
        count = 0
        while offset > 0 and (block := file.read(min(offset, _BLOCK_BYTES))):
            count += block.count(b"\n")
            offset -= len(block)
        return count


@dataclass(frozen=True)
class LineWriterFactory(BulkWriterFactory):
    """Write files with one message per line.

    Attributes:
        encoder: Encodes the rows.
    """

    encoder: MessageEncoder
    concatenable = True

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _LineWriter(self.encoder, stream)


class _LineWriter(BulkWriter):
    def __init__(self, encoder: MessageEncoder, stream: BinaryIO) -> None:
        self._encoder = encoder
        self._stream = stream

    def write(self, values: list[Any]) -> None:
        for each in values:
            lines = self._encoder.encode_changes(*each) if isinstance(each, tuple) else self._encoder.encode(each)
            if lines:
                self._stream.write(b"\n".join(lines) + b"\n")

    def finish(self) -> None:
        return


class LineFormat(FormatFactory):
    """A format of messages whose files have one message per line."""

    def file_reader(self, declared: Sequence[FormatColumn], columns: Sequence[str], options: Options) -> FileReader:
        return LineReader(self.message_decoder(declared, columns, (), options))

    def file_writer(self, declared: Sequence[FormatColumn], options: Options) -> BulkWriterFactory:
        return LineWriterFactory(self.message_encoder(declared, options))
