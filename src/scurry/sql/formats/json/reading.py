"""JsonDecoder: JSON messages as columns, converted as Flink's deserializer (Jackson) does."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scurry.common._charsets import text_of
from scurry.common._java_numbers import double_text
from scurry.common._types import java_text
from scurry.connectors.files.formats.csv.schema import decimal_parser, parse_double, parse_float, parse_integer
from scurry.connectors.source import SKIPPED
from scurry.errors import UnsupportedError
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.json.arrow_reading import ArrowJsonColumns
from scurry.sql.formats.messages import DecodedMessages, DecodingError, MessageDecoder
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.values import from_values
from scurry.sql.values.texts import parse_date, parse_time, parse_timestamp

if TYPE_CHECKING:
    import pyarrow as pa

Converter = Callable[[Any], Any]


class _Fraction(float):
    """A number with the text it was written as."""

    __slots__ = ("text",)
    text: str


def _fraction(text: str) -> _Fraction:
    value = _Fraction(text)
    value.text = text
    return value


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"Non-standard token '{text}': JSON has no such number")


_DECODER = json.JSONDecoder(parse_float=_fraction, parse_constant=_refuse_constant)
_MISSING = object()


@dataclass(frozen=True)
class JsonSettings:
    """The settings of a JSON decoder.

    Attributes:
        iso: Whether timestamps follow ISO-8601.
        ignore_errors: Whether what cannot be read is NULL or skipped.
        fail_on_missing: Whether a missing field is an error.
    """

    iso: bool = False
    ignore_errors: bool = False
    fail_on_missing: bool = False


@dataclass(frozen=True)
class JsonDecoder(MessageDecoder):
    """Decode messages of JSON objects, or arrays of them.

    Attributes:
        columns: The columns to decode.
        settings: How.
        identifier: The format, whose options they are.
    """

    columns: tuple[FormatColumn, ...]
    settings: JsonSettings
    identifier: str = "json"

    def block_decoder(self) -> Callable[[bytes | bytearray], pa.RecordBatch | None] | None:
        """Return a decoder of many lines by pyarrow, None if it does not support a type or an option."""
        if self.settings.fail_on_missing or not ArrowJsonColumns.understands(self.columns):
            return None
        return ArrowJsonColumns(self.columns, self.settings.iso).read

    def decode_messages(self, messages: Sequence[bytes]) -> DecodedMessages:
        """Return the rows with the messages that they are from; empty messages have none.

        Raises:
            DecodingError: A message cannot be read.
        """
        rows: list[list[Any]] = []
        origins: list[int] = []
        convert = self.row_converter()
        for index, message in enumerate(messages):
            for value in self.parsed(index, message):
                try:
                    row = convert(value)
                except ValueError as error:
                    if self.settings.ignore_errors:
                        SKIPPED.get()(1)
                        continue
                    raise DecodingError(index, str(error), self._ignoring) from None
                if row is not None:
                    rows.append(row)
                    origins.append(index)
        return DecodedMessages(batch_of(rows, self.columns), origins)

    def parsed(self, index: int, message: bytes) -> list[Any]:
        """Return the values of a message: one, or those of an array."""
        try:
            text = text_of(message).lstrip(" \t\r\n\v\f")
            if not text:
                return []
            value = _DECODER.raw_decode(text)[0]  # what follows is not looked at, as by Jackson
        except (ValueError, RecursionError) as error:
            if self.settings.ignore_errors:
                SKIPPED.get()(1)
                return []
            raise DecodingError(index, str(error), self._ignoring) from None
        return value if isinstance(value, list) else [value]

    @property
    def _ignoring(self) -> str:
        return "" if self.settings.fail_on_missing else f"{self.identifier}.ignore-parse-errors"

    def row_converter(self) -> Callable[[Any], list[Any] | None]:
        """Return the function that makes a row of a JSON object; it raises ValueError."""
        fields = [(c.name, _field(c.type, self.settings, c.name)) for c in self.columns]
        fail_on_missing = self.settings.fail_on_missing

        def convert(value: Any) -> list[Any] | None:
            if value is None:
                return None
            if not isinstance(value, dict):
                raise ValueError(f"expected a JSON object, not {_shortened(value)}")
            row = []
            for name, field in fields:
                part = value.get(name, _MISSING)
                if part is _MISSING:
                    if fail_on_missing:
                        raise ValueError(f"Some field is missing in the JSON data: {name}")
                    part = None
                row.append(None if part is None else field(part))
            return row

        return convert


def batch_of(rows: list[list[Any]], columns: Sequence[FormatColumn]) -> pa.RecordBatch:
    """Return rows as columns."""
    import pyarrow as pa

    if not columns:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))
    parts = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    arrays = [from_values(list(part), column.type) for part, column in zip(parts, columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=[column.name for column in columns])


def _field(data_type: DataType, settings: JsonSettings, name: str) -> Converter:
    convert = _converter(data_type, settings, name)

    def checked(value: Any) -> Any:
        try:
            return convert(value)
        except (ValueError, OverflowError) as error:
            if settings.ignore_errors:
                return None
            if str(error).startswith("Fail to"):
                raise
            raise ValueError(f"Fail to deserialize at field: {name}. {error}") from None

    return checked


def _element(data_type: DataType, settings: JsonSettings, name: str) -> Converter:
    convert = _field(data_type, settings, name)
    return lambda value: None if value is None else convert(value)


def _converter(data_type: DataType, settings: JsonSettings, name: str) -> Converter:
    simple = _SIMPLE.get(type(data_type))
    if simple is not None:
        return simple
    if isinstance(data_type, DecimalType):
        parse = decimal_parser(data_type.precision, data_type.scale)
        return lambda value: parse(_text(value))
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        zoned, iso = isinstance(data_type, LocalZonedTimestampType), settings.iso
        unit = 1_000_000 if data_type.precision <= 3 else 1_000 if data_type.precision <= 6 else 1
        return lambda value: parse_timestamp(_text(value), iso, zoned) // unit
    if isinstance(data_type, ArrayType):
        return _array(_element(data_type.element_type, settings, name))
    if isinstance(data_type, MapType):
        return _map(data_type.key_type, _element(data_type.value_type, settings, name))
    if isinstance(data_type, MultisetType):
        return _map(data_type.element_type, _element(IntType(), settings, name))
    if isinstance(data_type, RowType):
        return _row(data_type, settings, name)
    raise UnsupportedError(f"format 'json' cannot read {data_type.as_summary_string()} (column {name!r})")


def _array(element: Converter) -> Converter:
    def convert(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError(f"expected a JSON array, not {_shortened(value)}")
        return list(map(element, value))

    return convert


def _map(key_type: DataType, item: Converter) -> Converter:
    if not isinstance(key_type, CharType | VarCharType):
        raise UnsupportedError(
            f"JSON format doesn't support non-string as key type of map. The type is: {key_type.as_summary_string()}"
        )

    def convert(value: Any) -> list[tuple[str, Any]]:
        if not isinstance(value, dict):
            raise ValueError(f"expected a JSON object, not {_shortened(value)}")
        entries = [(key, item(part)) for key, part in value.items()]
        if len(entries) < 2:
            return entries
        # Flink's reader keeps them in a HashMap of Java.
        codes = [_key_hash(key) for key in value]
        return [entries[place] for place in java_text.hash_map_order(codes, slots=16)]

    return convert


@lru_cache(maxsize=1 << 14)
def _key_hash(key: str) -> int:
    return java_text.hash_of_string_data(key)


def _row(data_type: RowType, settings: JsonSettings, name: str) -> Converter:
    fields = [(f.name, _element(f.data_type, settings, f"{name}.{f.name}")) for f in data_type.fields]

    def convert(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, dict):
            raise ValueError(f"expected a JSON object, not {_shortened(value)}")
        if settings.fail_on_missing:
            for key, _ in fields:
                if key not in value:
                    raise ValueError(f"Some field is missing in the JSON data: {name}.{key}")
        return tuple([field(value.get(key)) for key, field in fields])

    return convert


def _boolean(value: Any) -> bool:
    return value if isinstance(value, bool) else _text(value).strip().lower() == "true"


def _whole(kind: str) -> Converter:
    def convert(value: Any) -> int:
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError(f"Numeric value ({value}) out of range")
            value = int(value)
        elif isinstance(value, bool) or not isinstance(value, int):
            return parse_integer(_text(value), kind)
        return parse_integer(str(value), kind)

    return convert


def _floating(parse: Callable[[str], float]) -> Converter:
    return lambda value: parse(_text(value))


def _text(value: Any) -> str:
    """Return the text of a JSON value: of a number as it was written, of arrays and objects without blanks."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, _Fraction):
        return value.text
    if isinstance(value, int):
        return str(value)
    return _tree_text(value)


def _tree_text(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(key)}:{_tree_text(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_tree_text, value)) + "]"
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, float):
        return double_text(float(value))
    return "true" if value is True else "false" if value is False else str(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _shortened(value: Any) -> str:
    text = _tree_text(value)
    return text if len(text) <= 60 else text[:60] + "..."


_SIMPLE: dict[type[DataType], Converter] = {
    BooleanType: _boolean,
    TinyIntType: lambda value: parse_integer(_text(value), "TINYINT"),
    SmallIntType: lambda value: parse_integer(_text(value), "SMALLINT"),
    IntType: _whole("INT"),
    BigIntType: _whole("BIGINT"),
    FloatType: _floating(parse_float),
    DoubleType: _floating(parse_double),
    CharType: _text,
    VarCharType: _text,
    BinaryType: lambda value: base64.b64decode(_text(value), validate=True),
    VarBinaryType: lambda value: base64.b64decode(_text(value), validate=True),
    DateType: lambda value: parse_date(_text(value)),
    TimeType: lambda value: parse_time(_text(value)),
    NullType: lambda value: None,
}
