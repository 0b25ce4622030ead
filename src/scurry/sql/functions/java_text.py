"""Numbers as Java reads them, and decimals as it writes them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

_NUMBER: Final = re.compile(r"[+-]?(NaN|Infinity|((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[fFdD]?)", re.ASCII)
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?\d+[fFdD]?", re.ASCII)


def plain_decimal(value: Decimal) -> str:
    """Return a DECIMAL without exponent, as `BigDecimal.toPlainString` does."""
    return format(value, "f")


def parse_double(text: str) -> float | None:
    """Return the result of `Double.parseDouble` for a text; None if it is no number."""
    text = text.strip("".join(map(chr, range(33))))
    if _NUMBER.fullmatch(text):
        return float(text.rstrip("fFdD") if text[-1:] in "fFdD" else text)
    if _HEXADECIMAL.fullmatch(text):
        return float.fromhex(text.rstrip("fFdD") if "p" in text.lower() else text)
    return None
