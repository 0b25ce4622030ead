"""Rows as batches of pandas and Arrow."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from scurry.common.types import Row
from scurry.errors import ArgumentError, ScurryError
from scurry.sql import types
from scurry.sql.types.families import without_time_attribute

Columns = Sequence[tuple[str, types.DataType]]


def require_batches(table: Any) -> Columns:
    """Return names and types of the columns of a table.

    Raises:
        ValueError: A column has no type in Arrow, such as a MULTISET.
    """
    schema = table.get_schema()
    columns = list(
        zip(schema.get_field_names(), map(without_time_attribute, schema.get_field_data_types()), strict=True)
    )
    for name, kind in columns:
        try:
            _arrow_type(kind)
        except (ScurryError, TypeError, ValueError):
            raise ArgumentError(
                f"column '{name}' has the type {kind.as_summary_string()}, which is not supported in batches"
            ) from None
    return columns


def _arrow_type(kind: types.DataType) -> Any:
    """Return the type in Arrow of the values of rows."""
    import pyarrow as pa

    from scurry.sql.types.arrow import arrow_type

    if isinstance(kind, types.MultisetType | types.DayTimeIntervalType | types.YearMonthIntervalType | types.RawType):
        raise ArgumentError(f"{kind.as_summary_string()} is not supported")
    if isinstance(kind, types.ArrayType):
        return pa.list_(_field("item", kind.element_type))
    if isinstance(kind, types.MapType):
        return pa.map_(_arrow_type(kind.key_type), _field("value", kind.value_type))
    if isinstance(kind, types.RowType):
        return pa.struct([_field(each.name, each.data_type) for each in kind.fields])
    if isinstance(kind, types.LocalZonedTimestampType):
        return pa.timestamp("us", "UTC")
    if isinstance(kind, types.TimestampType):
        return pa.timestamp("ms" if kind.precision <= 3 else "us")
    if isinstance(kind, types.TimeType):
        return pa.time32("ms") if kind.precision <= 3 else pa.time64("us")
    return arrow_type(kind)


def _field(name: str, kind: types.DataType) -> Any:
    import pyarrow as pa

    return pa.field(name, _arrow_type(kind), kind.is_nullable)


def batch_of(rows: Sequence[Row], columns: Columns, kind: str | None, batch_format: str) -> Any:
    """Return rows as a table of Arrow or a DataFrame of pandas.

    Args:
        rows: The rows.
        columns: Names and types of the columns.
        kind: The name of a last column of the kinds of changes; None for none.
        batch_format: `pandas` or `pyarrow`.
    """
    import pyarrow as pa

    arrays = [
        pa.array([_plain(row[place], each) for row in rows], _arrow_type(each))
        for place, (_, each) in enumerate(columns)
    ]
    fields = [_field(name, each) for name, each in columns]
    if kind is not None:
        arrays.append(pa.array([str(row.get_row_kind()) for row in rows], pa.string()))
        fields.append(pa.field(kind, pa.string(), False))
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    return table.to_pandas() if batch_format == "pandas" else table


def empty_batch(columns: Columns, kind: str | None, batch_format: str) -> Any:
    """Return a batch without rows, which has the columns."""
    return batch_of([], columns, kind, batch_format)


def _plain(value: Any, kind: types.DataType) -> Any:
    """Return a value of a row as Arrow takes it."""
    if value is None:
        return None
    if isinstance(kind, types.RowType):
        return {each.name: _plain(part, each.data_type) for each, part in zip(kind.fields, value, strict=True)}
    if isinstance(kind, types.ArrayType):
        return [_plain(each, kind.element_type) for each in value]
    if isinstance(kind, types.MapType) and isinstance(value, Mapping):
        return [(_plain(key, kind.key_type), _plain(each, kind.value_type)) for key, each in value.items()]
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(kind, types.LocalZonedTimestampType):
        return _instant(value)
    return value


def _instant(value: Any) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value
    whole = datetime.datetime.fromtimestamp(value.seconds, datetime.UTC)
    return whole + datetime.timedelta(microseconds=value.nanos // 1000)
