"""Values of the binlog as texts, as SELECT has them."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from typing import Any

from scurry.common._epoch import EPOCH

_DIGITS = re.compile(r"(?:datetime|timestamp|time)(?:\((\d)\))?")
_NAMES = re.compile(r"'((?:[^']|'')*)'")


def text_of(database_type: str) -> Callable[[Any], Any]:
    """Return the function that makes the text, or the bytes, of a value of the binlog.

    Args:
        database_type: The type of the column, as `information_schema` has it, with the names of a SET.
    """
    if database_type.startswith("set("):
        names = [name.replace("''", "'") for name in _NAMES.findall(database_type)]
        return lambda value: ",".join(name for name in names if name in value)
    if database_type.startswith("bit("):
        size = (int(database_type[4:].split(")")[0]) + 7) // 8
        return lambda value: int(value, 2).to_bytes(size, "big")
    if database_type == "json":
        return lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)
    if database_type.startswith("binary("):
        size = int(database_type[7:-1])
        return lambda value: _bytes(value).ljust(size, b"\0")
    if "blob" in database_type or database_type.startswith("varbinary"):
        return _bytes
    digits = _DIGITS.fullmatch(database_type)
    if digits is not None:
        # the moment 0 is the date 0000-00-00: values of TIMESTAMP begin a second later
        is_moment = database_type.startswith("timestamp")
        return lambda value: None if is_moment and value == EPOCH else _with_fraction(value, int(digits[1] or 0))
    return _text


def _with_fraction(value: Any, digits: int) -> Any:
    """Return the text of a time with as many digits after the second as its column has."""
    text = _text(value)
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction:0<6}"[: len(whole) + 1 + digits] if digits else whole


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("latin-1")


def _text(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.timedelta):
        seconds, rest = divmod(abs(value), datetime.timedelta(seconds=1))
        sign = "-" if value < datetime.timedelta(0) else ""
        fraction = f".{rest.microseconds:06}" if rest else ""
        return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, str | bytes) else str(value)


def selected(column: str, database_type: str) -> str:
    """Return the expression that selects a column, so that its text loses nothing."""
    if database_type.startswith(("date", "timestamp")):  # dates with a zero in them are NULL, as in changes
        return f"IF(YEAR({column}) = 0 OR MONTH({column}) = 0 OR DAYOFMONTH({column}) = 0, NULL, {column})"
    if database_type.startswith("float"):
        return f"{column} + 0e0"
    return f"{column} + 0" if "zerofill" in database_type else column
