"""What a micro-batch may read follows how long the last ones took; against a model of a job."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
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

    def seconds(self, records: int) -> float:
        return self.overhead + records * self.per_record


def work_off(sizer: BatchSizer, job: Job, batches: int = 60) -> int:
    """Runs batches that read all they may; returns what the next one may read."""
    for _ in range(batches):
        sizer.batch_took(job.seconds(sizer.limits.max_records), limited=True)
    return sizer.limits.max_records


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


@given(st.lists(st.tuples(st.floats(0, 1000), st.booleans()), max_size=50), amounts, amounts)
def test_no_batch_may_read_more_than_the_limits_of_the_job_or_nothing(
    batches: list[tuple[float, bool]], size: int, records: int
) -> None:
    sizer = BatchSizer(BatchLimits(size, records), 5)
    for seconds, limited in batches:
        sizer.batch_took(seconds, limited)
        assert 1 <= sizer.limits.max_records <= records
        assert 1 <= sizer.limits.max_bytes <= size


@given(speeds, st.floats(2, 1000))
def test_when_the_sink_becomes_slow_the_next_batches_are_cut_to_what_it_takes(per_record: float, slower: float) -> None:
    sizer = BatchSizer(WIDE, 5)
    work_off(sizer, Job(0.2, per_record))
    slow = Job(0.2, per_record * slower)
    records = work_off(sizer, slow, batches=3)
    assert slow.seconds(records) <= 8 + slow.per_record


def test_the_first_batch_is_small_and_the_next_ones_grow_step_by_step() -> None:
    sizer = BatchSizer(WIDE, 5)
    assert sizer.limits == FIRST
    sizer.batch_took(0.01, limited=True)
    assert sizer.limits.max_records == FIRST.max_records * MAX_GROWTH
    assert sizer.limits.max_bytes == FIRST.max_bytes * MAX_GROWTH


@pytest.mark.parametrize(("columnar", "first"), [(False, FIRST), (True, FIRST_OF_COLUMNS)])
def test_a_job_that_reads_columns_begins_with_more(columnar: bool, first: BatchLimits) -> None:
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.from_collection([1]).print()
    job = JobExecution(environment._plan("job"))
    sources = [source for source in job.plan.sources.values() if source.source.native]
    for source in sources:
        source.source.columnar = columnar
    assert SourceCoordinator(job, sources)._sizer.limits == first


def test_scans_of_tables_read_columns() -> None:
    assert TableScan.columnar


def test_a_stream_that_is_kept_up_with_leaves_the_limits_alone() -> None:
    sizer = BatchSizer(WIDE, 5)
    for _ in range(100):
        sizer.batch_took(0.1, limited=False)
    assert sizer.limits == FIRST


def test_batches_that_take_too_long_without_being_full_bring_the_limits_down_too() -> None:
    sizer = BatchSizer(WIDE, 5)
    sizer.batch_took(10, limited=False)
    assert sizer.limits.max_records == FIRST.max_records / 2


def test_a_job_that_has_got_faster_again_gets_its_large_batches_back() -> None:
    sizer, fast = BatchSizer(WIDE, 5), Job(0.2, 1e-5)
    before = work_off(sizer, fast)
    work_off(sizer, Job(0.2, 0.1))
    assert abs(work_off(sizer, fast) - before) <= before * 0.1
