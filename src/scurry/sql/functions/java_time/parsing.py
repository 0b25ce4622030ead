"""Reads dates and times as `DateTimeFormatter` does."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from scurry.sql.functions.java_time.calendar import Moment, days_from_civil
from scurry.sql.functions.java_time.patterns import DAYS, MONTHS, Token, tokens
from scurry.sql.functions.java_time.resolving import resolved

#: Letters of numbers with the names of their fields.
_FIELDS: Final = {
    "y": "year of era",
    "u": "year",
    "Y": "week year",
    "M": "month",
    "L": "month",
    "d": "day",
    "D": "day of year",
    "H": "hour",
    "k": "hour of 24",
    "h": "hour of 12",
    "K": "hour of half",
    "m": "minute",
    "s": "second",
    "S": "nanosecond",
    "n": "nanosecond",
    "A": "millisecond of day",
    "N": "nanosecond of day",
    "e": "local weekday",
    "c": "local weekday",
    "F": "aligned weekday",
    "w": "week",
    "W": "week of month",
    "Q": "quarter",
    "q": "quarter",
}
_NAMES: Final = {
    "M": ("month", MONTHS),
    "L": ("month", MONTHS),
    "E": ("weekday", DAYS),
    "e": ("weekday", DAYS),
    "c": ("weekday", DAYS),
}
_QUARTERS: Final = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")
_ERAS: Final = {3: ("BC", "AD"), 4: ("Before Christ", "Anno Domini"), 5: ("B", "A")}
_ZONE: Final = re.compile(r"Z|[+-]\d{2}(?::?\d{2})?(?::?\d{2})?|GMT[+-]\d+(?::\d\d)?|[A-Z][A-Za-z_/]+")
_MOST_DIGITS: Final = 19


class _Number(NamedTuple):
    """Format of a number in a pattern.

    Attributes:
        least: The fewest digits.
        most: The most digits.
        sign: `-` if it may be negative; `+` if it must have a sign where it has more than the fewest digits.
    """

    least: int
    most: int
    sign: str = ""

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most and not self.sign


def parse_moment(text: str, pattern: str) -> Moment | None:
    """Return the wall clock that a text is in the form of a pattern, as DateTimeFormatter reads it.

    Parts that the pattern has not are those of midnight on 1970-01-01. None if the text is of another form.

    Raises:
        EvaluationError: The pattern is malformed.
    """
    fields: dict[str, int] = {}
    if _parse(text, 0, tokens(pattern), fields) != len(text):
        return None
    found = resolved(fields)
    if found is None:
        return None
    days = days_from_civil(found.get("year", 1970), found.get("month", 1), 1) + found.get("day", 1) - 1
    seconds = (found.get("hour", 0) * 60 + found.get("minute", 0)) * 60 + found.get("second", 0)
    return Moment(days * 86_400 + seconds, found.get("nanosecond", 0))


def _parse(text: str, at: int, parts: tuple[Token, ...], fields: dict[str, int]) -> int:
    """Parse from a place on and return where that ends, -1 if the text is of another form."""
    number = 0
    while number < len(parts):
        token = parts[number]
        if isinstance(token, str):
            if not text.startswith(token, at):
                return -1
            at += len(token)
        elif token == ("[", 0):
            end = _closing(parts, number)
            optional = dict(fields)
            reached = _parse(text, at, parts[number + 1 : end], optional)
            if reached >= 0:
                at = reached
                fields.update(optional)
            number = end
        elif token != ("]", 0):
            at = _parse_field(text, at, parts, number, fields)
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


def _parse_field(text: str, at: int, parts: tuple[Token, ...], number: int, fields: dict[str, int]) -> int:
    token = parts[number]
    assert isinstance(token, tuple)
    letter, count = token
    how = _number_of(token)
    if how is not None:
        return _parse_number(text, at, letter, how, _digits_reserved(parts, number), fields)
    if letter in _NAMES:
        field, names = _NAMES[letter]
        style = 3 if letter == "E" and count < 3 else count
        return _parse_name(text, at, field, [_in_style(name, style) for name in names], 1, fields)
    if letter in "Qq":
        quarters = [f"Q{each}" for each in range(1, 5)] if count == 3 else [*_QUARTERS]
        return _parse_name(text, at, "quarter", [each[0] for each in _QUARTERS] if count == 5 else quarters, 1, fields)
    if letter == "a":
        return _parse_name(text, at, "half", ["AM", "PM"], 0, fields)
    if letter == "G":
        return _parse_name(text, at, "era", list(_ERAS[max(count, 3)]), 0, fields)
    zone = _ZONE.match(text, at)
    return -1 if zone is None else zone.end()


def _number_of(token: Token) -> _Number | None:
    """Return how a part is read as a number; None if it is none."""
    if isinstance(token, str) or token[0] not in _FIELDS:
        return None
    letter, count = token
    if letter in "yuY":
        if count == 2:
            return _Number(2, 2)
        return _Number(count, _MOST_DIGITS, "-" if count < 4 else "+")
    if letter in "MLQqec" and count > 2:
        return None
    if letter in "ecWS":
        return _Number(count, count)
    if letter in "AnN":
        return _Number(count, _MOST_DIGITS)
    if letter == "D" and count > 1:
        return _Number(count, 3)
    if letter == "w":
        return _Number(count, 2)
    return _Number(1, _MOST_DIGITS, "-") if count == 1 else _Number(count, count)


def _digits_reserved(parts: tuple[Token, ...], number: int) -> int:
    """Return how many digits the numbers of fixed width that follow need; -1 if this one has a fixed width itself."""
    first = number
    own = _number_of(parts[number])
    while own is not None and own.is_fixed and first and _number_of(parts[first - 1]) is not None:
        first -= 1
        own = _number_of(parts[first])
    if first != number:
        return -1
    reserved = 0
    for following in parts[number + 1 :]:
        how = _number_of(following)
        if how is None:
            break
        if not how.is_fixed:
            # Another number of any width follows: this one has just its fewest digits if it can have no others.
            return reserved or -1
        reserved += how.most
    return reserved


def _parse_number(text: str, at: int, letter: str, how: _Number, reserved: int, fields: dict[str, int]) -> int:
    sign = ""
    if how.sign and text[at : at + 1] in ("-", "+"):
        sign = text[at]
        if sign == "+" and how.sign != "+":
            return -1
        at += 1
    digits = 0
    while at + digits < len(text) and text[at + digits] in "0123456789" and digits < how.most + max(reserved, 0):
        digits += 1
    if reserved > 0:
        digits = max(how.least, digits - reserved) if digits >= how.least else digits
    digits = min(digits, how.most)
    if digits < how.least:
        return -1
    value = int(text[at : at + digits])
    if sign == "-":
        if value == 0:
            return -1
        value = -value
    elif how.sign == "+" and (digits > how.least) != (sign == "+"):
        return -1
    if letter in "yuY" and how.is_fixed:
        value += 2000
    if letter == "S":
        value = int(text[at : at + digits].ljust(9, "0")[:9])
    return _set(_FIELDS[letter], value, at + digits, fields)


def _parse_name(text: str, at: int, field: str, names: list[str], first: int, fields: dict[str, int]) -> int:
    fitting = [(len(name), number) for number, name in enumerate(names) if text.startswith(name, at)]
    if not fitting:
        return -1
    length, number = max(fitting)
    # Of months with the same first letter the last one is meant.
    return _set(field, first + number, at + length, fields)


def _in_style(name: str, count: int) -> str:
    return name[:3] if count == 3 else name if count == 4 else name[0]


def _set(field: str, value: int, end: int, fields: dict[str, int]) -> int:
    """Set a field and return where its text ends; -1 if it has another value already."""
    return end if fields.setdefault(field, value) == value else -1
