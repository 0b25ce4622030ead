"""Texts in JSON and CSV as values of columns: dates and times in the SQL form or as ISO-8601 says, numbers, bytes."""

from __future__ import annotations

import base64
import datetime
import decimal
import math
import re
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from scurry.common._epoch import EPOCH_DAY
from scurry.sql import types
from scurry.sql.values.records import rounding

Parser: TypeAlias = Callable[[str], Any]

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


INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_FLOAT = re.compile(_NUMBER.pattern + "[dDfF]?")
_HEX_FLOAT = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[dDfF]?")
_NAMED_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}
#: The characters that Java's String.trim removes
BLANK = "".join(map(chr, range(33)))


def parse_integer(text: str, kind: str) -> int:
    """Return the integer of a text, which may have blanks around it."""
    if not (text.isdigit() and text.isascii()):
        text = text.strip(BLANK)
        if not _INTEGER.fullmatch(text):
            raise ValueError(f"{text!r} is no whole number ({kind})")
    value = int(text)
    limit = 1 << (INTEGER_BITS[kind] - 1)
    if not -limit <= value < limit:
        raise ValueError(f"{text} is out of range for {kind}")
    return value


def parse_double(text: str) -> float:
    """Return the DOUBLE of a text, as Java reads it."""
    trimmed = text.strip(BLANK)
    if _FLOAT.fullmatch(trimmed):
        return float(trimmed.rstrip("dDfF"))
    if trimmed in _NAMED_FLOATS:
        return _NAMED_FLOATS[trimmed]
    if _HEX_FLOAT.fullmatch(trimmed):
        return float.fromhex(trimmed.rstrip("dDfF"))
    raise ValueError(f"{trimmed!r} is no number")


def parse_float(text: str) -> float:
    """Return the FLOAT of a text, as Java reads it."""
    value = parse_double(text)
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def decimal_parser(precision: int, scale: int) -> Callable[[str], decimal.Decimal | None]:
    """Return a function that reads decimals, rounded to a scale; None of those with too many digits."""
    rounded = rounding(precision, scale)

    def parse(text: str) -> decimal.Decimal | None:
        trimmed = text.strip(BLANK)
        if not _NUMBER.fullmatch(trimmed):
            raise ValueError(f"{trimmed!r} is no decimal number")
        return rounded(decimal.Decimal(trimmed))

    return parse


def parse_base64(text: str) -> bytes:
    """Return the bytes of a text in Base64; raises ValueError."""
    return base64.b64decode(text, validate=True)


_ATOMS: dict[type[types.DataType], Parser] = {
    types.BooleanType: lambda text: text.strip(BLANK).lower() == "true",
    types.FloatType: parse_float,
    types.DoubleType: parse_double,
    types.CharType: str,
    types.VarCharType: str,
    types.BinaryType: parse_base64,
    types.VarBinaryType: parse_base64,
    types.DateType: parse_date,
    types.TimeType: parse_time,
    types.NullType: lambda text: None,
}


def atom_parser(data_type: types.DataType, iso: bool = False) -> Parser | None:
    """Return the function that makes a value of a column of a text; it raises ValueError.

    Args:
        iso: Whether timestamps follow ISO-8601.

    Returns:
        The function; None for types with parts and others without a text.
    """
    if isinstance(data_type, types.IntegralType):
        kind = data_type.type_name()
        return lambda text: parse_integer(text, kind)
    if isinstance(data_type, types.DecimalType):
        return decimal_parser(data_type.precision, data_type.scale)
    if isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType):
        zoned = isinstance(data_type, types.LocalZonedTimestampType)
        unit = 1_000_000 if data_type.precision <= 3 else 1_000 if data_type.precision <= 6 else 1
        return lambda text: parse_timestamp(text, iso, zoned) // unit
    return _ATOMS.get(type(data_type))
