"""JsonEncoder: rows as JSON messages, byte for byte as Flink's serializer (Jackson) writes them."""

from __future__ import annotations

import base64
import decimal
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scurry.common._java_numbers import double_text, float_text
from scurry.common._types import java_text
from scurry.errors import RecordRejectedError, UnsupportedError
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.messages import MessageEncoder
from scurry.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.values import to_values
from scurry.sql.values.texts import date_text, nanos_of_timestamp, time_text, timestamp_text

if TYPE_CHECKING:
    import pyarrow as pa

Writer = Callable[[Any], str]

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_CONTEXT = decimal.Context(prec=60)


@dataclass(frozen=True)
class JsonWriting:
    """The settings of a JSON encoder.

    Attributes:
        iso: Whether timestamps follow ISO-8601.
        null_keys: How NULL as a key of a map is written: `FAIL`, `DROP` or `LITERAL`.
        null_key: The key instead of NULL for `LITERAL`.
        plain_decimals: Whether decimals are written without an exponent.
        skip_nulls: Whether NULL fields are left out.
    """

    iso: bool = False
    null_keys: str = "FAIL"
    null_key: str = "null"
    plain_decimals: bool = False
    skip_nulls: bool = False


@dataclass(frozen=True)
class JsonEncoder(MessageEncoder):
    """Encode rows as JSON objects.

    Attributes:
        columns: The columns of the rows.
        settings: How.
    """

    columns: tuple[FormatColumn, ...]
    settings: JsonWriting

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return the JSON object of each row."""
        write = _object([(column.name, column.type) for column in self.columns], self.settings)
        if not self.columns:
            return [b"{}"] * batch.num_rows
        return [write(row).encode() for row in zip(*map(to_values, batch.columns), strict=True)]


def quoted(text: str) -> str:
    """Return a text as a JSON string."""
    return '"' + (_ESCAPED.sub(_escape, text) if _ESCAPED.search(text) else text) + '"'


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}"


def _object(fields: list[tuple[str, DataType]], settings: JsonWriting) -> Writer:
    writers = [(quoted(name) + ":", _writer(data_type, settings)) for name, data_type in fields]
    skip = settings.skip_nulls

    def write(row: Any) -> str:
        parts = [
            key + ("null" if value is None else text(value))
            for (key, text), value in zip(writers, row, strict=True)
            if not (skip and value is None)
        ]
        return "{" + ",".join(parts) + "}"

    return write


def _writer(data_type: DataType, settings: JsonWriting) -> Writer:
    if isinstance(data_type, IntegralType):
        return str
    simple = _SIMPLE.get(type(data_type))
    if simple is not None:
        return simple
    if isinstance(data_type, DecimalType):
        if settings.plain_decimals:
            return lambda value: format(value, "f")
        # without trailing zeros, so 100 is 1E+2, as Jackson writes it
        return lambda value: str(value.normalize(_CONTEXT)) if value else "0"
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        precision, separator = data_type.precision, "T" if settings.iso else " "
        end = "Z" if isinstance(data_type, LocalZonedTimestampType) else ""
        return lambda value: f'"{timestamp_text(nanos_of_timestamp(value, precision), separator)}{end}"'
    if isinstance(data_type, ArrayType):
        element = _nullable(_writer(data_type.element_type, settings))
        return lambda values: "[" + ",".join(map(element, values)) + "]"
    if isinstance(data_type, MapType):
        return _map(data_type.key_type, _writer(data_type.value_type, settings), settings)
    if isinstance(data_type, MultisetType):
        return _map(data_type.element_type, _writer(IntType(), settings), settings)
    if isinstance(data_type, RowType):
        return _object([(field.name, field.data_type) for field in data_type.fields], settings)
    raise UnsupportedError(f"format 'json' cannot write {data_type.as_summary_string()}")


def _nullable(write: Writer) -> Writer:
    return lambda value: "null" if value is None else write(value)


def _map(key_type: DataType, item: Writer, settings: JsonWriting) -> Writer:
    if not isinstance(key_type, CharType | VarCharType):
        raise UnsupportedError(
            f"JSON format doesn't support non-string as key type of map. The type is: {key_type.as_summary_string()}"
        )
    text = _nullable(item)

    def write(pairs: list[tuple[Any, Any]]) -> str:
        parts = {}
        for key, value in pairs:
            if key is None:
                if settings.null_keys == "DROP":
                    continue
                if settings.null_keys == "FAIL":
                    raise RecordRejectedError(
                        "JSON format doesn't support to serialize map data with null keys. You can drop null key "
                        "entries or encode null in literals by specifying map-null-key.mode option.",
                        pairs,
                    )
                key = settings.null_key
            parts[key] = text(value)
        return "{" + ",".join(f"{quoted(key)}:{value}" for key, value in parts.items()) + "}"

    return write


def _floating(text: Callable[[float], str]) -> Writer:
    return lambda value: text(value) if math.isfinite(value) else f'"{text(value)}"'


def _base64(value: bytes) -> str:
    return f'"{base64.b64encode(value).decode()}"'


_SIMPLE: dict[type[DataType], Writer] = {
    BooleanType: java_text.boolean,
    CharType: quoted,
    VarCharType: quoted,
    FloatType: _floating(float_text),
    DoubleType: _floating(double_text),
    BinaryType: _base64,
    VarBinaryType: _base64,
    DateType: lambda value: f'"{date_text(value)}"',
    TimeType: lambda value: f'"{time_text(value * 1_000_000)}"',
    NullType: lambda value: "null",
}
