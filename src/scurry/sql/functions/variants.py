"""Values of VARIANT, which are kept as JSON texts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from scurry.common._java_numbers import double_text
from scurry.errors import EvaluationError
from scurry.sql.functions.json_text import JsonError, dumps, json_decoder, loads

#: Digits of the longest DECIMAL.
_DIGITS: Final = 38


def parse_json(text: str, allows_duplicates: bool = False) -> str:
    """PARSE_JSON: a JSON text as a VARIANT."""
    try:
        return _text(loads(text, _DUPLICATES if allows_duplicates else _NO_DUPLICATES))
    except JsonError as error:
        raise EvaluationError(str(error)) from error


def try_parse_json(text: str, allows_duplicates: bool = False) -> str | None:
    """TRY_PARSE_JSON: a JSON text as a VARIANT, NULL if it is none."""
    try:
        return parse_json(text, allows_duplicates)
    except EvaluationError:
        return None


def variant_part(variant: str, index: int | str) -> str | None:
    """Return the element at an index, from 1, or the field of a name; NULL if it does not exist.

    Raises:
        EvaluationError: The VARIANT is no array, or no object.
    """
    value = loads(variant, _READER)
    if isinstance(index, str):
        if not isinstance(value, dict):
            raise EvaluationError("String key access on variant requires an object variant, but it is none.")
        return _written(value[index]) if index in value else None
    if not isinstance(value, list):
        raise EvaluationError("Integer index access on variant requires an array variant, but it is none.")
    return _written(value[index - 1]) if 1 <= index <= len(value) else None


class _Number(str):
    """A number as it is written, by which a DECIMAL differs from a DOUBLE."""


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{dumps(name)}:{_written(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    return str(value) if isinstance(value, _Number) else dumps(value)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{dumps(name)}:{_text(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, Decimal):
        text = format(value, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return double_text(value) if isinstance(value, float) else dumps(value)


def _fraction(text: str) -> Decimal | float:
    """Return a DECIMAL if it has all digits and no exponent is written, or else a DOUBLE."""
    value = Decimal(text)
    _, digits, exponent = value.as_tuple()
    if "e" in text.lower() or max(len(digits), -int(exponent)) > _DIGITS:
        return float(text)
    return value if value else Decimal(0)


def _whole(text: str) -> int | float:
    return int(text) if len(text.lstrip("-")) <= _DIGITS else float(text)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise JsonError("VARIANT_DUPLICATE_KEY")
    return dict(pairs)


_DUPLICATES: Final = json_decoder(_fraction, _whole)
_NO_DUPLICATES: Final = json_decoder(_fraction, _whole, _without_duplicates)
_READER: Final = json_decoder(_Number, _Number)
