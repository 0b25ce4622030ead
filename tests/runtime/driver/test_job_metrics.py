"""What a job counts: the sum of the reports of its tasks."""

from __future__ import annotations

import pickle

import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.graph.plan import JobPlan, OperatorPlan, SourcePlan
from scurry.runtime.driver.metrics import JobMetrics
from scurry.runtime.exchange.report import ChannelProgress, TaskReport
from scurry.runtime.exchange.wire import MIN_TIME, pack, unpack
from scurry.testing import job_plan_of


@pytest.fixture(scope="module")
def plan() -> JobPlan:
    """Numbers, two maps of the same name, and a sink."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    env.from_collection([1]).name("numbers").map(abs).name("same").map(abs).name("same").print().name("out")
    return job_plan_of(env, "counting")


def number_of(plan: JobPlan, name: str) -> int:
    parts: list[SourcePlan | OperatorPlan] = [*plan.sources.values(), *plan.operators.values()]
    return next(part.id for part in parts if part.name == name)


def counted(plan: JobPlan, *reports: TaskReport) -> JobMetrics:
    metrics = JobMetrics(plan)
    for report in reports:
        metrics.add(report)
    return metrics


def test_an_empty_report_is_not_sent() -> None:
    assert not TaskReport()
    assert TaskReport(notes=["look"])


def test_a_report_survives_the_wire() -> None:
    report = TaskReport({(1, "n"): 2}, channels={(0, 1): ChannelProgress(5, 2.5)}, held_back={2: (0, 1, MIN_TIME)})
    assert unpack(pack(report)) == pickle.loads(pickle.dumps(report)) == report


def test_what_sources_emit_is_read_and_what_sinks_take_is_written(plan: JobPlan) -> None:
    source, sink = number_of(plan, "numbers"), number_of(plan, "out")
    report = TaskReport({(source, "numRecordsOut"): 3, (source, "numRecordsIn"): 9, (sink, "numRecordsIn"): 2})
    metrics = counted(plan, report, report)
    assert (metrics.records_in, metrics.records_out) == (6, 4)


def test_operators_of_one_name_have_metrics_of_their_own_by_their_uids(plan: JobPlan) -> None:
    first, second = (op.id for op in plan.operators.values() if op.name == "same")
    metrics = counted(plan, TaskReport({(first, "numRecordsOut"): 1, (second, "numRecordsOut"): 2}))
    assert metrics.by_operator({}) == {first: {"numRecordsOut": 1}, second: {"numRecordsOut": 2}}
    assert metrics.values({}) == {"1-same.numRecordsOut": 1, "2-same.numRecordsOut": 2}


def test_labels_of_operators_are_unique_even_if_a_name_is_the_uid_of_another_one() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    numbers = env.from_collection([1]).name("numbers")
    first = numbers.map(abs).name("same").uid("numbers")
    first.map(abs).name("same").uid("other").map(abs).name("other").print().name("out")
    assert list(job_plan_of(env, "x").labels().values()) == ["0-numbers", "numbers", "other", "3-other", "out"]


def test_dropped_records_and_dead_letters_are_counted_by_operator(plan: JobPlan) -> None:
    source, operator = number_of(plan, "numbers"), number_of(plan, "same")
    metrics = counted(
        plan,
        TaskReport({(operator, "numLateRecordsDropped"): 1, (operator, "numDeadLetters"): 2}),
        TaskReport({(operator, "numLateRecordsDropped"): 3, (source, "numMalformedRecordsDropped"): 4}),
    )
    assert (metrics.late, metrics.late_records) == ({"1-same": 4}, 4)
    assert (metrics.dead_letters, metrics.malformed) == ({"1-same": 2}, {"numbers": 4})


def test_watermarks_never_fall_and_the_job_has_the_lowest(plan: JobPlan) -> None:
    first, second = (op.id for op in plan.operators.values() if op.name == "same")
    metrics = counted(plan, TaskReport(watermarks={first: 7}), TaskReport(watermarks={first: 5, second: 9}))
    assert metrics.watermark == 7
    assert metrics.values({}) == {"1-same.currentOutputWatermark": 7, "2-same.currentOutputWatermark": 9}
    assert JobMetrics(plan).watermark == MIN_TIME


def test_channels_report_their_watermark_or_the_size_of_their_records_or_both(plan: JobPlan) -> None:
    source = number_of(plan, "numbers")
    metrics = counted(
        plan,
        TaskReport(channels={(source, 0): ChannelProgress(watermark=4)}),
        TaskReport(channels={(source, 0): ChannelProgress(record_bytes=2.0), (source, 1): ChannelProgress(3, 1.0)}),
    )
    assert metrics.source_watermarks == {(source, 0): 4, (source, 1): 3}
    assert metrics.record_bytes == {source: {0: 2.0, 1: 1.0}}


def test_metrics_of_users_are_kept_by_operator_and_accumulators_added(plan: JobPlan) -> None:
    first, second = (op.id for op in plan.operators.values() if op.name == "same")
    reports = [TaskReport(user_metrics={(number, "seen"): ("counter", 2)}) for number in (first, second)]
    metrics = counted(plan, *reports)
    assert metrics.values({}) == {"1-same.seen": 2, "2-same.seen": 2}
    assert metrics.user_metrics.counters() == {"seen": 4}
