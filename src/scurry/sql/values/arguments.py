"""Conversion of columns to the Python values that functions of users get."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from scurry.common.types import Row
from scurry.errors import UnsupportedError
from scurry.sql.functions.time_zones import zone
from scurry.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RawType,
    RowType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)
from scurry.sql.types.arrow import units_per_second
from scurry.sql.types.values import to_values
from scurry.sql.values.converters import Convert, converted, naive_datetime

if TYPE_CHECKING:
    import pyarrow

__all__ = ["python_values"]


_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_NO_VALUES = (MultisetType, RawType, DayTimeIntervalType, YearMonthIntervalType)


def python_values(column: pyarrow.Array, data_type: DataType, time_zone: str) -> list[Any]:
    """Return the values of a column, None for NULL.

    Args:
        column: The column.
        data_type: Its SQL type.
        time_zone: The session's time zone, which points of time have.

    Returns:
        The values: those of `datetime` for dates and times, list for ARRAY, dict for MAP, Row for ROW.

    Raises:
        UnsupportedError: PyFlink hands no values of the type to functions.
    """
    convert = _converter(data_type, time_zone)
    values = to_values(column)
    return values if convert is None else [None if value is None else convert(value) for value in values]


def _converter(data_type: DataType, time_zone: str) -> Convert | None:
    """Return what makes a Python value of a value of `to_values`; None if it is the same."""
    if isinstance(data_type, _NO_VALUES):
        raise UnsupportedError(
            f"Python UDF doesn't support logical type {data_type.as_summary_string()} currently: cast the argument"
        )
    if isinstance(data_type, TimestampType):
        return naive_datetime(units_per_second(data_type))
    if isinstance(data_type, LocalZonedTimestampType):
        return _local_datetime(units_per_second(data_type), zone(time_zone))
    if isinstance(data_type, ArrayType):
        return _list(_converter(data_type.element_type, time_zone))
    if isinstance(data_type, MapType):
        return _dict(_converter(data_type.key_type, time_zone), _converter(data_type.value_type, time_zone))
    if isinstance(data_type, RowType):
        return _row(data_type, time_zone)
    return _SIMPLE.get(type(data_type))


def _local_datetime(per_second: int, zone: datetime.tzinfo) -> Convert:
    # PyFlink's coder puts the session's zone on the wall clock of UTC, and drops it again from results.
    naive = naive_datetime(per_second)
    return lambda value: naive(value).replace(tzinfo=zone)


def _list(element: Convert | None) -> Convert | None:
    if element is None:
        return None
    return lambda values: [None if value is None else element(value) for value in values]


def _dict(key: Convert | None, item: Convert | None) -> Convert:
    if key is None and item is None:
        return dict
    keys, items = converted(key), converted(item)
    return lambda pairs: {keys(one): items(other) for one, other in pairs}


def _row(data_type: RowType, time_zone: str) -> Convert:
    converters = [converted(_converter(each, time_zone)) for each in data_type.field_types()]
    names = tuple(data_type.field_names())

    def convert(values: tuple[Any, ...]) -> Row:
        return Row._from_values([one(value) for one, value in zip(converters, values, strict=True)], names)

    return convert


_SIMPLE: dict[type[DataType], Convert] = {
    DateType: lambda days: datetime.date.fromordinal(_EPOCH_DAY + days),
    TimeType: lambda millis: (_EPOCH + datetime.timedelta(milliseconds=millis)).time(),
}
