"""Columns of lake tables as SQL types, and SQL types as lake tables store them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scurry.sql.types.arrow import arrow_type, sql_type
from scurry.sql.types.atomic_types import LocalZonedTimestampType, SmallIntType, TimestampType, TimeType, TinyIntType
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType, MapType, RowField, RowType

if TYPE_CHECKING:
    import pyarrow as pa

#: Returns how a lake table stores a type without parts.
Stored: TypeAlias = "Callable[[DataType], pa.DataType]"


def row_of(schema: pa.Schema) -> RowType:
    """Return the row type of an Arrow schema.

    Raises:
        UnsupportedError: The type of a column is not supported in records.
    """
    fields = []
    for field in schema:
        try:
            fields.append(RowField(field.name, sql_type(field.type)))
        except ArgumentTypeError:
            raise UnsupportedError(
                f"column {field.name!r} is {field.type}, which no record can hold; leave it out with column_names(...)"
            ) from None
    return RowType(fields)


def check_lake_row(row: RowType) -> RowType:
    """Return a row type that lake tables can hold.

    Raises:
        UnsupportedError: Lake tables do not support one of its types.
    """
    for data_type in row.field_types():
        lake_type(data_type, _without_times)
    return row


def _without_times(data_type: DataType) -> pa.DataType:
    if isinstance(data_type, TimeType):
        raise UnsupportedError("lake tables hold no TIME here; declare a BIGINT or STRING and convert the values")
    return in_microseconds(data_type)


def in_microseconds(data_type: DataType) -> pa.DataType:
    """Return a type as Delta tables store it: timestamps in microseconds, points of time in UTC."""
    import pyarrow as pa

    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        return pa.timestamp("us", tz=None if isinstance(data_type, TimestampType) else "UTC")
    return arrow_type(data_type)


def without_small_integers(data_type: DataType) -> pa.DataType:
    """Return a type as Iceberg tables store it: without integers of less than 32 bits."""
    import pyarrow as pa

    return pa.int32() if isinstance(data_type, TinyIntType | SmallIntType) else in_microseconds(data_type)


def lake_type(data_type: DataType, stored: Stored = in_microseconds) -> pa.DataType:
    """Return the Arrow type in which a lake table stores a type."""
    import pyarrow as pa

    if isinstance(data_type, ArrayType):
        return pa.list_(lake_type(data_type.element_type, stored))
    if isinstance(data_type, MapType):
        return pa.map_(lake_type(data_type.key_type, stored), lake_type(data_type.value_type, stored))
    if isinstance(data_type, RowType):
        return pa.struct([(field.name, lake_type(field.data_type, stored)) for field in data_type])
    return stored(data_type)


def lake_schema(row: RowType, stored: Stored = in_microseconds) -> pa.Schema:
    """Return the columns of a row type as a lake table stores them."""
    import pyarrow as pa

    return pa.schema([(field.name, lake_type(field.data_type, stored)) for field in row])


def chosen(row: RowType, names: Sequence[str], table: str) -> RowType:
    """Select columns of a table's row type.

    Args:
        row: All columns.
        names: The columns to keep, in this order.
        table: The table's name for error messages.

    Raises:
        ArgumentError: The table lacks a column.
    """
    for name in names:
        if name not in row.names:
            raise ArgumentError(f"the {table} has no column {name!r}; it has {described(row)}")
    return RowType([row[name] for name in names])


def described(row: RowType) -> str:
    """Return the columns of a row as text for error messages."""
    return ", ".join(f"{field.name} {field.data_type.nullable().as_summary_string()}" for field in row)
