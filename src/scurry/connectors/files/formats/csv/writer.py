"""CSV lines, byte for byte as Flink's serializer (Jackson) writes them, and files of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriter, BulkWriterFactory
from scurry.connectors.files.formats.csv.fields import unsupported
from scurry.connectors.files.formats.csv.schema import CsvColumn, CsvDialect
from scurry.sql.types import BooleanType, DataType, NumericType
from scurry.sql.types.nested_types import ArrayType, RowType
from scurry.sql.types.values import to_values
from scurry.sql.values.records import RecordColumn, values_of
from scurry.sql.values.texts import Text, atom_text

#: Jackson quotes all texts that are longer than this
_ALWAYS_QUOTED = 24


class CsvLines:
    """Make lines of rows.

    A text is quoted if it is longer than 24 characters, or contains a backslash, the escape character, or a character
    that is not greater than the greatest of separator, quote and line ends (a blank, for example).

    Args:
        dialect: The columns and the syntax.
        atoms: The texts of values without parts, where they are not those of columns.

    Raises:
        UnsupportedError: CSV does not support the type of a column.
    """

    def __init__(self, dialect: CsvDialect, atoms: Mapping[type[DataType], Text] | None = None) -> None:
        self._dialect = dialect
        self._atoms = atoms or {}
        self._null = dialect.null_value or ""
        self._fields = [self._field(column) for column in dialect.columns]

    def of_row(self, values: Iterable[Any]) -> str:
        """Return the line of a row, without its end."""
        null = self._null
        texts = [null if value is None else text(value) for text, value in zip(self._fields, values, strict=True)]
        return self._dialect.separator.join(texts)

    def of_columns(self, columns: Iterable[Sequence[Any]]) -> list[str]:
        """Return the line of each row of columns."""
        null = self._null
        texts = [
            [null if value is None else text(value) for value in values]
            for text, values in zip(self._fields, columns, strict=True)
        ]
        return list(map(self._dialect.separator.join, zip(*texts, strict=True)))

    def _field(self, column: CsvColumn) -> Text:
        text = self._text(column.type, column)
        if isinstance(column.type, NumericType | BooleanType):
            return text
        quoted = quoting(self._dialect)
        return quoted if text is str else lambda value: quoted(text(value))

    def _text(self, data_type: DataType, column: CsvColumn) -> Text:
        """Return the function that makes the text of a value that is not null, before it is quoted."""
        atom = self._atoms.get(type(data_type)) or atom_text(data_type, self._dialect.plain_decimals)
        if atom is not None:
            return atom
        null, join = self._null, (column.array_separator or self._dialect.array_separator).join
        if isinstance(data_type, ArrayType):
            element = self._part(data_type.element_type, column)
            return lambda values: join([null if value is None else element(value) for value in values])
        if isinstance(data_type, RowType):
            names = tuple(data_type.field_names())
            parts = [self._part(each, column) for each in data_type.field_types()]
            return lambda row: join(
                [null if v is None else part(v) for part, v in zip(parts, values_of(row, names), strict=True)]
            )
        raise unsupported(data_type, column.name, "declare the column as STRING and convert it")

    def _part(self, data_type: DataType, column: CsvColumn) -> Text:
        if isinstance(data_type, ArrayType | RowType):
            raise unsupported(data_type, column.name, "parts of arrays and rows cannot have parts, as in Flink")
        return self._text(data_type, column)


@dataclass(frozen=True)
class CsvWriterFactory(BulkWriterFactory):
    """Create writers of CSV files of records, in UTF-8.

    Attributes:
        dialect: The columns and the syntax.
    """

    dialect: CsvDialect

    @property
    def concatenable(self) -> bool:  # type: ignore[override]
        """Return whether there is no header."""
        return not self.dialect.use_header

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer to an open stream, with the header already written if there is one."""
        return _CsvWriter(self.dialect, stream)


class _CsvWriter(BulkWriter):
    def __init__(self, dialect: CsvDialect, stream: BinaryIO) -> None:
        self._stream = stream
        self._names = dialect.names
        self._columns = [RecordColumn(column.type) for column in dialect.columns]
        self._lines = CsvLines(dialect)
        self._end = dialect.line_separator
        if dialect.use_header:
            header = CsvDialect(tuple(map(CsvColumn, dialect.names)), dialect.separator, dialect.quote, dialect.escape)
            self._write([CsvLines(header).of_row(dialect.names)])

    def write(self, values: list[Any]) -> None:
        if not values:
            return
        rows = zip(*[values_of(value, self._names) for value in values], strict=True)
        self._write(self._lines.of_columns([to_values(of(c)) for of, c in zip(self._columns, rows, strict=True)]))

    def _write(self, lines: list[str]) -> None:
        self._stream.write("".join([line + self._end for line in lines]).encode())

    def finish(self) -> None:
        return


def quoting(dialect: CsvDialect) -> Callable[[str], str]:
    """Return the function that quotes a text if necessary."""
    quote, escape = dialect.quote, dialect.escape
    if quote is None:
        return str
    largest = max(dialect.separator, quote, "\n", "\r")
    special = re.compile(f"[\\\\\0-{re.escape(largest)}{re.escape(escape or '')}]").search

    def quoted(text: str) -> str:
        if len(text) <= _ALWAYS_QUOTED and special(text) is None:
            return text
        if escape is not None:
            text = text.replace(escape, escape + escape)
        return quote + text.replace(quote, quote + quote) + quote

    return quoted
