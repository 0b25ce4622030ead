"""The backlog of a job's sources: how much is left to read, and when they will have caught up."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.connectors.source import Backlog
from scurry.runtime.driver.job_log import JobLog, bytes_text

#: A source's metric: how much of the last minute it was held back, in ms per second.
BACK_PRESSURE = "backPressuredTimeMsPerSecond"

#: Speeds are measured over this time; over two batches at least, however long they take.
WINDOW_SECONDS = 60.0

#: A job that is behind for so many seconds logs it, and then at this interval.
_BEHIND_SECONDS, _LOG_SECONDS = 10.0, 60.0


@dataclass
class _Source:
    """The known backlog of one source."""

    backlog: Backlog | None = None
    metrics: Mapping[str, int] = field(default_factory=dict)
    #: when it had something to read
    worked: float = 0.0
    #: (end, what was left when it was assigned) of the last batches: everything assigned by then is done
    history: deque[tuple[float, int]] = field(default_factory=deque)

    @property
    def amount(self) -> int | None:
        """Return the amount that is left, in the source's unit."""
        if self.backlog is None:
            return None
        return self.backlog.bytes if self.backlog.records is None else self.backlog.records

    @property
    def drained(self) -> float | None:
        """Return by how much less is left with every second, None if it is unknown."""
        if not self.amount or len(self.history) < 2:
            return None
        (first, before), (last, left) = self.history[0], self.history[-1]
        return (before - left) / (last - first) if last > first else None

    def seconds(self, now: float) -> float | None:
        """Return the time until nothing is left, None if it is unknown or the backlog does not shrink."""
        drained = self.drained
        if drained is None or drained <= 0:
            return 0.0 if self.amount == 0 else None
        last, left = self.history[-1]
        return max(0.0, left / drained - (now - last))


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

    def left(
        self,
        source: int,
        backlog: Backlog | None,
        metrics: Mapping[str, int] | None = None,
        is_idle: bool = False,
    ) -> None:
        """Note how much a source has left after its assignments for a batch.

        Args:
            source: The source.
            backlog: What is left, None if unknown.
            metrics: The source's own metrics.
            is_idle: Whether there was nothing to assign.
        """
        known = self._sources.setdefault(source, _Source(worked=self._clock()))
        if not is_idle:
            known.worked = self._clock()
        if _unit(backlog) != _unit(known.backlog):  # a hybrid source has switched to its next source
            known.history.clear()
        known.backlog, known.metrics = backlog, metrics or {}

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
    def _limited(self) -> frozenset[int]:
        return self._batches[-1][2] if self._batches else frozenset()

    @property
    def held_back(self) -> bool:
        """Return whether a source had more than it was allowed to read in the last batch."""
        return bool(self._limited)

    def describe(self) -> str:
        """Return how much is left, how fast that changes, and when nothing will be left."""
        parts = []
        for unit, text in (("records", "{:,.0f} records".format), ("bytes", bytes_text)):
            known = [each for each in list(self._sources.values()) if each.amount and _unit(each.backlog) == unit]
            if known:
                left, drained = sum(each.amount or 0 for each in known), sum(each.drained or 0 for each in known)
                change = f"{text(round(abs(drained)))} {'more' if drained < 0 else 'less'} with every second"
                parts.append(f"{text(left)} behind, {change}")
        when = "not catching up" if self.seconds is None else f"caught up in about {self.seconds:,.0f} s"
        return f"{' and '.join(parts) or 'behind'}: {when}"

    def metrics(self) -> dict[tuple[int, str], int]:
        """Metrics of the sources, by Flink's names: `pendingRecords`, `backPressuredTimeMsPerSecond`, `sourceIdleTime`.

        A source is under back pressure during a batch that was not allowed to read all there was. Meanwhile it also has
        `pendingDrainedPerSecond` and, if that is positive, `catchUpTimeMs`. Sources have their own, too.
        """
        values: dict[tuple[int, str], int] = {}
        for number, source in list(self._sources.items()):
            values[number, "sourceIdleTime"] = round((self._clock() - source.worked) * 1000)
            values |= {(number, name): value for name, value in source.metrics.items()}
            if source.backlog is None:
                continue
            if source.backlog.records is not None:
                values[number, "pendingRecords"] = source.backlog.records
            if source.backlog.bytes is not None:
                values[number, "pendingBytes"] = source.backlog.bytes
            values[number, BACK_PRESSURE] = self._pressure(number)
            if number in self._limited and source.drained is not None:
                values[number, "pendingDrainedPerSecond"] = round(source.drained)
                if (seconds := source.seconds(self._clock())) is not None:
                    values[number, "catchUpTimeMs"] = round(seconds * 1000)
        return values

    def _pressure(self, source: int) -> int:
        batches, now = list(self._batches), self._clock()
        if not batches:
            return 0
        span = max(now - (batches[0][0] - batches[0][1]), 1e-3)
        return round(1000 * min(1.0, sum(seconds for _, seconds, limited in batches if source in limited) / span))


class CatchUpLog:
    """Log that a job catches up with a backlog, when it will have done so, and when it has.

    Args:
        clock: Returns seconds.
    """

    def __init__(self, backlog: BacklogTracker, log: JobLog, clock: Callable[[], float] = time.monotonic) -> None:
        self._backlog, self._log, self._clock = backlog, log, clock
        #: when the job fell behind, and when that was last logged
        self._since: float | None = None
        self._logged: float | None = None

    def batch_ended(self) -> None:
        """Log how far behind the job is: once it has been for some seconds, then once a minute."""
        now = self._clock()
        if not self._backlog.held_back:
            if self._since is not None and self._logged is not None:
                self._log.write("caught up", f"caught up after {now - self._since:,.0f} s")
            self._since = self._logged = None
            return
        if self._since is None:
            self._since = now
        due = self._since + _BEHIND_SECONDS if self._logged is None else self._logged + _LOG_SECONDS
        if now >= due:
            self._logged = now
            self._log.write("catching up", self._backlog.describe())
