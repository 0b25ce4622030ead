"""CSV rows as messages: one row, one line, described by type information."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import re
from collections.abc import Callable, Sequence
from typing import Any, Self

from scurry.common._api import ApiObject
from scurry.common._charsets import text_of
from scurry.common._epoch import date_of_days, micros_of_datetime
from scurry.common._types import java_text
from scurry.common.serialization import DeserializationSchema, SerializationSchema
from scurry.common.time import Instant
from scurry.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    LocalTimeTypeInfo,
    RowTypeInfo,
    TypeInformation,
)
from scurry.common.types import Row
from scurry.connectors.files.formats.csv.fields import CsvFields, parse_short_date
from scurry.connectors.files.formats.csv.parser import CsvParser, CsvSyntaxError
from scurry.connectors.files.formats.csv.schema import CsvColumn, CsvDialect
from scurry.connectors.files.formats.csv.writer import CsvLines
from scurry.errors import ArgumentError, ArgumentTypeError, MalformedRecordError
from scurry.sql import types
from scurry.sql.values.parsing import BLANK, Parser, parse_timestamp
from scurry.sql.values.records import values_of
from scurry.sql.values.texts import Text, base64_text, timestamp_text
from scurry.sql.values.type_information import represented, value_type

_BIG_INT = value_type(BasicTypeInfo(BasicType.BIG_INT))


def _row_type(type_info: Any) -> RowTypeInfo:
    if not isinstance(type_info, RowTypeInfo):
        raise ArgumentTypeError(
            f"CSV messages are rows; expected Types.ROW(...) or Types.ROW_NAMED(...), got {type_info!r}"
        )
    return type_info


def single_character(what: str, char: str) -> str:
    """Return an argument that has to be a single character."""
    if len(char) != 1:
        raise ArgumentError(f"the {what} must be a single character, got {char!r}")
    return char


class _Builder(ApiObject):
    """Common part of both schemas' builders: the row's type and the syntax of arrays and quotes."""

    def __init__(self, type_info: TypeInformation) -> None:
        self._type_info = _row_type(type_info)
        self._options: dict[str, Any] = {}

    def set_array_element_delimiter(self, delimiter: str) -> Self:
        """Set the text between the parts of arrays and nested rows, a semicolon by default."""
        self._options["array_separator"] = delimiter
        return self

    def set_quote_character(self, c: str) -> Self:
        """Set the character around fields that need it."""
        self._options["quote"] = single_character("quote character", c)
        return self

    def set_escape_character(self, c: str) -> Self:
        """Set the character that escapes the next one."""
        self._options["escape"] = single_character("escape character", c)
        return self


class CsvRowDeserializationSchema(DeserializationSchema):
    """Read a row from the first line of a message; made by its `Builder`.

    Every column must be present and match its type. Arrays and nested rows are one column each, with their parts
    separated by the array element delimiter.
    """

    def __init__(self, type_info: RowTypeInfo, dialect: CsvDialect, ignore_parse_errors: bool) -> None:
        self._type_info = type_info
        self._dialect = dialect
        self._ignore = ignore_parse_errors
        described = dataclasses.replace(dialect, columns=_columns(type_info), ignore_errors=ignore_parse_errors)
        self._parser = CsvParser(described)
        self._fields = _RecordFields(described)
        self._parsers = [self._fields.field(column.type, column.name) for column in described.columns]
        self._names = described.names

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a constructor call."""
        return type(self), (self._type_info, self._dialect, self._ignore)

    def get_produced_type(self) -> TypeInformation:
        """Return the row's type."""
        return self._type_info

    def deserialize(self, message: bytes) -> Row | None:
        """Return the row in a message; with `set_ignore_parse_errors`, None if it cannot be read at all.

        Raises:
            MalformedRecordError: The message is not such a row.
        """
        try:
            _, _, texts = next(self._parser.records(text_of(message)))
            values = self._fields.line(texts, self._parsers)
            return Row._from_values(values, self._names)
        except (CsvSyntaxError, ValueError, StopIteration) as error:
            if self._ignore:
                return None
            reason = "it is empty" if isinstance(error, StopIteration) else str(error)
            text = text_of(message, "replace")
            raise MalformedRecordError("CSV message", None, text, reason) from None

    class Builder(_Builder):
        """Builder of the schema: sets the syntax of the messages."""

        def __init__(self, type_info: TypeInformation) -> None:
            """Begin with commas and double quotes.

            Args:
                type_info: The row's type.
            """
            super().__init__(type_info)
            self._ignore = False

        def set_field_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            """Set the character between fields."""
            self._options["separator"] = single_character("field delimiter", delimiter)
            return self

        def set_allow_comments(self, allow_comments: bool) -> CsvRowDeserializationSchema.Builder:
            """Skip lines that begin with `#`."""
            self._options["allow_comments"] = allow_comments
            return self

        def set_null_literal(self, null_literal: str) -> CsvRowDeserializationSchema.Builder:
            """Set the text that means null."""
            self._options["null_value"] = null_literal
            return self

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> CsvRowDeserializationSchema.Builder:
            """Read fields that cannot be parsed as null, and such messages as None."""
            self._ignore = ignore_parse_errors
            return self

        def build(self) -> CsvRowDeserializationSchema:
            """Return the schema.

            Raises:
                UnsupportedError: The row has a type that CSV messages do not support.
            """
            return CsvRowDeserializationSchema(self._type_info, CsvDialect(**self._options), self._ignore)


class CsvRowSerializationSchema(SerializationSchema):
    """Write a row as a line of CSV; made by its `Builder`."""

    def __init__(self, type_info: RowTypeInfo, dialect: CsvDialect) -> None:
        self._type_info = type_info
        self._dialect = dialect
        described = dataclasses.replace(dialect, columns=_columns(type_info))
        self._names = described.names
        local = any(isinstance(represented(field), LocalTimeTypeInfo) for field in type_info.get_field_types())
        self._line = CsvLines(described, _LOCAL_TEXTS if local else _TEXTS).of_row

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a constructor call."""
        return type(self), (self._type_info, self._dialect)

    def serialize(self, value: Any) -> bytes:
        """Return the line of a row.

        Raises:
            TypeMismatchError: The value is not such a row.
        """
        return (self._line(values_of(value, self._names)) + self._dialect.line_separator).encode()

    class Builder(_Builder):
        """Builder of the schema: sets the syntax of the messages."""

        def __init__(self, type_info: TypeInformation) -> None:
            """Begin with commas, double quotes and a newline at the end.

            Args:
                type_info: The row's type.
            """
            super().__init__(type_info)

        def set_field_delimiter(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the character between fields."""
            self._options["separator"] = single_character("field delimiter", c)
            return self

        def set_line_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            """Set the text that ends a message; it may be empty."""
            self._options["line_separator"] = delimiter
            return self

        def disable_quote_character(self) -> CsvRowSerializationSchema.Builder:
            """Never quote."""
            self._options["quote"] = None
            return self

        def set_null_literal(self, s: str) -> CsvRowSerializationSchema.Builder:
            """Set the text that means null, empty by default."""
            self._options["null_value"] = s
            return self

        def build(self) -> CsvRowSerializationSchema:
            """Return the schema.

            Raises:
                UnsupportedError: The row has a type that CSV messages do not support.
            """
            return CsvRowSerializationSchema(self._type_info, CsvDialect(**self._options))


def _sql_timestamp(value: datetime.datetime) -> str:
    return timestamp_text(micros_of_datetime(value) * 1000)


def _instant(value: Instant) -> str:
    return timestamp_text(value.seconds * 1_000_000_000 + value.nanos) + "Z"


#: Texts of Java's classes, where they differ from those of columns.
_TEXTS: dict[type[types.DataType], Text] = {
    types.DecimalType: str,
    types.VarBinaryType: lambda value: base64_text(bytes(value)),
    types.DateType: datetime.date.isoformat,
    types.TimeType: java_text.time_of_day,
    types.TimestampType: java_text.timestamp,
    types.LocalZonedTimestampType: _instant,
}
_LOCAL_TEXTS: dict[type[types.DataType], Text] = {
    **_TEXTS,
    types.TimeType: java_text.local_time,
    types.TimestampType: _sql_timestamp,
}


def _columns(type_info: RowTypeInfo) -> tuple[CsvColumn, ...]:
    fields = zip(type_info.get_field_names(), type_info.get_field_types(), strict=True)
    return tuple(CsvColumn(name, value_type(field)) for name, field in fields)


class _RecordFields(CsvFields):
    """Fields as values of records."""

    def atom(self, data_type: types.DataType) -> Parser | None:
        return _whole if data_type == _BIG_INT else _PARSERS.get(type(data_type)) or super().atom(data_type)

    def row(self, names: Sequence[str]) -> Callable[[list[Any]], Row]:
        made = tuple(names)
        return lambda values: Row._from_values(values, made)


def _whole(text: str) -> int:
    return int(text.strip(BLANK))


def _decimal(text: str) -> decimal.Decimal:
    try:
        return decimal.Decimal(text.strip(BLANK))
    except decimal.InvalidOperation:
        raise ValueError(f"{text!r} is no decimal number") from None


#: The texts that `java.sql.Time` and `java.sql.Timestamp` read.
_TIME = re.compile(r"(\d\d?):(\d\d?):(\d\d?)")
_TIMESTAMP = re.compile(r"(\d{4}-\d\d?-\d\d?) (\d\d?:\d\d?:\d\d?)(?:\.(\d{1,9}))?")


def _date(text: str) -> datetime.date:
    if len(text) == 10 and text[7] == "-":
        return datetime.date.fromisoformat(text)
    return date_of_days(parse_short_date(text))


def _time(text: str) -> datetime.time:
    if _TIME.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no time such as 10:11:12")
    hour, minute, second = map(int, text.split(":"))
    return datetime.time(hour, minute, second)


def _timestamp(text: str) -> datetime.datetime:
    if len(text) > 18 and text[10] == " " and text[16] == ":" and text[7] == "-" and "," not in text:
        moment = datetime.datetime.fromisoformat(text)  # a third of the time of the pattern
        if moment.tzinfo is None:
            return moment
    found = _TIMESTAMP.fullmatch(text.strip(BLANK))
    if found is None:
        raise ValueError(f"{text!r} is no timestamp such as 2020-01-02 10:11:12.5")
    date, time, fraction = found.groups()
    micros = int((fraction or "").ljust(6, "0")[:6])
    return datetime.datetime.combine(_date(date), _time(time).replace(microsecond=micros))


def _read_instant(text: str) -> Instant:
    return Instant(*divmod(parse_timestamp(text, iso=False, zoned=True), 1_000_000_000))


_PARSERS: dict[type[types.DataType], Parser] = {
    types.DecimalType: _decimal,
    types.DateType: _date,
    types.TimeType: _time,
    types.TimestampType: _timestamp,
    types.LocalZonedTimestampType: _read_instant,
}
