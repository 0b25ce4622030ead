"""Conversion of columns to the Python values of stream records."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    DayTimeIntervalType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    StructuredType,
    TimestampType,
    TimeType,
    VarBinaryType,
)
from scurry.sql.types.arrow import units_per_second
from scurry.sql.types.values import to_values
from scurry.sql.values.converters import Convert, converted, naive_datetime

if TYPE_CHECKING:
    import pyarrow

__all__ = ["record_values"]


_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()


def record_values(column: pyarrow.Array, data_type: DataType) -> list[Any]:
    """Return the values of a column, None for NULL.

    Args:
        column: The column.
        data_type: Its SQL type.

    Returns:
        The values: those of `datetime` for dates, times and timestamps, `Instant` for points of time, list for ARRAY,
        dict for MAP, Row with names for ROW, tuple for tuples of streams.
    """
    convert = _converter(data_type)
    values = to_values(column)
    return values if convert is None else [None if value is None else convert(value) for value in values]


def _converter(data_type: DataType) -> Convert | None:
    """Return what makes a Python value of a value of `to_values`; None if it is the same."""
    if isinstance(data_type, TimestampType):
        return naive_datetime(units_per_second(data_type))
    if isinstance(data_type, LocalZonedTimestampType):
        return _instant(units_per_second(data_type))
    if isinstance(data_type, ArrayType):
        element = _converter(data_type.element_type)
        return None if element is None else lambda values: [None if each is None else element(each) for each in values]
    if isinstance(data_type, MapType):
        return _dict(data_type.key_type, data_type.value_type)
    if isinstance(data_type, MultisetType):
        return _dict(data_type.element_type, IntType())
    if isinstance(data_type, RowType):
        return _row(data_type)
    return _SIMPLE.get(type(data_type))


def _instant(per_second: int) -> Convert:
    def convert(value: int) -> Instant:
        seconds, rest = divmod(value, per_second)
        return Instant(seconds, rest * (1_000_000_000 // per_second))

    return convert


def _dict(key_type: DataType, value_type: DataType) -> Convert:
    keys, items = converted(_converter(key_type)), converted(_converter(value_type))
    return lambda pairs: {keys(key): items(item) for key, item in pairs}


def _row(data_type: RowType) -> Convert:
    fields = [converted(_converter(each)) for each in data_type.field_types()]
    names = tuple(data_type.field_names())
    if isinstance(data_type, StructuredType) and data_type.is_tuple:
        return lambda values: tuple([one(each) for one, each in zip(fields, values, strict=True)])
    return lambda values: Row._from_values([one(each) for one, each in zip(fields, values, strict=True)], names)


_SIMPLE: dict[type[DataType], Convert] = {
    BinaryType: bytes,
    VarBinaryType: bytes,
    DateType: lambda days: datetime.date.fromordinal(_EPOCH_DAY + days),
    TimeType: lambda millis: (_EPOCH + datetime.timedelta(milliseconds=millis)).time(),
    DayTimeIntervalType: lambda millis: datetime.timedelta(milliseconds=millis),
}
