"""Amounts and points of time: `to_millis` converts amounts to milliseconds, `checked_time` checks points in time."""

from __future__ import annotations

import datetime
import math
import operator
from enum import Enum
from numbers import Integral, Real
from typing import Any, TypeAlias

from scurry._dataclasses import dataclass
from scurry.errors import ArgumentError, TimestampError, TimeTypeError

__all__ = ["Duration", "Instant", "Time", "TimeAmount", "checked_time", "to_millis"]

_LONGEST_MS = (1 << 63) - 1
_NANOS_PER_MILLI = 1_000_000
_NANOS_PER_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True, repr=False)
class Duration:
    """An amount of time, as Java's `Duration`; made by the `of_*` factories.

    Attributes:
        nanos: The amount in nanoseconds.
    """

    nanos: int

    def __post_init__(self) -> None:
        """Check that it is a whole number of nanoseconds."""
        object.__setattr__(self, "nanos", _whole(self.nanos, "nanoseconds"))

    @staticmethod
    def of_days(days: float) -> Duration:
        """Return a duration of that many days of 24 hours."""
        return Duration.of_hours(_number(days) * 24)

    @staticmethod
    def of_hours(hours: float) -> Duration:
        """Return a duration of that many hours."""
        return Duration.of_minutes(_number(hours) * 60)

    @staticmethod
    def of_minutes(minutes: float) -> Duration:
        """Return a duration of that many minutes."""
        return Duration.of_seconds(_number(minutes) * 60)

    @staticmethod
    def of_seconds(seconds: float) -> Duration:
        """Return a duration of that many seconds."""
        return Duration(_number(seconds) * _NANOS_PER_SECOND)

    @staticmethod
    def of_millis(millis: float) -> Duration:
        """Return a duration of that many milliseconds."""
        return Duration(_number(millis) * _NANOS_PER_MILLI)

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """Return a duration of that many nanoseconds."""
        return Duration(nanos)

    def __repr__(self) -> str:
        """Show the amount in milliseconds, or in nanoseconds if milliseconds would lose precision."""
        millis, rest = divmod(self.nanos, _NANOS_PER_MILLI)
        return f"Duration.of_nanos({self.nanos})" if rest else f"Duration.of_millis({millis})"


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Time:
    """A time interval in milliseconds, as windows take it."""

    _milliseconds: int

    def __init__(self, milliseconds: int) -> None:
        """Make an interval of that many milliseconds."""
        object.__setattr__(self, "_milliseconds", _whole(milliseconds, "milliseconds"))

    def to_milliseconds(self) -> int:
        """Return the interval in milliseconds."""
        return self._milliseconds

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        """Return an interval of that many milliseconds."""
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: float) -> Time:
        """Return an interval of that many seconds."""
        return Time(_number(seconds) * 1000)

    @staticmethod
    def minutes(minutes: float) -> Time:
        """Return an interval of that many minutes."""
        return Time.seconds(_number(minutes) * 60)

    @staticmethod
    def hours(hours: float) -> Time:
        """Return an interval of that many hours."""
        return Time.minutes(_number(hours) * 60)

    @staticmethod
    def days(days: float) -> Time:
        """Return an interval of that many days of 24 hours."""
        return Time.hours(_number(days) * 24)

    def __str__(self) -> str:
        """Return for example `5000 ms`, as Flink does."""
        return f"{self._milliseconds} ms"

    def __repr__(self) -> str:
        """Return the expression that makes this interval."""
        return f"Time.milliseconds({self._milliseconds})"


@dataclass(frozen=True, slots=True, repr=False)
class Instant:
    """A point in time, as Java's `Instant`.

    Attributes:
        seconds: Seconds since 1970-01-01T00:00:00Z, negative before.
        nanos: Nanoseconds after `seconds`, 0 to 999,999,999.
    """

    seconds: int
    nanos: int

    def to_epoch_milli(self) -> int:
        """Return whole milliseconds since the epoch, rounded down."""
        return self.seconds * 1000 + self.nanos // _NANOS_PER_MILLI

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """Return the instant that many milliseconds after the epoch."""
        seconds, millis = divmod(epoch_milli, 1000)
        return Instant(seconds, millis * _NANOS_PER_MILLI)

    def __repr__(self) -> str:
        """Return for example `Instant<0, 5000000>`, as PyFlink does."""
        return f"Instant<{self.seconds}, {self.nanos}>"


TimeAmount: TypeAlias = int | datetime.timedelta | Time | Duration
"""Whatever scurry accepts as an amount of time; an int is milliseconds."""


def to_millis(value: TimeAmount) -> int:
    """Return an amount of time in whole milliseconds, rounded down.

    Args:
        value: int milliseconds, `datetime.timedelta`, `Time` or `Duration`.

    Returns:
        Milliseconds.

    Raises:
        TimeTypeError: `value` is none of these.
        ArgumentError: It is longer than `Long.MAX_VALUE` milliseconds.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        millis: int = value
    elif isinstance(value, Time):
        millis = value.to_milliseconds()
    elif isinstance(value, Duration):
        millis = value.nanos // _NANOS_PER_MILLI
    elif isinstance(value, datetime.timedelta):
        millis = value // datetime.timedelta(milliseconds=1)
    else:
        raise TimeTypeError(
            f"{value!r} (Python type {type(value).__name__}) is not an amount of time; pass int milliseconds, "
            "datetime.timedelta, Time.seconds(...) or Duration.of_seconds(...)"
        )
    if abs(millis) > _LONGEST_MS:
        raise ArgumentError(f"{value!r} is too long: amounts of time have at most {_LONGEST_MS} ms")
    return millis


def checked_time(value: Any, what: str = "a timestamp") -> int:
    """Return a point in time as int.

    Args:
        value: Milliseconds since the epoch.
        what: What it is the time of, for the error.

    Raises:
        TimestampError: It is not a whole number, or has more than 64 bits.
    """
    try:
        time = operator.index(value)
    except TypeError:
        time = None
    if time is None or isinstance(value, bool):
        raise TimestampError(f"{what} must be an int (milliseconds since the epoch), not {value!r}")
    if not -_LONGEST_MS - 1 <= time <= _LONGEST_MS:
        raise TimestampError(f"{what} must be from -2**63 to 2**63 - 1 (milliseconds in 64 bits), not {time}")
    return time


def _number(amount: Any) -> Any:
    """Return an amount if it is a number."""
    if isinstance(amount, bool) or not isinstance(amount, Real):
        raise TimeTypeError(f"{amount!r} (Python type {type(amount).__name__}) is not an amount of time; pass an int")
    return amount


def _whole(amount: Any, unit: str) -> int:
    """Return an amount as an int; round a float that differs from a whole number only by rounding errors."""
    if isinstance(_number(amount), Integral):
        return int(amount)
    number = float(amount)
    whole = round(number) if math.isfinite(number) else None
    if whole is None or abs(number - whole) > max(1e-6, abs(number) * 1e-12):
        raise TimeTypeError(f"{amount!r} {unit} are no amount of time: pass a whole number")
    return whole


class TimeDomain(Enum):
    """Time that a timer fires in: event time or processing time (Flink's TimeDomain)."""

    EVENT_TIME = 0
    PROCESSING_TIME = 1
