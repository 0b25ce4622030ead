"""Conversion of columns to the arguments of user-defined functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.errors import UnsupportedError
from scurry.sql.functions.time_zones import zone
from scurry.sql.types import DataType, DayTimeIntervalType, MultisetType, RawType, YearMonthIntervalType
from scurry.sql.types.values import to_values
from scurry.sql.values.converters import Convert, ToPython, naive_datetime

if TYPE_CHECKING:
    import pyarrow


_NO_VALUES = (MultisetType, RawType, DayTimeIntervalType, YearMonthIntervalType)


def python_values(column: pyarrow.Array, data_type: DataType, time_zone: str) -> list[Any]:
    """Return the values of a column, None for NULL.

    Args:
        data_type: Its SQL type.
        time_zone: The session's time zone, which points of time have.

    Returns:
        The values: those of `datetime` for dates and times, list for ARRAY, dict for MAP, Row for ROW.

    Raises:
        UnsupportedError: PyFlink passes no values of the type to functions.
    """
    convert = _Arguments(time_zone).converter(data_type)
    values = to_values(column)
    return values if convert is None else [None if value is None else convert(value) for value in values]


class _Arguments(ToPython):
    def __init__(self, time_zone: str) -> None:
        self._time_zone = time_zone

    def converter(self, data_type: DataType) -> Convert | None:
        if isinstance(data_type, _NO_VALUES):
            raise UnsupportedError(
                f"Python UDF doesn't support logical type {data_type.as_summary_string()} currently: cast the argument"
            )
        return super().converter(data_type)

    def instant(self, per_second: int) -> Convert:
        # PyFlink's coder puts the session's zone on the wall clock of UTC, and drops it again from results.
        naive, local = naive_datetime(per_second), zone(self._time_zone)
        return lambda value: naive(value).replace(tzinfo=local)
