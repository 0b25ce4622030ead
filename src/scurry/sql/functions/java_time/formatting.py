"""Writes dates and times in the form of a pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scurry.errors import EvaluationError
from scurry.sql.functions.java_time.calendar import CUTOVER, Moment, date_of, days_from_civil, first_of_month
from scurry.sql.functions.java_time.patterns import DAYS, MONTHS, Token, tokens


def format_moment(moment: Moment, pattern: str, simple: bool = False) -> str:
    """Return a wall clock in the form of a pattern.

    Args:
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
    return _simple_text(moment, letter, count) if simple else _FORMATS[letter](moment, count)


def _simple_text(moment: Moment, letter: str, count: int) -> str:
    """Return a part as SimpleDateFormat writes it, whose calendar is the Julian one before 1582."""
    if letter in _UTC:
        # A SimpleDateFormat has a time zone, which is that of the JVM.
        return _UTC[letter](count)
    if letter not in _OF_CALENDAR:
        return _FORMATS[letter](moment, count)
    year, month, day = date_of(moment.days)
    if letter in "ML":
        return _month_text(month, min(count, 4))
    if letter == "E":
        return _day_text(moment.weekday, min(count, 4))
    if letter == "G":
        return "AD" if year > 0 else "BC"
    week_year, week = _week_of_calendar(moment.days, moment.weekday, year)
    if letter in "yY":
        shown = year if letter == "y" else week_year
        shown = 1 - shown if letter == "y" and shown < 1 else shown
        sign, size = "-" if shown < 0 else "", abs(shown)
        return f"{sign}{size % 100:02d}" if count == 2 else f"{sign}{_padded(size, count)}"
    first = _first(year, month)
    numbers = {
        "d": day,
        "D": moment.days - _first(year, 1) + 1,
        "F": (day - 1) // 7 + 1,
        "u": moment.weekday,
        "w": week,
        "W": (moment.days - _sunday_before(first)) // 7 + 1,
        "S": moment.nanoseconds // 1_000_000,
    }
    return _padded(numbers[letter], count)


def _first(year: int, month: int) -> int:
    """Return the first day of a month, in the calendar of that time."""
    found = first_of_month(year, month)
    return found if found >= CUTOVER else first_of_month(year, month, julian=True)


def _week_of_calendar(days: int, weekday: int, year: int) -> tuple[int, int]:
    saturday = days - weekday % 7 + 6
    year = date_of(saturday)[0]
    return year, (saturday - _first(year, 1)) // 7 + 1


def _sunday_before(day: int) -> int:
    return day - Moment(day * 86_400).weekday % 7


def _year_text(year: int, count: int) -> str:
    if count == 2:
        return f"{abs(year) % 100:02d}"
    text = f"{abs(year):0{count}d}"
    if year < 0:
        return f"-{text}"
    return f"+{text}" if count > 3 and len(text) > count else text


def _padded(value: int, count: int) -> str:
    return f"{value:0{count}d}"


def _month_text(month: int, count: int) -> str:
    if count <= 2:
        return _padded(month, count)
    name = MONTHS[month - 1]
    return name[:3] if count == 3 else name if count == 4 else name[0]


def _quarter_text(quarter: int, count: int) -> str:
    if count <= 2:
        return _padded(quarter, count)
    if count == 5:
        return str(quarter)
    return f"Q{quarter}" if count == 3 else f"{('1st', '2nd', '3rd', '4th')[quarter - 1]} quarter"


def _era_text(year: int, count: int) -> str:
    name = "Anno Domini" if year > 0 else "Before Christ"
    return ("AD" if year > 0 else "BC") if count <= 3 else name if count == 4 else name[0]


def _day_text(weekday: int, count: int) -> str:
    name = DAYS[weekday - 1]
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
    "G": lambda moment, count: _era_text(moment.date[0], count),
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

#: Letters whose texts are others in a SimpleDateFormat.
_OF_CALENDAR: Final = "GyYMLdDFuwWES"

_UTC: Final[dict[str, Callable[[int], str]]] = {
    "z": lambda count: "UTC" if count < 4 else "Coordinated Universal Time",
    "Z": lambda count: "+0000",
    "X": lambda count: "Z",
}
