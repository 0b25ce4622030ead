"""Amounts and points of time, and `to_millis`, the one place that turns any of them into milliseconds."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TypeAlias

from scurry.errors import TimeTypeError

__all__ = ["Duration", "Instant", "Time", "TimeAmount", "to_millis"]

_NANOS_PER_MILLI = 1_000_000
_NANOS_PER_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True, repr=False)
class Duration:
    """An amount of time, as Java's `Duration`; made by the `of_*` factories.

    Attributes:
        nanos: The amount in nanoseconds.
    """

    nanos: int

    @staticmethod
    def of_days(days: int) -> Duration:
        """Return a duration of that many days of 24 hours."""
        return Duration.of_hours(days * 24)

    @staticmethod
    def of_hours(hours: int) -> Duration:
        """Return a duration of that many hours."""
        return Duration.of_minutes(hours * 60)

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        """Return a duration of that many minutes."""
        return Duration.of_seconds(minutes * 60)

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        """Return a duration of that many seconds."""
        return Duration(seconds * _NANOS_PER_SECOND)

    @staticmethod
    def of_millis(millis: int) -> Duration:
        """Return a duration of that many milliseconds."""
        return Duration(millis * _NANOS_PER_MILLI)

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """Return a duration of that many nanoseconds."""
        return Duration(nanos)

    def __repr__(self) -> str:
        """Show the amount in milliseconds, or nanoseconds where that would lose some."""
        millis, rest = divmod(self.nanos, _NANOS_PER_MILLI)
        return f"Duration.of_nanos({self.nanos})" if rest else f"Duration.of_millis({millis})"


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Time:
    """A time interval in milliseconds, as windows take it."""

    _milliseconds: int

    def __init__(self, milliseconds: int) -> None:
        """Make an interval of that many milliseconds."""
        object.__setattr__(self, "_milliseconds", milliseconds)

    def to_milliseconds(self) -> int:
        """Return the interval in milliseconds."""
        return self._milliseconds

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        """Return an interval of that many milliseconds."""
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        """Return an interval of that many seconds."""
        return Time(seconds * 1000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        """Return an interval of that many minutes."""
        return Time.seconds(minutes * 60)

    @staticmethod
    def hours(hours: int) -> Time:
        """Return an interval of that many hours."""
        return Time.minutes(hours * 60)

    @staticmethod
    def days(days: int) -> Time:
        """Return an interval of that many days of 24 hours."""
        return Time.hours(days * 24)

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
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, Time):
        return value.to_milliseconds()
    if isinstance(value, Duration):
        return value.nanos // _NANOS_PER_MILLI
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(milliseconds=1)
    raise TimeTypeError(
        f"{value!r} (Python type {type(value).__name__}) is not an amount of time; pass int milliseconds, "
        "datetime.timedelta, Time.seconds(...) or Duration.of_seconds(...)"
    )
