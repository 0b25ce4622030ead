"""Reads dates and times as `DateTimeFormatter` does."""

from __future__ import annotations

import re
from typing import Final

from scurry.functions.java_time.moment import Moment, days_from_civil
from scurry.functions.java_time.patterns import DAYS, FIELDS, MONTHS, Token, is_adjacent, tokens

__all__ = ["parse_moment"]


_RANGES: Final = {
    "month": (1, 12), "day": (1, 31), "hour": (0, 23), "minute": (0, 59), "second": (0, 59), "hour of 12": (1, 12),
    "hour of half": (0, 11), "hour of 24": (1, 24), "day of year": (1, 366),
}  # fmt: skip


def parse_moment(text: str, pattern: str) -> Moment | None:
    """Return the wall clock that a text is in the form of a pattern, as DateTimeFormatter reads it.

    Parts that the pattern has not are those of midnight on 1970-01-01. None if the text is of another form.

    Raises:
        EvaluationError: The pattern is malformed.
    """
    fields: dict[str, int] = {}
    if _parse(text, 0, tokens(pattern), 0, fields) != len(text):
        return None
    if any(not least <= fields.get(name, least) <= most for name, (least, most) in _RANGES.items()):
        return None
    year, month, day = fields.get("year", 1970), fields.get("month", 1), fields.get("day", 1)
    if "quarter" in fields and "month" not in fields:
        month = fields["quarter"] * 3 - 2
    february = 29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28
    lengths = (31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    days = days_from_civil(year, month, min(day, lengths[month - 1]))
    if "day of year" in fields:
        days = days_from_civil(year, 1, fields["day of year"])
    nanoseconds = fields.get("nanosecond", 0)
    return Moment(days * 86_400 + _second_of_day(fields), nanoseconds)


def _second_of_day(fields: dict[str, int]) -> int:
    hour = fields.get("hour")
    if hour is None and "hour of 24" in fields:
        hour = fields["hour of 24"] % 24
    if hour is None and "half" in fields:
        half = fields.get("hour of half", fields.get("hour of 12", 0) % 12)
        hour = half + 12 * fields["half"]
    return (hour or 0) * 3600 + fields.get("minute", 0) * 60 + fields.get("second", 0)


def _parse(text: str, at: int, parts: tuple[Token, ...], number: int, fields: dict[str, int]) -> int:
    """Parse from a place on and return where that ends, -1 if the text is of another form."""
    while number < len(parts):
        token = parts[number]
        if isinstance(token, str):
            if not text.startswith(token, at):
                return -1
            at += len(token)
        elif token == ("[", 0):
            end = _closing(parts, number)
            optional: dict[str, int] = {}
            reached = _parse(text, at, parts[number + 1 : end], 0, optional)
            if reached >= 0:
                at = reached
                fields.update(optional)
            number = end
        elif token != ("]", 0):
            at = _parse_field(text, at, token, is_adjacent(parts, number), fields)
            if at < 0:
                return -1
        number += 1
    return at


def _closing(parts: tuple[Token, ...], number: int) -> int:
    depth = 0
    for place in range(number, len(parts)):
        depth += (parts[place] == ("[", 0)) - (parts[place] == ("]", 0))
        if not depth:
            return place
    return len(parts)


def _parse_field(text: str, at: int, token: tuple[str, int], adjacent: bool, fields: dict[str, int]) -> int:
    letter, count = token
    if letter == "S":
        found = re.compile(rf"\d{{{count}}}").match(text, at)
        if found is None:
            return -1
        fields["nanosecond"] = int(found[0].ljust(9, "0")[:9])
        return found.end()
    if letter in "ML" and count > 2:
        return _parse_name(text, at, MONTHS, count, "month", fields)
    if letter in "Eec" and count > 0 and not (letter in "ec" and count < 3):
        return _parse_name(text, at, DAYS, count if letter != "E" or count > 3 else 3, "weekday", fields)
    if letter == "a":
        half = text[at : at + 2]
        if half not in ("AM", "PM"):
            return -1
        fields["half"] = int(half == "PM")
        return at + 2
    if letter == "G":
        return at + 2 if text[at : at + 2] in ("AD", "BC") else -1
    if letter in "XxZOzV":
        zone = re.compile(r"Z|[+-]\d{2}(?::?\d{2})?(?::?\d{2})?|GMT[+-]\d+(?::\d\d)?|[A-Z][A-Za-z_/]+").match(text, at)
        return -1 if zone is None else zone.end()
    return _parse_number(text, at, letter, count, adjacent, fields)


def _parse_number(text: str, at: int, letter: str, count: int, adjacent: bool, fields: dict[str, int]) -> int:
    is_year = letter in "yuY"
    most = count if adjacent or count == 2 or (not is_year and count > 1) else 19
    sign = r"[+-]?" if is_year and count > 2 and not adjacent else ""
    found = re.compile(rf"{sign}\d{{{count},{max(most, count)}}}").match(text, at)
    if found is None:
        return -1
    value = int(found[0])
    if is_year and count == 2:
        value += 2000
    if is_year and count > 3 and len(found[0].lstrip("+-")) > count and found[0][0] not in "+-":
        return -1
    fields[FIELDS.get(letter, letter)] = value
    return found.end()


def _parse_name(text: str, at: int, names: tuple[str, ...], count: int, field: str, fields: dict[str, int]) -> int:
    for number, name in enumerate(names):
        shown = name[:3] if count == 3 else name if count == 4 else name[0]
        if text.startswith(shown, at):
            fields[field] = number + 1
            return at + len(shown)
    return -1
