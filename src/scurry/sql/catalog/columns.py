"""The columns of a table: physical, computed and metadata columns, with their types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TypeVar

from scurry._dataclasses import dataclass
from scurry.sql.catalog.identifier import escape_identifier, escape_text
from scurry.sql.types import DataType

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
        """Return the part of a definition after the type; empty for a physical column."""
        return ""

    def explain_extras(self) -> str | None:
        """Return the part of a definition after the type; None for a physical column."""
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
        """Return the expression of the column."""
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
