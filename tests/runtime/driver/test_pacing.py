"""What a micro-batch may read follows how long the last ones took; against a model of a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.connectors.source import BatchLimits
from scurry.datastream import StreamExecutionEnvironment
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.pacing.batch_size import FIRST, FIRST_OF_COLUMNS, MAX_GROWTH, BatchSizer
from scurry.runtime.driver.source_coordinator import SourceCoordinator
from scurry.sql.connectors.scanning import TableScan

WIDE = BatchLimits(max_bytes=1 << 50, max_records=1 << 40)


@dataclass
class Job:
    """A batch costs something by itself, and something for each record."""

    overhead: float
    per_record: float

    def seconds(self, records: float) -> float:
        return self.overhead + records * self.per_record


def batch(sizer: BatchSizer, seconds: float, read: int | None = None) -> None:
    """Runs a batch of a source that reads some records, or as many as it may while there are more."""
    limits = sizer.limits(0)
    sizer.assigned(0, records=limits.max_records if read is None else read, limited=limits if read is None else None)
    sizer.batch_took(seconds, {0} if read is None else ())


def work_off(sizer: BatchSizer, job: Job, batches: int = 60) -> int:
    """Runs batches that read all they may; returns what the next one may read."""
    for _ in range(batches):
        batch(sizer, job.seconds(sizer.limits(0).max_records))
    return sizer.limits(0).max_records


speeds = st.floats(1e-7, 0.1)


@given(st.floats(0, 1), speeds, st.floats(2, 60))
def test_batches_of_a_backlog_come_to_take_the_target_time(overhead: float, per_record: float, target: float) -> None:
    job = Job(overhead, per_record)
    records = work_off(BatchSizer(WIDE, target), job)
    rounding = 3 * per_record  # of the batch to whole records, and of the measured overhead, which counts twice
    assert job.seconds(records) <= target * 1.05 + rounding
    assert job.seconds(records + 1) >= target * 0.9


@given(st.floats(0.1, 100), speeds, st.floats(0.05, 10))
def test_batches_that_cost_more_by_themselves_than_the_target_are_not_made_ever_shorter(
    overhead: float, per_record: float, target: float
) -> None:
    job = Job(overhead, per_record)
    records = work_off(BatchSizer(WIDE, target), job)
    assert records * per_record >= min(overhead / 2, target / 2) - per_record  # half of the full speed is kept at least


amounts = st.integers(1, 10**9)


@given(st.lists(st.tuples(st.floats(0, 1000), st.none() | st.integers(0, 10**9)), max_size=50), amounts, amounts)
def test_no_batch_may_read_more_than_the_limits_of_the_job_or_nothing(
    batches: list[tuple[float, int | None]], size: int, records: int
) -> None:
    sizer = BatchSizer(BatchLimits(size, records), 5)
    for seconds, read in batches:
        batch(sizer, seconds, read)
        assert 1 <= sizer.limits(0).max_records <= records
        assert 1 <= sizer.limits(0).max_bytes <= size


@given(speeds, st.floats(2, 1000))
def test_when_the_sink_becomes_slow_the_next_batches_are_cut_to_what_it_takes(per_record: float, slower: float) -> None:
    sizer = BatchSizer(WIDE, 5)
    work_off(sizer, Job(0.2, per_record))
    slow = Job(0.2, per_record * slower)
    records = work_off(sizer, slow, batches=3)
    assert slow.seconds(records) <= 8 + slow.per_record


def test_the_first_batch_is_small_and_the_next_ones_grow_step_by_step() -> None:
    sizer = BatchSizer(WIDE, 5)
    assert sizer.limits(0).max_records == FIRST.max_records
    batch(sizer, 0.01)
    assert sizer.limits(0).max_records == FIRST.max_records * MAX_GROWTH


def test_bytes_of_lines_grow_with_the_batches() -> None:
    sizer = BatchSizer(WIDE, 5)
    sizer.assigned(0, 0, FIRST.max_bytes, sizer.limits(0))
    sizer.batch_took(0.01, [0])
    assert sizer.limits(0).max_bytes == FIRST.max_bytes * MAX_GROWTH


@pytest.mark.parametrize(("columnar", "first"), [(False, FIRST), (True, FIRST_OF_COLUMNS)])
def test_a_job_that_reads_columns_begins_with_more(columnar: bool, first: BatchLimits) -> None:
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.from_collection([1]).print()
    job = JobExecution(environment._plan("job"))
    sources = [source for source in job.plan.sources.values() if source.source.native]
    for source in sources:
        source.source.columnar = columnar
    assert SourceCoordinator(job, sources)._sizer.limits(0).max_records == first.max_records


def test_scans_of_tables_read_columns() -> None:
    assert TableScan.columnar


def test_batches_that_read_next_to_nothing_leave_the_limits_alone() -> None:
    sizer = BatchSizer(WIDE, 5)
    for _ in range(100):
        batch(sizer, 0.1, read=10)
    assert sizer.limits(0).max_records == FIRST.max_records


def test_batches_that_take_too_long_without_being_full_bring_the_limits_down_too() -> None:
    sizer = BatchSizer(WIDE, 5)
    batch(sizer, 10, read=FIRST.max_records)
    assert sizer.limits(0).max_records == FIRST.max_records / 2


def test_a_batch_that_waits_for_something_else_does_not_make_the_source_expensive_for_long() -> None:
    sizer, job = BatchSizer(WIDE, 5), Job(0.4, 1e-5)
    before = work_off(sizer, job)
    batch(sizer, 3, read=10)
    assert work_off(sizer, job, batches=8) >= before * 0.9


def test_the_time_in_which_workers_start_is_no_cost_of_the_first_records() -> None:
    sizer = BatchSizer(WIDE, 5)
    batch(sizer, 19, read=1000)
    assert sizer.limits(0).max_records == FIRST.max_records


def test_sources_share_the_target_time() -> None:
    sizer, costs = BatchSizer(WIDE, 5), (1e-5, 1e-3)
    for _ in range(20):
        seconds = 0.0
        for source, cost in enumerate(costs):
            limits = sizer.limits(source)
            sizer.assigned(source, records=limits.max_records, limited=limits)
            seconds += limits.max_records * cost
        sizer.batch_took(seconds, {0, 1})
        assert seconds <= 5 * 1.5 or seconds == FIRST.max_records * sum(costs)
    assert 4 <= seconds <= 5.5


def test_a_source_that_wakes_up_gets_what_the_others_leave() -> None:
    sizer = BatchSizer(WIDE, 5)
    work_off(sizer, Job(0, 1e-5))
    limits = sizer.limits(0)
    sizer.assigned(0, records=limits.max_records, limited=limits)
    assert sizer.limits(1).max_records == FIRST.max_records  # it is not known: a first batch of it


def test_batches_may_be_larger_while_catching_up() -> None:
    sizer, job = BatchSizer(WIDE, 5, catching_up_seconds=30), Job(0.2, 1e-5)
    assert job.seconds(work_off(sizer, job)) == pytest.approx(30, rel=0.1)
    batch(sizer, job.seconds(100), read=100)
    assert job.seconds(sizer.limits(0).max_records) == pytest.approx(5, rel=0.1)


@dataclass
class Scenario:
    """A job of a target of 5 s, whose input and cost change over time.

    Attributes:
        job: What batches cost.
        rate: Records per second, by the second.
        slower: The factor of the cost per record, by the second.
        steepness: The cost of a batch grows with its size to this power: skewed keys, growing state.
    """

    job: Job
    rate: Callable[[float], float]
    slower: Callable[[float], float] = lambda now: 1.0
    steepness: float = 1.0
    interval: float = 1.0

    def run(self, seconds: float) -> tuple[list[tuple[float, float]], int, int]:
        """Return when each batch began and what it took, and how many records there were and were read."""
        sizer, now, arrived, read = BatchSizer(WIDE, 5), 0.0, 0.0, 0
        batches, clock = [], 0.0
        while now < seconds or read < int(arrived):
            while clock < min(now, seconds):
                arrived += self.rate(clock) * 0.1
                clock += 0.1
            limits, there = sizer.limits(0), int(arrived) - read
            taken = min(there, limits.max_records)
            if not taken:
                now += self.interval
                continue
            sizer.assigned(0, records=taken, limited=limits if taken < there else None)
            read += taken
            took = self.job.seconds((taken / 20_000) ** self.steepness * 20_000 * self.slower(now))
            batches.append((now, took))
            sizer.batch_took(took, {0} if taken < there else ())
            now = max(now + took, now + self.interval if taken == there else 0)
            assert len(batches) < 20_000
        return batches, int(arrived), read


def burst(times: float, base: float = 20_000, start: float = 60, end: float = 70) -> Callable[[float], float]:
    return lambda now: base * (times if start <= now < end else 1)


@pytest.mark.parametrize("steepness", [1.0, 1.2])
@pytest.mark.parametrize("overhead", [0.001, 0.4, 1.0])
@pytest.mark.parametrize("per_record", [1e-7, 2e-6, 2e-5])
@pytest.mark.parametrize("times", [1, 5, 20, 100])
def test_every_batch_of_a_burst_meets_the_target(
    times: float, per_record: float, overhead: float, steepness: float
) -> None:
    batches, arrived, read = Scenario(Job(overhead, per_record), burst(times), steepness=steepness).run(180)
    assert read == arrived
    assert max(took for _, took in batches) <= 5 * 1.5


@pytest.mark.parametrize("overhead", [0.001, 0.4])
@pytest.mark.parametrize("slower", [3, 10])
@pytest.mark.parametrize("times", [1, 20])
def test_a_sink_that_slows_down_lengthens_no_batch_but_the_one_it_hits(
    times: float, slower: float, overhead: float
) -> None:
    def factor(now: float) -> float:
        return slower if 65 <= now < 125 else 1

    batches, arrived, read = Scenario(Job(overhead, 1e-5), burst(times), factor).run(240)
    assert read == arrived
    hit = next(begun for begun, took in batches if begun >= 65)
    assert max(took for begun, took in batches if begun != hit) <= 5 * 1.5
    assert max(took for _, took in batches) <= 5 * 1.5 * slower


@given(
    st.floats(0, 1.5), st.floats(1e-7, 2e-5), st.floats(1, 50), st.floats(1, 10),
    st.floats(10, 60), st.floats(10, 60), st.floats(1, 1.2),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost_and_limits_are_held(
    overhead: float, per_record: float, times: float, slower: float, start: float, slow: float, steepness: float
) -> None:
    def factor(now: float) -> float:
        return slower if slow <= now < slow + 30 else 1

    scenario = Scenario(Job(overhead, per_record), burst(times, 10_000, start, start + 10), factor, steepness)
    batches, arrived, read = scenario.run(120)
    assert read == arrived
    hit = next((begun for begun, _ in batches if begun >= slow), None)
    assert max(took for begun, took in batches if begun != hit) <= 5 * 2


@given(st.lists(st.floats(0, 8), max_size=8))
@settings(max_examples=100, deadline=None)
def test_noise_of_a_busy_start_does_not_lengthen_batches_for_ever(noise: list[float]) -> None:
    def factor(now: float) -> float:
        return 10 if 125 <= now < 185 else 1

    waits = iter(noise)

    class Noisy(Job):
        def seconds(self, records: float) -> float:
            return super().seconds(records) + next(waits, 0.0)

    batches, arrived, read = Scenario(Noisy(0.3, 4e-5), burst(1), factor).run(260)
    assert read == arrived
    hit = next(begun for begun, took in batches if begun >= 125)
    assert max(took for begun, took in batches if begun > 100 and begun != hit) <= 5 * 2.5


def test_a_job_that_has_got_faster_again_gets_its_large_batches_back() -> None:
    sizer, fast = BatchSizer(WIDE, 5), Job(0.2, 1e-5)
    before = work_off(sizer, fast)
    work_off(sizer, Job(0.2, 0.1))
    assert abs(work_off(sizer, fast) - before) <= before * 0.1


def test_a_sink_that_becomes_slow_within_a_long_batch_shows_no_fixed_cost() -> None:
    sizer = BatchSizer(WIDE, 5)
    batch(sizer, 5.5, read=168_858)
    batch(sizer, 5.1, read=160_000)
    batch(sizer, 21.2)  # of whose records some were processed before
    slow = Job(0.3, 2.2e-4)
    for _ in range(4):
        records = sizer.limits(0).max_records
        batch(sizer, slow.seconds(records))
    assert slow.seconds(sizer.limits(0).max_records) <= 5 * 1.5
