"""The backlog of a job's sources: how much is left to read, and when they will have caught up."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from scurry.connectors.source import Backlog

#: A source's metric: how much of the last minute it was held back, in ms per second.
BACK_PRESSURE = "backPressuredTimeMsPerSecond"

#: Speeds are measured over this time; over two batches at least, however long they take.
WINDOW_SECONDS = 60.0


@dataclass
class _Source:
    """The known backlog of one source."""

    backlog: Backlog | None = None
    #: (end, what was left when it was assigned) of the last batches: everything assigned by then is done
    history: deque[tuple[float, int]] = field(default_factory=deque)

    @property
    def amount(self) -> int | None:
        """Return the amount that is left, in the source's unit."""
        if self.backlog is None:
            return None
        return self.backlog.bytes if self.backlog.records is None else self.backlog.records

    def seconds(self, now: float) -> float | None:
        """Return the time until nothing is left, None if it is unknown or the backlog does not shrink."""
        if not self.amount or len(self.history) < 2:
            return 0.0 if self.amount == 0 else None
        (first, before), (last, left) = self.history[0], self.history[-1]
        if last <= first or left >= before:
            return None
        return max(0.0, left * (last - first) / (before - left) - (now - last))


def _unit(backlog: Backlog | None) -> str:
    return "none" if backlog is None else "bytes" if backlog.records is None else "records"


class BacklogTracker:
    """The backlog, batch by batch; records that are assigned count as read."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin without any source.

        Args:
            clock: Returns seconds.
        """
        self._clock = clock
        self._sources: dict[int, _Source] = {}
        #: (end, seconds, sources that had more than they were allowed to read) of the last batches
        self._batches: deque[tuple[float, float, frozenset[int]]] = deque()

    def left(self, source: int, backlog: Backlog | None) -> None:
        """Set the current backlog of a source."""
        known = self._sources.setdefault(source, _Source())
        if _unit(backlog) != _unit(known.backlog):  # a hybrid source has switched to its next source
            known.history.clear()
        known.backlog = backlog

    def worked(self, seconds: float, limited: Collection[int]) -> None:
        """Record that a batch has ended.

        Args:
            seconds: How long it took.
            limited: The sources that had more than they were allowed to read.
        """
        now = self._clock()
        self._batches.append((now, seconds, frozenset(limited)))
        while self._batches[0][0] < now - WINDOW_SECONDS:
            self._batches.popleft()
        for source in self._sources.values():
            if source.amount is not None:
                source.history.append((now, source.amount))
            while len(source.history) > 2 and source.history[0][0] < now - WINDOW_SECONDS:
                source.history.popleft()

    @property
    def backlog(self) -> Backlog:
        """The backlog of all sources together, as far as they count it."""
        known = [source.backlog for source in list(self._sources.values()) if source.backlog is not None]
        records = [each.records for each in known if each.records is not None]
        sizes = [each.bytes for each in known if each.bytes is not None]
        return Backlog(sum(records) if records else None, sum(sizes) if sizes else None)

    @property
    def seconds(self) -> float | None:
        """The time until all sources that count have caught up; None if one of them does not get closer."""
        now = self._clock()
        times = [source.seconds(now) for source in list(self._sources.values()) if source.amount is not None]
        return None if not times or None in times else max(time for time in times if time is not None)

    @property
    def held_back(self) -> bool:
        """Return whether a source had more than it was allowed to read in the last batch."""
        return bool(self._batches) and bool(self._batches[-1][2])

    def metrics(self) -> dict[tuple[int, str], int]:
        """Metrics of the sources, by Flink's names: `pendingRecords`, `pendingBytes`, `backPressuredTimeMsPerSecond`.

        A source is under back pressure during a batch that was not allowed to read all there was.
        """
        values: dict[tuple[int, str], int] = {}
        for number, source in list(self._sources.items()):
            if source.backlog is None:
                continue
            if source.backlog.records is not None:
                values[number, "pendingRecords"] = source.backlog.records
            if source.backlog.bytes is not None:
                values[number, "pendingBytes"] = source.backlog.bytes
            values[number, BACK_PRESSURE] = self._pressure(number)
        return values

    def _pressure(self, source: int) -> int:
        batches, now = list(self._batches), self._clock()
        if not batches:
            return 0
        span = max(now - (batches[0][0] - batches[0][1]), 1e-3)
        return round(1000 * min(1.0, sum(seconds for _, seconds, limited in batches if source in limited) / span))
