"""Text format of statement parameters; staged records must not be pickles, which could contain code."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
from collections.abc import Callable
from typing import Any

from scurry.common.typeinfo import (
    DateTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
    Types,
)

_Both = tuple[Callable[[Any], Any], Callable[[Any], Any]]


class RowText:
    """Convert rows of a declared type to JSON and back, without loss."""

    def __init__(self, type_info: RowTypeInfo) -> None:
        both = {at: _both(field) for at, field in enumerate(type_info.get_field_types())}
        self._to_json = {at: pair[0] for at, pair in both.items() if pair is not None}
        self._from_json = {at: pair[1] for at, pair in both.items() if pair is not None}

    def encode(self, rows: list[list[Any]]) -> str:
        """Return rows as text."""
        return json.dumps(_mapped(rows, self._to_json), separators=(",", ":"))

    def decode(self, text: str) -> list[list[Any]]:
        """Return the rows of a text."""
        return _mapped(json.loads(text), self._from_json)


def _mapped(rows: list[list[Any]], converters: dict[int, Callable[[Any], Any]]) -> list[list[Any]]:
    if not converters:
        return rows
    columns: list[Any] = list(zip(*rows, strict=True))
    for at, convert in converters.items():
        columns[at] = [None if value is None else convert(value) for value in columns[at]]
    return list(map(list, zip(*columns, strict=True)))


def _both(type_info: TypeInformation) -> _Both | None:
    """Return the conversions to JSON and back; None if JSON supports the type."""
    if isinstance(type_info, DateTypeInfo):
        return datetime.date.isoformat, datetime.date.fromisoformat
    if isinstance(type_info, TimeTypeInfo):
        return datetime.time.isoformat, datetime.time.fromisoformat
    if isinstance(type_info, TimestampTypeInfo):
        return datetime.datetime.isoformat, datetime.datetime.fromisoformat
    if type_info == Types.BIG_DEC():
        return str, decimal.Decimal
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return lambda value: base64.b64encode(value).decode("ascii"), base64.b64decode
    element = getattr(type_info, "elem_type", None)
    both = None if element is None else _both(element)
    return None if both is None else (each_of(both[0]), each_of(both[1]))


def each_of(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the conversion of the elements of an array, which may be None."""
    return lambda values: [None if value is None else convert(value) for value in values]
