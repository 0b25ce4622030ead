"""The texts of floating-point numbers in Java: `Double.toString` and `Float.toString` up to Java 18.

Flink runs on Java 11 and 17, whose digits are not always the fewest that identify a number: they write `2.0E23` as
`1.9999999999999998E23`. Later versions differ.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

_DOUBLE_BITS: Final = 53
_FLOAT_BITS: Final = 24
#: The first exponents of numbers that have all their bits.
_FIRST_NORMAL: Final = {_DOUBLE_BITS: -1022, _FLOAT_BITS: -126}
_LONG: Final = 1 << 63


def double_text(value: float) -> str:
    """Return the text of a double, e.g. `1.0E10`."""
    if 1e-3 <= abs(value) < 1e7 or value == 0:
        return repr(value)
    return _text(value, _DOUBLE_BITS, repr)


def float_text(value: float) -> str:
    """Return the text of a float.

    Args:
        value: A number that is one of 32 bits.
    """
    if 1e-3 <= abs(value) < 1e6 or value == 0:
        return _shortest_float(value)
    if 1e6 <= abs(value) < 1e7:
        return repr(float(_shortest_float(value)))
    return _text(value, _FLOAT_BITS, _shortest_float)


def _shortest_float(value: float) -> str:
    return str(_float32()(value))


@functools.cache
def _float32() -> Any:
    import numpy as np  # not needed by programs without tables or floats

    return np.float32


def _text(value: float, bits: int, shortest: Callable[[float], str]) -> str:
    if math.isnan(value):
        return "NaN"
    sign = "-" if value < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    magnitude = abs(value)
    mantissa, exponent = math.frexp(magnitude)
    if mantissa == 0.5 or not _FIRST_NORMAL[bits] < exponent <= bits:
        digits, power = _digits(magnitude, bits)
    else:
        digits, power = _of_shortest(shortest(magnitude))
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def _of_shortest(text: str) -> tuple[str, int]:
    """Return the digits of a text as `1.5e-10` or `0.00025`, and the power of ten of the first one."""
    number, _, exponent = text.partition("e")
    whole, _, fraction = number.partition(".")
    all_digits = whole + fraction
    digits = all_digits.lstrip("0")
    return digits.rstrip("0"), len(whole) - 1 - (len(all_digits) - len(digits)) + int(exponent or 0)


def _digits(value: float, bits: int) -> tuple[str, int]:
    mantissa, exponent = math.frexp(value)
    power_of_two = exponent - 1
    significant = bits - max(0, _FIRST_NORMAL[bits] - power_of_two)
    if value.is_integer() and power_of_two < 63:
        return _digits_of_whole(int(value), power_of_two - significant - 1)
    return _generated(int(mantissa * (1 << _DOUBLE_BITS)), power_of_two, significant)


def _digits_of_whole(value: int, surplus: int) -> tuple[str, int]:
    """Return the digits of a whole number below 2**63, of which some are rounded away if it has `surplus` bits."""
    zeros = int(surplus * math.log10(2)) if surplus > 1 else 0
    scale = 10**zeros
    number, rest = divmod(value, scale)
    if zeros and rest >= scale >> 1:
        number += 1
    text = str(number)
    return text.rstrip("0"), len(text) - 1 + zeros


def _generated(mantissa: int, power_of_two: int, significant: int) -> tuple[str, int]:
    """Generate digits until the rest is less than half of the distance to a neighbour (Steele and White).

    Java takes the distance to the nearer neighbour for both, has other rules at the bounds where it computes with
    `long` than where it computes with big integers, and estimates the first power of ten.
    """
    zeros = (mantissa & -mantissa).bit_length() - 1
    estimate = (mantissa / (1 << 52) - 1.5) * 0.289529654 + 0.176091259 + power_of_two * 0.301029995663981
    mantissa >>= zeros
    length = _DOUBLE_BITS - zeros
    power = math.floor(estimate)
    below_point = max(0, length - power_of_two - 1)
    fives, tens = max(0, -power), max(0, power)
    value_twos = fives + below_point + power_of_two
    unit_twos = tens + below_point
    margin_twos = value_twos - significant - (length == 1)
    value_twos -= length - 1
    common = min(value_twos, unit_twos, margin_twos)
    value_twos, unit_twos, margin_twos = value_twos - common, unit_twos - common, margin_twos - common
    is_long = (
        length + value_twos + _bits_of_power_of_five(fives) < 64
        and unit_twos + 1 + _bits_of_power_of_five(tens + 1) < 64
    )
    return _steele_white(
        mantissa * 5**fives << value_twos, 5**tens << unit_twos, 5**fives << margin_twos, power, is_long
    )


def _bits_of_power_of_five(exponent: int) -> int:
    if exponent == 0:
        return 0
    return (5**exponent).bit_length() if exponent < 27 else 3 * exponent


def _steele_white(rest: int, unit: int, margin: int, power: int, is_long: bool) -> tuple[str, int]:
    digits: list[int] = []
    end = unit * 10
    low = high = False
    is_first = True
    while not (low or high):
        digit, rest = divmod(rest, unit)
        rest, margin = rest * 10, margin * 10
        low, high = rest < margin, _is_high(rest, margin, end, is_long)
        if is_first and digit == 0 and not high:
            power -= 1
        else:
            digits.append(digit)
        if is_first and not -3 <= power < 8:
            # A text with an exponent has two digits.
            low = high = False
        is_first = False
    doubled = 2 * rest
    if high and (not low or doubled > end or (doubled == end and digits[-1] % 2)):
        return _next_digits(digits, power)
    return "".join(map(str, digits)).rstrip("0"), power


def _is_high(rest: int, margin: int, end: int, is_long: bool) -> bool:
    if not is_long:
        return rest + margin >= end
    # The sum of `long` overflows, which is seen for the margin alone.
    return margin >= _LONG or end < rest + margin < _LONG


def _next_digits(digits: list[int], power: int) -> tuple[str, int]:
    text = str(int("".join(map(str, digits))) + 1)
    return text.rstrip("0"), power + len(text) - len(digits)
