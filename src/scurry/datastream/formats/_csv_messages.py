"""CSV rows as messages: one row, one line, described by type information."""

from __future__ import annotations

import base64
import datetime
import decimal
from collections.abc import Callable, Sequence
from typing import Any, Self

from scurry.common._api import ApiObject
from scurry.common._charsets import text_of
from scurry.common.serialization import DeserializationSchema, SerializationSchema
from scurry.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SequenceTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
)
from scurry.common.types import Row
from scurry.connectors.files.formats.csv.parser import CsvParser, CsvSyntaxError
from scurry.connectors.files.formats.csv.schema import CsvDialect, scalar_parser
from scurry.connectors.files.formats.csv.writer import quoting
from scurry.errors import ArgumentError, ArgumentTypeError, MalformedRecordError, UnsupportedError
from scurry.sql.values.records import values_of
from scurry.sql.values.type_information import value_type

_AS_IN_FILES = (
    BasicType.STRING,
    BasicType.BOOLEAN,
    BasicType.BYTE,
    BasicType.SHORT,
    BasicType.INT,
    BasicType.LONG,
    BasicType.FLOAT,
    BasicType.DOUBLE,
)
_TEXTS = (BasicType.STRING, BasicType.CHAR, BasicType.INSTANT)


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
        self._parser = CsvParser(dialect)
        self._fields = [self._field(field) for field in type_info.get_field_types()]
        self._names = tuple(type_info.get_field_names())

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
            return self._row(texts, self._fields, self._names)
        except (CsvSyntaxError, ValueError, StopIteration) as error:
            if self._ignore:
                return None
            reason = "it is empty" if isinstance(error, StopIteration) else str(error)
            text = text_of(message, "replace")
            raise MalformedRecordError("CSV message", None, text, reason) from None

    def _row(self, texts: Sequence[str], fields: list[Callable[[str], Any]], names: tuple[str, ...]) -> Row:
        if len(texts) == len(fields) + 1 and not texts[-1]:
            texts = texts[:-1]
        missing = len(fields) - len(texts)
        if missing < 0 or (missing and not self._ignore):
            raise ValueError(f"{len(fields)} fields are declared but it has {len(texts)}")
        values = [field(text) for field, text in zip(fields, texts, strict=False)]
        return Row._from_values(values + [None] * missing, names)

    def _field(self, declared: TypeInformation) -> Callable[[str], Any]:
        parse, null = self._value(declared), self._dialect.null_value

        def field(text: str) -> Any:
            if text == null:
                return None
            try:
                return parse(text)
            except ValueError:
                if self._ignore:
                    return None
                raise

        return field

    def _value(self, declared: TypeInformation) -> Callable[[str], Any]:
        delimiter = self._dialect.array_separator
        if isinstance(declared, RowTypeInfo):
            fields = [self._field(field) for field in declared.get_field_types()]
            names = tuple(declared.get_field_names())
            return lambda text: self._row(text.split(delimiter), fields, names) if text else None
        if isinstance(declared, PrimitiveArrayTypeInfo) and _is_byte(declared.elem_type):
            return base64.b64decode
        if isinstance(declared, SequenceTypeInfo):
            element = self._field(declared.elem_type)
            return lambda text: list(map(element, text.split(delimiter))) if text else []
        if isinstance(declared, BasicTypeInfo) and declared.basic_type in _AS_IN_FILES:
            return scalar_parser(value_type(declared))
        for kind, parse in _PARSERS.items():
            if declared == kind or (isinstance(kind, type) and isinstance(declared, kind)):
                return parse
        raise UnsupportedError(f"CSV messages cannot hold {declared!r}; declare the column as STRING and convert it")

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
        self._quoted = quoting(dialect)
        self._names = tuple(type_info.get_field_names())
        self._texts = [self._text(field) for field in type_info.get_field_types()]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a constructor call."""
        return type(self), (self._type_info, self._dialect)

    def serialize(self, value: Any) -> bytes:
        """Return the line of a row.

        Raises:
            TypeMismatchError: The value is not such a row.
        """
        null = self._dialect.null_value or ""
        texts = [
            null if field is None else text(field)
            for text, field in zip(self._texts, values_of(value, self._names), strict=True)
        ]
        return (self._dialect.separator.join(texts) + self._dialect.line_separator).encode()

    def _text(self, declared: TypeInformation) -> Callable[[Any], str]:
        """Return the function that makes the text of a field that is not null."""
        quoted, plain = self._quoted, self._part(declared)
        numeric = isinstance(declared, BasicTypeInfo) and declared.basic_type not in _TEXTS
        return plain if numeric else lambda value: quoted(plain(value))

    def _part(self, declared: TypeInformation) -> Callable[[Any], str]:
        """Return the function that makes the text of a value, before it is quoted."""
        delimiter, null = self._dialect.array_separator, self._dialect.null_value or ""
        if isinstance(declared, RowTypeInfo):
            parts = [self._part(field) for field in declared.get_field_types()]
            names = tuple(declared.get_field_names())
            return lambda row: delimiter.join(
                null if v is None else part(v) for part, v in zip(parts, values_of(row, names), strict=True)
            )
        if isinstance(declared, PrimitiveArrayTypeInfo) and _is_byte(declared.elem_type):
            return lambda value: base64.b64encode(bytes(value)).decode()
        if isinstance(declared, SequenceTypeInfo):
            element = self._part(declared.elem_type)
            return lambda values: delimiter.join(null if v is None else element(v) for v in values)
        return declared.to_string

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
            """Return the schema."""
            return CsvRowSerializationSchema(self._type_info, CsvDialect(**self._options))


def _is_byte(declared: TypeInformation) -> bool:
    return isinstance(declared, BasicTypeInfo) and declared.basic_type is BasicType.BYTE


def _decimal(text: str) -> decimal.Decimal:
    try:
        return decimal.Decimal(text.strip())
    except decimal.InvalidOperation:
        raise ValueError(f"{text!r} is no decimal number") from None


_PARSERS: dict[Any, Callable[[str], Any]] = {
    BasicTypeInfo(BasicType.CHAR): str,
    BasicTypeInfo(BasicType.BIG_DEC): _decimal,
    BasicTypeInfo(BasicType.BIG_INT): lambda text: int(text.strip()),
    DateTypeInfo: datetime.date.fromisoformat,
    TimeTypeInfo: datetime.time.fromisoformat,
    TimestampTypeInfo: datetime.datetime.fromisoformat,
}
