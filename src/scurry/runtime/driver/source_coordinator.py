"""The source coordinator: limits what a micro-batch reads, aligns sources, and lists all splits in BATCH."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

from scurry.connectors.source import Assignment, BatchLimits, Enumerator
from scurry.graph.plan import JobPlan, SourcePlan, naming_source
from scurry.runtime.driver.batch_size import FIRST, FIRST_OF_COLUMNS, BatchSizer
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME


def limits_of(plan: JobPlan) -> BatchLimits:
    """Return how much a micro-batch may read, from the configuration."""
    configuration = plan.settings.configuration
    return BatchLimits(
        int(configuration.get("scurry.batch.max-bytes", BatchLimits.max_bytes)),
        int(configuration.get("scurry.batch.max-records", BatchLimits.max_records)),
        int(configuration.get("scurry.record.max-bytes", BatchLimits.max_record_bytes)),
    )


#: Default target time of a batch, in seconds; a longer checkpointing interval replaces it.
_TARGET_SECONDS = 5.0

#: A batch is slow if it takes this many times its target time, and at least this many seconds.
_SLOW, _SLOW_SECONDS = 6, 30.0


def target_seconds_of(plan: JobPlan) -> float:
    """Return how long a micro-batch should take while there is more to read, from the configuration."""
    configured = plan.settings.configuration.get("scurry.batch.target-duration")
    if configured is not None:
        return int(configured) / 1000
    return max(_TARGET_SECONDS, (plan.settings.checkpoint_interval_ms or 0) / 1000)


class SourceCoordinator:
    """Ask the sources of a streaming job for assignments: no more than the job can process in time."""

    def __init__(self, job: JobExecution, sources: Iterable[SourcePlan]) -> None:
        """Create the sources' enumerators.

        Args:
            job: The job; it receives the sources' backlogs.
            sources: Those of its sources that have enumerators.
        """
        plan, limits, sources = job.plan, limits_of(job.plan), list(sources)
        self.enumerators: dict[int, Enumerator] = {}
        for source in sources:
            with naming_source(source.name, source.origin):
                self.enumerators[source.id] = source.source.create_enumerator(source.parallelism, limits)
        self._job = job
        job.stalled.describe_channel = lambda source, channel: self.enumerators[source].describe(channel)
        self._alignment = Alignment(job)
        self._target_seconds = target_seconds_of(plan)
        first = FIRST_OF_COLUMNS if all(source.source.columnar for source in sources) else FIRST
        self._sizer = BatchSizer(limits, self._target_seconds, first)
        #: whether splits were assigned for a batch that has not ended
        self._assigned = False
        #: the sources that had more for that batch than they were allowed to assign
        self._limited: set[int] = set()

    def next(self, source: SourcePlan) -> list[Assignment]:
        """Return what a source reads in the next batch."""
        if self._alignment.waits(source):
            return []
        enumerator = self.enumerators[source.id]
        enumerator.limit(self._sizer.limits, self._job.totals.record_bytes.get(source.id, {}))
        with naming_source(source.name, source.origin):
            found = enumerator.next_batch()
        backlog = enumerator.backlog()
        self._job.backlog.left(source.id, backlog)
        if found:
            self._alignment.has_read(source)
            self._assigned = True
            if backlog is not None and backlog.more:
                self._limited.add(source.id)
        return found

    def batch_took(self, seconds: float) -> None:
        """Adapt the limits to the time of the batch with the last assignments, which has ended."""
        if self._assigned:
            self._sizer.batch_took(seconds, bool(self._limited))
            self._job.backlog.worked(seconds, self._limited)
        if seconds > max(_SLOW_SECONDS, _SLOW * self._target_seconds):
            aim = f"where {self._target_seconds:g} s are aimed at (scurry.batch.target-duration)"
            self._job.log.write_seldom("batch slow", f"a micro-batch took {seconds:.0f} s, {aim}")
        self._assigned = False
        self._limited.clear()

    @property
    def behind(self) -> bool:
        """Whether a source had more for the present batch than it was allowed to assign."""
        return bool(self._limited)

    def committed(self) -> None:
        """Notify the sources that what they have assigned is committed."""
        for enumerator in self.enumerators.values():
            enumerator.committed()

    def close(self) -> None:
        """Close the sources."""
        for enumerator in self.enumerators.values():
            enumerator.close()


class Alignment:
    """Decide which sources must wait because they are too far ahead in their alignment group (FLIP-182).

    Inside a micro-batch no source needs to wait: the gate merges channels by their watermarks. Between batches a
    source that is ahead gets no assignments.
    """

    def __init__(self, job: JobExecution, clock: Callable[[], float] = time.monotonic) -> None:
        self._watermarks = job.totals.source_watermarks
        self._groups: dict[str, list[SourcePlan]] = {}
        for source in job.plan.sources.values():
            alignment = getattr(source.watermark_strategy, "alignment", None)
            if alignment is not None:
                self._groups.setdefault(alignment.group, []).append(source)
        self._clock = clock
        self._spoke = {source.id: clock() for sources in self._groups.values() for source in sources}

    def waits(self, source: SourcePlan) -> bool:
        """Return whether the source must not read now."""
        alignment = getattr(source.watermark_strategy, "alignment", None)
        if alignment is None:
            return False
        others = [self._watermark(other) for other in self._groups[alignment.group] if not self._idle(other)]
        limit: int = min(others, default=MAX_TIME) + alignment.drift_ms
        return self._watermark(source) > limit

    def has_read(self, source: SourcePlan) -> None:
        """Record that the source had records."""
        if source.id in self._spoke:
            self._spoke[source.id] = self._clock()

    def _watermark(self, source: SourcePlan) -> int:
        """Return the lowest watermark of its channels; MAX_TIME when all have ended."""
        return min(self._watermarks.get((source.id, channel), MIN_TIME) for channel in range(source.channels))

    def _idle(self, source: SourcePlan) -> bool:
        strategy = source.watermark_strategy
        timeout = None if strategy is None else strategy.idle_timeout_ms
        return timeout is not None and (self._clock() - self._spoke[source.id]) * 1000 > timeout


def all_splits(plan: JobPlan, source: SourcePlan) -> dict[int, list[Any]]:
    """Return all splits of a bounded source, by channel."""
    with naming_source(source.name, source.origin):
        enumerator = source.source.create_enumerator(source.parallelism, limits_of(plan))
    works: dict[int, list[Any]] = {number: [] for number in range(source.channels)}
    unfinished = set(works)
    with closing(enumerator):
        while unfinished:
            with naming_source(source.name, source.origin):
                assignments = enumerator.next_batch()
            if not assignments:  # a source with a limited rate
                time.sleep(max(enumerator.idle_hint(), 0.001))
            for assignment in assignments:
                if assignment.work is not None:
                    works[assignment.channel].append(assignment.work)
                if assignment.final:
                    unfinished.discard(assignment.channel)
    return works
