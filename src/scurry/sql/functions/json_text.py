"""JSON texts as Java reads and writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from scurry.common._types.json_text import quoted


class JsonError(ValueError):
    """A text is no JSON."""


def _refuse_constant(name: str) -> Any:
    raise JsonError(f"Unrecognized token '{name}'")


def _whole(text: str) -> int:
    return int(text) if len(text) < 4300 else int(Decimal(text))


def _fraction(text: str) -> Decimal:
    """Return a number as Java's BigDecimal, which has no negative zero."""
    value = Decimal(text)
    return value if value else value.copy_abs()


def json_decoder(
    fraction: Callable[[str], Any], whole: Callable[[str], Any], pairs: Callable[[Any], Any] | None = None
) -> json.JSONDecoder:
    """Return a decoder of JSON as Java reads it.

    Args:
        fraction: Reads numbers with a fraction or an exponent.
        whole: Reads other numbers.
        pairs: Makes an object of its pairs of name and value.
    """
    return json.JSONDecoder(
        parse_float=fraction, parse_int=whole, parse_constant=_refuse_constant, object_pairs_hook=pairs
    )


_DECODER: Final = json_decoder(_fraction, _whole)

#: Characters refused after a number, and after true, false and null, even where the rest of a text does not matter.
_UNFINISHED: Final = {True: re.compile(r"[^ \t\r\n]"), False: re.compile(r"[\w$]")}


def loads(text: str, decoder: json.JSONDecoder = _DECODER) -> Any:
    """Return the value of a JSON text; ignore further text. Fractions are Decimals.

    Raises:
        JsonError: The text is none.
    """
    try:
        text = text.lstrip(" \t\r\n")
        if re.match(r"-?0\d", text):
            raise JsonError("Invalid numeric value: Leading zeroes not allowed")
        value, end = decoder.raw_decode(text)
        is_number = text[0] in "-0123456789"
        if (is_number or text[0] in "tfn") and _UNFINISHED[is_number].match(text, end):
            raise JsonError(f"Unexpected character after {text[:end]}")
        return value
    except (ValueError, RecursionError) as error:
        raise JsonError(str(error)) from error


def dumps(value: Any) -> str:
    """Return a value as JSON without blanks, the names of objects in order."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{dumps(name)}:{dumps(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dumps, value)) + "]"
    if isinstance(value, Decimal):
        return decimal_text(value)
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def decimal_text(value: Decimal) -> str:
    """Return a number as `BigDecimal.toString` does."""
    return str(value) if value.adjusted() >= -6 or "E" not in str(value) else format(value, "E")
