"""Processing time inside a micro-batch."""

from __future__ import annotations

import time
from collections.abc import Callable


def wall_clock_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class ProcessingClock:
    """Processing time as a task sees it, in milliseconds since the epoch.

    Records of a micro-batch were read over a span of time; the source stamps each progress point with its wall clock.
    A task sets the clock to the stamp of what it is about to process (`advance_to`) and from there it runs at real
    speed, so a timer set for 200 ms after one record fires before a record that was read half a second later, although
    both travel in the same batch. The clock never goes back.
    """

    def __init__(self, source: Callable[[], int] = wall_clock_ms) -> None:
        self._source = source
        self._offset = 0
        self._floor = source()
        #: when the records at hand were read; state with a time to live goes by it, so a replay expires the same
        self.stamp = self._floor

    def now(self) -> int:
        """The current processing time."""
        now = self._source() + self._offset
        if now > self._floor:
            self._floor = now
        return self._floor

    def set(self, stamp: int) -> None:
        """Starts over at `stamp` (the beginning of a batch for a key group)."""
        self._offset = stamp - self._source()
        self._floor = self.stamp = stamp

    def advance_to(self, stamp: int) -> None:
        """Moves forward to `stamp`; no effect when the clock is already past it."""
        if stamp > self.now():
            self.set(stamp)
        elif stamp > self.stamp:
            self.stamp = stamp
