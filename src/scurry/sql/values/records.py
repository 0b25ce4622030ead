"""Conversion of columns to the records of streams."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from scurry.sql.types import (
    BinaryType,
    DataType,
    DayTimeIntervalType,
    RowType,
    StructuredType,
    VarBinaryType,
)
from scurry.sql.types.values import to_values
from scurry.sql.values.converters import Convert, ToPython

if TYPE_CHECKING:
    import pyarrow


def record_values(column: pyarrow.Array, data_type: DataType) -> list[Any]:
    """Return the values of a column, None for NULL.

    Args:
        column: The column.
        data_type: Its SQL type.

    Returns:
        The values: those of `datetime` for dates, times and timestamps, `Instant` for points of time, list for ARRAY,
        dict for MAP, Row with names for ROW, tuple for tuples of streams.
    """
    convert = _RECORDS.converter(data_type)
    values = to_values(column)
    return values if convert is None else [None if value is None else convert(value) for value in values]


class _Records(ToPython):
    simple = {
        BinaryType: bytes,
        VarBinaryType: bytes,
        DayTimeIntervalType: lambda millis: datetime.timedelta(milliseconds=millis),
    }

    def row(self, data_type: RowType, fields: list[Convert]) -> Convert:
        if isinstance(data_type, StructuredType) and data_type.is_tuple:
            return lambda values: tuple([one(each) for one, each in zip(fields, values, strict=True)])
        return super().row(data_type, fields)


_RECORDS = _Records()
