"""Aligned sources: how far one is ahead of its group while it has a backlog, and how fast all of them catch up."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.common import Duration, WatermarkStrategy
from scurry.connectors.source import Backlog, BatchLimits
from scurry.runtime.driver.pacing.alignment import Alignment
from scurry.runtime.exchange.wire import MAX_TIME
from support.clock import FakeTime

DRIFT = 5_000
MOST = BatchLimits(max_bytes=1 << 30, max_records=100_000)


@dataclass
class Simulated:
    """A source: the event time of each of its records, and how many of them are there at each batch.

    Attributes:
        id: Its number.
        times: The event times, ascending.
        per_batch: How many records come with each batch; None if all are there from the beginning.
        size: Bytes of a record, if the source counts bytes.
    """

    id: int
    times: list[int]
    per_batch: int | None = None
    size: int | None = None
    channels: int = 1
    watermark_strategy: Any = field(
        default_factory=lambda: WatermarkStrategy.for_monotonous_timestamps().with_watermark_alignment(
            "g", Duration.of_millis(DRIFT), Duration.of_millis(200)
        )
    )
    read: int = 0

    def there(self, batch: int) -> int:
        known = len(self.times) if self.per_batch is None else min(len(self.times), self.per_batch * (batch + 1))
        return known - self.read

    def take(self, limits: BatchLimits, batch: int) -> int:
        most = limits.max_records if self.size is None else max(1, limits.max_bytes // self.size)
        taken = min(most, self.there(batch))
        self.read += taken
        return taken

    def backlog(self, batch: int) -> Backlog:
        left = self.there(batch)
        return Backlog(left) if self.size is None else Backlog(bytes=left * self.size)


def run(*sources: Simulated) -> tuple[int, int]:
    """Read all sources; return how far one was ahead of another in event time, and how many batches it took."""
    watermarks: dict[tuple[int, int], int] = {}
    counters: dict[tuple[int, str], int] = {}
    job: Any = SimpleNamespace(
        totals=SimpleNamespace(source_watermarks=watermarks, counters=counters),
        plan=SimpleNamespace(sources={each.id: each for each in sources}),
    )
    alignment, ahead, batch = Alignment(job, FakeTime()), 0, 0
    while any(source.read < len(source.times) for source in sources):
        assert batch < 4_000, "the sources wait for each other"
        for source in sources:
            limits = alignment.limits(source, MOST)  # type: ignore[arg-type]
            if limits is not None:
                taken = source.take(limits, batch)
                alignment.assigned(source, taken > 0, source.backlog(batch))  # type: ignore[arg-type]
        for source in sources:
            counters[source.id, "numRecordsOut"] = source.read
            if source.read == len(source.times):
                watermarks[source.id, 0] = MAX_TIME
            elif source.read:
                watermarks[source.id, 0] = source.times[source.read - 1]
        reached = [source.times[source.read - 1] for source in sources if 0 < source.read < len(source.times)]
        if len(reached) == len(sources):
            ahead = max(ahead, max(reached) - min(reached))
        batch += 1
    return ahead, batch


@pytest.mark.parametrize("size", [None, 40])
def test_a_backlog_is_ahead_of_a_slow_source_by_the_drift_at_most(size: int | None) -> None:
    fast = Simulated(0, list(range(0, 100_000, 5)), size=size)
    slow = Simulated(1, list(range(0, 100_000, 1000)), per_batch=1)
    assert run(fast, slow)[0] <= DRIFT * 1.2


def test_sources_that_all_have_a_backlog_catch_up_in_large_batches() -> None:
    day = 24 * 3600 * 1000
    sources = [Simulated(0, list(range(0, day, 100))), Simulated(1, list(range(0, day, 150)), size=40)]
    assert run(*sources)[1] < 60


@pytest.mark.parametrize("size", [None, 40, 700])
@pytest.mark.parametrize(("fast", "live", "per_batch"), [(1, 13, 33), (100, 700, 5), (7, 7, 200), (2000, 3, 500)])
def test_a_live_source_holds_back_a_backlog(fast: int, live: int, per_batch: int, size: int | None) -> None:
    """A batch may overshoot by what a trial reads."""
    times = list(range(0, 30_000, live))
    sources = [Simulated(0, list(range(0, 30_000, fast)), size=size), Simulated(1, times, per_batch, size)]
    ahead, _ = run(*sources)
    assert ahead <= DRIFT * 1.2 + 16 * max(fast, live) + per_batch * live


def test_a_source_that_is_alone_reads_all_it_may() -> None:
    assert run(Simulated(0, list(range(0, 10_000_000, 10))))[1] < 30


def test_a_source_of_no_group_is_not_limited() -> None:
    source: Any = Simulated(0, [1], watermark_strategy=None)
    totals = SimpleNamespace(source_watermarks={}, counters={})
    job: Any = SimpleNamespace(totals=totals, plan=SimpleNamespace(sources={0: source}))
    assert Alignment(job).limits(source, MOST) is MOST
