"""CsvWriterFactory: writes rows as CSV text, byte for byte like Flink (Jackson)."""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from scurry.common.bulk_writer import BulkWriter, BulkWriterFactory
from scurry.connectors.files.formats.csv.schema import CsvColumn, CsvDialect
from scurry.sql.types.atomic_types import BooleanType, DecimalType, DoubleType, FloatType, VarCharType
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType
from scurry.sql.values.records import values_of
from scurry.sql.values.type_information import to_type_info

#: Jackson quotes all texts that are longer than this
_ALWAYS_QUOTED = 24


@dataclass(frozen=True)
class CsvWriterFactory(BulkWriterFactory):
    """Create writers of CSV files in UTF-8.

    A text is quoted if it is longer than 24 characters, or contains a backslash, the escape character, or a character
    that is not greater than the greatest of separator, quote and line ends (a blank, for example).

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
        self._line = line_formatter(dialect)
        if dialect.use_header:
            header = CsvDialect(tuple(map(CsvColumn, dialect.names)), dialect.separator, dialect.quote, dialect.escape)
            stream.write((line_formatter(header)(dialect.names) + dialect.line_separator).encode())
        self._end = dialect.line_separator

    def write(self, values: list[Any]) -> None:
        names, line, end = self._names, self._line, self._end
        self._stream.write("".join([line(values_of(value, names)) + end for value in values]).encode())

    def finish(self) -> None:
        return


def line_formatter(dialect: CsvDialect) -> Callable[[Any], str]:
    """Return the function that formats the values of a row as a line, without its end."""
    texts = [_text(column, dialect) for column in dialect.columns]
    separator, null = dialect.separator, dialect.null_value or ""

    def line(values: Any) -> str:
        return separator.join(
            [null if value is None else text(value) for text, value in zip(texts, values, strict=True)]
        )

    return line


def _text(column: CsvColumn, dialect: CsvDialect) -> Callable[[Any], str]:
    quoted = quoting(dialect)
    if isinstance(column.type, ArrayType):
        plain = _plain(column.type.element_type)
        separator = column.array_separator or dialect.array_separator
        null = dialect.null_value or ""
        return lambda values: quoted(separator.join(null if v is None else plain(v) for v in values))
    return (lambda value: quoted(str(value))) if isinstance(column.type, VarCharType) else _plain(column.type)


def _plain(data_type: DataType) -> Callable[[Any], str]:
    if isinstance(data_type, DecimalType):
        unit = decimal.Decimal(1).scaleb(-data_type.scale)
        context = decimal.Context(prec=60, rounding=decimal.ROUND_HALF_UP)
        # without trailing zeros, so 100 is 1E+2, as Jackson writes it
        return lambda value: str(decimal.Decimal(value).quantize(unit, context=context).normalize(context))
    if isinstance(data_type, BooleanType | FloatType | DoubleType):
        return to_type_info(data_type).to_string
    return str


def quoting(dialect: CsvDialect) -> Callable[[str], str]:
    """Return the function that quotes a text if necessary."""
    quote, escape = dialect.quote, dialect.escape
    if quote is None:
        return lambda text: text
    largest = max(dialect.separator, quote, "\n", "\r")
    special = re.compile(f"[\\\\\0-{re.escape(largest)}{re.escape(escape or '')}]")

    def quoted(text: str) -> str:
        if len(text) <= _ALWAYS_QUOTED and special.search(text) is None:
            return text
        if escape is not None:
            text = text.replace(escape, escape + escape)
        return quote + text.replace(quote, quote + quote) + quote

    return quoted
