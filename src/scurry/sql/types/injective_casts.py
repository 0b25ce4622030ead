"""Casts that keep different values apart, so that a key stays a key."""

from __future__ import annotations

from scurry.sql.types.atomic_types import (
    MAX_LENGTH,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    TimeType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.common_type import WIDTH
from scurry.sql.types.families import APPROXIMATE, BINARY, CHARACTER, INTEGER, TIMESTAMP, same_type
from scurry.sql.types.logical_type import DataType

#: No text of a number, a date, a time or a point of time is longer.
_LONGEST = 32
#: A character has no more bytes.
_BYTES = 4
#: The length of STRING and BYTES.


def is_injective_cast(source: DataType, target: DataType) -> bool:
    """Return whether a cast gives different values different results.

    Args:
        source: The type of the values; it matters not whether they may be NULL.
        target: The type of the results.
    """
    if same_type(source, target):
        return True
    if isinstance(source, INTEGER) and isinstance(target, INTEGER):
        return WIDTH[type(source)] <= WIDTH[type(target)]
    if isinstance(source, TIMESTAMP) and isinstance(target, TIMESTAMP):
        return source.precision == target.precision
    if isinstance(source, CHARACTER):
        if isinstance(target, VarBinaryType):
            return target.length >= min(source.length * _BYTES, MAX_LENGTH)
        is_padded = isinstance(source, VarCharType) and isinstance(target, CharType)
        return isinstance(target, CHARACTER) and not is_padded and source.length <= target.length
    if isinstance(source, BINARY):
        is_padded = isinstance(source, VarBinaryType) and isinstance(target, BinaryType)
        return isinstance(target, BINARY) and not is_padded and source.length <= target.length
    is_told = isinstance(source, (*INTEGER, *APPROXIMATE, *TIMESTAMP, BooleanType, DateType, TimeType))
    return is_told and isinstance(target, CHARACTER) and target.length >= _LONGEST
