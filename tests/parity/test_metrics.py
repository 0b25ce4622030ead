"""What functions count is added up over subtasks and micro-batches, on every runner."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Configuration
from scurry.common.job_execution_result import JobExecutionResult
from scurry.connectors.sink import DiscardSink
from scurry.datastream import KeyedProcessFunction, MapFunction, RuntimeContext, StreamExecutionEnvironment
from scurry.errors import JobError
from scurry.metrics import Counter, DistributionResult, Meter, MeterResult
from support.runners import Runner

RECORDS = range(100)


class Measured(KeyedProcessFunction):
    """Registers every kind of metric."""

    def open(self, runtime_context: RuntimeContext) -> None:
        group = runtime_context.get_metrics_group()
        self.seen = group.counter("seen")
        self.balance = group.add_group("my", "group").counter("balance")
        self.events = group.meter("events", 100)
        self.numbers = group.distribution("numbers")
        self.last = None
        group.gauge("last", lambda: self.last)  # type: ignore[arg-type, return-value]
        group.counter("untouched")

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.seen.inc()
        self.balance.inc(3)
        self.balance.dec()
        self.events.mark_event(2)
        self.numbers.update(value)
        self.last = value
        yield value


def environment(runner: str, mode: str, records_per_batch: int = 1_000) -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("scurry.runner", runner)
    configuration.set_string("execution.runtime-mode", mode)
    configuration.set_string("scurry.batch.max-records", str(records_per_batch))
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)


def measured(runner: Runner) -> JobExecutionResult:
    env = environment(runner.name, runner.mode, records_per_batch=40)  # three micro-batches in STREAMING
    keyed = env.from_collection(RECORDS).name("numbers").key_by(lambda number: number % 20)
    keyed.process(Measured()).name("measured").sink_to(DiscardSink())
    return env.execute("metrics")


def test_metrics_are_right_across_subtasks_and_batches(runner: Runner) -> None:
    metrics = measured(runner).get_metrics()
    assert metrics["measured.seen"] == 100
    assert metrics["measured.my.group.balance"] == 200
    assert metrics["measured.untouched"] == 0
    assert metrics["measured.events"] == MeterResult(count=200, rate=2.0)
    assert metrics["measured.numbers"] == DistributionResult(sum=4950, count=100, min=0, max=99)
    assert metrics["measured.numbers"].mean == 49.5
    assert metrics["numbers.numRecordsOut"] == metrics["measured.numRecordsOut"] == 100
    assert metrics["DiscardSink.numRecordsIn"] == 100


def test_gauges_are_told_apart_by_subtask(runner: Runner) -> None:
    last = measured(runner).get_metrics()["measured.last"]
    assert list(last) == [0, 1]
    if runner.mode == "STREAMING":  # BATCH goes key by key
        assert max(last.values()) == 99


def test_accumulators_are_the_counters_of_the_user() -> None:
    result = measured(Runner("local", "STREAMING"))
    assert result.get_all_accumulator_results() == {"seen": 100, "my.group.balance": 200, "untouched": 0}
    assert result.get_accumulator_result("seen") == 100
    assert result.get_accumulator_result("unheard of") is None


class Counts(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.counter = runtime_context.get_metrics_group().counter("calls")

    def map(self, value: Any) -> Any:
        self.counter.inc()
        return self.counter.get_count()


def test_accumulators_of_one_name_in_several_operators_add_up() -> None:
    env = environment("local", "STREAMING")
    numbers = env.from_collection([1, 2, 3])
    for uid in ("first", "second"):
        numbers.map(Counts()).name("same").uid(uid).print()
    numbers.map(Counts()).name("other").print()
    result = env.execute("same")
    assert result.get_accumulator_result("calls") == 9
    metrics = result.get_metrics()
    assert [metrics[f"{operator}.calls"] for operator in ("first", "second", "other")] == [3, 3, 3]
    assert metrics["first.numRecordsOut"] == 3


def test_a_job_without_metrics_of_its_own_has_no_accumulators() -> None:
    env = environment("local", "STREAMING")
    env.from_collection([1]).map(lambda value: value).print()
    assert env.execute("plain").get_all_accumulator_results() == {}


HALFWAY, GO_ON = threading.Event(), threading.Event()


class Waits(Counts):
    def map(self, value: Any) -> Any:
        if value == 2:
            HALFWAY.set()
            assert GO_ON.wait(30)
        return super().map(value)


def test_a_running_job_can_be_asked() -> None:
    env = environment("local", "STREAMING", records_per_batch=1)
    env.from_collection([1, 2, 3]).map(Waits()).name("waits").print()
    client = env.execute_async("asked")
    assert HALFWAY.wait(30)
    assert client.get_accumulators().result() == {"calls": 1}
    assert client.get_metrics().result()["waits.calls"] == 1
    GO_ON.set()
    client.get_job_execution_result().result()
    assert client.get_accumulators().result() == {"calls": 3}


def test_a_metric_registered_twice_is_the_same() -> None:
    class Twice(Counts):
        def open(self, runtime_context: RuntimeContext) -> None:
            super().open(runtime_context)
            runtime_context.get_metrics_group().counter("calls").inc(10)

    env = environment("local", "STREAMING").set_parallelism(1)
    out = env.from_collection([1, 2]).map(Twice()).execute_and_collect()
    assert list(out) == [11, 12]


Register = Callable[[RuntimeContext], Counter | Meter]


@pytest.mark.parametrize(
    ("register", "message"),
    [
        (lambda context: context.get_metrics_group().meter("calls"), "'calls' is a counter already: give the meter"),
        (lambda context: context.get_metrics_group().gauge("broken", lambda: 1 // 0), "gauge 'broken' could not be"),
    ],
)
def test_mistakes_are_told_with_the_operator(register: Register, message: str) -> None:
    class Mistaken(Counts):
        def open(self, runtime_context: RuntimeContext) -> None:
            super().open(runtime_context)
            register(runtime_context)

    env = environment("local", "STREAMING")
    env.from_collection([1]).map(Mistaken()).name("mistaken").print()
    with pytest.raises(JobError, match=message) as failed:
        env.execute("doomed")
    assert "in operator 'mistaken'" in str(failed.value)
