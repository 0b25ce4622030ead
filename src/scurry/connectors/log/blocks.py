"""Blocks of records: the unit in which a log is written, checked and read.

A block is a header and a body. The header has the checksum of all but the offset, which is only known when the block
is appended: a block that was staged is published by writing another offset into its header.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

#: key, value, timestamp in milliseconds, headers
Entry = tuple["bytes | None", "bytes | None", int, "Sequence[tuple[str, bytes | None]] | None"]

#: Records of a block, at most; a reader decodes whole blocks.
BLOCK_RECORDS = 4096
#: Bytes of keys and values of a block, unless a single record has more.
BLOCK_BYTES = 1 << 20

_MAGIC = b"SLB1"
#: magic, checksum, first offset, bytes of the body, records, largest timestamp, what the body has
_HEADER = struct.Struct("<4sIQIIqI")
HEADER_BYTES = _HEADER.size
_CHECKED_FROM = struct.calcsize("<4sIQ")
_OFFSET = struct.Struct("<Q")
_OFFSET_AT = struct.calcsize("<4sI")
_HAS_KEYS, _HAS_HEADERS = 1, 2
_LENGTH = struct.Struct("<i")


class Damage(Exception):
    """Bytes that are no block."""


class Header(NamedTuple):
    """The fields of the header of a block.

    Attributes:
        checksum: Of the rest of the header and the body.
        offset: The offset of the first record.
        size: Number of bytes of the body.
        records: Number of records.
        latest: The largest timestamp, in milliseconds.
        flags: Parts of the body besides values.
    """

    checksum: int
    offset: int
    size: int
    records: int
    latest: int
    flags: int

    @property
    def end(self) -> int:
        """Return the offset after the last record."""
        return self.offset + self.records


class Columns(NamedTuple):
    """The records of a block, in columns; `keys` and `headers` are None if no record has any."""

    timestamps: list[int]
    keys: list[bytes | None] | None
    values: list[bytes | None]
    headers: list[tuple[tuple[str, bytes | None], ...]] | None


def encoded(entries: Sequence[Entry]) -> Iterator[bytes]:
    """Yield the blocks of some records, with 0 as their offset."""
    for begin in range(0, len(entries), BLOCK_RECORDS):
        yield from _within_bytes(entries[begin : begin + BLOCK_RECORDS])


def _within_bytes(entries: Sequence[Entry]) -> Iterator[bytes]:
    size = sum(len(value or b"") + len(key or b"") for key, value, _, _ in entries)
    if size <= BLOCK_BYTES or len(entries) == 1:
        yield _block(entries)
        return
    half = len(entries) // 2
    yield from _within_bytes(entries[:half])
    yield from _within_bytes(entries[half:])


def _block(entries: Sequence[Entry]) -> bytes:
    keys, values, times, headers = zip(*entries, strict=True)
    flags, texts = 0, [values]
    if any(key is not None for key in keys):
        flags |= _HAS_KEYS
        texts.append(keys)
    if any(headers):
        flags |= _HAS_HEADERS
        texts.append(tuple(map(_packed_headers, headers)))
    parts = [np.array(times, "<i8").tobytes()]
    parts += [
        np.fromiter((-1 if text is None else len(text) for text in column), "<i4", len(column)).tobytes()
        for column in texts
    ]
    parts += [b"".join([text for text in column if text is not None]) for column in texts]
    body = b"".join(parts)
    head = _HEADER.pack(_MAGIC, 0, 0, len(body), len(entries), max(times), flags)
    checksum = zlib.crc32(body, zlib.crc32(head[_CHECKED_FROM:]))
    return _HEADER.pack(_MAGIC, checksum, 0, len(body), len(entries), max(times), flags) + body


def _packed_headers(headers: Sequence[tuple[str, bytes | None]] | None) -> bytes:
    packed = bytearray()
    for name, value in headers or ():
        encoded_name = name.encode()
        packed += _LENGTH.pack(len(encoded_name)) + encoded_name
        packed += _LENGTH.pack(-1 if value is None else len(value)) + (value or b"")
    return bytes(packed)


def _unpacked_headers(packed: bytes) -> tuple[tuple[str, bytes | None], ...]:
    found, at = list[tuple[str, "bytes | None"]](), 0
    while at < len(packed):
        (length,) = _LENGTH.unpack_from(packed, at)
        name = packed[at + 4 : at + 4 + length].decode()
        at += 4 + length
        (length,) = _LENGTH.unpack_from(packed, at)
        found.append((name, None if length < 0 else packed[at + 4 : at + 4 + length]))
        at += 4 + max(0, length)
    return tuple(found)


def placed(block: bytes, offset: int) -> bytearray:
    """Return a block whose first record has an offset."""
    moved = bytearray(block)
    _OFFSET.pack_into(moved, _OFFSET_AT, offset)
    return moved


def header_of(head: bytes) -> Header:
    """Return the header in the first bytes of a block.

    Raises:
        Damage: They are no header.
    """
    if len(head) < HEADER_BYTES or not head.startswith(_MAGIC):
        raise Damage("there is no block")
    return Header(*_HEADER.unpack_from(head)[1:])


def decoded(head: bytes, header: Header, body: bytes) -> Columns:
    """Return the records of a block.

    Raises:
        Damage: The checksum is another one.
    """
    if len(body) < header.size or zlib.crc32(body, zlib.crc32(head[_CHECKED_FROM:])) != header.checksum:
        raise Damage("the checksum of a block does not fit its content")
    count, at = header.records, 8 * header.records
    columns = 1 + bool(header.flags & _HAS_KEYS) + bool(header.flags & _HAS_HEADERS)
    lengths = np.frombuffer(body, "<i4", columns * count, at).reshape(columns, count)
    at += 4 * columns * count
    texts = []
    for each in lengths:
        present = np.maximum(each, 0)
        ends = at + np.cumsum(present)
        starts, last = (ends - present).tolist(), ends.tolist()
        column: list[bytes | None] = [body[start:end] for start, end in zip(starts, last, strict=True)]
        if each.min() < 0:
            column = [None if length < 0 else text for text, length in zip(column, each.tolist(), strict=True)]
        texts.append(column)
        at = last[-1]
    keys = texts[1] if header.flags & _HAS_KEYS else None
    headers = [_unpacked_headers(text or b"") for text in texts[-1]] if header.flags & _HAS_HEADERS else None
    return Columns(np.frombuffer(body, "<i8", count).tolist(), keys, texts[0], headers)
