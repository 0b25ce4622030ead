"""Texts read as values: casts from CHAR and VARCHAR."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.common._epoch import EPOCH_DAY
from scurry.errors import EvaluationError
from scurry.sql import types
from scurry.sql.functions.casts.numbers import fitted_decimal
from scurry.sql.functions.definition import Column, EvaluationContext
from scurry.sql.functions.java_text import parse_double
from scurry.sql.functions.kernels import on_values
from scurry.sql.functions.time_zones import offset_of_local, zone
from scurry.sql.types.arrow import arrow_type, units_per_second

Cast = Callable[[Column], Column]
Parse = Callable[[str], Any]

_TRUE: Final = frozenset({"t", "true", "y", "yes", "1"})
_FALSE: Final = frozenset({"f", "false", "n", "no", "0"})
_INTEGER: Final = re.compile(r"[+-]?\d*(?:\.\d*)?", re.ASCII)
_TIMESTAMP: Final = re.compile(
    r"([+-]?\d{4,})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?", re.ASCII
)
_TIME: Final = re.compile(r"\s*(\d{1,2})\s*(?::\s*(\d{1,2})\s*(?::\s*(\d{1,2})\s*(?:\.(\d*))?)?)?\s*", re.ASCII)
_COMPACT_DECIMAL: Final = re.compile(r"([+-]?)(\d*(?:\.\d*)?)([!-\-/:-~]?)", re.ASCII)
#: Digits of a DECIMAL that fits a long; characters of a text that Flink reads into one.
_COMPACT: Final = 18
_SAFE_INTEGERS: Final = r"^-?[0-9]{1,18}$"
_SAFE_DOUBLES: Final = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


def parse_cast(target: types.DataType, session: EvaluationContext, is_try: bool) -> Cast:
    """Return the cast of texts to a type that is no text itself.

    Args:
        is_try: Whether a text that is no value of the type becomes null.
    """
    parse = _PARSERS[type(target)](target, session)

    def tried(text: str) -> Any:
        try:
            return parse(text)
        except EvaluationError:
            return None

    by_value = on_values(tried if is_try else parse, target)
    safe = _SAFE_INTEGERS if isinstance(target, types.IntType | types.BigIntType) else _SAFE_DOUBLES
    if not isinstance(target, types.IntType | types.BigIntType | types.DoubleType):
        return by_value
    kind = arrow_type(target)

    def cast(column: Column) -> Column:
        if isinstance(column, pa.Array) and pc.all(pc.match_substring_regex(column, safe)).as_py() is not False:
            try:
                return pc.cast(column, kind)
            except pa.ArrowInvalid:
                pass
        return by_value(column)

    return cast


def _boolean(target: types.DataType, session: EvaluationContext) -> Parse:
    def parse(text: str) -> bool:
        known = text.lower()
        if known in _TRUE or known in _FALSE:
            return known in _TRUE
        raise EvaluationError(f"Cannot parse '{text}' as BOOLEAN.")

    return parse


def _integer(bits: int) -> Callable[[types.DataType, EvaluationContext], Parse]:
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def make(target: types.DataType, session: EvaluationContext) -> Parse:
        def parse(text: str) -> int:
            known = text.strip(" ")
            if not known or known in "+-" or not _INTEGER.fullmatch(known) or not known.isascii():
                raise EvaluationError(f"For input string: '{known}'. Invalid character found.").with_hint(
                    "TRY_CAST makes NULL of texts that are no such value"
                )
            whole = known.partition(".")[0]
            value = int(whole) if whole not in ("", "+", "-") else 0
            if not least <= value <= most:
                raise EvaluationError(f"For input string: '{known}'. Overflow.")
            return value

        return parse

    return make


def _double(target: types.DataType, session: EvaluationContext) -> Parse:
    def parse(text: str) -> float:
        value = parse_double(text)
        if value is None:
            raise EvaluationError(f'For input string: "{text}"' if text.strip() else "empty String")
        return value

    return parse


def _float(target: types.DataType, session: EvaluationContext) -> Parse:
    double = _double(target, session)

    def parse(text: str) -> float:
        with np.errstate(over="ignore"):
            return float(np.float32(double(text)))

    return parse


def _big_decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text.strip(" ")) if "_" not in text else None
    except InvalidOperation:
        return None


def _compact_decimal(text: str) -> Decimal | None:
    """Read as Flink does into a long: a character after the digits does not matter, and digits may be missing."""
    found = _COMPACT_DECIMAL.fullmatch(text.strip(" \t\n"))
    if found is None or len(text.encode()) > _COMPACT or not found[2] + found[3]:
        return _big_decimal(text) if text.isascii() else None
    return Decimal(f"{found[1]}0{found[2]}")


def _decimal(target: Any, session: EvaluationContext) -> Parse:
    read = _compact_decimal if target.precision <= _COMPACT else _big_decimal

    def parse(text: str) -> Decimal:
        number = read(text)
        fitted = fitted_decimal(number, target) if number is not None and number.is_finite() else None
        if fitted is None:
            raise EvaluationError(f"For input string: '{text}'. Overflow.")
        return fitted

    return parse


def _date(target: types.DataType, session: EvaluationContext) -> Parse:
    def parse(text: str) -> int:
        days = parse_date(text)
        if days is None:
            raise EvaluationError(f"For input string: '{text}'.")
        return days

    return parse


def parse_date(text: str) -> int | None:
    """Return the days since 1970 of `2020-02-29`, `2020-2` or `2020`, with or without a time; None if it is no date."""
    blank = text.find(" ")
    parts = (text[:blank] if blank > 0 else text).split("-", 2)
    try:
        numbers = [int(part.strip()) if part.strip().isdecimal() and part.isascii() else -1 for part in parts]
    except ValueError:
        return None
    year, month, day = (*numbers, 1, 1)[:3]
    return days_of(year, month, day)


def days_of(year: int, month: int, day: int) -> int | None:
    """Return the days of a date since 1970, or None if the date does not exist."""
    if not (0 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= _days_in_month(year, month)):
        return None
    # Years have the same days every 400 years; Python's begin with 1.
    cycles = 1 if year < 1 else 0
    return date(year + 400 * cycles, month, day).toordinal() - EPOCH_DAY - 146_097 * cycles


def _days_in_month(year: int, month: int) -> int:
    return calendar.monthrange(year % 400 + 400, month)[1]


def _time(target: Any, session: EvaluationContext) -> Parse:
    def parse(text: str) -> int:
        milliseconds = parse_time(text)
        if milliseconds is None:
            raise EvaluationError(
                f"Invalid time format: '{text}'. Expected format: HH:mm:ss[.fff] where HH is 00-23, mm is 00-59, "
                "ss is 00-59, and fff is 000-999."
            )
        step: int = 10 ** max(3 - target.precision, 0)
        return milliseconds // step * step

    return parse


def parse_time(text: str) -> int | None:
    """Return the milliseconds of `12:34:56.789`, `12:34` or `12`; None if it is no time of a day."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = (int(each or 0) for each in found.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:
        return None
    return ((hour * 60 + minute) * 60 + second) * 1000 + int((found[4] or "").ljust(3, "0")[:3])


def _timestamp(target: Any, session: EvaluationContext) -> Parse:
    units = units_per_second(target)
    step = units // 10**target.precision if 10**target.precision < units else 1
    time_zone = zone(session.time_zone) if isinstance(target, types.LocalZonedTimestampType) else None

    def parse(text: str) -> int:
        seconds, nanoseconds = parse_timestamp(text)
        if time_zone is not None:
            seconds -= offset_of_local(seconds, time_zone)
        value = (seconds * units + nanoseconds * units // 10**9) // step * step
        if abs(value) >= 2**63:
            raise EvaluationError(f"'{text}' is out of the range of {target.as_summary_string()}")
        return value

    return parse


def parse_timestamp(text: str) -> tuple[int, int]:
    """Return seconds since 1970 and nanoseconds of a wall clock as `2020-02-29 12:34:56.789`.

    Raises:
        EvaluationError: The text is none.
    """
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise EvaluationError(f"Text '{text}' could not be parsed at index 0")
    year, month, day, hour, minute, second = (int(each or 0) for each in found.groups()[:6])
    for name, value, least, most in (
        ("YearOfEra", year, 1, 999_999_999),
        ("MonthOfYear", month, 1, 12),
        ("DayOfMonth", day, 1, 31),
        ("HourOfDay", hour, 0, 23),
        ("MinuteOfHour", minute, 0, 59),
        ("SecondOfMinute", second, 0, 59),
    ):
        if not least <= value <= most:
            raise EvaluationError(
                f"Text '{text}' could not be parsed: Invalid value for {name} (valid values {least} - {most}): {value}"
            )
    # A day that its month lacks is the last one that it has.
    days = days_of(year, month, min(day, _days_in_month(year, month)))
    if days is None:
        raise EvaluationError(f"Text '{text}' could not be parsed: the year is out of range")
    return days * 86_400 + (hour * 60 + minute) * 60 + second, int((found[7] or "").ljust(9, "0"))


_PARSERS: Final[dict[type[types.DataType], Callable[[Any, EvaluationContext], Parse]]] = {
    types.BooleanType: _boolean,
    types.TinyIntType: _integer(8),
    types.SmallIntType: _integer(16),
    types.IntType: _integer(32),
    types.BigIntType: _integer(64),
    types.FloatType: _float,
    types.DoubleType: _double,
    types.DecimalType: _decimal,
    types.DateType: _date,
    types.TimeType: _time,
    types.TimestampType: _timestamp,
    types.LocalZonedTimestampType: _timestamp,
}
