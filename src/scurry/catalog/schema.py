"""ResolvedSchema: the columns of a table with their types, its watermark and its primary key."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from scurry.catalog.identifier import escape_identifier, escape_text
from scurry.errors import ArgumentError
from scurry.logical_types import DataType, LocalZonedTimestampType, RowField, RowType, TimestampType

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

_Column = TypeVar("_Column", bound="Column")


@dataclass(frozen=True)
class ResolvedExpression:
    """An expression whose names and types are resolved.

    Attributes:
        text: The expression as SQL reads it back, names in backticks.
        data_type: Type of its values.
    """

    text: str
    data_type: DataType

    def get_output_data_type(self) -> DataType:
        """Return the type of its values."""
        return self.data_type

    def get_resolved_children(self) -> list[ResolvedExpression]:
        """Return no children: an expression of a schema is one piece of SQL, in Flink too."""
        return []

    def as_serializable_string(self) -> str:
        """Return the expression as SQL."""
        return self.text

    def as_summary_string(self) -> str:
        """Return the expression as SQL."""
        return self.text

    def __str__(self) -> str:
        """Return the expression as SQL."""
        return self.text


@dataclass(frozen=True)
class Column(ABC):
    """A column of a table: physical, computed or metadata.

    Attributes:
        name: Its name.
        data_type: Type of its values.
        comment: Its description, if it has one.
    """

    name: str
    data_type: DataType
    comment: str | None = None

    @staticmethod
    def physical(name: str, data_type: DataType) -> PhysicalColumn:
        """Return a column whose values are stored in the external system."""
        return PhysicalColumn(name, data_type)

    @staticmethod
    def computed(name: str, resolved_expression: ResolvedExpression) -> ComputedColumn:
        """Return a column that is computed from other columns when the table is read."""
        return ComputedColumn(name, resolved_expression.data_type, expression=resolved_expression)

    @staticmethod
    def metadata(name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool) -> MetadataColumn:
        """Return a column with metadata of the connector or the format.

        Args:
            name: Its name.
            data_type: Type of its values.
            metadata_key: Name of the metadata; None if it is the column's name.
            is_virtual: Whether it is only read, never written.
        """
        return MetadataColumn(name, data_type, metadata_key=metadata_key, virtual=is_virtual)

    def with_comment(self: _Column, comment: str | None) -> _Column:
        """Return the same column with a description."""
        return replace(self, comment=comment)

    @abstractmethod
    def is_physical(self) -> bool:
        """Return whether its values are stored in the external system."""

    @abstractmethod
    def is_persisted(self) -> bool:
        """Return whether it takes part in writing the table."""

    def get_data_type(self) -> DataType:
        """Return the type of its values."""
        return self.data_type

    def get_name(self) -> str:
        """Return its name."""
        return self.name

    def get_comment(self) -> str | None:
        """Return its description."""
        return self.comment

    def extras(self) -> str:
        """Return what a definition says after the type, an empty text for a physical column."""
        return ""

    def explain_extras(self) -> str | None:
        """Return what a definition says after the type; None for a physical column."""
        return self.extras() or None

    def as_summary_string(self) -> str:
        """Return the column as schemas show it."""
        parts = [escape_identifier(self.name), self.data_type.as_summary_string()]
        if self.extras():
            parts.append(self.extras())
        if self.comment:
            parts.append(f"COMMENT {escape_text(self.comment)}")
        return " ".join(parts)

    def copy(self: _Column, new_data_type: DataType) -> _Column:
        """Return the same column with another type."""
        return replace(self, data_type=new_data_type)

    def rename(self: _Column, new_name: str) -> _Column:
        """Return the same column with another name."""
        return replace(self, name=new_name)

    def __str__(self) -> str:
        """Return the column as schemas show it."""
        return self.as_summary_string()


@dataclass(frozen=True)
class PhysicalColumn(Column):
    """A column whose values are stored in the external system."""

    def is_physical(self) -> bool:
        """Return True."""
        return True

    def is_persisted(self) -> bool:
        """Return True."""
        return True


@dataclass(frozen=True)
class ComputedColumn(Column):
    """A column that is computed from other columns when the table is read.

    Attributes:
        expression: What it is computed by.
    """

    expression: ResolvedExpression = ResolvedExpression("", DataType())

    def is_physical(self) -> bool:
        """Return False."""
        return False

    def is_persisted(self) -> bool:
        """Return False."""
        return False

    def get_expression(self) -> ResolvedExpression:
        """Return what it is computed by."""
        return self.expression

    def extras(self) -> str:
        """Return `AS expression`."""
        return f"AS {self.expression.text}"


@dataclass(frozen=True)
class MetadataColumn(Column):
    """A column with metadata of the connector or the format.

    Attributes:
        metadata_key: Name of the metadata; None if it is the column's name.
        virtual: Whether it is only read, never written.
    """

    metadata_key: str | None = None
    virtual: bool = False

    @property
    def key(self) -> str:
        """Name of the metadata."""
        return self.name if self.metadata_key is None else self.metadata_key

    def is_virtual(self) -> bool:
        """Return whether it is only read, never written."""
        return self.virtual

    def get_metadata_key(self) -> str | None:
        """Return the name of the metadata; None if it is the column's name."""
        return self.metadata_key

    def is_physical(self) -> bool:
        """Return False."""
        return False

    def is_persisted(self) -> bool:
        """Return whether it is written, too."""
        return not self.virtual

    def extras(self) -> str:
        """Return `METADATA FROM 'key' VIRTUAL`."""
        parts = ["METADATA"]
        if self.metadata_key is not None:
            parts.append(f"FROM {escape_text(self.metadata_key)}")
        if self.virtual:
            parts.append("VIRTUAL")
        return " ".join(parts)


@dataclass(frozen=True)
class WatermarkSpec:
    """Which column is the event time, and how its watermark is computed.

    Attributes:
        rowtime_attribute: Name of the column.
        watermark_expression: The watermark of a row.
    """

    rowtime_attribute: str
    watermark_expression: ResolvedExpression

    @staticmethod
    def of(rowtime_attribute: str, watermark_expression: ResolvedExpression) -> WatermarkSpec:
        """Return the watermark of a column."""
        return WatermarkSpec(rowtime_attribute, watermark_expression)

    def get_rowtime_attribute(self) -> str:
        """Return the name of the column."""
        return self.rowtime_attribute

    def get_watermark_expression(self) -> ResolvedExpression:
        """Return the watermark of a row."""
        return self.watermark_expression

    def as_summary_string(self) -> str:
        """Return the watermark as schemas show it."""
        expression = self.watermark_expression
        name = escape_identifier(self.rowtime_attribute)
        return f"WATERMARK FOR {name}: {expression.data_type.as_summary_string()} AS {expression.text}"

    def __str__(self) -> str:
        """Return the watermark as schemas show it."""
        return self.as_summary_string()


class Constraint(ABC):
    """What holds for the rows of a table, without being enforced."""

    class ConstraintType(Enum):
        """The kinds of constraints."""

        PRIMARY_KEY = 0
        UNIQUE_KEY = 1

    @abstractmethod
    def get_name(self) -> str:
        """Return its name."""

    @abstractmethod
    def is_enforced(self) -> bool:
        """Return whether it is checked."""

    @abstractmethod
    def get_type(self) -> ConstraintType:
        """Return its kind."""

    @abstractmethod
    def as_summary_string(self) -> str:
        """Return the constraint as schemas show it."""


@dataclass(frozen=True)
class UniqueConstraint(Constraint):
    """A primary key.

    Attributes:
        name: Its name.
        columns: Names of its columns.
    """

    name: str
    columns: tuple[str, ...]

    @staticmethod
    def primary_key(name: str, columns: Sequence[str]) -> UniqueConstraint:
        """Return a primary key that is not enforced."""
        return UniqueConstraint(name, tuple(columns))

    def get_name(self) -> str:
        """Return its name."""
        return self.name

    def get_columns(self) -> list[str]:
        """Return the names of its columns."""
        return list(self.columns)

    def is_enforced(self) -> bool:
        """Return False: Flink does not own the data."""
        return False

    def get_type(self) -> Constraint.ConstraintType:
        """Return PRIMARY_KEY."""
        return Constraint.ConstraintType.PRIMARY_KEY

    def get_type_string(self) -> str:
        """Return the kind as SQL has it."""
        return "PRIMARY KEY"

    def as_summary_string(self) -> str:
        """Return the key as schemas show it."""
        columns = ", ".join(map(escape_identifier, self.columns))
        return f"CONSTRAINT {escape_identifier(self.name)} PRIMARY KEY ({columns}) NOT ENFORCED"

    def __str__(self) -> str:
        """Return the key as schemas show it."""
        return self.as_summary_string()


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
        """Return a column by position or name, None if there is none."""
        if isinstance(column_index_or_name, str):
            return next((c for c in self._columns if c.name == column_index_or_name), None)
        index = column_index_or_name
        return self._columns[index] if 0 <= index < len(self._columns) else None

    def get_watermark_specs(self) -> list[WatermarkSpec]:
        """Return the watermark, in a list."""
        return list(self._watermark_specs)

    def get_primary_key(self) -> UniqueConstraint | None:
        """Return the primary key, None if there is none."""
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
