"""Let requests wait, so that answering them leaves a job its processor time."""

from __future__ import annotations

import asyncio
import time


class Pace:
    """The times at which requests of one kind are answered, in the order in which they came.

    Args:
        per_second: How many are answered per second in the long run.
        burst: How many are answered at once after a time without any.
    """

    def __init__(self, per_second: float, burst: int) -> None:
        self._interval, self._saved = 1 / per_second, burst / per_second
        self._latest = time.monotonic() - self._saved

    async def turn(self) -> None:
        """Wait until it is the turn of one more request."""
        now = time.monotonic()
        self._latest = max(self._latest, now - self._saved) + self._interval
        if self._latest > now:
            await asyncio.sleep(self._latest - now)
