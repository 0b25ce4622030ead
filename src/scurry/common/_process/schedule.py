"""Schedules: when periodic work is due, and a thread that does it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from scurry._dataclasses import dataclass

_LOG = logging.getLogger("scurry")
_FLOORS = {
    "SECOND": lambda at, n: at.replace(second=at.second - at.second % n, microsecond=0),
    "MINUTE": lambda at, n: at.replace(minute=at.minute - at.minute % n, second=0, microsecond=0),
    "HOUR": lambda at, n: at.replace(hour=at.hour - at.hour % n, minute=0, second=0, microsecond=0),
    "DAY": lambda at, n: at.replace(hour=0, minute=0, second=0, microsecond=0),
}
#: Longest time that a thread sleeps before it looks at the clock again, which may be set.
_LONGEST_SLEEP = 60.0


@dataclass(frozen=True)
class Schedule:
    """The times `0/NUMBER` of a unit, as cron has them, in a time zone.

    Attributes:
        number: A divisor of the next larger unit.
        unit: SECOND, MINUTE, HOUR or DAY.
    """

    number: int
    unit: str
    zone: str = "UTC"

    def last(self, at_ms: int) -> int:
        """Return the last time that is not after another one, both in milliseconds since the epoch."""
        local = datetime.fromtimestamp(at_ms / 1000, ZoneInfo(self.zone))
        return int(_FLOORS[self.unit](local, self.number).timestamp() * 1000)

    def following(self, at_ms: int) -> int:
        """Return the first time after another one, both in milliseconds since the epoch."""
        last = self.last(at_ms)
        local = datetime.fromtimestamp(last / 1000, ZoneInfo(self.zone))
        step = timedelta(**{f"{self.unit.lower()}s": self.number})
        found = self.last(int((local + step).timestamp() * 1000))
        while found <= at_ms:  # an hour that there is twice, or not at all
            local += step
            found = self.last(int((local + step).timestamp() * 1000))
        return found


class Periodic:
    """Work that a thread does whenever a schedule says, one time after the other."""

    def __init__(
        self,
        schedule: Schedule,
        work: Callable[[int], None],
        done_ms: int | None = None,
        now_ms: Callable[[], int] = lambda: int(time.time() * 1000),
        skipped: Callable[[int], None] = lambda number: None,
    ) -> None:
        """Prepare to begin.

        Args:
            schedule: When.
            work: Does what is due at a time, in milliseconds since the epoch; if it fails, it is done at the next one.
            done_ms: The last time whose work has been done: work that was due since then is done at once, and times
                before the last one that was missed are left out. None if there is nothing to catch up with.
            now_ms: The clock.
            skipped: Called with the number of times that were left out because the work of the one before took longer.
        """
        self.schedule = schedule
        self._work, self._now, self._skipped = work, now_ms, skipped
        self._done = now_ms() if done_ms is None else done_ms
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scurry-schedule", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, wait: bool = True) -> None:
        """End; work in progress is finished.

        Args:
            wait: Whether to wait for that.
        """
        self._over.set()
        if wait and self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def due(self) -> int | None:
        """Return the time whose work is due, None if nothing is due."""
        last = self.schedule.last(self._now())
        return last if last > self._done else None

    def _run(self) -> None:
        has_worked = False
        while not self._over.is_set():
            due = self.due()
            if due is None:
                pause = (self.schedule.following(self._now()) - self._now()) / 1000
                self._over.wait(min(max(pause, 0.001), _LONGEST_SLEEP))
                continue
            if has_worked and (left_out := self._between(self._done, due)):
                self._skipped(left_out)
            has_worked = True
            try:
                self._work(due)
            except Exception:  # the next time may do better; `work` keeps the reason
                _LOG.exception("scheduled work has failed")
            self._done = due

    def _between(self, earlier_ms: int, later_ms: int) -> int:
        """Return how many times there are between two; an hour more or less of a day changes nothing."""
        return round((later_ms - earlier_ms) / (self.schedule.following(earlier_ms) - earlier_ms)) - 1
