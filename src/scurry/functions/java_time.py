"""Patterns of dates and times as Java has them: `DateTimeFormatter` and `SimpleDateFormat`, in English.

`Moment` is a wall clock; `format_moment` and `parse_moment` follow DateTimeFormatter, `parse_leniently` follows
SimpleDateFormat, which reads the beginning of a text and lets parts run over (February 30th is March 1st).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from scurry.errors import EvaluationError

__all__ = ["Moment", "days_from_civil", "format_moment", "parse_jdbc", "parse_leniently", "parse_moment", "tokens"]

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKEN: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(\[|\])|([^A-Za-z'\[\]])", re.DOTALL)
_NUMBER: Final = re.compile(r"[ \t]*(-?\d+)")
_JDBC: Final = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?: (\d{1,9}):(\d{1,9}):(\d{1,9})(?:\.(\d{1,9}))?)?", re.ASCII)
_SIMPLE_LETTERS: Final = "GyYMLwWDdFEuaHkKhmsSzZX"

Token = tuple[str, int] | str


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a date of the Gregorian calendar, of any year; parts may run over."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year + day - 1 - 719_468


@dataclass(frozen=True)
class Moment:
    """A wall clock.

    Attributes:
        seconds: Since 1970.
        nanoseconds: The fraction of the second.
    """

    seconds: int
    nanoseconds: int = 0

    @property
    def days(self) -> int:
        """Days since 1970."""
        return self.seconds // 86_400

    @property
    def date(self) -> tuple[int, int, int]:
        """Year, month and day."""
        days = self.days + 719_468
        era, of_era = divmod(days, 146_097)
        year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
        of_year = of_era - (365 * year + year // 4 - year // 100)
        shifted = (5 * of_year + 2) // 153
        month = shifted + 3 if shifted < 10 else shifted - 9
        return year + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1

    @property
    def second_of_day(self) -> int:
        """Seconds since midnight."""
        return self.seconds % 86_400

    @property
    def weekday(self) -> int:
        """The day of the week, from 1 for Monday."""
        return (self.days + 3) % 7 + 1


@lru_cache(maxsize=256)
def tokens(pattern: str, simple: bool = False) -> tuple[Token, ...]:
    """Return the parts of a pattern: letters with how often they stand, and other text.

    Raises:
        EvaluationError: A letter has no meaning, or a quote is not closed.
    """
    found: list[Token] = []
    at = 0
    while at < len(pattern):
        match = _TOKEN.match(pattern, at)
        if match is None:
            raise EvaluationError(f"Pattern ends with an incomplete string literal: {pattern}")
        quoted, letter, bracket, other = match.groups()
        if quoted is not None:
            found.append(quoted.replace("''", "'") or "'")
        elif letter is not None:
            if simple and letter not in _SIMPLE_LETTERS:
                raise EvaluationError(f"Illegal pattern character '{letter}'")
            if not simple:
                _check_letter(letter, len(match[0]))
            found.append((letter, len(match[0])))
        else:
            if not simple and other in ("{", "}", "#"):
                raise EvaluationError(f"Pattern includes reserved character: '{other}'")
            found.append((bracket, 0) if bracket and not simple else bracket or other)
        at = match.end()
    return tuple(found)


#: How often a letter may stand in a row; those of years are minimum widths.
_MOST: Final = dict.fromkeys("uyYnNA", 19) | dict.fromkeys("MLGEecQqZXx", 5) | dict.fromkeys("dHhKkmsw", 2) | {"D": 3}


def _check_letter(letter: str, count: int) -> None:
    if letter not in _FORMATS:
        raise EvaluationError(f"Unknown pattern letter: {letter}")
    most = _MOST.get(letter, count)
    if count > most and most == 19:
        raise EvaluationError(f"The minimum width must be from 1 to 19 inclusive but was {count}")
    if count > most:
        raise EvaluationError(f"Too many pattern letters: {letter}")


def _year_text(year: int, count: int) -> str:
    if count == 2:
        return f"{year % 100:02d}"
    return f"{year:0{count}d}" if year >= 0 else f"-{-year:0{count}d}"


def _padded(value: int, count: int) -> str:
    return f"{value:0{count}d}"


def _month_text(month: int, count: int) -> str:
    if count <= 2:
        return _padded(month, count)
    name = _MONTHS[month - 1]
    return name[:3] if count == 3 else name if count == 4 else name[0]


def _day_text(weekday: int, count: int) -> str:
    name = _DAYS[weekday - 1]
    return name[:3] if count <= 3 else name if count == 4 else name[0]


def _day_of_year(moment: Moment) -> int:
    return moment.days - days_from_civil(moment.date[0], 1, 1) + 1


def _week_of_year(moment: Moment) -> tuple[int, int]:
    """Return the week-based year and the week, where weeks begin on Sunday and the first one has January 1st."""
    saturday = moment.days - moment.weekday % 7 + 6
    year = Moment(saturday * 86_400).date[0]
    first = days_from_civil(year, 1, 1)
    return year, (saturday - first) // 7 + 1


def _unsupported(moment: Moment, count: int) -> str:
    raise EvaluationError("Unable to extract ZoneId from temporal: a local date and time has no zone")


_FORMATS: Final[dict[str, Callable[[Moment, int], str]]] = {
    "G": lambda moment, count: ("AD" if moment.date[0] > 0 else "BC") if count <= 3 else "Anno Domini",
    "u": lambda moment, count: _year_text(moment.date[0], count),
    "y": lambda moment, count: _year_text(moment.date[0] if moment.date[0] > 0 else 1 - moment.date[0], count),
    "D": lambda moment, count: _padded(_day_of_year(moment), count),
    "M": lambda moment, count: _month_text(moment.date[1], count),
    "L": lambda moment, count: _month_text(moment.date[1], count),
    "d": lambda moment, count: _padded(moment.date[2], count),
    "Q": lambda moment, count: _quarter_text((moment.date[1] + 2) // 3, count),
    "q": lambda moment, count: _quarter_text((moment.date[1] + 2) // 3, count),
    "Y": lambda moment, count: _year_text(_week_of_year(moment)[0], count),
    "w": lambda moment, count: _padded(_week_of_year(moment)[1], count),
    "W": lambda moment, count: _padded(
        (moment.date[2] + (Moment((moment.days - moment.date[2] + 1) * 86_400).weekday % 7) + 6) // 7, count
    ),
    "E": lambda moment, count: _day_text(moment.weekday, count),
    "e": lambda moment, count: (
        _padded(moment.weekday % 7 + 1, count) if count < 3 else _day_text(moment.weekday, count)
    ),
    "c": lambda moment, count: (
        _padded(moment.weekday % 7 + 1, count) if count < 3 else _day_text(moment.weekday, count)
    ),
    "F": lambda moment, count: _padded((moment.date[2] - 1) % 7 + 1, count),
    "a": lambda moment, count: "AM" if moment.second_of_day < 43_200 else "PM",
    "h": lambda moment, count: _padded((moment.second_of_day // 3600 + 11) % 12 + 1, count),
    "K": lambda moment, count: _padded(moment.second_of_day // 3600 % 12, count),
    "k": lambda moment, count: _padded((moment.second_of_day // 3600 + 23) % 24 + 1, count),
    "H": lambda moment, count: _padded(moment.second_of_day // 3600, count),
    "m": lambda moment, count: _padded(moment.second_of_day // 60 % 60, count),
    "s": lambda moment, count: _padded(moment.second_of_day % 60, count),
    "S": lambda moment, count: f"{moment.nanoseconds:09d}"[:count],
    "A": lambda moment, count: _padded(moment.second_of_day * 1000 + moment.nanoseconds // 1_000_000, count),
    "n": lambda moment, count: _padded(moment.nanoseconds, count),
    "N": lambda moment, count: _padded(moment.second_of_day * 10**9 + moment.nanoseconds, count),
    **dict.fromkeys("VzOXxZv", _unsupported),
}


def _quarter_text(quarter: int, count: int) -> str:
    if count <= 2:
        return _padded(quarter, count)
    return f"Q{quarter}" if count == 3 else f"{('1st', '2nd', '3rd', '4th')[quarter - 1]} quarter"


def format_moment(moment: Moment, pattern: str, simple: bool = False) -> str:
    """Return a wall clock in the form of a pattern.

    Args:
        moment: The wall clock.
        pattern: The pattern.
        simple: Whether it is one of SimpleDateFormat, where S are milliseconds.

    Raises:
        EvaluationError: The pattern is malformed, or needs a time zone.
    """
    return "".join(_formatted(moment, token, simple) for token in tokens(pattern, simple))


def _formatted(moment: Moment, token: Token, simple: bool) -> str:
    if isinstance(token, str):
        return token
    letter, count = token
    if not count:
        return ""
    if simple and letter in _UTC:
        # A SimpleDateFormat has a time zone, which is that of the JVM.
        return _UTC[letter](count)
    if simple and letter == "S":
        return _padded(moment.nanoseconds // 1_000_000, count)
    if simple and letter == "u":
        return _padded(moment.weekday, count)
    if simple and letter == "y" and count != 2:
        return _year_text(moment.date[0], count)
    return _FORMATS[letter](moment, count)


_UTC: Final[dict[str, Callable[[int], str]]] = {
    "z": lambda count: "UTC" if count < 4 else "Coordinated Universal Time",
    "Z": lambda count: "+0000",
    "X": lambda count: "Z",
}

_NUMBERS: Final = {
    "y": "year", "u": "year", "Y": "year", "M": "month", "L": "month", "d": "day", "D": "day of year", "H": "hour",
    "k": "hour of 24", "h": "hour of 12", "K": "hour of half", "m": "minute", "s": "second", "n": "nanosecond",
    "A": "millisecond of day", "e": "weekday", "F": "week", "w": "week", "W": "week", "Q": "quarter", "q": "quarter",
}  # fmt: skip
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
    lengths = (
        31,
        29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28,
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    )
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
            at = _parse_field(text, at, token, _is_adjacent(parts, number), fields)
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


def _is_adjacent(parts: tuple[Token, ...], number: int) -> bool:
    """Return whether digits of another field follow, so that this one has just as many as letters."""
    if number + 1 >= len(parts):
        return False
    following = parts[number + 1]
    return (
        isinstance(following, tuple)
        and following[0] in (*_NUMBERS, "S")
        and not (following[0] in "ML" and following[1] > 2)
    )


def _parse_field(text: str, at: int, token: tuple[str, int], adjacent: bool, fields: dict[str, int]) -> int:
    letter, count = token
    if letter == "S":
        found = re.compile(rf"\d{{{count}}}").match(text, at)
        if found is None:
            return -1
        fields["nanosecond"] = int(found[0].ljust(9, "0")[:9])
        return found.end()
    if letter in "ML" and count > 2:
        return _parse_name(text, at, _MONTHS, count, "month", fields)
    if letter in "Eec" and count > 0 and not (letter in "ec" and count < 3):
        return _parse_name(text, at, _DAYS, count if letter != "E" or count > 3 else 3, "weekday", fields)
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
    fields[_NUMBERS.get(letter, letter)] = value
    return found.end()


def _parse_name(text: str, at: int, names: tuple[str, ...], count: int, field: str, fields: dict[str, int]) -> int:
    for number, name in enumerate(names):
        shown = name[:3] if count == 3 else name if count == 4 else name[0]
        if text.startswith(shown, at):
            fields[field] = number + 1
            return at + len(shown)
    return -1


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
            digits = count if _is_adjacent(parts, number) else 19
            found = _NUMBER.match(text, at, min(at + digits, len(text)))
            if found is None:
                return None
            value = int(found[1])
            if letter == "y" and count <= 2 and len(found[1]) == 2:
                value += 2000 if value < 50 else 1900
            fields["millisecond" if letter == "S" else _NUMBERS.get(letter, letter)] = value
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


def _parse_simple_name(text: str, at: int, letter: str, count: int, fields: dict[str, int]) -> int:
    names = _MONTHS if letter in "ML" else _DAYS
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
