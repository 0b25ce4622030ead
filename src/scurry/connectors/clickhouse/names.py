"""Names, values and expressions as the SQL of ClickHouse has them."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

from scurry.errors import UnsupportedError
from scurry.sql.types.arrow import timestamp_unit
from scurry.sql.types.atomic_types import (
    CharType,
    DateType,
    LocalZonedTimestampType,
    TimestampType,
    VarCharType,
)
from scurry.sql.types.logical_type import DataType

_DIGITS = {"ms": 3, "us": 6, "ns": 9}


def quoted(name: str) -> str:
    """Return a name for statements."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def text_literal(text: str) -> str:
    """Return a text for statements."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def literal(value: Any) -> str:
    """Return a value that Arrow has for a column, for statements.

    Raises:
        UnsupportedError: Values of its kind are not compared.
    """
    for kind, made in _LITERALS.items():
        if isinstance(value, kind):
            return made(value)
    raise UnsupportedError(f"rows of ClickHouse are not found by values of type {type(value).__name__}: {value!r}")


#: bool is an int, and datetime a date: they come first
_LITERALS: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    str: text_literal,
    decimal.Decimal: lambda value: text_literal(format(value, "f")),
    datetime.datetime: lambda value: f"toDateTime64('{value.isoformat(' ', 'microseconds')[:26]}', 6, 'UTC')",
    datetime.date: lambda value: f"toDate32('{value.isoformat()}')",
    bytes: lambda value: f"unhex('{value.hex()}')",
}


def expression(name: str, data_type: DataType) -> str:
    """Return the expression that reads a column as a type: all kinds of text, date and time as one."""
    column = quoted(name)
    if isinstance(data_type, CharType | VarCharType):
        return f"toString({column}) AS {column}"
    if isinstance(data_type, DateType):
        return f"toDate32({column}) AS {column}"
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        digits = _DIGITS[timestamp_unit(data_type.precision)]
        return f"toDateTime64({column}, {digits}, 'UTC') AS {column}"
    return column
