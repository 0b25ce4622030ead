"""Dates, times of day and points of time as counts, and back: days and units since 1970-01-01, parts of a day."""

from __future__ import annotations

import datetime
from typing import Final

EPOCH: Final = datetime.datetime(1970, 1, 1)
EPOCH_UTC: Final = EPOCH.replace(tzinfo=datetime.UTC)
#: `date.toordinal()` of the epoch.
EPOCH_DAY: Final = EPOCH.toordinal()
_MICROSECOND: Final = datetime.timedelta(microseconds=1)


def date_of_days(days: int) -> datetime.date:
    """Return the date of a number of days since the epoch."""
    return datetime.date.fromordinal(EPOCH_DAY + days)


def days_of_date(date: datetime.date) -> int:
    """Return the days since the epoch."""
    return date.toordinal() - EPOCH_DAY


def time_of_millis(millis: int) -> datetime.time:
    """Return the time of day of milliseconds since midnight; whole days more are dropped."""
    return (EPOCH + datetime.timedelta(milliseconds=millis)).time()


def millis_of_time(time: datetime.time) -> int:
    """Return the whole milliseconds since midnight."""
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 1000 + time.microsecond // 1000


def datetime_of_micros(micros: int) -> datetime.datetime:
    """Return the wall clock, without a zone, of microseconds since the epoch."""
    return EPOCH + datetime.timedelta(microseconds=micros)


def micros_of_datetime(moment: datetime.datetime) -> int:
    """Return the microseconds since the epoch of a wall clock without a zone, or of a point of time with one."""
    return (moment - (EPOCH if moment.tzinfo is None else EPOCH_UTC)) // _MICROSECOND
