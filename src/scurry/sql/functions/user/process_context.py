"""Contexts of process table functions: the partition, the time and the tables of a call."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Protocol

from scurry._dataclasses import dataclass
from scurry.common._epoch import datetime_of_micros, micros_of_datetime
from scurry.errors import ArgumentTypeError, UnsupportedError
from scurry.sql.types import RowType


class Partition(Protocol):
    """State and timers of the rows that belong together."""

    def clear_state(self, name: str) -> None:
        """Forget an entry."""

    def register_timer(self, name: str | None, time: int) -> None:
        """Register a timer, in place of the one of that name."""

    def clear_timer(self, timer: str | int) -> None:
        """Remove a timer of a name, or an unnamed one of a time."""

    def clear_all_timers(self) -> None:
        """Remove all timers."""


@dataclass(frozen=True)
class TableSemantics:
    """The columns, keys and time attribute of a table argument."""

    _data_type: RowType
    _partition_by: tuple[int, ...]
    _time: int | None

    def data_type(self) -> RowType:
        """Return the columns of the table as a row."""
        return self._data_type

    def partition_by_columns(self) -> tuple[int, ...]:
        """Return the positions of the columns of PARTITION BY, from 0."""
        return self._partition_by

    def time_column(self) -> int | None:
        """Return the position of the time attribute that `on_time` names, from 0; None if it names none."""
        return self._time


class TimeContext:
    """Time and timers, with points of time of one class."""

    def __init__(self, context: Context, conversion: type) -> None:
        """Wrap a context; programs get it from `Context.time_context`."""
        self._context = context
        self._conversion = conversion

    def time(self) -> Any:
        """Return the time of the row, or that of the timer that fires; None if the call has no `on_time`."""
        return self._made(self._context._time)

    def current_watermark(self) -> Any:
        """Return the watermark; None before the first."""
        return self._made(self._context._watermark)

    def register_on_time(self, *name_and_time: Any) -> None:
        """Register a timer of the partition: `register_on_time(time)` or `register_on_time(name, time)`.

        A timer of a name replaces the one that has it. One that is not after the watermark fires as soon as the
        watermark is looked at again.

        Args:
            *name_and_time: The name, if it has one, and the time.

        Raises:
            ArgumentTypeError: They are none.
            UnsupportedError: The function has no timers.
        """
        name, time = name_and_time if len(name_and_time) == 2 else (None, *name_and_time)
        if name is not None and not isinstance(name, str):
            raise ArgumentTypeError(f"the name of a timer is a str, got {name!r}")
        self._context._timers().register_timer(name, _milliseconds(time))

    def clear_timer(self, name_or_time: Any) -> None:
        """Remove a timer, if it is there.

        Args:
            name_or_time: Its name, or the time of an unnamed one.
        """
        timer = name_or_time if isinstance(name_or_time, str) else _milliseconds(name_or_time)
        self._context._timers().clear_timer(timer)

    def clear_all_timers(self) -> None:
        """Remove all timers of the partition."""
        self._context.clear_all_timers()

    def _made(self, time: int | None) -> Any:
        if time is None:
            return None
        if self._conversion is int:
            return time
        if issubclass(self._conversion, datetime.datetime):
            return datetime_of_micros(time * 1000)
        return self._conversion.of_epoch_milli(time)  # type: ignore[attr-defined]


class Context:
    """The context of `eval`: time, state and timers."""

    def __init__(self, semantics: Mapping[str, TableSemantics], states: tuple[str, ...], has_timers: bool) -> None:
        """Begin without a partition."""
        self._semantics = semantics
        self._states = states
        self._has_timers = has_timers
        self._partition: Partition | None = None
        self._time: int | None = None
        self._watermark: int | None = None

    def time_context(self, conversion: type = datetime.datetime) -> TimeContext:
        """Return time and timers.

        Args:
            conversion: The class of points of time: `int` for milliseconds since the epoch, `datetime.datetime` for
                ones of UTC without zone, or `Instant`.

        Raises:
            ArgumentTypeError: It is another class.
        """
        known = conversion is int or conversion is datetime.datetime or hasattr(conversion, "of_epoch_milli")
        if not known:
            raise ArgumentTypeError(f"points of time are int, datetime.datetime or Instant, not {conversion!r}")
        return TimeContext(self, conversion)

    def table_semantics_for(self, name: str) -> TableSemantics:
        """Return how the call gives a table.

        Args:
            name: The name of the argument.

        Raises:
            ArgumentTypeError: There is no such argument.
        """
        found = self._semantics.get(name)
        if found is None:
            raise ArgumentTypeError(f"{name!r} is no table; the tables are: {', '.join(self._semantics)}")
        return found

    def clear_state(self, name: str) -> None:
        """Forget an entry of the partition's state when the call ends.

        Args:
            name: Its name.

        Raises:
            ArgumentTypeError: There is no such entry.
        """
        if name not in self._states:
            raise ArgumentTypeError(f"{name!r} is no entry of state; the entries are: {', '.join(self._states)}")
        assert self._partition is not None, "functions with state are called for partitions"
        self._partition.clear_state(name)

    def clear_all_state(self) -> None:
        """Forget the state of the partition when the call ends."""
        for name in self._states:
            self.clear_state(name)

    def clear_all_timers(self) -> None:
        """Remove all timers of the partition."""
        if self._has_timers and self._partition is not None:
            self._partition.clear_all_timers()

    def clear_all(self) -> None:
        """Forget the state of the partition and its timers."""
        self.clear_all_state()
        self.clear_all_timers()

    def _timers(self) -> Partition:
        if not self._has_timers or self._partition is None:
            raise UnsupportedError(
                "Timers are not supported in the current PTF declaration. Note that only PTFs that take set semantic "
                "tables support timers. Also timers are not available for advanced traits such as supporting "
                "pass-through columns or updates."
            )
        return self._partition


class OnTimerContext(Context):
    """The context of `on_timer`: time, state and timers."""

    _name: str | None = None

    def current_timer(self) -> str | None:
        """Return the name of the timer that fires; None if it has none."""
        return self._name


def _milliseconds(time: Any) -> int:
    if isinstance(time, int):
        return time
    if isinstance(time, datetime.datetime):
        return micros_of_datetime(time.replace(tzinfo=None)) // 1000
    if hasattr(time, "to_epoch_milli"):
        found: int = time.to_epoch_milli()
        return found
    raise ArgumentTypeError(f"a point of time is an int of milliseconds, a datetime or an Instant, got {time!r}")
