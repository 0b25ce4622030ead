"""PRINTF: values in the form of a pattern of Java's `String.format`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from scurry.common._java_numbers import double_text
from scurry.sql import types
from scurry.sql.functions.casts.texts import text_of
from scurry.sql.functions.definition import CallSite, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import value_kernel
from scurry.sql.functions.scalar.strings import utf16_length
from scurry.sql.types.families import CHARACTER, STRING, TIMESTAMP

_CONVERSION: Final = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])")


def _infer_printf(site: CallSite) -> Signature:
    if not site.arguments or not isinstance(site.types[0], (*CHARACTER, types.NullType)):
        raise SignatureError("Invalid input arguments.")
    return Signature(site.types, STRING)


def _bind_printf(site: CallSite, result_type: types.DataType) -> Kernel:
    shows = [_shown(each, site) for each in site.types[1:]]
    # A point of time is an object in Flink and no number, and so is a DECIMAL; dates, times and intervals are numbers.
    opaque = [isinstance(each, (*TIMESTAMP, types.DecimalType)) for each in site.types[1:]]

    def printf(pattern: str | None, *values: Any) -> str | None:
        if pattern is None:
            return None
        try:
            return format_java(pattern, values, shows, opaque)
        except (IndexError, TypeError, ValueError):
            return None

    return value_kernel(printf, result_type, nulls=True)


def _shown(data_type: types.DataType, site: CallSite) -> Callable[[Any], str]:
    text = text_of(data_type, site.session)
    if isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType):
        instant = text_of(
            types.TimestampType(data_type.precision), site.session
        )  # also those of a time zone are in UTC
        return lambda value: _local_date_time(instant(value))
    if isinstance(data_type, types.DateType | types.TimeType | types.DayTimeIntervalType | types.YearMonthIntervalType):
        return str
    return text


def _local_date_time(text: str) -> str:
    """Return a point of time as Java's LocalDateTime shows it: seconds if they are not 0, with 3, 6 or 9 digits."""
    seconds, _, fraction = text.replace(" ", "T").partition(".")
    fraction = fraction.rstrip("0")
    if fraction:
        return f"{seconds}.{fraction.ljust(-(-len(fraction) // 3) * 3, '0')}"
    return seconds.removesuffix(":00") if seconds.count(":") == 2 else seconds


def format_java(
    pattern: str, values: Sequence[Any], shows: Sequence[Callable[[Any], str]], opaque: Sequence[bool]
) -> str:
    """Return `String.format(pattern, values)` for the usual conversions.

    Args:
        shows: For each value, the function from it to its text.
        opaque: Which values are no numbers for %d, %f and the like.

    Raises:
        IndexError: There is no such value.
        TypeError: A value does not fit its conversion.
        ValueError: There is no such conversion.
    """
    following, previous = 0, -1

    def conversion(found: re.Match[str]) -> str:
        nonlocal following, previous
        index, flags, width, digits, kind = found.groups()
        if kind in "%n":
            return "%" if kind == "%" else "\n"
        place = previous if "<" in flags else int(index) - 1 if index else following
        following += index is None and "<" not in flags
        value, previous = values[place], place
        if opaque[place] and value is not None and kind in "dxXofeEgG":
            raise TypeError(kind)
        text = _converted(kind, flags, digits, value, shows[place])
        size = int(width or 0) - (utf16_length(text) - len(text))
        if "0" in flags and value is not None and kind in "dfxeEX":
            sign = text[0] if text[:1] in "+-" and text else ""
            return sign + text[len(sign) :].rjust(size - len(sign), "0")
        return text.ljust(size) if "-" in flags else text.rjust(size)

    if "%" in _CONVERSION.sub("", pattern):
        raise ValueError(pattern)
    return _CONVERSION.sub(conversion, pattern)


def _scientific(value: float, digits: int, kind: str) -> str:
    number = Decimal(double_text(value))
    if kind == "e":
        return _in_steps(number, digits)
    digits = max(digits, 1)
    rounded = Decimal(_in_steps(number, digits - 1))
    if rounded and not Decimal("1e-4") <= abs(rounded) < Decimal(10) ** digits:
        return _in_steps(number, digits - 1)
    places = digits - 1 - (rounded.adjusted() if rounded else 0)
    return format(number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP), "f")


def _in_steps(number: Decimal, digits: int) -> str:
    """Return a number as 1.5e+03, rounded half up."""
    exponent = number.adjusted() if number else 0
    rounded = number.quantize(Decimal(1).scaleb(exponent - digits), ROUND_HALF_UP)
    exponent = rounded.adjusted() if rounded else 0
    mantissa = rounded.scaleb(-exponent).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{mantissa:f}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _converted(kind: str, flags: str, digits: str | None, value: Any, show: Callable[[Any], str]) -> str:
    lower = kind.lower()
    if lower == "b":
        text = "false" if value is None else str(value).lower() if isinstance(value, bool) else "true"
    elif value is None:
        text = "null"
    elif lower == "s":
        text = show(value).lower() if isinstance(value, bool) else show(value)
        text = text if digits is None else text[: int(digits)]
    elif lower in "dxo" and isinstance(value, int) and not isinstance(value, bool):
        comma = "," if "," in flags else ""
        text = format(value if lower == "d" or value >= 0 else value & 0xFFFF_FFFF, f"{comma}{lower}")
    elif lower == "c" and isinstance(value, int):
        text = chr(value)
    elif lower == "f" and isinstance(value, float | Decimal):
        number = value if isinstance(value, Decimal) else Decimal(double_text(value))
        rounded = number.quantize(Decimal(1).scaleb(-int(digits or 6)), ROUND_HALF_UP)
        text = format(rounded, ",f" if "," in flags else "f")
    elif lower in "eg" and isinstance(value, float):
        text = _scientific(value, 6 if digits is None else int(digits), lower)
    else:
        raise TypeError(kind)
    if lower in "dfeg" and value is not None:
        if value >= 0:
            text = f"{'+' if '+' in flags else ' ' if ' ' in flags else ''}{text}"
        elif "(" in flags:
            text = f"({text[1:]})"
    return text.upper() if kind.isupper() else text


FUNCTIONS = (ScalarFunction("PRINTF", _infer_printf, _bind_printf),)
