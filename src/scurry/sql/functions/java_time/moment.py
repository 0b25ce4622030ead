"""A wall clock without a time zone, and days of the Gregorian calendar."""

from __future__ import annotations

from dataclasses import dataclass


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
