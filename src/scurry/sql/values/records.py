"""Conversion of columns to the records of streams, and back."""

from __future__ import annotations

import datetime
import decimal
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._epoch import days_of_date, micros_of_datetime, millis_of_time
from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.errors import TypeMismatchError
from scurry.sql import types
from scurry.sql.types.arrow import arrow_type, units_per_second
from scurry.sql.types.values import from_values, to_values
from scurry.sql.values.converters import Convert, FromPython, ToPython, naive_datetime, units_of_instant

if TYPE_CHECKING:
    import pyarrow


def record_values(column: pyarrow.Array, data_type: types.DataType) -> list[Any]:
    """Return the values of a column, None for NULL.

    Args:
        data_type: Its SQL type.

    Returns:
        The values: those of `datetime` for dates, times and timestamps, `Instant` for points of time, list for ARRAY,
        dict for MAP, Row with names for ROW, tuple for tuples of streams.
    """
    return record_reader(data_type)(column)


def record_reader(data_type: types.DataType, utc: bool = True) -> Callable[[pyarrow.Array], list[Any]]:
    """Return the function that makes the values of a column, as `record_values` does.

    Args:
        utc: Leave TIMESTAMPs as they are; otherwise they are in UTC, and converted to the machine's time zone.
    """
    convert = (_RECORDS if utc or not _zone_matters() else _LOCAL_RECORDS).converter(data_type)
    if convert is None:
        return to_values
    return lambda column: [None if value is None else convert(value) for value in to_values(column)]


class _Records(ToPython):
    simple = {
        types.BinaryType: bytes,
        types.VarBinaryType: bytes,
        types.DayTimeIntervalType: lambda millis: datetime.timedelta(milliseconds=millis),
    }

    def row(self, data_type: types.RowType, fields: list[Convert]) -> Convert:
        if isinstance(data_type, types.StructuredType) and data_type.is_tuple:
            return lambda values: tuple([one(each) for one, each in zip(fields, values, strict=True)])
        return super().row(data_type, fields)


class _LocalRecords(_Records):
    def timestamp(self, per_second: int) -> Convert:
        naive = naive_datetime(per_second)
        return lambda value: naive(value).replace(tzinfo=datetime.UTC).astimezone().replace(tzinfo=None)


_RECORDS, _LOCAL_RECORDS = _Records(), _LocalRecords()


def _zone_matters() -> bool:
    return bool(time.timezone or time.daylight)


def values_of(record: Any, names: Sequence[str]) -> Sequence[Any]:
    """Return the values of a row, tuple, list or dict in the order of columns.

    Raises:
        TypeMismatchError: The record is none of these, or has another number of fields.
    """
    if isinstance(record, Row):
        values: Sequence[Any] = record.get_fields_by_names(names)
    elif isinstance(record, dict):
        values = [record[name] for name in names]
    elif isinstance(record, (tuple, list)):
        values = record
    else:
        raise TypeMismatchError(f"ROW<{', '.join(names)}>", record, "a file of columns needs rows")
    if len(values) != len(names):
        raise TypeMismatchError(f"ROW<{', '.join(names)}>", record, f"it has {len(values)} fields, not {len(names)}")
    return values


class RecordColumn:
    """Makes columns of a type out of values of records.

    Args:
        utc: Leave TIMESTAMPs as they are; otherwise they are in the machine's time zone, and converted to UTC.
    """

    def __init__(self, data_type: types.DataType, utc: bool = True) -> None:
        self._type = data_type
        self._kind = arrow_type(data_type)
        utc = utc or not _zone_matters()
        self._convert = None if _arrow_converts(data_type, utc) else _FromRecords(utc).part(data_type)

    def __call__(self, values: Sequence[Any]) -> pyarrow.Array:
        """Return the column of some values.

        Raises:
            TypeMismatchError: One is no value of the type.
        """
        try:
            return self._column(values)
        except _MISFITS:
            for value in values:
                try:
                    self._column([value])
                except TypeMismatchError:
                    raise
                except _MISFITS as error:
                    raise TypeMismatchError(self._type.as_summary_string(), value, str(error)) from None
            raise

    def _column(self, values: Sequence[Any]) -> pyarrow.Array:
        import pyarrow as pa

        if self._convert is None:
            return pa.array(values, self._kind)
        return from_values(list(map(self._convert, values)), self._type)


#: Errors of conversions of other values, those of pyarrow included.
_MISFITS = (TypeError, ValueError, ArithmeticError, AttributeError, LookupError, TypeMismatchError)
_PLAIN = (
    types.BooleanType,
    types.IntegralType,
    types.FractionalType,
    types.CharType,
    types.VarCharType,
    types.BinaryType,
    types.VarBinaryType,
    types.DateType,
)


def _arrow_converts(data_type: types.DataType, utc: bool) -> bool:
    """Return whether pyarrow makes columns of the Python values, which is quickest."""
    if isinstance(data_type, types.ArrayType):
        return _arrow_converts(data_type.element_type, utc)
    if isinstance(data_type, types.DecimalType):
        return False
    return isinstance(data_type, _PLAIN) or (utc and isinstance(data_type, types.TimestampType))


class _FromRecords(FromPython):
    def __init__(self, utc: bool) -> None:
        self._utc = utc

    def atom(self, data_type: types.DataType) -> Convert:
        if isinstance(data_type, types.DecimalType):
            return _decimal(data_type)
        if isinstance(data_type, types.LocalZonedTimestampType):
            return _instant(units_per_second(data_type))
        if isinstance(data_type, types.TimestampType):
            return _timestamp(units_per_second(data_type), self._utc)
        return _TEMPORAL.get(type(data_type), _same)

    def fields(self, data_type: types.RowType) -> Callable[[Any], Sequence[Any]]:
        names = data_type.field_names()
        return lambda value: values_of(value, names)


_TEMPORAL: dict[type[types.DataType], Convert] = {types.DateType: days_of_date, types.TimeType: millis_of_time}


def _same(value: Any) -> Any:
    return value


def _instant(per_second: int) -> Convert:
    def convert(value: Any) -> int:
        if isinstance(value, Instant):
            return units_of_instant(value, per_second)
        return micros_of_datetime(value) * per_second // 1_000_000

    return convert


def _timestamp(per_second: int, utc: bool) -> Convert:
    def convert(value: datetime.datetime) -> int:
        if not utc:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        return micros_of_datetime(value) * per_second // 1_000_000

    return convert


def _decimal(data_type: types.DecimalType) -> Convert:
    rounded = rounding(data_type.precision, data_type.scale)

    def convert(value: Any) -> Any:
        if not isinstance(value, decimal.Decimal):
            return value
        fitting = rounded(value)
        if fitting is None:
            raise TypeMismatchError(
                f"DECIMAL({data_type.precision}, {data_type.scale})",
                value,
                "it has more digits before the point; Flink would write null",
            )
        return fitting

    return convert


def rounding(precision: int, scale: int) -> Callable[[decimal.Decimal], decimal.Decimal | None]:
    """Return a function that rounds half up to the scale, like Flink, or returns None if the precision is exceeded."""
    unit = decimal.Decimal(1).scaleb(-scale)
    context = decimal.Context(prec=precision, rounding=decimal.ROUND_HALF_UP, traps=[decimal.InvalidOperation])

    def rounded(value: decimal.Decimal) -> decimal.Decimal | None:
        try:
            return value.quantize(unit, None, context)
        except decimal.InvalidOperation:
            return None

    return rounded
