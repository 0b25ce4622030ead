"""The clocks of a job, and processing time inside a micro-batch."""

from __future__ import annotations

import time
from collections.abc import Callable


def wall_clock_ms() -> int:
    """Return the milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class Clock:
    """The clocks of a job: those of the machine; a simulation turns its own."""

    def monotonic(self) -> float:
        """Return the seconds of a clock that does not go back."""
        return time.monotonic()

    def wall(self) -> float:
        """Return the seconds since the epoch."""
        return time.time()

    def wall_ms(self) -> int:
        """Return the milliseconds since the epoch."""
        return wall_clock_ms()


class ProcessingClock:
    """Processing time as a task sees it, in milliseconds since the epoch.

    The records of a micro-batch were read over a span of time, and the source stamps each progress point with its wall
    clock. A task sets the clock to the stamp of what it processes next (`advance_to`); from there the clock runs at
    real speed. So a timer set for 200 ms after one record fires before a record that was read half a second later,
    although both arrive in the same batch. The clock never goes back.
    """

    def __init__(self, source: Callable[[], int] = wall_clock_ms) -> None:
        self._source = source
        self._offset = 0
        self._floor = source()
        #: when the current records were read; time to live goes by it, so that a replay expires the same state
        self.stamp = self._floor

    def now(self) -> int:
        now = self._source() + self._offset
        if now > self._floor:
            self._floor = now
        return self._floor

    def set(self, stamp: int) -> None:
        """Start again at `stamp`, when a subtask begins a batch."""
        self._offset = stamp - self._source()
        self._floor = self.stamp = stamp

    def standing(self) -> tuple[int, int, int]:
        """Return where the clock stands, for `stand`."""
        return self._offset, self._floor, self.stamp

    def stand(self, standing: tuple[int, int, int]) -> None:
        """Continue from where another clock stood, which had the same source."""
        self._offset, self._floor, self.stamp = standing

    def advance_to(self, stamp: int) -> None:
        """Move forward to `stamp`; do nothing if the clock is past it already."""
        if stamp > self.now():
            self.set(stamp)
        elif stamp > self.stamp:
            self.stamp = stamp
