"""Convert values of declared types to JSON text, with the same bytes that Flink (Jackson) writes."""

from __future__ import annotations

import base64
import datetime
import math
import re
from collections.abc import Callable
from typing import Any

from scurry.common import typeinfo
from scurry.common._epoch import datetime_of_micros
from scurry.common.time import Instant
from scurry.common.typeinfo import BasicType, BasicTypeInfo, TypeInformation
from scurry.errors import UnsupportedError
from scurry.sql.values.records import values_of

Writer = Callable[[Any], str]

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r'["\\\x00-\x1f]|[^\x00-\uffff]')


def writer(declared: TypeInformation) -> Writer:
    """Return the function that makes the JSON text of a value, `null` for None.

    Raises:
        UnsupportedError: JSON does not support the type.
    """
    write = _writer(declared)
    return lambda value: "null" if value is None else write(value)


def _writer(declared: TypeInformation) -> Writer:
    if isinstance(declared, typeinfo.RowTypeInfo):
        names = tuple(declared.get_field_names())
        keys = [quoted(name) + ":" for name in names]
        fields = [writer(field) for field in declared.get_field_types()]
        return lambda row: (
            "{"
            + ",".join([k + write(v) for k, write, v in zip(keys, fields, values_of(row, names), strict=True)])
            + "}"
        )
    if isinstance(declared, typeinfo.PrimitiveArrayTypeInfo) and declared.elem_type == BasicTypeInfo(BasicType.BYTE):
        return lambda value: quoted(base64.b64encode(bytes(value)).decode())
    if isinstance(declared, typeinfo.SequenceTypeInfo):
        element = writer(declared.elem_type)
        return lambda values: "[" + ",".join(map(element, values)) + "]"
    if isinstance(declared, typeinfo.MapTypeInfo):
        text, item = declared.key_type.to_string, writer(declared.value_type)
        return lambda values: "{" + ",".join([quoted(text(k)) + ":" + item(v) for k, v in values.items()]) + "}"
    return _scalar(declared)


def _scalar(declared: TypeInformation) -> Writer:
    if isinstance(declared, typeinfo.InstantTypeInfo):
        return lambda value: quoted(_instant(value))
    if isinstance(declared, BasicTypeInfo):
        if declared.basic_type in (BasicType.STRING, BasicType.CHAR):
            return quoted
        if declared.basic_type in (BasicType.FLOAT, BasicType.DOUBLE):
            text = declared.to_string
            return lambda value: text(value) if math.isfinite(value) else quoted(text(value))
        return declared.to_string
    if isinstance(declared, typeinfo.DateTypeInfo):
        return lambda value: quoted(value.isoformat())
    if isinstance(declared, typeinfo.TimeTypeInfo):
        return lambda value: quoted(_fraction(value.strftime("%H:%M:%S"), value.microsecond) + "Z")
    if isinstance(declared, typeinfo.TimestampTypeInfo):
        return lambda value: quoted(_timestamp(value))
    raise UnsupportedError(f"JSON messages cannot hold {declared!r}; declare the field as STRING and convert it")


def quoted(text: str) -> str:
    """Return a text as a JSON string."""
    return '"' + (_ESCAPED.sub(_escape, text) if _ESCAPED.search(text) else text) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if char in _ESCAPES:
        return _ESCAPES[char]
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02X}{units[i + 1]:02X}" for i in range(0, len(units), 2))


def _timestamp(value: datetime.datetime) -> str:
    return _fraction(value.strftime("%Y-%m-%dT%H:%M:%S"), value.microsecond) + "Z"


def _instant(value: Instant) -> str:
    return _timestamp(datetime_of_micros(value.seconds * 1_000_000 + value.nanos // 1000))


def _fraction(text: str, microseconds: int) -> str:
    return f"{text}.{microseconds:06d}".rstrip("0") if microseconds else text
