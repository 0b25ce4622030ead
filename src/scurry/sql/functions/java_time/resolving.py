"""Fields that were parsed as a date and a time, as `DateTimeFormatter` resolves them."""

from __future__ import annotations

from typing import Final

from scurry.sql.functions.java_time.calendar import Moment, days_from_civil

_RANGES: Final = {
    "hour of 24": (0, 24),
    "hour of 12": (0, 12),
    "hour of half": (0, 11),
    "half": (0, 1),
    "year of era": (1, 999_999_999),
    "era": (0, 1),
    "local weekday": (1, 7),
    "millisecond of day": (0, 86_399_999),
    "nanosecond of day": (0, 86_400 * 10**9 - 1),
}
_TIME_RANGES: Final = {"hour": 23, "minute": 59, "second": 59, "nanosecond": 999_999_999}
_DATE: Final = ("year", "month", "day")


class _Conflict(Exception):
    """Fields contradict each other, or a value is out of its range."""


def resolved(fields: dict[str, int]) -> dict[str, int] | None:
    """Return the fields with those that follow from them; None if they contradict each other or are out of range.

    Weekdays and eras are fields, too. Without a year and without an hour, values are not checked against each other.
    """
    found = dict(fields)
    for name, (least, most) in _RANGES.items():
        if name in found and not least <= found[name] <= most:
            return None
    try:
        _resolve_year(found)
        if "local weekday" in found:
            _put(found, "weekday", (found.pop("local weekday") + 5) % 7 + 1)
        _resolve_time(found)
        days = _date_of(found)
        if days is not None:
            _check_date(found, days)
    except _Conflict:
        return None
    return found


def _put(fields: dict[str, int], name: str, value: int) -> None:
    if fields.setdefault(name, value) != value:
        raise _Conflict


def _check(condition: bool) -> None:
    if not condition:
        raise _Conflict


def _resolve_year(fields: dict[str, int]) -> None:
    if "year of era" not in fields:
        return
    year = fields.pop("year of era")
    era = fields.pop("era", None)
    if era is None:
        before = "year" in fields and fields["year"] <= 0
        _put(fields, "year", 1 - year if before else year)
    else:
        _put(fields, "year", year if era else 1 - year)


def _resolve_time(fields: dict[str, int]) -> None:
    if "hour of 24" in fields:
        _put(fields, "hour", fields.pop("hour of 24") % 24)
    if "hour of 12" in fields:
        _put(fields, "hour of half", fields.pop("hour of 12") % 12)
    if "half" in fields and "hour of half" in fields:
        _put(fields, "hour", fields.pop("half") * 12 + fields.pop("hour of half"))
    if "nanosecond of day" in fields:
        seconds, nanoseconds = divmod(fields.pop("nanosecond of day"), 10**9)
        _put(fields, "nanosecond", nanoseconds)
        _put_second(fields, seconds)
    if "millisecond of day" in fields:
        seconds, milliseconds = divmod(fields.pop("millisecond of day"), 1000)
        _put_second(fields, seconds)
        fields.setdefault("nanosecond", milliseconds * 1_000_000)
    if "half" in fields and not {"hour", "hour of half", "minute", "second", "nanosecond"} & set(fields):
        fields["hour"] = 6 + 12 * fields["half"]  # the middle of the half
    if _has_gap(fields):
        return
    _check(all(0 <= fields.get(name, 0) <= most for name, most in _TIME_RANGES.items()))
    if "hour" in fields and ("half" in fields or "hour of half" in fields):
        half, hour = divmod(fields["hour"], 12)
        _check(fields.get("half", half) == half and fields.get("hour of half", hour) == hour)


def _has_gap(fields: dict[str, int]) -> bool:
    """Return whether a part between the hour and the last part is missing: such times are not checked."""
    has = [name in fields for name in _TIME_RANGES]
    return has[0] and ((not has[1] and (has[2] or has[3])) or (not has[2] and has[3]))


def _put_second(fields: dict[str, int], second: int) -> None:
    for name, value in (("hour", second // 3600), ("minute", second // 60 % 60), ("second", second % 60)):
        _put(fields, name, value)


def _date_of(fields: dict[str, int]) -> int | None:
    """Return the days since 1970 of the date that fields are; None if they are none."""
    if "year" in fields:
        year = fields["year"]
        if "month" in fields and "day" in fields:
            _check(1 <= fields["month"] <= 12 and 1 <= fields["day"] <= 31)
            first, following = (days_from_civil(year, fields["month"] + more, 1) for more in (0, 1))
            fields["day"] = min(fields["day"], following - first)
            return first + fields["day"] - 1
        if "day of year" in fields:
            first = days_from_civil(year, 1, 1)
            _check(1 <= fields["day of year"] <= days_from_civil(year + 1, 1, 1) - first)
            return first + fields["day of year"] - 1
        if "week of month" in fields and "month" in fields and "weekday" in fields:
            _check(1 <= fields["month"] <= 12 and 0 <= fields["week of month"] <= 6)
            first = days_from_civil(year, fields["month"], 1)
            days = _sunday_before(first) + 7 * (fields.pop("week of month") - 1) + fields.pop("weekday") % 7
            fields.pop("month")
            return days
    elif "week year" in fields and "week" in fields and "weekday" in fields:
        _check(1 <= fields["week"] <= 53)
        first = days_from_civil(fields.pop("week year"), 1, 1)
        return _sunday_before(first) + 7 * (fields.pop("week") - 1) + fields.pop("weekday") % 7
    return None


def _check_date(fields: dict[str, int], days: int) -> None:
    """Set year, month and day of a date, and compare all other fields with it."""
    date = Moment(days * 86_400)
    for name, value in zip(_DATE, date.date, strict=True):
        _put(fields, name, value)
    year, month, day = date.date
    saturday = _sunday_before(days) + 6
    week_year = Moment(saturday * 86_400).date[0]
    expected = {
        "day of year": days - days_from_civil(year, 1, 1) + 1,
        "weekday": date.weekday,
        "quarter": (month + 2) // 3,
        "aligned weekday": (day - 1) % 7 + 1,
        "era": int(year > 0),
        "week year": week_year,
        "week": (saturday - days_from_civil(week_year, 1, 1)) // 7 + 1,
        "week of month": (days - _sunday_before(days_from_civil(year, month, 1))) // 7 + 1,
    }
    _check(all(fields.get(name, value) == value for name, value in expected.items()))


def _sunday_before(day: int) -> int:
    """Return the Sunday that begins the week of a day."""
    return day - Moment(day * 86_400).weekday % 7
