"""Texts of values of columns in JSON and CSV: dates and times in the SQL form or as ISO-8601 says, numbers, bytes."""

from __future__ import annotations

import base64
import datetime
import decimal
from collections.abc import Callable
from typing import Any, TypeAlias

from scurry.common._epoch import EPOCH_DAY
from scurry.common._java_numbers import double_text, float_text
from scurry.common._types import java_text
from scurry.sql import types

Text: TypeAlias = Callable[[Any], str]

_NANOS_PER_DAY = 86_400_000_000_000


def nanos_of_timestamp(value: int, precision: int) -> int:
    """Return the nanoseconds of a timestamp in the unit of its column."""
    return value * (1_000_000 if precision <= 3 else 1_000 if precision <= 6 else 1)


def date_text(days: int) -> str:
    """Return `yyyy-MM-dd`."""
    shift, of_era = divmod(days + EPOCH_DAY - datetime.date(2000, 1, 1).toordinal(), 146_097)
    date = datetime.date.fromordinal(datetime.date(2000, 1, 1).toordinal() + of_era)
    year = date.year + shift * 400
    shown = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}"
    return f"{shown}-{date.month:02d}-{date.day:02d}"


def time_text(nanos: int, digits: int | None = None) -> str:
    """Return `HH:mm:ss`, with the fraction that there is or as many digits as asked for.

    Args:
        nanos: Nanoseconds of the day.
        digits: Digits of the fraction; None for those needed.
    """
    seconds, fraction = divmod(nanos, 1_000_000_000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    shown = f"{fraction:09d}"
    shown = shown.rstrip("0") if digits is None else shown[:digits]
    return f"{text}.{shown}" if shown else text


def timestamp_text(nanos: int, separator: str = " ", digits: int | None = None) -> str:
    """Return `yyyy-MM-dd HH:mm:ss`, with a fraction as in `time_text`.

    Args:
        nanos: Nanoseconds since 1970-01-01 00:00:00.
        separator: What stands between date and time.
        digits: Digits of the fraction; None for those needed.
    """
    days, of_day = divmod(nanos, _NANOS_PER_DAY)
    return f"{date_text(days)}{separator}{time_text(of_day, digits)}"


_EXACT = decimal.Context(prec=60)


def base64_text(value: bytes) -> str:
    """Return bytes in Base64."""
    return base64.b64encode(value).decode()


def scientific_text(value: decimal.Decimal) -> str:
    """Return a decimal without trailing zeros, so 100 is `1E+2`, as Jackson writes it."""
    return str(value.normalize(_EXACT)) if value else "0"


def plain_text(value: decimal.Decimal) -> str:
    """Return a decimal without an exponent, with the digits of its scale."""
    text = str(value)  # a fifth of the time of `format`
    return format(value, "f") if "E" in text else text


_ATOMS: dict[type[types.DataType], Text] = {
    types.BooleanType: java_text.boolean,
    types.TinyIntType: str,
    types.SmallIntType: str,
    types.IntType: str,
    types.BigIntType: str,
    types.FloatType: float_text,
    types.DoubleType: double_text,
    types.CharType: str,
    types.VarCharType: str,
    types.BinaryType: base64_text,
    types.VarBinaryType: base64_text,
    types.DateType: date_text,
    types.TimeType: lambda millis: time_text(millis * 1_000_000),
}


def atom_text(data_type: types.DataType, plain_decimals: bool = False, iso: bool = False) -> Text | None:
    """Return the function that makes the text of a value of a column.

    Args:
        plain_decimals: Whether decimals have no exponent.
        iso: Whether timestamps follow ISO-8601.

    Returns:
        The function, for values that are not None; None for types with parts and others without a text.
    """
    if isinstance(data_type, types.DecimalType):
        return plain_text if plain_decimals else scientific_text
    if isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType):
        precision, separator = data_type.precision, "T" if iso else " "
        end = "Z" if isinstance(data_type, types.LocalZonedTimestampType) else ""
        return lambda value: timestamp_text(nanos_of_timestamp(value, precision), separator) + end
    return _ATOMS.get(type(data_type))
