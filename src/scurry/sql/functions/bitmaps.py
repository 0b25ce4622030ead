"""Sets of whole numbers of 32 bits in the portable format of Roaring bitmaps, without runs."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from scurry.errors import EvaluationError

__all__ = ["bitmap_of", "members"]

_WITHOUT_RUNS: Final = 12_346
_WITH_RUNS: Final = 12_347
#: More members than that are kept as bits, not as a list.
_LONGEST_LIST: Final = 4096


def bitmap_of(numbers: Iterable[int]) -> bytes:
    """Return the bitmap of whole numbers; negative ones are their bits without sign."""
    distinct = sorted({number & 0xFFFF_FFFF for number in numbers})
    parts = [
        (high, [number & 0xFFFF for number in group]) for high, group in groupby(distinct, lambda each: each >> 16)
    ]
    header = struct.pack("<II", _WITHOUT_RUNS, len(parts))
    header += b"".join(struct.pack("<HH", high, len(low) - 1) for high, low in parts)
    contents = [_container(low) for _, low in parts]
    offset = len(header) + 4 * len(parts)
    offsets = b""
    for content in contents:
        offsets += struct.pack("<I", offset)
        offset += len(content)
    return header + offsets + b"".join(contents)


def _container(low: list[int]) -> bytes:
    if len(low) <= _LONGEST_LIST:
        return struct.pack(f"<{len(low)}H", *low)
    bits = bytearray(8192)
    for number in low:
        bits[number >> 3] |= 1 << (number & 7)
    return bytes(bits)


def members(bitmap: bytes) -> list[int]:
    """Return the numbers of a bitmap in order, without signs.

    Raises:
        EvaluationError: The bytes are no bitmap.
    """
    try:
        return _members(bitmap)
    except (struct.error, IndexError) as error:
        raise EvaluationError("Failed to deserialize bitmap from bytes.") from error


def _members(bitmap: bytes) -> list[int]:
    (cookie,) = struct.unpack_from("<I", bitmap)
    runs = 0
    if cookie & 0xFFFF == _WITH_RUNS:
        size, at = (cookie >> 16) + 1, 4
        runs = int.from_bytes(bitmap[4 : 4 + (size + 7) // 8], "little")
        at += (size + 7) // 8
    elif cookie == _WITHOUT_RUNS:
        (size,) = struct.unpack_from("<I", bitmap, 4)
        at = 8
    else:
        raise EvaluationError("Failed to deserialize bitmap from bytes.")
    heads = [struct.unpack_from("<HH", bitmap, at + 4 * number) for number in range(size)]
    at += 4 * size
    if cookie == _WITHOUT_RUNS or size >= 4:
        at += 4 * size
    found: list[int] = []
    for number, (high, count) in enumerate(heads):
        low, at = _contents(bitmap, at, count + 1, bool(runs >> number & 1))
        found.extend(high << 16 | each for each in low)
    return found


def _contents(bitmap: bytes, at: int, count: int, is_runs: bool) -> tuple[list[int], int]:
    """Return the members of a container, and where the next one begins."""
    if is_runs:
        (runs,) = struct.unpack_from("<H", bitmap, at)
        pairs = [struct.unpack_from("<HH", bitmap, at + 2 + 4 * number) for number in range(runs)]
        return [each for start, length in pairs for each in range(start, start + length + 1)], at + 2 + 4 * runs
    if count <= _LONGEST_LIST:
        return list(struct.unpack_from(f"<{count}H", bitmap, at)), at + 2 * count
    return [number for number in range(65_536) if bitmap[at + (number >> 3)] >> (number & 7) & 1], at + 8192
