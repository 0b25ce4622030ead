"""Numbers as Java writes and reads them."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Final

import numpy as np

__all__ = ["double_text", "float_text", "parse_double", "plain_decimal"]

_NUMBER: Final = re.compile(r"[+-]?(NaN|Infinity|((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[fFdD]?)", re.ASCII)
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?\d+[fFdD]?", re.ASCII)


def double_text(value: float) -> str:
    """Return a DOUBLE as `Double.toString` does, e.g. 1.0E7."""
    shortest = repr(value)
    if 1e-3 <= abs(value) < 1e7:
        # Here Python writes what Java does.
        return shortest
    return _text(value, _whole(value, 53) or shortest)


def float_text(value: float) -> str:
    """Return a FLOAT as `Float.toString` does."""
    shortest = np.format_float_scientific(np.float32(value), unique=True, trim="-")
    return _text(value, _whole(value, 24) or shortest)


def _whole(value: float, bits: int) -> str | None:
    """Return the digits of a large whole number as Java 17 finds them, which are not always the fewest."""
    if not 1e7 <= abs(value) < 2**62 or not value.is_integer():
        return None
    whole = int(value)
    surplus = abs(whole).bit_length() - 1 - bits - 1
    scale = 10 ** int(surplus * math.log10(2)) if surplus > 1 else 1
    rounded = (abs(whole) // scale + (scale > 1 and abs(whole) % scale >= scale // 2)) * scale
    return str(rounded if whole > 0 else -rounded)


def _text(value: float, shortest: str) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    number = Decimal(shortest)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    minus = "-" if sign else ""
    if not number:
        return f"{minus}0.0"
    if Decimal("1e-3") <= abs(number) < Decimal("1e7"):
        plain = format(abs(number), "f")
        whole, _, fraction = plain.partition(".")
        return f"{minus}{whole}.{fraction.rstrip('0') or '0'}"
    text = "".join(map(str, digits)).rstrip("0")
    return f"{minus}{text[0]}.{text[1:] or '0'}E{number.adjusted()}"


def plain_decimal(value: Decimal) -> str:
    """Return a DECIMAL without exponent, as `BigDecimal.toPlainString` does."""
    return format(value, "f")


def parse_double(text: str) -> float | None:
    """Return what `Double.parseDouble` reads from a text; None if it is no number."""
    text = text.strip("".join(map(chr, range(33))))
    if _NUMBER.fullmatch(text):
        return float(text.rstrip("fFdD") if text[-1:] in "fFdD" else text)
    if _HEXADECIMAL.fullmatch(text):
        return float.fromhex(text.rstrip("fFdD") if "p" in text.lower() else text)
    return None
