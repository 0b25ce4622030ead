"""ResolvedSchema: the columns of a table with their types, its watermark and its primary key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.errors import ArgumentError
from scurry.sql.catalog.columns import Column, ComputedColumn, MetadataColumn, PhysicalColumn, ResolvedExpression
from scurry.sql.catalog.constraints import Constraint, UniqueConstraint, WatermarkSpec
from scurry.sql.types import DataType, LocalZonedTimestampType, RowField, RowType, TimestampType

__all__ = [
    "Column",
    "ComputedColumn",
    "Constraint",
    "MetadataColumn",
    "PhysicalColumn",
    "ResolvedExpression",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]


class ResolvedSchema:
    """The columns of a table or a query, its watermark and its primary key."""

    def __init__(
        self,
        columns: Sequence[Column] = (),
        watermark_specs: Sequence[WatermarkSpec] = (),
        primary_key: UniqueConstraint | None = None,
    ) -> None:
        """Make a schema.

        Args:
            columns: All columns, in order.
            watermark_specs: The watermark, at most one.
            primary_key: The primary key, if there is one.
        """
        self._columns = tuple(columns)
        self._watermark_specs = tuple(watermark_specs)
        self._primary_key = primary_key

    @staticmethod
    def of(columns: Sequence[Column]) -> ResolvedSchema:
        """Return a schema of these columns."""
        return ResolvedSchema(columns)

    @staticmethod
    def physical(column_names: Sequence[str], column_data_types: Sequence[DataType]) -> ResolvedSchema:
        """Return a schema of physical columns.

        Raises:
            ArgumentError: There are not as many types as names.
        """
        if len(column_names) != len(column_data_types):
            raise ArgumentError(f"{len(column_names)} names and {len(column_data_types)} types: they must be as many")
        return ResolvedSchema(list(map(PhysicalColumn, column_names, column_data_types)))

    def get_column_count(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    def get_columns(self) -> list[Column]:
        """Return all columns."""
        return list(self._columns)

    def get_column_names(self) -> list[str]:
        """Return the names of all columns."""
        return [column.name for column in self._columns]

    def get_column_data_types(self) -> list[DataType]:
        """Return the types of all columns."""
        return [column.data_type for column in self._columns]

    def get_column(self, column_index_or_name: int | str) -> Column | None:
        """Return a column by position or name, or None if it does not exist."""
        if isinstance(column_index_or_name, str):
            return next((c for c in self._columns if c.name == column_index_or_name), None)
        index = column_index_or_name
        return self._columns[index] if 0 <= index < len(self._columns) else None

    def get_watermark_specs(self) -> list[WatermarkSpec]:
        """Return the watermark, in a list."""
        return list(self._watermark_specs)

    def get_primary_key(self) -> UniqueConstraint | None:
        """Return the primary key, or None if it does not exist."""
        return self._primary_key

    def get_primary_key_indexes(self) -> list[int]:
        """Return the positions of the primary key's columns."""
        names = self.get_column_names()
        return [] if self._primary_key is None else [names.index(name) for name in self._primary_key.columns]

    def without_rowtime(self) -> ResolvedSchema:
        """Return the schema with columns of time where it has event-time attributes."""
        columns = [
            column.copy(column.data_type.as_time_attribute(None))
            if isinstance(column.data_type, TimestampType | LocalZonedTimestampType) and column.data_type.is_rowtime
            else column
            for column in self._columns
        ]
        return ResolvedSchema(columns, self._watermark_specs, self._primary_key)

    def to_source_row_data_type(self) -> DataType:
        """Return the row that reading the table gives: all columns."""
        return _row(self._columns)

    def to_physical_row_data_type(self) -> DataType:
        """Return the row of the physical columns."""
        return _row([column for column in self._columns if column.is_physical()])

    def to_sink_row_data_type(self) -> DataType:
        """Return the row that writing the table takes: the persisted columns."""
        return _row([column for column in self._columns if column.is_persisted()])

    def __str__(self) -> str:
        """Return the schema over several lines, as `print_schema` shows it."""
        parts: list[Any] = [*self._columns, *self._watermark_specs]
        if self._primary_key is not None:
            parts.append(self._primary_key)
        return "(\n" + ",\n".join(f"  {part}" for part in parts) + "\n)"

    def __repr__(self) -> str:
        """Return the schema over several lines."""
        return str(self)

    def __eq__(self, other: object) -> bool:
        """Compare columns, watermark and key."""
        return isinstance(other, ResolvedSchema) and self._parts() == other._parts()

    def __hash__(self) -> int:
        """Hash the column names."""
        return hash(tuple(self.get_column_names()))

    def _parts(self) -> tuple[Any, ...]:
        return (self._columns, self._watermark_specs, self._primary_key)


def _row(columns: Sequence[Column]) -> RowType:
    return RowType([RowField(column.name, column.data_type) for column in columns], nullable=False)
