"""Columns of tables as lake tables store them: timestamps in microseconds, those with a time zone in UTC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry.connectors.files.formats.columnar import Tables
from scurry.connectors.lakes.columns import check_lake_row, described, lake_schema, without_small_integers
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.formats.contract import FormatColumn, row_of
from scurry.sql.types import DataType, LocalZonedTimestampType, RowType, TimestampType

if TYPE_CHECKING:
    import pyarrow as pa


def lake_row(columns: Sequence[FormatColumn]) -> RowType:
    """Return the columns as lake tables store them.

    Raises:
        UnsupportedError: Lake tables do not have the type of a column.
    """
    for column in columns:
        kind = column.type
        if isinstance(kind, TimestampType | LocalZonedTimestampType) and kind.precision > 6:
            raise UnsupportedError(
                f"column '{column.name}' is {kind.as_summary_string()}, lake tables have microseconds: declare at most "
                "6 digits"
            )
    return check_lake_row(row_of(columns))


def check_columns(declared: RowType, there: RowType, what: str) -> None:
    """Check that a lake table has the columns that a table declares.

    Args:
        declared: The declared columns; a TIMESTAMP may be one with a time zone, which is read in UTC.
        there: Those of the lake table.

    Raises:
        ValidationError: It lacks a column, or one has another type.
    """
    known = lake_schema(there, _compared)
    for name, kind in zip(declared.names, lake_schema(declared, _compared).types, strict=True):
        if name not in known.names or known.field(name).type != kind:
            raise ValidationError(
                f"The {what} has the columns {described(there)}; declared is {described(declared)}. Column '{name}' "
                f"{'does not exist' if name not in known.names else 'has another type'} there."
            )


def _compared(data_type: DataType) -> pa.DataType:
    if isinstance(data_type, LocalZonedTimestampType):
        return without_small_integers(TimestampType(data_type.precision))
    return without_small_integers(data_type)


class ChangeTables(Tables):
    """Convert changes of a table, which only insert, to columns as a lake table stores them.

    Args:
        schema: How the lake table stores them.
    """

    def __init__(self, connector: str, row: RowType, schema: pa.Schema) -> None:
        self._refusal = (
            f"tables of the connector '{connector}' take inserted rows only; the query updates or deletes rows"
        )
        self.schema = schema

    def prepare(self, values: list[Any]) -> list[Any]:
        """Return the rows of changes.

        Raises:
            UnsupportedError: Rows are updated or deleted.
        """
        return [changes.inserted(UnsupportedError(self._refusal)) for changes in values]

    def rows(self, prepared: list[Any]) -> int:
        return sum(batch.num_rows for batch in prepared)

    def table(self, prepared: list[Any]) -> pa.Table:
        """Return all rows; points of time without a zone are in UTC."""
        import pyarrow as pa

        rows = pa.Table.from_batches(prepared).combine_chunks()
        columns = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(rows.columns, self.schema, strict=True)
        ]
        return pa.Table.from_arrays(columns, schema=self.schema)


class UpsertTables(Tables):
    """Convert changes of a table by key to columns as a lake table stores them, and one that says which are deletions.

    Args:
        row: The columns.
        schema: How the lake table stores them, and the column of deletions, which is the last one.
    """

    def __init__(self, row: RowType, schema: pa.Schema) -> None:
        self.schema = schema

    def prepare(self, values: list[Any]) -> list[Any]:
        """Return the changes."""
        return values

    def rows(self, prepared: list[Any]) -> int:
        """Return the number of changes."""
        return sum(changes.batch.num_rows for changes in prepared)

    def table(self, prepared: list[Any]) -> pa.Table:
        """Return all changes; points of time without a zone are in UTC."""
        import pyarrow as pa

        rows = pa.Table.from_batches([changes.batch for changes in prepared]).combine_chunks()
        gone = pa.array([gone for changes in prepared for gone in changes.gone], pa.bool_())
        columns = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip([*rows.columns, gone], self.schema, strict=True)
        ]
        return pa.Table.from_arrays(columns, schema=self.schema)
