"""CsvFields: fields of lines as values, converted as Flink's deserializer (Jackson) does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from scurry.connectors.files.formats.csv.schema import CsvDialect
from scurry.errors import UnsupportedError
from scurry.sql import types
from scurry.sql.values.parsing import BLANK, Parser, atom_parser, parse_date, parse_time


class CsvFields:
    """Make the functions that read fields; a subclass makes other values of them than those of columns.

    Args:
        dialect: The syntax, with all columns of the lines.
    """

    def __init__(self, dialect: CsvDialect) -> None:
        self.dialect = dialect
        self._expected = len(dialect.columns)

    def field(self, data_type: types.DataType, name: str) -> Parser:
        """Return the function that reads a field; it raises ValueError.

        Raises:
            UnsupportedError: CSV does not support the type.
        """
        parse, null, ignore = self._parser(data_type, name), self.dialect.null_value, self.dialect.ignore_errors
        if parse is str and null is None:
            return parse

        def checked(text: str) -> Any:
            if null is not None and text == null:
                return None
            try:
                return parse(text)
            except ValueError as error:
                if ignore:
                    return None
                if str(error).startswith("Fail to"):
                    raise
                raise ValueError(f"Fail to deserialize at field: {name}. {error}") from None

        return checked

    def line(
        self, fields: Sequence[str], parsers: Sequence[Parser], positions: Sequence[int] | None = None
    ) -> list[Any]:
        """Return the values of a line.

        Args:
            fields: Its fields.
            parsers: The functions that read the columns.
            positions: The positions of the columns to read; None for all.

        Raises:
            ValueError: The line does not fit.
        """
        expected, count = self._expected, len(fields)
        if count == expected:
            if positions is None:
                return [parse(text) for parse, text in zip(parsers, fields, strict=True)]
            return [parse(fields[position]) for position, parse in zip(positions, parsers, strict=True)]
        if count > expected and (count > expected + 1 or fields[-1]):
            raise ValueError(f"Too many fields: {expected} are declared, the line has {count}")
        positions = range(expected) if positions is None else positions
        if count < len(positions) and not self.dialect.ignore_errors:
            # As in Flink, a line has to have as many fields as columns are read, whichever they are.
            raise ValueError(f"Row length mismatch. {len(positions)} fields expected but was {count}.")
        return [
            parse(fields[position]) if position < count else None
            for position, parse in zip(positions, parsers, strict=True)
        ]

    def atom(self, data_type: types.DataType) -> Parser | None:
        """Return the function that reads a value without parts; None if CSV does not support the type."""
        parse = _SIMPLE.get(type(data_type)) or atom_parser(data_type)
        if parse is None:
            return None
        if isinstance(data_type, types.DecimalType):
            return _without_blanks(parse)
        if isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType):
            return lambda text: parse(text.strip())
        return parse

    def row(self, names: Sequence[str]) -> Callable[[list[Any]], Any]:
        """Return the function that makes a value of a nested row."""
        return tuple

    def _parser(self, data_type: types.DataType, name: str) -> Parser:
        atom = self.atom(data_type)
        if atom is not None:
            return atom
        if isinstance(data_type, types.ArrayType):
            element, separator = self._part(data_type.element_type, name), self.dialect.array_separator
            return lambda text: [element(part) for part in text.split(separator)] if text else []
        if isinstance(data_type, types.RowType):
            return self._row(data_type, name)
        raise unsupported(data_type, name, "declare the column as STRING and convert it")

    def _part(self, data_type: types.DataType, name: str) -> Parser:
        if isinstance(data_type, types.ArrayType | types.RowType):
            raise unsupported(data_type, name, "parts of arrays and rows cannot have parts, as in Flink")
        return self.field(data_type, name)

    def _row(self, data_type: types.RowType, name: str) -> Parser:
        fields = [self._part(each.data_type, f"{name}.{each.name}") for each in data_type.fields]
        make, separator, ignore = (
            self.row(data_type.field_names()),
            self.dialect.array_separator,
            self.dialect.ignore_errors,
        )

        def parse(text: str) -> Any:
            if not text:
                return None
            parts = text.split(separator)
            if len(parts) != len(fields) and not ignore:
                raise ValueError(f"Row length mismatch. {len(fields)} fields expected but was {len(parts)}.")
            return make([field(parts[i]) if i < len(parts) else None for i, field in enumerate(fields)])

        return parse


def unsupported(data_type: types.DataType, name: str, reason: str) -> UnsupportedError:
    """Return the error of a column whose type CSV does not support."""
    return UnsupportedError(f"CSV cannot hold {data_type.as_summary_string()} (column {name!r}); {reason}")


def _without_blanks(parse: Parser) -> Parser:
    def checked(text: str) -> Any:
        # as java.math.BigDecimal
        if text.strip(BLANK) != text:
            raise ValueError(f"{text!r} is no decimal number")
        return parse(text)

    return checked


#: Dates without leading zeros and times without seconds, which Flink takes in CSV.
_SHORT_DATE: Final = re.compile(r"^(\d{4})-(\d\d?)-(\d\d?)$")
_SHORT_TIME: Final = re.compile(r"^\d\d:\d\d$")


def parse_short_date(text: str) -> int:
    """Return the days since 1970-01-01 of a date whose month and day may have one digit; raises ValueError."""
    return parse_date(_SHORT_DATE.sub(_padded, text))


def _padded(date: re.Match[str]) -> str:
    return f"{date[1]}-{date[2]:0>2}-{date[3]:0>2}"


_SIMPLE: dict[type[types.DataType], Parser] = {
    types.DateType: parse_short_date,
    types.TimeType: lambda text: parse_time(f"{text}:00" if _SHORT_TIME.match(text) else text),
}
