"""Java's lenient calendar: fields that were set in some order, of which the last ones decide on the date.

Weeks begin on Sunday, and the first week of a year or month is the one with its first day. Before October 15th 1582
the calendar is the Julian one.
"""

from __future__ import annotations

from typing import Final

from scurry._dataclasses import dataclass


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


_SUNDAY: Final = 1
#: Days since 1970 of the first day of the Gregorian calendar.
CUTOVER: Final = days_from_civil(1582, 10, 15)


class Fields:
    """The fields of a calendar.

    Weekdays are numbers from 1 for Sunday; months begin with 1, eras are 0 before and 1 after the year 1.

    Attributes:
        is_ambiguous: Whether a year may be of the next century, too.
    """

    def __init__(self) -> None:
        """Make a calendar without fields, which is midnight of 1970-01-01."""
        self._values: dict[str, int] = {}
        self._order: dict[str, int] = {}
        self._count = 0
        self.is_ambiguous = False

    def set(self, field: str, value: int) -> None:
        """Set a field; it is the last one that was set."""
        self._values[field] = value
        self._count += 1
        self._order[field] = self._count

    def add_century(self) -> None:
        """Add 100 to the years."""
        for field in ("year", "week year"):
            if field in self._values:
                self._values[field] += 100

    def moment(self) -> Moment:
        """Return the wall clock."""
        days = self._days_of_week_year() if self._at("week year") > self._at("year") else self._days()
        milliseconds = (
            (self._hours() * 60 + self._values.get("minute", 0)) * 60 + self._values.get("second", 0)
        ) * 1000 + self._values.get("millisecond", 0)
        return Moment(days * 86_400 + milliseconds // 1000, milliseconds % 1000 * 1_000_000)

    def _at(self, field: str) -> int:
        """Return when a field was set, 0 if it was not."""
        return self._order.get(field, 0)

    def _both(self, field: str, other: str) -> int:
        """Return when the later of two fields was set, 0 if one of them was not."""
        return max(self._at(field), self._at(other)) if self._at(field) and self._at(other) else 0

    def _hours(self) -> int:
        of_day, of_half = self._at("hour of day"), self._both("hour", "half")
        best = max(of_day, of_half) or max(self._at("hour"), self._at("half"))
        if best == of_day:
            return self._values.get("hour of day", 0)
        return self._values.get("hour", 0) + 12 * self._values.get("half", 0)

    def _days_of_week_year(self) -> int:
        week = self._values.get("week", 1)
        weekday = self._values.get("weekday", _SUNDAY)
        if weekday >= 8:
            week, weekday = week + (weekday - 1) // 7, (weekday - 1) % 7 + 1
            weekday = weekday % 7 + 1
        elif weekday < 1:
            while weekday < 1:
                week, weekday = week - 1, weekday + 7
            weekday = weekday % 7 + 1
        year = self._values["week year"]
        if self._days() < _FIRST_OF_ERA:
            year = 1 - year
        first = days_from_civil(year, 1, 1)
        first = first if first >= CUTOVER else first_of_month(year, 1, julian=True)
        return _week_of(first) + weekday - _SUNDAY + 7 * (week - 1)

    def _year(self) -> int:
        year = self._values.get("year", 1970)
        return 1 - year if self._values.get("era") == 0 else year

    def _days(self) -> int:
        year = self._year()
        found = self._days_in(year, julian=year < 1582)
        return found if year < 1582 or found >= CUTOVER else self._days_in(year, julian=True)

    def _days_in(self, year: int, julian: bool) -> int:
        month_based = self._day_of_month_based(year, julian)
        if month_based is not None:
            return month_based
        first = first_of_month(year, 1, julian)
        if self._best() == self._at("day of year") and self._at("day of year"):
            return first + self._values["day of year"] - 1
        return _week_of(first) + self._weekday() - _SUNDAY + 7 * (self._values["week"] - 1)

    def _weekday(self) -> int:
        return (self._values.get("weekday", _SUNDAY) - 1) % 7 + 1

    def _combinations(self) -> tuple[int, int, int, int, int]:
        """Return when day, week of month, weekday in month, day of year and week were set, with their fields."""
        found = (
            self._at("day"),
            self._both("week of month", "weekday"),
            self._both("weekday in month", "weekday"),
            self._at("day of year"),
            self._both("week", "weekday"),
        )
        if any(found):
            return found
        alone = (
            0,
            self._at("week of month"),
            max(self._at("weekday in month"), self._at("weekday")),
            0,
            self._at("week"),
        )
        return alone if any(alone) else (self._at("month"), 0, 0, 0, 0)

    def _best(self) -> int:
        return max(self._combinations())

    def _day_of_month_based(self, year: int, julian: bool) -> int | None:
        """Return the day of a month's day or week; None if others decide."""
        day, week, of_month, _, _ = self._combinations()
        best = self._best()
        first = first_of_month(year, self._values.get("month", 1), julian)
        if best == day:
            return first + self._values.get("day", 1) - 1
        by_week = best == week and self._at("week of month") >= self._at("week")
        by_weekday = best == of_month and self._at("weekday in month") >= self._at("week")
        if not (by_week or by_weekday):
            return None
        if week == of_month:
            by_week = self._at("week of month") >= self._at("weekday in month")
        else:
            by_week = best == week
        if by_week:
            return _week_of(first) + self._weekday() - _SUNDAY + 7 * (self._values["week of month"] - 1)
        number = self._values.get("weekday in month", 1)
        if number < 0:
            following = first_of_month(year, self._values.get("month", 1) + 1, julian)
            return _on_or_before(following + 7 * (number + 1) - 1, self._weekday())
        return _on_or_before(first + 7 * number - 1, self._weekday())


def date_of(days: int) -> tuple[int, int, int]:
    """Return year, month and day of days since 1970."""
    if days >= CUTOVER:
        return Moment(days * 86_400).date
    year = (days + 719_470) * 4 // 1461
    while first_of_month(year + 1, 1, julian=True) <= days:
        year += 1
    while first_of_month(year, 1, julian=True) > days:
        year -= 1
    month = next(month for month in range(12, 0, -1) if first_of_month(year, month, julian=True) <= days)
    return year, month, days - first_of_month(year, month, julian=True) + 1


def first_of_month(year: int, month: int, julian: bool = False) -> int:
    """Return the days since 1970 of the first day of a month, which may be beyond December."""
    if not julian:
        return days_from_civil(year, month, 1)
    # Every fourth year has a leap day; 0000-03-01 is 719,470 days before 1970.
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    shifted = year - (month <= 2)
    return shifted * 365 + shifted // 4 + (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 - 719_470


#: Days since 1970 of the first day of year 1.
_FIRST_OF_ERA: Final = first_of_month(1, 1, julian=True)


def _week_of(day: int) -> int:
    """Return the Sunday that begins the week of a day."""
    return _on_or_before(day, _SUNDAY)


def _on_or_before(day: int, weekday: int) -> int:
    """Return the last day up to another one that is a weekday."""
    # The first day of 1970 was a Thursday, the fifth day of the week.
    return day - (day + 5 - weekday) % 7
