"""Time that only tests move."""

from __future__ import annotations

import threading


class FakeTime:
    """A clock in seconds, which can stand in for the module `time` of a module under test.

    Tasks in several threads may move it: what each of them adds counts.
    """

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self._lock = threading.Lock()

    def __call__(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass, at once."""
        with self._lock:
            self.now += seconds
