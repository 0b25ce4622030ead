"""Reads dates and times as `SimpleDateFormat` and `java.sql.Timestamp` do: parts may run over."""

from __future__ import annotations

import re
from typing import Final

from scurry.functions.java_time.moment import Moment, days_from_civil
from scurry.functions.java_time.patterns import DAYS, FIELDS, MONTHS, is_adjacent, tokens

__all__ = ["parse_jdbc", "parse_leniently"]


_NUMBER: Final = re.compile(r"[ \t]*(-?\d+)")

_JDBC: Final = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?: (\d{1,9}):(\d{1,9}):(\d{1,9})(?:\.(\d{1,9}))?)?", re.ASCII)


def parse_leniently(text: str, pattern: str) -> tuple[Moment, int | None] | None:
    """Return the wall clock at the beginning of a text, as SimpleDateFormat reads it.

    Returns:
        The wall clock, and the seconds by which the zone in the text is ahead of UTC, None without a zone; None if the
        text is of another form.

    Raises:
        EvaluationError: The pattern is malformed.
    """
    fields: dict[str, int] = {}
    offset: int | None = None
    at = 0
    parts = tokens(pattern, simple=True)
    for number, token in enumerate(parts):
        if isinstance(token, str):
            if not text.startswith(token, at):
                return None
            at += len(token)
            continue
        letter, count = token
        if letter in "XZz":
            found = re.compile(r"Z|(?:GMT)?([+-])(\d{2}):?(\d{2})?").match(text, at)
            if found is None:
                return None
            offset = 0
            if found[1]:
                offset = (int(found[2]) * 3600 + int(found[3] or 0) * 60) * (-1 if found[1] == "-" else 1)
            at = found.end()
        elif letter in "yMLdDHkhKmsSuFwW" and not (letter in "ML" and count > 2):
            digits = count if is_adjacent(parts, number) else 19
            found = _NUMBER.match(text, at, min(at + digits, len(text)))
            if found is None:
                return None
            value = int(found[1])
            if letter == "y" and count <= 2 and len(found[1]) == 2:
                value += 2000 if value < 50 else 1900
            fields["millisecond" if letter == "S" else FIELDS.get(letter, letter)] = value
            at = found.end()
        else:
            at = _parse_simple_name(text, at, letter, count, fields)
            if at < 0:
                return None
    days = days_from_civil(fields.get("year", 1970), fields.get("month", 1), fields.get("day", 1))
    if "day of year" in fields and "day" not in fields:
        days = days_from_civil(fields.get("year", 1970), 1, fields["day of year"])
    milliseconds = fields.get("millisecond", 0)
    hour = fields.get("hour", fields.get("hour of 24", 0) % 24)
    if "hour" not in fields and ("hour of 12" in fields or "hour of half" in fields):
        hour = fields.get("hour of half", fields.get("hour of 12", 0) % 12) + 12 * fields.get("half", 0)
    seconds = days * 86_400 + hour * 3600 + fields.get("minute", 0) * 60 + fields.get("second", 0)
    return Moment(seconds + milliseconds // 1000, milliseconds % 1000 * 1_000_000), offset


def _parse_simple_name(text: str, at: int, letter: str, count: int, fields: dict[str, int]) -> int:
    names = MONTHS if letter in "ML" else DAYS
    if letter == "a":
        half = text[at : at + 2].upper()
        fields["half"] = int(half == "PM")
        return at + 2 if half in ("AM", "PM") else -1
    for number, name in enumerate(names):
        for shown in (name, name[:3]):
            if text[at : at + len(shown)].lower() == shown.lower():
                fields["month" if letter in "ML" else "weekday"] = number + 1
                return at + len(shown)
    return -1


def parse_jdbc(text: str) -> Moment | None:
    """Return the wall clock that a text is in the form of `java.sql.Timestamp` or `java.sql.Date`, None if in neither.

    The day may run over: February 30th is March 1st.
    """
    found = _JDBC.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    return Moment(seconds, int((found[7] or "").ljust(9, "0")))
