"""The rules of explicit casts (CAST), of implicit casts, and of casts that keep values distinct."""

from __future__ import annotations

from collections.abc import Callable

from scurry.sql.types.atomic_types import (
    MAX_LENGTH,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    LocalZonedTimestampType,
    NullType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.common_type import WIDTH
from scurry.sql.types.families import APPROXIMATE, BINARY, CHARACTER, INTEGER, INTERVAL, NUMERIC, TIMESTAMP, same_type
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType, MapType, MultisetType, RowType
from scurry.sql.types.special_types import RawType, VariantType


def supports_implicit_cast(source: DataType, target: DataType) -> bool:
    """Return whether an argument of a type is converted to another without being asked to."""
    if isinstance(source, NullType) or same_type(source, target):
        return True
    if isinstance(source, NUMERIC) and isinstance(target, NUMERIC):
        return _widens(source, target)
    if isinstance(source, CHARACTER):
        return isinstance(target, VarCharType) or (isinstance(source, CharType) and isinstance(target, CharType))
    if isinstance(source, BINARY):
        return isinstance(target, VarBinaryType) or (isinstance(source, BinaryType) and isinstance(target, BinaryType))
    if isinstance(source, DateType | TimeType):
        return type(source) is type(target)
    if isinstance(source, TimestampType):
        return isinstance(target, (DateType, TimeType, *TIMESTAMP))
    if isinstance(source, LocalZonedTimestampType):
        return isinstance(target, TIMESTAMP)
    if isinstance(source, INTERVAL):
        return type(source) is type(target)
    return _parts_support(source, target, supports_implicit_cast)


def _widens(source: DataType, target: DataType) -> bool:
    if isinstance(source, DoubleType):
        return isinstance(target, DoubleType | DecimalType)
    if isinstance(target, (DecimalType, *APPROXIMATE)):
        return True
    return isinstance(source, INTEGER) and isinstance(target, INTEGER) and WIDTH[type(source)] <= WIDTH[type(target)]


def supports_cast(source: DataType, target: DataType) -> bool:
    """Return whether CAST converts a type to another."""
    if isinstance(source, NullType) or same_type(source, target):
        return True
    if isinstance(target, CHARACTER):
        return not isinstance(source, VariantType)
    if isinstance(source, CHARACTER):
        return isinstance(target, (BooleanType, DateType, TimeType, *NUMERIC, *TIMESTAMP, *BINARY))
    if isinstance(source, (BooleanType, *NUMERIC)) and isinstance(target, (BooleanType, *NUMERIC)):
        return True
    if isinstance(source, BINARY):
        return isinstance(target, BINARY)
    if isinstance(source, RawType):
        return isinstance(target, BINARY)
    if isinstance(source, INTEGER) and isinstance(target, INTERVAL):
        return True
    if isinstance(source, INTERVAL):
        return type(source) is type(target)
    if isinstance(source, (DateType, TimeType, *TIMESTAMP)):
        return _casts_time(source, target)
    return _parts_support(source, target, supports_cast)


def _casts_time(source: DataType, target: DataType) -> bool:
    if isinstance(source, DateType):
        return isinstance(target, (DateType, *TIMESTAMP))
    if isinstance(source, TimeType):
        return isinstance(target, (TimeType, *TIMESTAMP))
    return isinstance(target, (DateType, TimeType, *TIMESTAMP))


def _parts_support(source: DataType, target: DataType, supports: Callable[[DataType, DataType], bool]) -> bool:
    if isinstance(source, ArrayType):
        return isinstance(target, ArrayType) and supports(source.element_type, target.element_type)
    if isinstance(source, MultisetType):
        return isinstance(target, MultisetType) and supports(source.element_type, target.element_type)
    if isinstance(source, MapType):
        return (
            isinstance(target, MapType)
            and supports(source.key_type, target.key_type)
            and supports(source.value_type, target.value_type)
        )
    if isinstance(source, RowType) and isinstance(target, RowType):
        return len(source.fields) == len(target.fields) and all(
            supports(one.data_type, other.data_type) for one, other in zip(source.fields, target.fields, strict=True)
        )
    return False


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
