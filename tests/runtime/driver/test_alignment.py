"""Aligned sources: how far one is ahead of its group while it has a backlog, and how fast all of them catch up."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.common import Duration, WatermarkStrategy
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Enumerator
from scurry.runtime.driver.pacing.alignment import Alignment
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from support.clock import FakeTime

DRIFT = 5_000
MOST = BatchLimits(max_bytes=1 << 30, max_records=100_000)


def aligned(drift: int = DRIFT, idle_ms: int | None = None) -> Any:
    strategy: Any = WatermarkStrategy.for_monotonous_timestamps().with_watermark_alignment(
        "g", Duration.of_millis(drift), Duration.of_millis(200)
    )
    return strategy if idle_ms is None else strategy.with_idleness(Duration.of_millis(idle_ms))


@dataclass
class Simulated(Enumerator):
    """A source, and the event times of the records of its channels.

    Attributes:
        id: Its number.
        times: The event times of each channel.
        per_batch: How many records come with each batch and channel; None if all are there from the beginning.
        size: Bytes of a record, if the source counts bytes.
        piece: Records that are read together or not at all.
        whole: Whether channels cannot be held one by one.
    """

    id: int
    times: list[list[int]]
    per_batch: int | None = None
    size: int | None = None
    piece: int = 1
    whole: bool = False
    endless: bool = False
    watermark_strategy: Any = field(default_factory=aligned)
    read: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    batch: int = 0
    held: Any = ()
    most: BatchLimits = MOST

    def __post_init__(self) -> None:
        self.read, self.given = [0] * self.channels, [0] * self.channels

    @property
    def channels(self) -> int:
        return len(self.times)

    @property
    def holds_channels(self) -> bool:
        return not self.whole

    def align(self, held: Any) -> None:
        self.held = held

    def limit(self, limits: BatchLimits, record_bytes: Any) -> None:
        self.most = limits

    def expects(self, channel: int) -> bool:
        return self.read[channel] < len(self.times[channel])

    def _there(self, channel: int) -> int:
        """Return how many units of a channel can be assigned."""
        known = len(self.times[channel])
        if self.per_batch is not None:
            known = min(known, self.per_batch * (self.batch + 1))
        return known * (self.size or 1) - self.given[channel]

    def next_batch(self) -> list[Assignment]:
        found = []
        for channel in range(self.channels):
            most = self.most.max_records if self.size is None else self.most.max_bytes
            taken = min(most // self.channels if self.whole else most, self._there(channel))
            if channel not in self.held and taken > 0:
                unit = (self.size or 1) * self.piece  # a range owns the pieces that begin in it
                self.given[channel] += taken
                read = -(-self.given[channel] // unit) * self.piece
                self.read[channel] = min(read, len(self.times[channel]))
                found.append(Assignment(channel, taken, False, taken))
        return found

    def backlog(self) -> Backlog:
        left = {channel: self._there(channel) for channel in range(self.channels)}
        each = None if self.whole else left
        total = sum(left.values())
        return Backlog(total, channels=each) if self.size is None else Backlog(bytes=total, channels=each)

    def watermark(self, channel: int) -> int:
        read, times = self.read[channel], self.times[channel]
        if read == len(times) and not self.endless:
            return MAX_TIME
        return max(times[:read][-1:], default=MIN_TIME)

    def position(self) -> Any:
        raise AssertionError

    def restore(self, position: Any) -> None:
        raise AssertionError


@dataclass
class Run:
    """A run of several sources.

    Attributes:
        ahead: How far a channel was ahead of another one in event time.
        waiting: The most records that were ahead of the lowest watermark.
        batches: How many batches it took.
    """

    ahead: int = 0
    waiting: int = 0
    batches: int = 0


def run(*sources: Simulated, most: BatchLimits = MOST, batches: int = 4_000, step: float = 0) -> Run:
    watermarks: dict[tuple[int, int], int] = {}
    counters: dict[tuple[int, str], int] = {}
    job: Any = SimpleNamespace(
        totals=SimpleNamespace(source_watermarks=watermarks, counters=counters),
        plan=SimpleNamespace(sources={each.id: each for each in sources}),
    )
    clock, result = FakeTime(), Run()
    alignment = Alignment(job, {each.id: each for each in sources}, clock)
    while any(source.expects(channel) for source in sources for channel in range(source.channels)):
        assert result.batches < batches, "the sources wait for each other"
        for source in sources:
            limits = alignment.limits(source, most)  # type: ignore[arg-type]
            if limits is not None:
                source.limit(limits, {})
                alignment.assigned(source, source.next_batch(), source.backlog())  # type: ignore[arg-type]
            source.batch += 1
        reached = []
        for source in sources:
            counters[source.id, "numRecordsOut"] = sum(source.read)
            for channel in range(source.channels):
                watermark = watermarks[source.id, channel] = source.watermark(channel)
                reached += [watermark] if watermark < MAX_TIME else []
        if reached and min(reached) > MIN_TIME:
            result.ahead = max(result.ahead, max(reached) - min(reached))
            waiting = (
                max(0, read - bisect_right(times, min(reached)))
                for source in sources
                for times, read in zip(source.times, source.read, strict=True)
            )
            result.waiting = max(result.waiting, sum(waiting))
        result.batches += 1
        clock.sleep(step)
    return result


def spaced(step: int, end: int = 100_000, start: int = 0) -> list[int]:
    return list(range(start, end, step))


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("size", [None, 40])
def test_a_backlog_is_ahead_of_a_slow_source_by_the_drift_at_most(size: int | None, whole: bool) -> None:
    fast = Simulated(0, [spaced(5)], size=size, whole=whole)
    slow = Simulated(1, [spaced(1000)], per_batch=1)
    result = run(fast, slow)
    assert result.ahead <= DRIFT * 1.2
    assert result.waiting <= DRIFT / 5 * 1.2


def test_records_that_wait_are_bounded_from_the_first_batch_on() -> None:
    """The slow source has nothing for a while; the backlog has read no more than a trial by then."""
    fast, slow = Simulated(0, [spaced(5)]), Simulated(1, [spaced(1000)], per_batch=0)
    with pytest.raises(AssertionError, match="wait for each other"):
        run(fast, slow, batches=50)
    assert sum(fast.read) <= 16


@pytest.mark.parametrize("sparse", [100, 1000, 3000])
def test_none_counts_on_more_than_another_source_reads(sparse: int) -> None:
    """Both have a backlog, and each is limited by the other one: one record of the sparse source is worth many."""
    assert run(Simulated(0, [spaced(5)], size=8), Simulated(1, [spaced(sparse)])).ahead <= DRIFT * 1.2 + 16 * sparse


def test_a_year_of_skew_holds_back_the_newer_topic() -> None:
    year, hour = 365 * 24 * 3600 * 1000, 3600 * 1000
    old, new = spaced(hour, year), spaced(hour, 2 * year, year)
    result = run(*(Simulated(number, [times]) for number, times in enumerate((old, new))), Simulated(2, [[]]))
    assert result.ahead <= year + 16 * hour  # a trial of the newer one
    skewed = Simulated(3, [old, new])
    assert run(skewed).ahead <= year + 16 * hour
    assert sum(skewed.read) == len(old) + len(new)


def test_channels_of_one_source_wait_for_each_other() -> None:
    """Four partitions, one of which gets its records slowly, another of which begins later."""
    source = Simulated(0, [spaced(5), spaced(7), spaced(50), spaced(5, start=50_000)], whole=False)
    result = run(source)
    assert result.ahead <= 50_000 + 16 * 5
    even = Simulated(0, [spaced(5), spaced(7), spaced(50)])
    assert run(even).ahead <= DRIFT * 1.2 + 16 * 50


@pytest.mark.parametrize("behind", [0, 1])
def test_a_channel_that_lags_is_not_slowed_down_by_one_that_is_nearly_as_far_as_it_may(behind: int) -> None:
    channels = [spaced(5, 60_000), spaced(5, 60_000)]
    channels[behind] = spaced(5, 60_000, start=-500_000)
    assert run(Simulated(0, channels)).batches < 400


def test_a_channel_without_records_lets_the_others_go_on_once_it_is_idle() -> None:
    source = Simulated(0, [spaced(5), []], watermark_strategy=aligned(idle_ms=1000))
    source.endless = True
    source.expects = lambda channel: channel == 1 or source.read[0] < len(source.times[0])  # type: ignore[method-assign]
    with pytest.raises(AssertionError, match="wait for each other"):
        run(source, step=0.5, batches=200)
    assert source.read[0] == len(source.times[0])


def test_a_source_that_ends_lets_the_others_read_on_at_full_size() -> None:
    brief, long = Simulated(0, [spaced(5, 10_000)]), Simulated(1, [spaced(1, 300_000)])
    assert run(brief, long).batches < 60


@pytest.mark.parametrize("piece", [10, 1000, 10_000])
def test_pieces_that_are_read_whole_are_read_one_by_one(piece: int) -> None:
    """A row group begins in one of the small ranges, and is read whole: the drift is exceeded by one of them."""
    files = Simulated(0, [spaced(5)], size=40, piece=piece)
    result = run(files, Simulated(1, [spaced(1000)], per_batch=1))
    assert result.ahead <= DRIFT * 1.2 + piece * 5
    assert result.batches < 600


def test_records_larger_than_what_may_be_read_are_reached_step_by_step() -> None:
    assert run(Simulated(0, [spaced(1000)], size=1_000_000), Simulated(1, [spaced(1000)])).batches < 1200


def test_many_records_of_one_time_are_read_in_growing_batches() -> None:
    times = [*spaced(5, 1000), *[1000] * 100_000, *spaced(5, 20_000, start=1005)]
    assert run(Simulated(0, [times]), Simulated(1, [spaced(5, 20_000)])).batches < 200


def test_a_restart_begins_with_a_trial_again() -> None:
    """Where its group is, a driver knows only after the first batch: a restored source may be ahead already."""
    ahead, behind = Simulated(0, [spaced(5, start=50_000)]), Simulated(1, [spaced(5)])
    result = run(ahead, behind)
    assert result.ahead <= 50_000 + 16 * 5


def test_sources_that_all_have_a_backlog_catch_up_in_large_batches() -> None:
    day = 24 * 3600 * 1000
    sources = [Simulated(0, [list(range(0, day, 100))]), Simulated(1, [list(range(0, day, 150))], size=40)]
    assert run(*sources).batches < 60


@pytest.mark.parametrize("size", [None, 40, 700])
@pytest.mark.parametrize(("fast", "live", "per_batch"), [(1, 13, 33), (100, 700, 5), (7, 7, 200), (2000, 3, 500)])
def test_a_live_source_holds_back_a_backlog(fast: int, live: int, per_batch: int, size: int | None) -> None:
    """A batch may overshoot by what a trial reads."""
    times = [spaced(live, 30_000)]
    sources = [Simulated(0, [spaced(fast, 30_000)], size=size), Simulated(1, times, per_batch, size)]
    assert run(*sources).ahead <= DRIFT * 1.2 + 16 * max(fast, live) + per_batch * live


def test_a_source_that_is_alone_reads_all_it_may() -> None:
    assert run(Simulated(0, [list(range(0, 10_000_000, 10))])).batches < 30


def test_a_source_of_no_group_is_not_limited() -> None:
    source: Any = Simulated(0, [[1]], watermark_strategy=None)
    totals = SimpleNamespace(source_watermarks={}, counters={})
    job: Any = SimpleNamespace(totals=totals, plan=SimpleNamespace(sources={0: source}))
    assert Alignment(job, {}).limits(source, MOST) is MOST
