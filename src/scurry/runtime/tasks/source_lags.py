"""SourceLags: how far the records of a source are behind the clock, by Flink's names of metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME


class SourceLags:
    """The lags of one reader in one micro-batch.

    Args:
        wall_clock: Returns the wall clock time, in milliseconds.
    """

    def __init__(self, wall_clock: Callable[[], int]) -> None:
        self._wall_clock = wall_clock
        self.begin()

    def begin(self) -> None:
        """Begin a micro-batch."""
        #: event time of the message that was fetched last
        self._event_time: int | None = None
        self._lags: dict[str, int] = {}

    def fetched(self, event_time: int) -> None:
        """Note the event time of the message that has been fetched last; a negative one is of a message without."""
        if event_time >= 0:
            self._event_time = event_time
            self._lags["currentFetchEventTimeLag"] = self._wall_clock() - event_time

    def emitted(self, timestamps: Sequence[int] | None) -> None:
        """Note records that are passed on; rows of tables have the time of the message that was fetched last."""
        event_time = timestamps[-1] if timestamps else self._event_time
        if event_time is not None and MIN_TIME < event_time < MAX_TIME:
            self._lags["currentEmitEventTimeLag"] = self._wall_clock() - event_time

    def advanced(self, assigners: Iterable[Any]) -> None:
        """Note the watermarks at the end of the micro-batch, before that of the end of the input.

        Args:
            assigners: The operators behind the source that make them.
        """
        watermark = min((each.last for each in assigners), default=MIN_TIME)
        if MIN_TIME < watermark < MAX_TIME:
            self._lags["watermarkLag"] = self._wall_clock() - watermark

    def values(self) -> dict[str, int]:
        """Return the lags of the micro-batch."""
        lags, self._lags = self._lags, {}
        return lags
