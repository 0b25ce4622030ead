"""CsvDialect and CsvColumn: the syntax of a CSV file, and the conversion of its texts to values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import TypeInformation, Types
from scurry.errors.suggestions import alternatives
from scurry.sql.types.atomic_types import MAX_LENGTH, VarCharType
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType
from scurry.sql.values.parsing import Parser, atom_parser
from scurry.sql.values.type_information import to_type_info


@dataclass(frozen=True)
class CsvDialect:
    """The columns and the syntax of a CSV file.

    Attributes:
        columns: The columns, in order.
        separator: Character between fields.
        quote: Character around quoted fields, or None.
        escape: Character that escapes the next one, or None.
        null_value: Text that means null, quoted or not; None if there is no such text.
        line_separator: Line end of the writer; readers accept CR, LF and CRLF.
        array_separator: Separator of array elements, for columns without their own; empty for no separation.
        allow_comments: Skip lines whose first visible character is `#`, and blank lines.
        skip_first_row: Skip the first row (after the header, if there is one).
        use_header: The first row holds the column names: skipped by readers, written by writers.
        strict_headers: The header must hold the names of the columns, in order.
        by_name: The columns are those of the header, in whatever order; others of the header are not read. A column
            that the header lacks is null.
        required: Columns that the header may not lack, if they are found by name.
        any_property: Allow extra fields after the last column; the last extra field is the value of the column of this
            name, if there is one. None to reject extra fields.
        ignore_errors: Whether tables have NULL for what cannot be read, and skip lines that are none.
        plain_decimals: Whether tables write decimals without an exponent.
    """

    columns: tuple[CsvColumn, ...] = ()
    separator: str = ","
    quote: str | None = '"'
    escape: str | None = None
    null_value: str | None = None
    line_separator: str = "\n"
    array_separator: str = ";"
    allow_comments: bool = False
    skip_first_row: bool = False
    use_header: bool = False
    strict_headers: bool = False
    by_name: bool = False
    required: tuple[str, ...] = ()
    any_property: str | None = None
    ignore_errors: bool = False
    plain_decimals: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        return tuple(column.name for column in self.columns)

    def arranged(self, header: list[str]) -> tuple[CsvDialect, tuple[int | None, ...]]:
        """Return the dialect of a file with a header, and for each column its position in the file; None without.

        Raises:
            ValueError: The header lacks a column, or has several of its name.
        """
        declared = {column.name: column for column in self.columns}
        for name in self.names:
            if name in self.required and name not in header:
                raise ValueError(f"the header has no column {name!r}{alternatives(name, header)}")
            if header.count(name) > 1:
                raise ValueError(f"the header has {header.count(name)} columns {name!r}; rename all but one")
        columns = tuple(declared.get(name, CsvColumn(name)) for name in header)
        places = tuple(header.index(name) if name in header else None for name in self.names)
        return replace(self, columns=columns), places

    @property
    def row_type(self) -> TypeInformation:
        """The type of a record: a row with named fields."""
        return Types.ROW_NAMED(list(self.names), [column.type_info for column in self.columns])


@dataclass(frozen=True)
class CsvColumn:
    """A column of a CSV file.

    Attributes:
        name: Its name.
        type: Its type; of files of streams it is a number, BOOLEAN, STRING, or an ARRAY of these.
        array_separator: Text between the elements of an array; empty for the dialect's.
    """

    name: str
    type: DataType = VarCharType(MAX_LENGTH)
    array_separator: str = ""

    @property
    def type_info(self) -> TypeInformation:
        """The type of the values."""
        if isinstance(self.type, ArrayType):
            return Types.LIST(to_type_info(self.type.element_type))
        return to_type_info(self.type)

    def parser(self, dialect: CsvDialect) -> Callable[[str], Any]:
        """Return the function that converts a field's text to a value, or to None for the null text.

        The function raises ValueError with the reason if the text cannot be converted.
        """
        null = dialect.null_value
        if not isinstance(self.type, ArrayType):
            scalar = self._scalar(self.type)
            return scalar if null is None else lambda text: None if text == null else scalar(text)
        scalar = self._scalar(self.type.element_type)
        separator = self.array_separator or dialect.array_separator

        def array(text: str) -> list[Any]:
            if not text:
                return []
            elements = text.split(separator) if separator else [text]
            return [None if e == null else scalar(e) for e in elements]

        return array

    def _scalar(self, data_type: DataType) -> Parser:
        parse = atom_parser(data_type)
        assert parse is not None, data_type
        return parse
