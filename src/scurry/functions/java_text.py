"""Numbers as Java writes and reads them."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Final

import numpy as np

__all__ = ["double_text", "float_text", "parse_double", "plain_decimal"]

_NUMBER: Final = re.compile(r"[+-]?(NaN|Infinity|((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[fFdD]?)")
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?\d+[fFdD]?")


def double_text(value: float) -> str:
    """Return a DOUBLE as `Double.toString` does, e.g. 1.0E7."""
    return _text(value, repr(value))


def float_text(value: float) -> str:
    """Return a FLOAT as `Float.toString` does."""
    return _text(value, np.format_float_scientific(np.float32(value), unique=True, trim="-"))


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
