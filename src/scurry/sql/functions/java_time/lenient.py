"""Reads dates and times as `SimpleDateFormat` and `java.sql.Timestamp` do: parts may run over."""

from __future__ import annotations

import re
import time
from typing import Final

from scurry.sql.functions.java_time.calendar import Fields, Moment, days_from_civil
from scurry.sql.functions.java_time.patterns import DAYS, MONTHS, Token, tokens

_NUMBER: Final = re.compile(r"[ \t]*(-?)(\d+)", re.ASCII)
_ZONE: Final = re.compile(r"Z|(?:GMT)?([+-])(\d{2}):?(\d{2})?")
_JDBC: Final = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?: (\d{1,9}):(\d{1,9}):(\d{1,9})(?:\.(\d{1,9}))?)?", re.ASCII)
#: Letters that stand for numbers, with the names of their fields.
_NUMBERS: Final = {
    "y": "year",
    "Y": "week year",
    "M": "month",
    "L": "month",
    "d": "day",
    "D": "day of year",
    "w": "week",
    "W": "week of month",
    "F": "weekday in month",
    "u": "weekday",
    "H": "hour of day",
    "k": "hour of day",
    "h": "hour",
    "K": "hour",
    "m": "minute",
    "s": "second",
    "S": "millisecond",
}
#: Fields of names, with the numbers that Java's calendar has for them.
_NAMES: Final = {
    "month": {name: number for number, name in enumerate(MONTHS, 1)}
    | {name[:3]: number for number, name in enumerate(MONTHS, 1)},
    "weekday": {name: number % 7 + 1 for number, name in enumerate(DAYS, 1)}
    | {name[:3]: number % 7 + 1 for number, name in enumerate(DAYS, 1)},
    "half": {"AM": 0, "PM": 1},
    "era": {"BC": 0, "AD": 1},
}
_NAMED: Final = {"M": "month", "L": "month", "E": "weekday", "a": "half", "G": "era"}
_YEARS_BACK: Final = 80


def parse_leniently(text: str, pattern: str) -> tuple[Moment, int | None] | None:
    """Return the wall clock at the beginning of a text, as SimpleDateFormat reads it.

    Returns:
        The wall clock, and the seconds by which the zone in the text is ahead of UTC, None without a zone; None if the
        text is of another form.

    Raises:
        EvaluationError: The pattern is malformed.
    """
    fields = Fields()
    offset: int | None = None
    at = 0
    parts = tokens(pattern, simple=True)
    for number, token in enumerate(parts):
        if isinstance(token, str):
            if not text.startswith(token, at):
                return None
            at += len(token)
        elif token[0] in "XZz":
            zone = _ZONE.match(text, at)
            if zone is None:
                return None
            seconds = int(zone[2] or 0) * 3600 + int(zone[3] or 0) * 60
            offset, at = -seconds if zone[1] == "-" else seconds, zone.end()
        else:
            at = _parse_field(text, at, token, _has_exact_width(parts, number), fields)
            if at < 0:
                return None
    moment = fields.moment()
    if fields.is_ambiguous and moment.seconds < _first_of_century():
        fields.add_century()
        moment = fields.moment()
    return moment, offset


def _is_number(token: Token) -> bool:
    return isinstance(token, tuple) and token[0] in _NUMBERS and not (token[0] in "ML" and token[1] > 2)


def _has_exact_width(parts: tuple[Token, ...], number: int) -> bool:
    """Return whether digits of another field follow, so that this one has just as many as letters."""
    return number + 1 < len(parts) and _is_number(parts[number + 1])


def _parse_field(text: str, at: int, token: tuple[str, int], is_exact: bool, fields: Fields) -> int:
    """Set a field and return where its text ends; -1 if the text is of another form."""
    letter, count = token
    if not _is_number(token):
        return _parse_name(text, at, _NAMED[letter], fields)
    end = at + count if is_exact else len(text)
    found = _NUMBER.match(text, at, end) if end <= len(text) else None
    if found is None:
        return -1
    value = int(found[1] + found[2])
    if letter in "yY" and count <= 2 and not found[1] and len(found[2]) == 2:
        first = Moment(_first_of_century()).date[0]
        fields.is_ambiguous |= value == first % 100
        value += first // 100 * 100 + (100 if value < first % 100 else 0)
    if letter == "k" and value == 24:
        value = 0
    if letter == "h" and value == 12:
        value = 0
    if letter == "u" and 1 <= value <= 7:
        value = value % 7 + 1
    fields.set(_NUMBERS[letter], value)
    return found.end()


def _first_of_century() -> int:
    """Return the second since 1970 that is 80 years ago: years of two digits are those that follow."""
    now = Moment(int(time.time()))
    year, month, day = now.date
    return days_from_civil(year - _YEARS_BACK, month, day) * 86_400 + now.second_of_day


def _parse_name(text: str, at: int, field: str, fields: Fields) -> int:
    fitting = [name for name in _NAMES[field] if text[at : at + len(name)].lower() == name.lower()]
    if not fitting:
        return -1
    longest = max(fitting, key=len)
    fields.set(field, _NAMES[field][longest])
    return at + len(longest)


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
