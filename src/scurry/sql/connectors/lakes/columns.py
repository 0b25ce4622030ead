"""Columns of tables as lake tables store them: timestamps in microseconds, those with a time zone in UTC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scurry.connectors.files.formats.column_types import ColumnType
from scurry.connectors.lakes.columns import described, for_lakes, row_of
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.connectors.contract import Changes
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.arrow import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa


def lake_row(columns: Sequence[FormatColumn]) -> ColumnType:
    """Return the columns as lake tables store them.

    Raises:
        UnsupportedError: Lake tables do not have the type of a column.
    """
    import pyarrow as pa

    for column in columns:
        kind = column.type
        if isinstance(kind, TimestampType | LocalZonedTimestampType) and kind.precision > 6:
            raise UnsupportedError(
                f"column '{column.name}' is {kind.as_summary_string()}, lake tables have microseconds: declare at most "
                "6 digits"
            )
    return for_lakes(row_of(pa.schema([(column.name, _lake_type(column.type)) for column in columns])))


def _lake_type(data_type: DataType) -> pa.DataType:
    import pyarrow as pa

    if isinstance(data_type, LocalZonedTimestampType):
        return pa.timestamp("us", "UTC")
    found = arrow_type(data_type)
    return pa.time64("us") if pa.types.is_time32(found) else found


def check_columns(declared: ColumnType, there: ColumnType, what: str) -> None:
    """Check that a lake table has the columns that a table declares.

    Args:
        declared: The declared columns; a TIMESTAMP may be one with a time zone, which is read in UTC.
        there: Those of the lake table.
        what: The lake table, for messages.

    Raises:
        ValidationError: It lacks a column, or one has another type.
    """
    types: Mapping[str, ColumnType] = dict(zip(there.names, there.parts, strict=True))
    for name, part in zip(declared.names, declared.parts, strict=True):
        if name not in types or _compared(types[name]) != _compared(part):
            raise ValidationError(
                f"The {what} has the columns {described(there)}; declared is {described(declared)}. Column '{name}' "
                f"{'does not exist' if name not in types else 'has another type'} there."
            )


def _compared(column: ColumnType) -> ColumnType:
    kind = "TIMESTAMP" if column.kind.startswith("TIMESTAMP") else column.kind
    kind = "INT" if kind in ("TINYINT", "SMALLINT") else kind  # Iceberg has no smaller ones
    return replace(column, kind=kind, parts=tuple(map(_compared, column.parts)))


def stored(column: pa.Array, target: pa.DataType) -> pa.Array:
    """Return a column in the type that a lake table stores; points of time without a zone are in UTC."""
    return column if column.type == target else column.cast(target)


def inserted(changes: Changes, connector: str) -> pa.RecordBatch:
    """Return rows that are inserted.

    Raises:
        UnsupportedError: Rows are updated or deleted.
    """
    if changes.kinds is not None and any(changes.kinds):
        raise UnsupportedError(
            f"tables of the connector '{connector}' take inserted rows only; the query updates or deletes rows"
        )
    return changes.batch


_SIMPLE: dict[str, DataType] = {
    "STRING": VarCharType(MAX_LENGTH),
    "BYTES": VarBinaryType(MAX_LENGTH),
    "BOOLEAN": BooleanType(),
    "TINYINT": TinyIntType(),
    "SMALLINT": SmallIntType(),
    "INT": IntType(),
    "BIGINT": BigIntType(),
    "FLOAT": FloatType(),
    "DOUBLE": DoubleType(),
    "DATE": DateType(),
    "TIME": TimeType(3),
    "TIMESTAMP": TimestampType(6),
    "TIMESTAMP_LTZ": LocalZonedTimestampType(6),
}


def sql_type(column: ColumnType) -> DataType:
    """Return the SQL type of a column of a lake table."""
    simple = _SIMPLE.get(column.kind)
    if simple is not None:
        return simple
    if column.kind == "DECIMAL":
        return DecimalType(column.precision, column.scale)
    parts = list(map(sql_type, column.parts))
    if column.kind == "ARRAY":
        return ArrayType(parts[0])
    if column.kind == "MAP":
        return MapType(parts[0].not_null(), parts[1])
    return RowType([RowField(name, part) for name, part in zip(column.names, parts, strict=True)])
