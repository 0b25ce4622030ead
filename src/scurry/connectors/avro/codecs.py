"""Codecs of blocks of Avro files that fastavro has only with further packages, with pyarrow instead."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from typing import Any

#: Codecs that files are written with.
CODECS = ("null", "deflate", "snappy", "bzip2", "xz", "zstandard")
_CRC_BYTES = 4


def add_codecs(module: Any) -> None:
    """Let fastavro read and write blocks compressed by Snappy and Zstandard."""
    module._read.BLOCK_READERS.update(snappy=_read_snappy, zstandard=_read_zstandard)
    module._write.BLOCK_WRITERS.update(snappy=_write_snappy, zstandard=_write_zstandard)


def _read_snappy(file: Any) -> io.BytesIO:
    import pyarrow as pa

    content: bytes = file.read(_size(file))[:-_CRC_BYTES]
    length = _number(iter(content))
    return io.BytesIO(pa.decompress(content, decompressed_size=length, codec="snappy", asbytes=True))


def _read_zstandard(file: Any) -> io.BytesIO:
    import pyarrow as pa

    content = pa.BufferReader(file.read(_size(file)))
    return io.BytesIO(pa.CompressedInputStream(content, "zstd").read())


def _write_snappy(file: Any, block: bytes, level: int | None) -> None:
    import pyarrow as pa

    content = pa.compress(block, codec="snappy", asbytes=True)
    file.write(_encoded(len(content) + _CRC_BYTES) + content + zlib.crc32(block).to_bytes(_CRC_BYTES, "big"))


def _write_zstandard(file: Any, block: bytes, level: int | None) -> None:
    import pyarrow as pa

    content = pa.Codec("zstd", level).compress(block, asbytes=True)
    file.write(_encoded(len(content)) + content)


def _size(file: Any) -> int:
    """Read the number of bytes of a block, a zigzag number that is not negative."""
    return _number(byte for byte in iter(lambda: file.read(1)[0], None)) >> 1


def _number(content: Iterator[int]) -> int:
    value = shift = 0
    for byte in content:
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
        shift += 7
    raise ValueError("a number has no end")


def _encoded(size: int) -> bytes:
    """Return the bytes of a size as a zigzag number."""
    value, encoded = size << 1, bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
