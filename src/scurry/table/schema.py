"""Schema: the columns of a table that a program describes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.catalog.identifier import escape_identifier, escape_text
from scurry.sql.catalog.schema import ComputedColumn, MetadataColumn, ResolvedSchema, UniqueConstraint
from scurry.sql.types import DataType, RowType, without_user_types

__all__ = ["Schema"]


@dataclass(frozen=True)
class _Column:
    name: str
    data_type: DataType | None = None
    expression: str | None = None
    metadata_key: str | None = None
    is_metadata: bool = False
    virtual: bool = False
    type_text: str | None = None
    shown: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        parts = [escape_identifier(self.name)]
        if self.expression is not None:
            return f"{parts[0]} AS {self.shown or f'[{self.expression}]'}"
        assert self.data_type is not None
        parts.append(self.data_type.as_summary_string() if self.type_text is None else f"[{self.type_text}]")
        if self.is_metadata:
            parts.append("METADATA")
            if self.metadata_key is not None:
                parts.append(f"FROM {escape_text(self.metadata_key)}")
            if self.virtual:
                parts.append("VIRTUAL")
        return " ".join(parts)


@dataclass(frozen=True)
class _Watermark:
    name: str
    expression: str
    shown: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"WATERMARK FOR {escape_identifier(self.name)} AS {self.shown or f'[{self.expression}]'}"


class Schema(ApiObject):
    """The columns of a table that a program describes: like those in the parentheses of CREATE TABLE."""

    def __init__(self, columns: Sequence[_Column], watermark: _Watermark | None, key: UniqueConstraint | None) -> None:
        self._columns = tuple(columns)
        self._watermark = watermark
        self._key = key

    @staticmethod
    def new_builder() -> Schema.Builder:
        """Return a builder."""
        return Schema.Builder()

    def __str__(self) -> str:
        """Return the columns over several lines."""
        parts = list(map(str, self._columns))
        if self._watermark is not None:
            parts.append(str(self._watermark))
        if self._key is not None:
            parts.append(str(self._key))
        return "(\n" + ",\n".join(f"  {part}" for part in parts) + "\n)"

    def __eq__(self, other: object) -> bool:
        """Compare all parts."""
        return isinstance(other, Schema) and self._parts() == other._parts()

    def __hash__(self) -> int:
        """Hash the names of the columns."""
        return hash(tuple(column.name for column in self._columns))

    def _parts(self) -> tuple[Any, ...]:
        return (self._columns, self._watermark, self._key)

    class Builder(ApiObject):
        """Builds a schema."""

        def __init__(self) -> None:
            """Begin without columns."""
            self._columns: list[_Column] = []
            self._watermark: _Watermark | None = None
            self._key: UniqueConstraint | None = None

        def from_schema(self, unresolved_schema: Schema) -> Schema.Builder:
            """Add everything of another schema."""
            self._columns += unresolved_schema._columns
            self._watermark = unresolved_schema._watermark or self._watermark
            self._key = unresolved_schema._key or self._key
            return self

        def from_resolved_schema(self, resolved_schema: ResolvedSchema) -> Schema.Builder:
            """Add everything of the schema of a table."""
            for column in resolved_schema.get_columns():
                if isinstance(column, ComputedColumn):
                    self._columns.append(_Column(column.name, expression=column.expression.text))
                elif isinstance(column, MetadataColumn):
                    self.column_by_metadata(column.name, column.data_type, column.metadata_key, column.virtual)
                else:
                    self.column(column.name, column.data_type)
            for spec in resolved_schema.get_watermark_specs():
                self._watermark = _Watermark(spec.rowtime_attribute, spec.watermark_expression.text)
            self._key = resolved_schema.get_primary_key() or self._key
            return self

        def from_row_data_type(self, data_type: DataType) -> Schema.Builder:
            """Add a column for each field of a row.

            Raises:
                ArgumentTypeError: It is no row.
            """
            if not isinstance(data_type, RowType):
                raise ArgumentTypeError(f"Data type of ROW expected. from_row_data_type got {data_type!r}")
            return self.from_fields(data_type.field_names(), data_type.field_types())

        def from_fields(self, field_names: list[str], field_data_types: list[DataType]) -> Schema.Builder:
            """Add columns.

            Raises:
                ArgumentError: There are not as many types as names.
            """
            if len(field_names) != len(field_data_types):
                raise ArgumentError("Field names and field data types must have the same length.")
            for name, data_type in zip(field_names, field_data_types, strict=True):
                self.column(name, data_type)
            return self

        def column(self, column_name: str, data_type: str | DataType) -> Schema.Builder:
            """Add a physical column.

            Args:
                column_name: Its name.
                data_type: Its type, or the type's text.
            """
            self._columns.append(_Column(column_name, _type_of(data_type), type_text=_text_of(data_type)))
            return self

        def column_by_expression(self, column_name: str, expr: Any) -> Schema.Builder:
            """Add a column that is computed from others.

            Args:
                column_name: Its name.
                expr: The expression, or its SQL.
            """
            self._columns.append(_Column(column_name, expression=_sql(expr), shown=_shown(expr)))
            return self

        def column_by_metadata(
            self,
            column_name: str,
            data_type: DataType | str,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Schema.Builder:
            """Add a column of metadata.

            Args:
                column_name: Its name.
                data_type: Its type, or the type's text.
                metadata_key: Name of the metadata; None if it is the column's name.
                is_virtual: Whether it is only read.
            """
            kind, text = _type_of(data_type), _text_of(data_type)
            self._columns.append(_Column(column_name, kind, None, metadata_key, True, is_virtual, text))
            return self

        def watermark(self, column_name: str, watermark_expr: Any) -> Schema.Builder:
            """Make a column the event time.

            Args:
                column_name: Its name.
                watermark_expr: The watermark of a row: an expression, or its SQL.
            """
            self._watermark = _Watermark(column_name, _sql(watermark_expr), _shown(watermark_expr))
            return self

        def primary_key(self, *column_names: str) -> Schema.Builder:
            """Declare the primary key, which is not enforced."""
            return self.primary_key_named(f"PK_{'_'.join(column_names)}", *column_names)

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            """Declare the primary key, which is not enforced, with a name.

            Raises:
                ArgumentError: It has no column, or there is one already.
            """
            if not column_names:
                raise ArgumentError("Primary key constraint must be defined for at least a single column.")
            if self._key is not None:
                raise ArgumentError(f"Multiple primary keys are not supported. There is one already: {self._key}")
            self._key = UniqueConstraint(constraint_name, tuple(column_names))
            return self

        def build(self) -> Schema:
            """Return the schema."""
            return Schema(self._columns, self._watermark, self._key)


def _sql(expression: Any) -> str:
    if isinstance(expression, str):
        return expression
    from scurry.sql.statements.table_operations.sql_text import sql_of
    from scurry.table.expression import expression_of

    return sql_of(expression_of(expression)._node)


def _shown(expression: Any) -> str | None:
    """Return an expression as the text of a schema has it; None for SQL."""
    return None if isinstance(expression, str) else str(expression)


def _text_of(data_type: str | DataType) -> str | None:
    return data_type if isinstance(data_type, str) else None


def _type_of(data_type: str | DataType) -> DataType:
    if isinstance(data_type, DataType):
        return without_user_types(data_type)
    if not isinstance(data_type, str):
        raise ArgumentTypeError(f"Unsupported data type: {data_type!r}; expected one of DataTypes, or its text")
    from scurry.sql.statements.text import parse_type

    return parse_type(data_type)
