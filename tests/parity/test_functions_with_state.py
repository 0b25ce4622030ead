"""Reduce and aggregate functions that keep state of their own: it belongs to the key of the record at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Time, WatermarkStrategy
from scurry.datastream import (
    AggregateFunction,
    DataStream,
    KeyedStream,
    ReduceFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from scurry.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import (
    CountEvictor,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from support.runners import Runner

#: (key, time): a has 5 records, b has 3, c has 1; in windows of 10 ms a has 3 and 2, b has 2 and 1
RECORDS = [("a", 1), ("b", 1), ("a", 2), ("c", 3), ("a", 3), ("b", 4), ("a", 11), ("b", 12), ("a", 13)]

Result = tuple[str, int, int]


class Counted:
    """Counts its calls for each key, in two states."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.calls = runtime_context.get_state(ValueStateDescriptor("calls"))
        self.total = runtime_context.get_reducing_state(ReducingStateDescriptor("total", lambda a, b: a + b))

    def count(self) -> int:
        calls = (self.calls.value() or 0) + 1
        self.calls.update(calls)
        self.total.add(1)
        return calls if calls == self.calls.value() == self.total.get() else -1


class Reduce(Counted, ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Result:
        return value1[0], value2[1], self.count()


class Late(Reduce):
    """Asks for its state only when it needs it."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.context = runtime_context

    def count(self) -> int:
        super().open(self.context)
        return super().count()


class Aggregate(Counted, AggregateFunction):
    def create_accumulator(self) -> Any:
        return ("", 0, 0)

    def add(self, value: Any, accumulator: Any) -> Result:
        return value[0], value[1], self.count()

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, a: Any, b: Any) -> Any:
        return max(a, b)


TUMBLING = TumblingEventTimeWindows.of(Time.milliseconds(10))
SLIDING = SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(10))
SESSIONS = EventTimeSessionWindows.with_gap(Time.milliseconds(5))

#: name -> what is done with the records, and for each key how often its function is called
CASES: dict[str, tuple[Callable[[KeyedStream], DataStream], dict[str, int]]] = {
    "reduce": (lambda s: s.reduce(Reduce()), {"a": 4, "b": 2}),
    "late": (lambda s: s.reduce(Late()), {"a": 4, "b": 2}),
    "tumbling": (lambda s: s.window(TUMBLING).reduce(Reduce()), {"a": 3, "b": 1}),
    "tumbling late": (lambda s: s.window(TUMBLING).reduce(Late()), {"a": 3, "b": 1}),
    "aggregate": (lambda s: s.window(TUMBLING).aggregate(Aggregate()), {"a": 5, "b": 3, "c": 1}),
    "sliding": (lambda s: s.window(SLIDING).reduce(Reduce()), {"a": 7, "b": 3}),
    "sessions": (lambda s: s.window(SESSIONS).reduce(Reduce()), {"a": 3, "b": 1}),
    "sessions aggregate": (lambda s: s.window(SESSIONS).aggregate(Aggregate()), {"a": 5, "b": 3, "c": 1}),
    "lateness": (lambda s: s.window(TUMBLING).allowed_lateness(5).reduce(Reduce()), {"a": 3, "b": 1}),
    "evictor": (lambda s: s.window(TUMBLING).evictor(CountEvictor.of(9)).reduce(Reduce()), {"a": 3, "b": 1}),
    "count": (lambda s: s.count_window(3).reduce(Reduce()), {"a": 2, "b": 2}),
}


@pytest.fixture(scope="module")
def results() -> dict[Runner, dict[str, dict[str, int]]]:
    """The results of the runners that have run."""
    return {}


@pytest.mark.parametrize("name", CASES)
def test_state_of_a_function_belongs_to_the_current_key(
    name: str, runner: Runner, results: dict[Runner, dict[str, dict[str, int]]]
) -> None:
    if runner not in results:
        results[runner] = _calls(runner)
    assert results[runner][name] == CASES[name][1]


def _calls(runner: Runner) -> dict[str, dict[str, int]]:
    """All cases in one job: how often each function was called in the end, by key."""

    def program(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[1])
        stream = env.from_collection(RECORDS).assign_timestamps_and_watermarks(strategy).key_by(lambda value: value[0])
        return {name: build(stream) for name, (build, _) in CASES.items()}

    found: dict[str, dict[str, int]] = {}
    for name, records in runner.run(program).items():
        calls = [(record[0], record[2]) for record in records if len(record) == 3]
        found[name] = {key: max(count for of, count in calls if of == key) for key, _ in calls}
    return found
