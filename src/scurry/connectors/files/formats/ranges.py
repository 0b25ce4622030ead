"""Byte ranges of files whose records are lines: a range owns the lines that begin in it.

Ranges can therefore be cut anywhere without reading the file, and every line is still read exactly once.
"""

from __future__ import annotations

import codecs
import io
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from scurry.common._charsets import detected
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.source import MAX_RECORD_BYTES
from scurry.errors import RecordTooLargeError

#: Bytes handled at once: large enough for speed, small enough for memory.
BLOCK_BYTES = 4 * 1024 * 1024

_COMPRESSED = (".gz", ".gzip", ".bz2", ".xz", ".deflate", ".zst")


def compressed(path: str) -> bool:
    """Return whether the file name means a compressed file, which can only be read from the beginning."""
    return path.endswith(_COMPRESSED)


def open_decompressed(fs: FileSystem, path: str) -> BinaryIO:
    """Open a file for reading; decompress it according to its name, like Flink's stream formats."""
    file = fs.open_input(path)
    if path.endswith((".gz", ".gzip")):
        import gzip

        return cast(BinaryIO, gzip.open(file))
    if path.endswith(".bz2"):
        import bz2

        return cast(BinaryIO, bz2.open(file))
    if path.endswith(".xz"):
        import lzma

        return cast(BinaryIO, lzma.open(file))
    if path.endswith(".deflate"):
        with file:
            return io.BytesIO(zlib.decompress(file.read()))
    if path.endswith(".zst"):
        import pyarrow as pa

        return cast(BinaryIO, io.BufferedReader(pa.CompressedInputStream(file, "zstd")))
    return file


def open_text(fs: FileSystem, path: str) -> tuple[BinaryIO, bool]:
    """Open a file of text like `open_decompressed`; return it in UTF-8, and whether it was in UTF-16 or UTF-32.

    Such a file can only be read from its beginning.
    """
    with open_decompressed(fs, path) as file:
        codec, mark = detected(file.read(4))
    file = open_decompressed(fs, path)
    if codec == "utf-8":
        return file, False
    file.read(mark)
    return io.BufferedReader(_AsUtf8(file, codec)), True


class _AsUtf8(io.RawIOBase):
    """The text of a file in UTF-8."""

    def __init__(self, file: BinaryIO, codec: str) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder(codec)("replace").decode
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            data = self._file.read(len(buffer))
            self._rest = self._decode(data, not data).encode()
            if not data:
                break
        part = self._rest[: len(buffer)]
        self._rest = self._rest[len(part) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._file.close()
        super().close()


def _after_last_newline(block: bytes | bytearray) -> int:
    return block.rfind(b"\n") + 1


def owned_blocks(
    file: BinaryIO,
    path: str,
    start: int,
    end: int,
    block_bytes: int = BLOCK_BYTES,
    cut: Callable[[bytes | bytearray], int] = _after_last_newline,
) -> Iterator[tuple[int, bytearray]]:
    """Yield the lines that begin in `start..end` as blocks of whole records, each with its offset in the file.

    The memory is limited to one record of `MAX_RECORD_BYTES` and one block.

    Args:
        file: The file, seekable.
        path: Its path, for error messages.
        start: First byte of the range.
        end: Byte after the range.
        block_bytes: Approximate size of a block.
        cut: Returns the number of bytes of whole records at the beginning of a block (0: none is complete yet).

    Raises:
        RecordTooLargeError: A record is larger than `MAX_RECORD_BYTES`.
    """
    position, limit = _first_line(file, start, block_bytes), MAX_RECORD_BYTES.get()
    offset = position
    block = bytearray()
    while position < end:
        held = len(block)
        block = _continued(block, file, min(block_bytes, end - position))
        position += len(block) - held
        if len(block) == held:
            break
        if position >= end and not block.endswith(b"\n"):
            last = block.rfind(b"\n") + 1
            line = file.readline(max(limit + 1 - (len(block) - last), 1))
            position += len(line)
            block += line
            if len(block) - last - block.endswith(b"\n") > limit:
                raise _too_large(path, offset + last, limit)
        # the end of a line longer than a block is searched only in the new part
        newline = block.find(b"\n", held)
        if (len(block) if newline < 0 else newline) > limit:
            raise _too_large(path, offset, limit)
        if position < end and newline >= 0 and (whole := cut(block)):
            rest = block[whole:]
            del block[whole:]
            yield offset, block
            offset += whole
            block = rest
            if len(block) > limit:
                raise _too_large(path, offset, limit)
    if block:
        yield offset, block


def _too_large(path: str, offset: int, limit: int) -> RecordTooLargeError:
    return RecordTooLargeError(
        f"{path}: the record that begins at byte {offset:,} takes up more than {limit:,} bytes; "
        "set scurry.record.max-bytes higher if that is right"
    )


def _continued(begun: bytearray, file: BinaryIO, size: int) -> bytearray:
    """Return `begun` and the next bytes of the file, which are read to their place: a copy would cost as much again."""
    reader, filled = cast(io.BufferedIOBase, file), len(begun)
    data = bytearray(filled + size)
    data[:filled] = begun
    with memoryview(data) as view:
        while filled < len(data) and (count := reader.readinto(view[filled:])):
            filled += count
    del data[filled:]
    return data


def _first_line(file: BinaryIO, start: int, block_bytes: int) -> int:
    """Seek to the first line that a range owns; return its position."""
    if start == 0:
        return 0
    # the line that contains the byte before the range belongs to the previous range
    position = file.seek(start - 1)
    while piece := file.readline(block_bytes):
        position += len(piece)
        if piece.endswith(b"\n"):
            break
    return position


class LineNumbers:
    """Count the lines, from 1, up to a position in a block; read the file before the block only when needed."""

    def __init__(self, fs: FileSystem, path: str, offset: int) -> None:
        self.path = path
        self._fs = fs
        self._offset = offset
        self._seen, self._line = 0, 0

    def of(self, text: str | bytes | bytearray, position: int) -> int:
        """Return the line number at a position in the block; positions must ascend from call to call."""
        if not self._line:
            self._line = 1 + _newlines(self._fs, self.path, self._offset)
        newline: Any = "\n" if isinstance(text, str) else b"\n"
        self._line += text.count(newline, self._seen, position)
        self._seen = position
        return self._line


def _newlines(fs: FileSystem, path: str, end: int) -> int:
    count = 0
    with open_text(fs, path)[0] as file:
        while end > 0:
            block = file.read(min(BLOCK_BYTES, end))
            if not block:
                break
            count += block.count(b"\n")
            end -= len(block)
    return count
