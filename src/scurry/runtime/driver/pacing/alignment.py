"""Watermark alignment: how far each source of an alignment group may read (FLIP-182)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from scurry.connectors.source import Backlog, BatchLimits
from scurry.graph.plan import SourcePlan
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.pacing.batch_size import MAX_GROWTH
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME

#: Size of a source's batch while its event time per record is unknown.
_TRIAL = BatchLimits(max_bytes=512, max_records=16)

#: Over how many assignments of a source the lowest and the highest event time per record count.
_REMEMBERED = 8


@dataclass
class _Reading:
    """State of a source's reading.

    Attributes:
        spoke: When it last had records.
        before: Its watermark at the last assignments.
        granted: How many records or bytes it was allowed to read then; None if it was not limited.
        taken: How many of them it has assigned; None if it has assigned nothing.
        records: How many records it had read before.
        spans: Milliseconds of event time per record or byte in the last assignments; none while unknown.
        left: What was left then.
    """

    spoke: float
    before: int = MIN_TIME
    granted: int | None = None
    taken: int | None = None
    records: int = 0
    spans: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    left: Backlog | None = None


class Alignment:
    """Decide how much aligned sources read in the next micro-batch, so that none gets too far ahead of its group.

    Inside a micro-batch no source needs to wait: the gate merges channels by their watermarks. Between batches a source
    that is ahead gets no assignments, and another only as much as its event time may advance. How much that is follows
    from what it has read before; a source that does not count records or bytes cannot be limited like that.

    Args:
        job: The job.
        clock: Returns seconds.
    """

    def __init__(self, job: JobExecution, clock: Callable[[], float] = time.monotonic) -> None:
        self._watermarks = job.totals.source_watermarks
        self._counters = job.totals.counters
        self._groups: dict[str, list[SourcePlan]] = {}
        for source in job.plan.sources.values():
            alignment = getattr(source.watermark_strategy, "alignment", None)
            if alignment is not None:
                self._groups.setdefault(alignment.group, []).append(source)
        self._clock = clock
        self._readings = {each.id: _Reading(clock()) for sources in self._groups.values() for each in sources}

    def concerns(self, source: SourcePlan) -> bool:
        """Return whether a source is in an alignment group with another one."""
        groups = ([each.id for each in group] for group in self._groups.values())
        return any(source.id in ids and len(ids) > 1 for ids in groups)

    def limits(self, source: SourcePlan, most: BatchLimits) -> BatchLimits | None:
        """Return how much the source may read now, None if it must wait.

        Args:
            source: The source.
            most: How much it may read without alignment.
        """
        reading = self._readings.get(source.id)
        if reading is None:
            return most
        watermark, until = self._watermark(source), self._until(source, most)
        advanced = watermark - reading.before
        records = self._counters.get((source.id, "numRecordsOut"), 0)
        taken = reading.taken if _in_bytes(reading.left) or reading.taken is None else records - reading.records
        if advanced > 0 and taken and reading.before > MIN_TIME and watermark < MAX_TIME:
            reading.spans.append(advanced / taken)
        granted, reading.granted, reading.taken = reading.granted, None, None
        reading.before, reading.records = watermark, records
        if watermark > until:
            return None
        if reading.left is None or watermark == MAX_TIME:
            return most if watermark > MIN_TIME else _smaller(_TRIAL, most)
        amount, allowed = _amount(most, reading.left), _amount(_TRIAL, reading.left)
        if reading.spans:
            allowed = int(min((until - watermark) / max(reading.spans), amount))
        elif taken and advanced <= 0:  # too little for a record, or for a later one
            allowed = amount
        if granted is not None:
            allowed = min(allowed, int(granted * MAX_GROWTH))
        reading.granted = max(1, min(allowed, amount))
        return _limited(most, reading.left, reading.granted)

    def assigned(self, source: SourcePlan, found: bool, backlog: Backlog | None) -> None:
        """Record whether the source has assigned anything, and its backlog."""
        reading = self._readings.get(source.id)
        if reading is None:
            return
        if found:
            reading.spoke = self._clock()
            before, after = _left(reading.left) or 0, _left(backlog) or 0
            reading.taken = before - after if before > after else (reading.granted or 0) if after else 0
        reading.left = backlog

    def _until(self, source: SourcePlan, most: BatchLimits) -> int:
        """Return the time up to which the source may read: the drift beyond the others' progress in this batch."""
        strategy = source.watermark_strategy
        assert strategy is not None and strategy.alignment is not None
        group = self._groups[strategy.alignment.group]
        others = [self._reach(each, most) for each in group if not self._idle(each)]
        return min([*others, MAX_TIME - strategy.alignment.drift_ms]) + strategy.alignment.drift_ms

    def _reach(self, source: SourcePlan, most: BatchLimits) -> int:
        """Return the watermark that a source would have after another batch, twice as large as its last one."""
        reading, watermark = self._readings[source.id], self._watermark(source)
        if reading.left is None or not reading.spans or watermark in (MIN_TIME, MAX_TIME):
            return watermark
        left = _left(reading.left)
        granted = min(2 * (reading.granted or 0), _amount(most, reading.left))
        return watermark + int(min(granted, granted if left is None else left) * min(reading.spans))

    def _watermark(self, source: SourcePlan) -> int:
        """Return the lowest watermark of its channels; MAX_TIME when all have ended."""
        return min(self._watermarks.get((source.id, channel), MIN_TIME) for channel in range(source.channels))

    def _idle(self, source: SourcePlan) -> bool:
        strategy = source.watermark_strategy
        timeout = None if strategy is None else strategy.idle_timeout_ms
        return timeout is not None and (self._clock() - self._readings[source.id].spoke) * 1000 > timeout


def _smaller(one: BatchLimits, other: BatchLimits) -> BatchLimits:
    records = min(one.max_records, other.max_records)
    return replace(other, max_bytes=min(one.max_bytes, other.max_bytes), max_records=records)


def _left(backlog: Backlog | None) -> int | None:
    if backlog is None:
        return None
    return backlog.bytes if backlog.records is None else backlog.records


def _in_bytes(backlog: Backlog | None) -> bool:
    return backlog is not None and backlog.records is None and backlog.bytes is not None


def _amount(limits: BatchLimits, backlog: Backlog | None) -> int:
    """Return the limit in the unit that the source counts."""
    return limits.max_bytes if _in_bytes(backlog) else limits.max_records


def _limited(most: BatchLimits, backlog: Backlog | None, amount: int) -> BatchLimits:
    return replace(most, max_bytes=amount) if _in_bytes(backlog) else replace(most, max_records=amount)
