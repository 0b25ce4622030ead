"""Dates as numbers of days since 1970, in numpy: their years, months and weeks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]

_EPOCH_YEAR: Final = 1970


def months_and_day(days: Integers) -> tuple[Integers, Integers]:
    """Return the months since January 1970 of dates, and their days of the month, from 1."""
    dates = np.asarray(days, np.int64).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    return months.astype(np.int64), (dates - months.astype("datetime64[D]")).astype(np.int64) + 1


def first_of_month(months: Integers) -> Integers:
    """Return the first days of months, which are counted from January 1970."""
    return np.asarray(months, np.int64).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def add_months(days: Integers, count: Integers) -> Integers:
    """Return dates some months later; a day that the month lacks becomes its last one."""
    months, day = months_and_day(days)
    target = months + count
    start = first_of_month(target)
    found: Integers = start + np.minimum(day, first_of_month(target + 1) - start) - 1
    return found


def months_between(start: Integers, end: Integers) -> Integers:
    """Return how many months can be added to dates before they are later than others; negative the other way."""
    earlier, later = np.minimum(start, end), np.maximum(start, end)
    months = months_and_day(later)[0] - months_and_day(earlier)[0]
    months = months - (add_months(earlier, months) > later)
    found: Integers = np.where(start <= end, months, -months)
    return found


def _year(days: Integers) -> Integers:
    return months_and_day(days)[0] // 12 + _EPOCH_YEAR


def _month(days: Integers) -> Integers:
    return months_and_day(days)[0] % 12 + 1


def _day_of_year(days: Integers) -> Integers:
    return days - first_of_month(months_and_day(days)[0] // 12 * 12) + 1


def _iso_weekday(days: Integers) -> Integers:
    # The first day of 1970 was a Thursday.
    return (days + 3) % 7 + 1


def _week_thursday(days: Integers) -> Integers:
    return days - _iso_weekday(days) + 4


DATE_PARTS: Final[dict[str, Callable[[Integers], Integers]]] = {
    "MILLENNIUM": lambda days: (_year(days) + 999) // 1000,
    "CENTURY": lambda days: (_year(days) + 99) // 100,
    "DECADE": lambda days: _year(days) // 10,
    "YEAR": _year,
    "ISOYEAR": lambda days: _year(_week_thursday(days)),
    "QUARTER": lambda days: (_month(days) + 2) // 3,
    "MONTH": _month,
    "WEEK": lambda days: (_day_of_year(_week_thursday(days)) + 6) // 7,
    "DAY": lambda days: months_and_day(days)[1],
    "DOY": _day_of_year,
    "DOW": lambda days: _iso_weekday(days) % 7 + 1,
    "ISODOW": _iso_weekday,
}

#: Number of years of a unit, and the year of an era in which it begins.
_YEARS: Final = {"YEAR": (1, 0), "DECADE": (10, 0), "CENTURY": (100, 1), "MILLENNIUM": (1000, 1)}


def floor_date(days: Integers, unit: str) -> Integers:
    """Return the first days of the units that dates are in; weeks begin on Sunday."""
    if unit == "WEEK":
        return days - _iso_weekday(days) % 7
    if unit in ("MONTH", "QUARTER"):
        size = 1 if unit == "MONTH" else 3
        return first_of_month(months_and_day(days)[0] // size * size)
    if unit in _YEARS:
        size, first = _YEARS[unit]
        years = (_year(days) - first) // size * size + first
        return first_of_month((years - _EPOCH_YEAR) * 12)
    return days


def ceil_date(days: Integers, unit: str) -> Integers:
    """Return the dates themselves where a unit begins with them, else the first days of the next units."""
    if unit == "DAY":
        return days + 1
    start = floor_date(days, unit)
    if unit == "WEEK":
        following = start + 7
    elif unit in ("MONTH", "QUARTER"):
        following = add_months(start, np.int64(1 if unit == "MONTH" else 3))  # type: ignore[arg-type]
    elif unit in _YEARS:
        following = add_months(start, np.int64(12 * _YEARS[unit][0]))  # type: ignore[arg-type]
    else:
        return days
    # The first day of a decade, a century or a millennium counts as within.
    found: Integers = (
        following if unit in ("DECADE", "CENTURY", "MILLENNIUM") else np.where(start == days, days, following)
    )
    return found
