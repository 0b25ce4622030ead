"""What a job's sources are fed: how much a micro-batch may read, who has to wait, and all there is to read in BATCH."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from scurry.connectors.source import BatchLimits
from scurry.graph.plan import JobPlan, SourcePlan
from scurry.runtime.job import JobExecution
from scurry.runtime.wire import MAX_TIME, MIN_TIME


def limits_of(plan: JobPlan) -> BatchLimits:
    """How much a micro-batch may read, from the configuration."""
    configuration = plan.settings.configuration
    return BatchLimits(
        int(configuration.get("scurry.batch.max-bytes", BatchLimits.max_bytes)),
        int(configuration.get("scurry.batch.max-records", BatchLimits.max_records)),
    )


class Alignment:
    """Which sources must wait because they are too far ahead of others of their alignment group (FLIP-182).

    Inside a micro-batch nothing needs to wait: the gate merges channels by their watermarks. Between batches a source
    that is ahead is not asked for more.
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
        """Whether the source may not read now."""
        alignment = getattr(source.watermark_strategy, "alignment", None)
        if alignment is None:
            return False
        others = [self._watermark(other) for other in self._groups[alignment.group] if not self._idle(other)]
        limit: int = min(others, default=MAX_TIME) + alignment.drift_ms
        return self._watermark(source) > limit

    def has_read(self, source: SourcePlan) -> None:
        """Notes that the source had records."""
        if source.id in self._spoke:
            self._spoke[source.id] = self._clock()

    def _watermark(self, source: SourcePlan) -> int:
        """The lowest of its channels; MAX_TIME when all have ended."""
        return min(self._watermarks.get((source.id, channel), MIN_TIME) for channel in range(source.channels))

    def _idle(self, source: SourcePlan) -> bool:
        timeout = source.watermark_strategy.idle_timeout_ms
        return timeout is not None and (self._clock() - self._spoke[source.id]) * 1000 > timeout


def all_works(plan: JobPlan, source: Any) -> dict[int, list[Any]]:
    """Everything a bounded source has to read, by channel."""
    enumerator = source.source.create_enumerator(source.parallelism, limits_of(plan))
    works: dict[int, list[Any]] = {number: [] for number in range(source.channels)}
    unfinished = set(works)
    with closing(enumerator):
        while unfinished:
            assignments = enumerator.next_batch()
            if not assignments:  # a source that keeps to a rate
                time.sleep(max(enumerator.idle_hint(), 0.001))
            for assignment in assignments:
                if assignment.work is not None:
                    works[assignment.channel].append(assignment.work)
                if assignment.final:
                    unfinished.discard(assignment.channel)
    return works
