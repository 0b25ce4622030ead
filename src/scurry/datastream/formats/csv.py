"""CSV: rows in files and in messages."""

from __future__ import annotations

import dataclasses
from typing import Any

from scurry.common._api import ApiObject, at_boundary, made_by
from scurry.common.serialization import BulkWriterFactory
from scurry.connectors.files.formats.csv.format import CsvFormat
from scurry.connectors.files.formats.csv.schema import CsvColumn, CsvDialect
from scurry.connectors.files.formats.csv.writer import CsvWriterFactory
from scurry.datastream.formats._csv_messages import (
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    single_character,
)
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types.atomic_types import MAX_LENGTH, BigIntType, BooleanType, NumericType, VarCharType
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType

__all__ = [
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "CsvSchema",
    "CsvSchemaBuilder",
]


@made_by("builder")
class CsvSchema(ApiObject):
    """The columns and the syntax of CSV files; made by a builder."""

    def __init__(self, dialect: CsvDialect) -> None:
        self._dialect = dialect

    @staticmethod
    def builder() -> CsvSchemaBuilder:
        """Return a builder without columns."""
        return CsvSchemaBuilder()

    def size(self) -> int:
        """Return the number of columns."""
        return len(self._dialect.columns)

    def __len__(self) -> int:
        """Return the number of columns."""
        return self.size()

    def __repr__(self) -> str:
        """Show columns and syntax."""
        return f"CsvSchema({self._dialect})"


class CsvSchemaBuilder(ApiObject):
    """Builder of a CsvSchema: the columns and the syntax of CSV files."""

    def __init__(self) -> None:
        """Begin without columns, with commas and double quotes."""
        self._dialect = CsvDialect()

    def build(self) -> CsvSchema:
        """Return the schema."""
        return CsvSchema(self._dialect)

    def add_array_column(
        self, name: str, separator: str = ";", element_type: DataType | None = None
    ) -> CsvSchemaBuilder:
        """Add a column of several values.

        Args:
            name: Its name.
            separator: Text between the values; `""` for the common one, see `set_array_element_separator`.
            element_type: Type of the values; texts by default.
        """
        element = _column(name, VarCharType(MAX_LENGTH) if element_type is None else element_type)
        return self._add(CsvColumn(name, ArrayType(element.type), separator))

    def add_boolean_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of truth values."""
        return self._add(CsvColumn(name, BooleanType()))

    def add_number_column(self, name: str, number_type: NumericType | None = None) -> CsvSchemaBuilder:
        """Add a column of numbers.

        Args:
            name: Its name.
            number_type: Their type; BIGINT by default.
        """
        return self._add(_column(name, BigIntType() if number_type is None else number_type))

    def add_string_column(self, name: str) -> CsvSchemaBuilder:
        """Add a column of texts."""
        return self._add(CsvColumn(name))

    def add_columns_from(self, schema: CsvSchema) -> CsvSchemaBuilder:
        """Add the columns of another schema."""
        for column in schema._dialect.columns:
            self._add(column)
        return self

    def clear_columns(self) -> CsvSchemaBuilder:
        """Remove all columns."""
        return self._set(columns=())

    def set_allow_comments(self, allow: bool = True) -> CsvSchemaBuilder:
        """Skip blank lines and lines that begin with `#`."""
        return self._set(allow_comments=allow)

    def set_column_separator(self, char: str) -> CsvSchemaBuilder:
        """Set the character between columns, a comma by default."""
        return self._set(separator=single_character("column separator", char))

    def set_any_property_name(self, name: str) -> CsvSchemaBuilder:
        """Allow fields after the last column; the last of them is the value of the column `name`, if there is one."""
        return self._set(any_property=name)

    def set_array_element_separator(self, separator: str) -> CsvSchemaBuilder:
        """Set the common text between the values of arrays, `;` by default, for columns without their own separator.

        Those are the columns added with the separator `""`, and those `remove_array_element_separator` names.
        """
        return self._set(array_separator=separator)

    def disable_array_element_separator(self) -> CsvSchemaBuilder:
        """Treat arrays of columns without their own separator as a single value."""
        return self._set(array_separator="")

    def remove_array_element_separator(self, index: int) -> CsvSchemaBuilder:
        """Remove a column's own separator of values, so that the common one applies.

        Args:
            index: Index of the column, from 0.

        Raises:
            ArgumentError: There is no such column.
        """
        columns = self._dialect.columns
        if not 0 <= index < len(columns):
            raise ArgumentError(f"there is no column {index}: the schema has {len(columns)}")
        changed = dataclasses.replace(columns[index], array_separator="")
        return self._set(columns=(*columns[:index], changed, *columns[index + 1 :]))

    def disable_escape_char(self) -> CsvSchemaBuilder:
        """Use no escape character. The default."""
        return self._set(escape=None)

    def set_escape_char(self, char: str) -> CsvSchemaBuilder:
        """Set the character that escapes the next one."""
        return self._set(escape=single_character("escape character", char))

    def set_line_separator(self, separator: str) -> CsvSchemaBuilder:
        r"""Set the end of lines in files that are written; readers accept any of `\n`, `\r` and `\r\n`."""
        return self._set(line_separator=separator)

    def set_null_value(self, null_value: str) -> CsvSchemaBuilder:
        """Set the text that means null."""
        return self._set(null_value=null_value)

    def disable_quote_char(self) -> CsvSchemaBuilder:
        """Disable quoted fields."""
        return self._set(quote=None)

    def set_quote_char(self, char: str) -> CsvSchemaBuilder:
        """Set the character around quoted fields, a double quote by default."""
        return self._set(quote=single_character("quote character", char))

    def set_skip_first_data_row(self, skip: bool = True) -> CsvSchemaBuilder:
        """Skip the first row, not counting the header."""
        return self._set(skip_first_row=skip)

    def set_strict_headers(self, strict: bool = True) -> CsvSchemaBuilder:
        """Fail if the header does not hold the names of the columns, in order; needs `set_use_header`."""
        return self._set(strict_headers=strict)

    def set_use_header(self, use: bool = True) -> CsvSchemaBuilder:
        """Skip a header when reading, and write one."""
        return self._set(use_header=use)

    def size(self) -> int:
        """Return the number of columns."""
        return len(self._dialect.columns)

    def __len__(self) -> int:
        """Return the number of columns."""
        return self.size()

    def _add(self, column: CsvColumn) -> CsvSchemaBuilder:
        if column.name in self._dialect.names:
            raise ArgumentError(f"there is a column {column.name!r} already")
        return self._set(columns=(*self._dialect.columns, column))

    def _set(self, **changes: Any) -> CsvSchemaBuilder:
        self._dialect = dataclasses.replace(self._dialect, **changes)
        return self


def _column(name: str, data_type: DataType) -> CsvColumn:
    if not isinstance(data_type, (NumericType, BooleanType, VarCharType)):
        raise ArgumentTypeError(f"column {name!r}: a CSV column is of a number, BOOLEAN or STRING, not {data_type!r}")
    return CsvColumn(name, data_type)


@made_by("for_schema")
class CsvReaderFormat(CsvFormat):
    """Read rows with named fields from CSV files."""

    @staticmethod
    @at_boundary
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Return the format of a schema.

        Raises:
            ArgumentError: The schema has no columns.
        """
        if not schema.size():
            raise ArgumentError("the CsvSchema has no columns; add some, e.g. builder().add_string_column('name')")
        return CsvReaderFormat(schema._dialect)


class CsvBulkWriters:
    """Create writers of CSV files for `FileSink.for_bulk_format`."""

    @staticmethod
    @at_boundary
    def for_schema(schema: CsvSchema) -> BulkWriterFactory:
        """Return the factory of writers of rows.

        Raises:
            ArgumentError: The schema has no columns.
        """
        if not schema.size():
            raise ArgumentError("the CsvSchema has no columns; add some, e.g. builder().add_string_column('name')")
        return CsvWriterFactory(schema._dialect)
