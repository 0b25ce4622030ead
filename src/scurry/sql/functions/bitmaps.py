"""Sets of whole numbers of 32 bits in the portable format of Roaring bitmaps, without runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from scurry.errors import EvaluationError

#: `pyroaring.BitMap`
Bits: TypeAlias = Any
#: The first two bytes of a bitmap with runs.
_WITH_RUNS = b"\x3b\x30"


def bits_of(numbers: Iterable[int]) -> Bits:
    """Return the set of whole numbers; negative ones are their bits without sign."""
    from pyroaring import BitMap  # not needed by programs without bitmaps

    return BitMap([number & 0xFFFF_FFFF for number in numbers], optimize=False)


def packed(bits: Bits) -> bytes:
    """Return the bitmap of a set, which is the same for equal sets."""
    found: bytes = bits.serialize()
    return bits_of(bits).serialize() if found.startswith(_WITH_RUNS) else found


def unpacked(bitmap: bytes) -> Bits:
    """Return the set of a bitmap.

    Raises:
        EvaluationError: The bytes are no bitmap.
    """
    from pyroaring import BitMap

    try:
        return BitMap.deserialize(bitmap)
    except (ValueError, IndexError) as error:
        raise EvaluationError("Failed to deserialize bitmap from bytes.") from error
