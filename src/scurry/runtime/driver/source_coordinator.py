"""The source coordinator: limits the size of a micro-batch, aligns sources, and lists all splits in BATCH."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from statistics import fmean, harmonic_mean
from typing import Any

from scurry.connectors.source import Assignment, Backlog, BatchLimits, Enumerator
from scurry.graph.plan import JobPlan, SourcePlan, naming_source
from scurry.runtime.driver.backlog import CatchUpLog
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.pacing.alignment import Alignment
from scurry.runtime.driver.pacing.batch_size import FIRST, FIRST_OF_COLUMNS, BatchSizer
from scurry.runtime.driver.steps import Steps, Wait, in_this_thread


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

#: Assumed record size of a source that counts bytes, until its records are measured.
_ASSUMED_BYTES = 64

#: A batch is slow if it takes this many times its target time, and at least this many seconds.
_SLOW, _SLOW_SECONDS = 6, 30.0


def target_seconds_of(plan: JobPlan) -> float:
    """Return how long a micro-batch should take while there is more to read, from the configuration."""
    configured = plan.settings.configuration.get("scurry.batch.target-duration")
    if configured is not None:
        return int(configured) / 1000
    return max(_TARGET_SECONDS, (plan.settings.checkpoint_interval_ms or 0) / 1000)


def catching_up_seconds_of(plan: JobPlan) -> float | None:
    """Return how long a micro-batch may take while there is more to read, if that is configured; else None."""
    configured = plan.settings.configuration.get("scurry.batch.catch-up-duration")
    return None if configured is None else max(int(configured) / 1000, target_seconds_of(plan))


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
        self._job, self._most = job, limits
        job.stalled.describe_channel = lambda source, channel: self.enumerators[source].describe(channel)
        self._alignment = Alignment(job, self.enumerators, job.clock.monotonic)
        self._catching_up = CatchUpLog(job.backlog, job.log, job.clock.monotonic)
        self._note_unaligned(plan)
        self._target_seconds = target_seconds_of(plan)
        first = FIRST_OF_COLUMNS if all(source.source.columnar for source in sources) else FIRST
        self._sizer = BatchSizer(limits, self._target_seconds, first, catching_up_seconds_of(plan))
        #: whether splits were assigned for a batch that has not ended
        self._assigned = False
        #: the sources that had more for that batch than they were allowed to assign
        self._limited: set[int] = set()

    def _note_unaligned(self, plan: JobPlan) -> None:
        for source in plan.sources.values():
            enumerator = self.enumerators.get(source.id)
            if self._alignment.concerns(source) and not (enumerator and enumerator.obeys_limits):
                self._job.log.note_once(
                    f"source {source.name!r} ({source.origin}) reads whole files or pieces: watermark alignment makes "
                    "it wait for its group, but cannot limit how far it gets ahead in one micro-batch; set "
                    "scurry.batch.max-bytes, or read lines of text, CSV or JSON, or Kafka"
                )

    def next(self, source: SourcePlan) -> list[Assignment]:
        """Return the ranges that a source reads in the next batch."""
        enumerator, record_bytes = self.enumerators[source.id], self._job.totals.record_bytes.get(source.id, {})
        limits = self._alignment.limits(source, self._in_unit(source, enumerator.backlog(), record_bytes))
        if limits is None:
            return []
        enumerator.limit(limits, record_bytes)
        with naming_source(source.name, source.origin):
            found = enumerator.next_batch()
        backlog = enumerator.backlog()
        is_idle = all(each.work is None for each in found)
        self._job.backlog.left(source.id, backlog, enumerator.metrics(), is_idle)
        self._alignment.assigned(source, found, backlog)
        if found:
            self._assigned = True
            limited = backlog is not None and backlog.more and self._alignment.full(source)
            if limited:
                self._limited.add(source.id)
            self._sizer.assigned(source.id, *_sizes(found, backlog, record_bytes), limits if limited else None)
        return found

    def _in_unit(self, source: SourcePlan, backlog: Backlog | None, record_bytes: Mapping[int, float]) -> BatchLimits:
        """Return the limits of a source; if it counts bytes, the limit of records becomes one of bytes."""
        limits = self._sizer.limits(source.id)
        if backlog is None or not backlog.in_bytes:
            return limits
        mean = harmonic_mean(list(record_bytes.values())) if record_bytes else _ASSUMED_BYTES
        return replace(limits, max_bytes=max(1, min(limits.max_bytes, int(self._most.max_records * mean))))

    def batch_took(self, seconds: float) -> None:
        """Adapt the limits to the time of the batch with the last assignments, which has ended."""
        if self._assigned:
            self._sizer.batch_took(seconds, self._limited)
            self._job.backlog.worked(seconds, self._limited)
            self._catching_up.batch_ended()
        if seconds > max(_SLOW_SECONDS, _SLOW * self._target_seconds):
            aim = f"where {self._target_seconds:g} s are aimed at (scurry.batch.target-duration)"
            self._job.log.write_seldom("batch slow", f"a micro-batch took {seconds:.0f} s, {aim}")
        self._assigned = False
        self._limited.clear()

    @property
    def behind(self) -> bool:
        """Return whether a source had more for the present batch than it was allowed to assign."""
        return bool(self._limited)

    def committed(self) -> None:
        """Notify the sources that their assignments are committed."""
        for enumerator in self.enumerators.values():
            enumerator.committed()

    def close(self) -> None:
        for enumerator in self.enumerators.values():
            enumerator.close()


def _sizes(found: list[Assignment], backlog: Backlog | None, record_bytes: Mapping[int, float]) -> tuple[float, float]:
    """Return how many records and bytes are assigned, 0 where that is unknown."""
    if backlog is not None and backlog.in_bytes:
        return 0, sum(each.amount or 0 for each in found)
    mean = fmean(record_bytes.values()) if record_bytes else 0.0
    size = sum((each.amount or 0) * record_bytes.get(each.channel, mean) for each in found)
    return sum(each.amount or 0 for each in found), size


def all_splits(plan: JobPlan, source: SourcePlan) -> dict[int, list[Any]]:
    """Return all splits of a bounded source, by channel."""
    return in_this_thread(steps_to_all_splits(plan, source))


def steps_to_all_splits(plan: JobPlan, source: SourcePlan) -> Steps[dict[int, list[Any]]]:
    """Return all splits of a bounded source, by channel; a source of a limited rate lets the steps wait."""
    with naming_source(source.name, source.origin):
        enumerator = source.source.create_enumerator(source.parallelism, limits_of(plan))
    works: dict[int, list[Any]] = {number: [] for number in range(source.channels)}
    unfinished = set(works)
    with closing(enumerator):
        while unfinished:
            with naming_source(source.name, source.origin):
                assignments = enumerator.next_batch()
            if not assignments:  # a source with a limited rate
                yield Wait(max(enumerator.idle_hint(), 0.001), time.sleep)
            for assignment in assignments:
                if assignment.work is not None:
                    works[assignment.channel].append(assignment.work)
                if assignment.final:
                    unfinished.discard(assignment.channel)
    return works
