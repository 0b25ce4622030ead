"""The common type of several types, to which values are converted implicitly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scurry.sql.types.atomic_types import (
    MAX_PRECISION,
    BigIntType,
    BinaryType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    IntType,
    LocalZonedTimestampType,
    NullType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.families import (
    APPROXIMATE,
    BINARY,
    CHARACTER,
    DOUBLE,
    EXACT,
    INTEGER,
    INTERVAL,
    NUMERIC,
    TIMESTAMP,
)
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType, MapType, MultisetType, RowField, RowType

#: Digits of the whole numbers.
WIDTH: Final[dict[type[DataType], int]] = {TinyIntType: 3, SmallIntType: 5, IntType: 10, BigIntType: 19}


def least_restrictive(types: Sequence[DataType]) -> DataType | None:
    """Return the type that CASE, set operations, comparisons and constructors give their values, as Calcite finds it.

    Returns:
        The type, nullable if any is; None if the types have no common one.
    """
    return _fold(types, first_approximate=True)


def find_common_type(types: Sequence[DataType]) -> DataType | None:
    """Return the type that COALESCE, GREATEST, functions of arrays and the like give their arguments.

    Returns:
        The type, nullable if any is; None if the types have no common one.
    """
    return _fold(types, first_approximate=False)


def _fold(types: Sequence[DataType], first_approximate: bool) -> DataType | None:
    nullable = any(each.is_nullable or isinstance(each, NullType) for each in types)
    known = [each for each in types if not isinstance(each, NullType)]
    if not known:
        return NullType() if types else None
    result = known[0]
    for each in known[1:]:
        merged = _merged(result, each, first_approximate)
        if merged is None:
            return None
        result = merged
    return result.with_nullability(nullable)


def _merged(left: DataType, right: DataType, first_approximate: bool) -> DataType | None:
    if left.nullable() == right.nullable():
        return left
    if isinstance(left, NUMERIC) and isinstance(right, NUMERIC):
        return _number(left, right, first_approximate)
    if isinstance(left, CHARACTER) and isinstance(right, CHARACTER):
        return _text(left, right)
    if isinstance(left, BINARY) and isinstance(right, BINARY):
        return _bytes(left, right)
    if isinstance(left, INTERVAL) and type(left) is type(right):
        return left
    time = _time_of_calcite(left, right) if first_approximate else _time(left, right)
    return time or _nested(left, right, first_approximate)


def _number(left: DataType, right: DataType, first_approximate: bool) -> DataType:
    if isinstance(left, APPROXIMATE) or isinstance(right, APPROXIMATE):
        if isinstance(left, DecimalType) or isinstance(right, DecimalType):
            return DOUBLE
        if isinstance(left, APPROXIMATE) and isinstance(right, APPROXIMATE):
            return left if first_approximate or isinstance(left, DoubleType) else right
        return left if isinstance(left, FloatType | DoubleType) else right
    if isinstance(left, INTEGER) and isinstance(right, INTEGER):
        return max(left, right, key=lambda each: WIDTH[type(each)])
    precision1, scale1 = _digits(left)
    precision2, scale2 = _digits(right)
    whole = max(precision1 - scale1, precision2 - scale2)
    # Without room for all digits, those before the point are kept.
    scale = min(max(scale1, scale2), MAX_PRECISION - whole)
    return DecimalType(whole + scale, scale)


def _digits(data_type: DataType) -> tuple[int, int]:
    assert isinstance(data_type, EXACT)
    if isinstance(data_type, IntegralType):
        return WIDTH[type(data_type)], 0
    return data_type.precision, data_type.scale


def _text(left: CharType | VarCharType, right: CharType | VarCharType) -> DataType:
    if isinstance(left, CharType) and isinstance(right, CharType) and left.length == right.length:
        return left
    return VarCharType.of_length(max(left.length, right.length))


def _bytes(left: BinaryType | VarBinaryType, right: BinaryType | VarBinaryType) -> DataType:
    if isinstance(left, BinaryType) and isinstance(right, BinaryType) and left.length == right.length:
        return left
    return VarBinaryType.of_length(max(left.length, right.length))


def _time_of_calcite(left: DataType, right: DataType) -> DataType | None:
    if isinstance(left, DateType) and isinstance(right, TIMESTAMP):
        return right.as_time_attribute(None)
    if isinstance(right, DateType) and isinstance(left, TIMESTAMP):
        return left.as_time_attribute(None)
    if isinstance(left, TIMESTAMP) and isinstance(right, TIMESTAMP) and type(left) is not type(right):
        if left.precision == right.precision:
            return left.as_time_attribute(None)
        return type(right)(max(left.precision, right.precision))
    return _time(left, right)


def _time(left: DataType, right: DataType) -> DataType | None:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, DateType | TimeType) and isinstance(other, TimestampType):
            return one
    if isinstance(left, TimeType) and isinstance(right, TimeType):
        return max(left, right, key=lambda each: each.precision)
    if isinstance(left, TIMESTAMP) and isinstance(right, TIMESTAMP):
        precision = max(left.precision, right.precision)
        if isinstance(left, LocalZonedTimestampType) or isinstance(right, LocalZonedTimestampType):
            return LocalZonedTimestampType(precision)
        return TimestampType(precision)
    return None


def _nested(left: DataType, right: DataType, first_approximate: bool) -> DataType | None:
    def common(one: DataType, other: DataType) -> DataType | None:
        return _fold([one, other], first_approximate)

    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        element = common(left.element_type, right.element_type)
        return None if element is None else ArrayType(element)
    if isinstance(left, MultisetType) and isinstance(right, MultisetType):
        element = common(left.element_type, right.element_type)
        return None if element is None else MultisetType(element)
    if isinstance(left, MapType) and isinstance(right, MapType):
        key, value = common(left.key_type, right.key_type), common(left.value_type, right.value_type)
        return None if key is None or value is None else MapType(key, value)
    if isinstance(left, RowType) and isinstance(right, RowType) and len(left) == len(right):
        types = [common(one.data_type, other.data_type) for one, other in zip(left, right, strict=True)]
        if all(each is not None for each in types):
            return RowType([RowField(name, each) for name, each in zip(left.names, types, strict=True) if each])
    return None
