"""Values of columns as JSON and CSV have them: dates and times in the SQL form or as ISO-8601 says, numbers, bytes."""

from __future__ import annotations

import base64
import datetime
import decimal
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from scurry.common._epoch import EPOCH_DAY
from scurry.common._java_numbers import double_text, float_text
from scurry.common._types import java_text
from scurry.sql.types import (
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
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)

Text: TypeAlias = Callable[[Any], str]

_DATE = r"([+-]\d{5,10}|-?\d{4})-(\d\d)-(\d\d)"
_DATE_PATTERN = re.compile(_DATE)
_TIME_PATTERN = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d{0,9}))?")
_SQL_TIMESTAMP = re.compile(rf"{_DATE} (\d\d):(\d\d):(\d\d)(?:\.(\d{{0,9}}))?")
_ISO_TIMESTAMP = re.compile(rf"{_DATE}[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{{0,9}}))?)?")
_NANOS_PER_DAY = 86_400_000_000_000


def parse_date(text: str) -> int:
    """Return the days since 1970-01-01 of `yyyy-MM-dd`.

    Raises:
        ValueError: It is no such date.
    """
    found = _DATE_PATTERN.fullmatch(text)
    if found is None:
        raise ValueError(f"Text '{text}' could not be parsed as a date")
    return _days(found[1], found[2], found[3])


def parse_time(text: str) -> int:
    """Return the milliseconds of the day of `HH:mm:ss`, with a fraction or without.

    Raises:
        ValueError: It is no such time.
    """
    found = _TIME_PATTERN.fullmatch(text)
    if found is None:
        raise ValueError(f"Text '{text}' could not be parsed as a time")
    return _nanos(found[1], found[2], found[3], found[4]) // 1_000_000


def parse_timestamp(text: str, iso: bool, zoned: bool) -> int:
    """Return the nanoseconds since 1970-01-01 00:00:00.

    Args:
        text: `yyyy-MM-dd HH:mm:ss.SSS`, with a T between date and time if `iso`.
        iso: Whether the text follows ISO-8601.
        zoned: Whether it has to end with `Z`.

    Raises:
        ValueError: It is no such point of time.
    """
    body = text
    if zoned:
        body = text[:-1] if text.endswith("Z") else ""
    found = (_ISO_TIMESTAMP if iso else _SQL_TIMESTAMP).fullmatch(body)
    if found is None:
        raise ValueError(f"Text '{text}' could not be parsed as a timestamp")
    year, month, day, hour, minute, second, fraction = found.groups()
    return _days(year, month, day) * _NANOS_PER_DAY + _nanos(hour, minute, second or "0", fraction)


def _days(year: str, month: str, day: str) -> int:
    shift, of_era = divmod(int(year) - 2000, 400)
    # the calendar repeats after 400 years; Python's dates end at 9999
    return datetime.date(2000 + of_era, int(month), int(day)).toordinal() - EPOCH_DAY + shift * 146_097


def _nanos(hour: str, minute: str, second: str, fraction: str | None) -> int:
    hours, minutes, seconds = int(hour), int(minute), int(second)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"{hour}:{minute}:{second} is no time of day")
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + int((fraction or "").ljust(9, "0"))


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


_ATOMS: dict[type[DataType], Text] = {
    BooleanType: java_text.boolean,
    TinyIntType: str,
    SmallIntType: str,
    IntType: str,
    BigIntType: str,
    FloatType: float_text,
    DoubleType: double_text,
    CharType: str,
    VarCharType: str,
    BinaryType: base64_text,
    VarBinaryType: base64_text,
    DateType: date_text,
    TimeType: lambda millis: time_text(millis * 1_000_000),
}


def atom_text(data_type: DataType, plain_decimals: bool = False, iso: bool = False) -> Text | None:
    """Return the function that makes the text of a value of a column.

    Args:
        data_type: The type of the column.
        plain_decimals: Whether decimals have no exponent.
        iso: Whether timestamps follow ISO-8601.

    Returns:
        The function, for values that are not None; None for types with parts and others without a text.
    """
    if isinstance(data_type, DecimalType):
        return plain_text if plain_decimals else scientific_text
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        precision, separator = data_type.precision, "T" if iso else " "
        end = "Z" if isinstance(data_type, LocalZonedTimestampType) else ""
        return lambda value: timestamp_text(nanos_of_timestamp(value, precision), separator) + end
    return _ATOMS.get(type(data_type))
