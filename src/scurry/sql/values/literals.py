"""Python values as literals of SQL: the one place where values of programs become text of statements."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

from scurry.errors import ArgumentTypeError


def literal_text(value: Any) -> str:
    """Return the SQL literal of a Python value.

    Raises:
        ArgumentTypeError: The value has no SQL literal.
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise ArgumentTypeError(f"{value} is no DECIMAL, whose values are finite: pass a float")
        text = format(value, "f")
        return text if "." in text else f"CAST({text} AS DECIMAL({len(text.lstrip('-'))}, 0))"
    if isinstance(value, float):
        if not math.isfinite(value):
            name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            return f"CAST('{name}' AS DOUBLE)"
        text = repr(float(value))  # that of a subclass, such as NumPy's, may show more
        return text if "e" in text else f"{text}e0"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes | bytearray):
        return f"X'{bytes(value).hex()}'"
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            moment = value.astimezone(datetime.UTC).replace(tzinfo=None)
            # Such a literal is the wall clock of UTC, whatever the zone of the session.
            return f"TIMESTAMP WITH LOCAL TIME ZONE '{moment.isoformat(' ')}'"
        return f"TIMESTAMP '{value.isoformat(' ')}'"
    if isinstance(value, datetime.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, datetime.time):
        if value.tzinfo is not None:
            raise ArgumentTypeError(f"{value} has a time zone, which a TIME has not: pass a time without tzinfo")
        return f"TIME '{value.isoformat()}'"
    if isinstance(value, datetime.timedelta):
        return interval_text(round(value.total_seconds() * 1000))
    raise ArgumentTypeError(
        f"Cannot derive a data type for value '{value}'. The data type must be specified explicitly: a literal is a "
        "plain value; use array(...), map_(...) or row(...) for others"
    )


def interval_text(milliseconds: int) -> str:
    """Return the literal of a day-time interval."""
    sign = "-" if milliseconds < 0 else ""
    seconds, rest = divmod(abs(milliseconds), 1000)
    return f"INTERVAL {sign}'{seconds}.{rest:03}' SECOND(10, 3)"
