"""BATCH gives the results of STREAMING: the final ones of a rolling reduce, all of other jobs.

Random records run through jobs in both modes, in this process. No record is late. Functions that depend on the order of
records get them in time order, because BATCH sorts them. Limits are small, so that a key has several blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Configuration, Duration, Time, Types, WatermarkStrategy
from scurry.datastream import (
    DataStream,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from scurry.datastream.functions import AggregateFunction, CoGroupFunction, ProcessJoinFunction
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from scurry.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from scurry.errors import JobError
from scurry.runtime.exchange import key_blocks, key_records, ordering
from scurry.runtime.operators.batch import interval_join
from scurry.runtime.operators.batch import windows as batch_windows
from scurry.runtime.tasks import batch_task
from support.cases import CASES

#: key, time in ms, and a text that is the record's own
Record = tuple[str, int, str]

ms = Time.milliseconds
WINDOWS: dict[str, Callable[[], Any]] = {
    "tumbling": lambda: TumblingEventTimeWindows.of(ms(10), ms(3)),
    "sliding": lambda: SlidingEventTimeWindows.of(ms(10), ms(4)),
    "sliding with gaps": lambda: SlidingEventTimeWindows.of(ms(4), ms(10)),
    "sessions": lambda: EventTimeSessionWindows.with_gap(ms(5)),
}


class Texts(AggregateFunction):
    def create_accumulator(self) -> list[str]:
        return []

    def add(self, value: Record, accumulator: list[str]) -> list[str]:
        return [*accumulator, value[2]]

    def get_result(self, accumulator: list[str]) -> str:
        return "".join(accumulator)

    def merge(self, acc_a: list[str], acc_b: list[str]) -> list[str]:
        return acc_a + acc_b


class Shown(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        seen = context.global_state().get_state(ValueStateDescriptor("seen"))
        seen.update((seen.value() or 0) + 1)
        assert context.current_watermark() >= context.window().max_timestamp()
        yield key, context.window().start, context.window().end, seen.value(), [each[2] for each in elements]


class Grouped(CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Iterator[Any]:
        yield [each[2] for each in first], [each[2] for each in second]


class Pairs(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield left, right, ctx.get_timestamp()


class Timers(KeyedProcessFunction):
    """Emits all texts of a key at the end of the 10 ms of each record."""

    def open(self, runtime_context: Any) -> None:
        self.texts = runtime_context.get_list_state(ListStateDescriptor("texts"))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.texts.add(value)
        ctx.timer_service().register_event_time_timer(value[1] // 10 * 10 + 10)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        due = [each for each in self.texts.get() if each[1] < timestamp]
        self.texts.update([each for each in self.texts.get() if each[1] >= timestamp])
        yield ctx.get_current_key(), timestamp, due


class Moving(KeyedProcessFunction):
    """Counts the records of a key, with time to live; moves a timer with each, and sets one more when one fires."""

    def open(self, runtime_context: Any) -> None:
        lasting = StateTtlConfig.new_builder(Time.hours(1)).build()
        count, due = ValueStateDescriptor("count", Types.LONG()), ValueStateDescriptor("due", Types.LONG())
        count.enable_time_to_live(lasting)
        self.count, self.due = runtime_context.get_state(count), runtime_context.get_state(due)

    def process_element(self, value: Any, ctx: Any) -> None:
        assert (self.count.value() is None) == (self.due.value() is None)
        self.count.update((self.count.value() or 0) + 1)
        if self.due.value() is not None:
            ctx.timer_service().delete_event_time_timer(self.due.value())
        self.due.update(max(value[1], self.due.value() or value[1]) + 100)
        ctx.timer_service().register_event_time_timer(self.due.value())

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), timestamp, self.count.value()
        if self.due.value() == timestamp:
            ctx.timer_service().register_event_time_timer(timestamp + 1)


class Chained(KeyedProcessFunction):
    """Sets a near and a far timer with each record; one that fires sets a nearer one than others, and deletes one."""

    def process_element(self, value: Any, ctx: Any) -> None:
        for delay in (1, 20):
            ctx.timer_service().register_event_time_timer(value[1] + delay)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), timestamp
        if timestamp % 3:
            ctx.timer_service().register_event_time_timer(timestamp + 1)
        ctx.timer_service().delete_event_time_timer(timestamp + 5)


class Both(KeyedCoProcessFunction):
    """Emits each record with the number of records of the other side before it."""

    def open(self, runtime_context: Any) -> None:
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.STRING(), Types.LONG()))

    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.seen.put("l", (self.seen.get("l") or 0) + 1)
        yield value, self.seen.get("r")

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.seen.put("r", (self.seen.get("r") or 0) + 1)
        yield value, self.seen.get("l")


def joined(one: Record, other: Record) -> Record:
    return one[0], other[1], one[2] + other[2]


def key_of(record: Record) -> str:
    return record[0]


Job = Callable[[DataStream, DataStream], DataStream]
JOBS: dict[str, Job] = {
    "moving timers": lambda left, right: left.key_by(key_of).process(Moving()),
    "timers": lambda left, right: left.key_by(key_of).process(Timers()),
    "timers that set timers": lambda left, right: left.key_by(key_of).process(Chained()),
}


def _interval_join(lower: int, upper: int) -> Job:
    return lambda left, right: (
        left.key_by(key_of).interval_join(right.key_by(key_of)).between(ms(lower), ms(upper)).process(Pairs())
    )


JOBS |= {
    "interval join": _interval_join(-3, 5),
    "interval join with earlier records": _interval_join(-7, -2),
    "interval join with later records": _interval_join(2, 6),
    "interval join at the same time": _interval_join(0, 0),
}


def _jobs_of(name: str, windows: Callable[[], Any]) -> dict[str, Job]:
    def of(left: DataStream) -> Any:
        return left.key_by(key_of).window(windows())

    return {
        f"{name}, reduce": lambda left, right: of(left).reduce(joined),
        f"{name}, aggregate": lambda left, right: of(left).aggregate(Texts()),
        f"{name}, process": lambda left, right: of(left).process(Shown()),
        f"{name} over all": lambda left, right: left.window_all(windows()).reduce(joined),
        f"{name}, co-group": lambda left, right: (
            left.co_group(right).where(key_of).equal_to(key_of).window(windows()).apply(Grouped())
        ),
    }


for _name, _windows in WINDOWS.items():
    JOBS |= _jobs_of(_name, _windows)

TIMES = st.integers(-20, 40)


def results(job: Job, mode: str, left: list[Record], right: list[Record]) -> list[Any]:
    """Run a job and return its results."""
    configuration = Configuration.from_dict({"scurry.runner": "local", "execution.runtime-mode": mode})
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(9)).with_timestamp_assigner(
        lambda value, _: value[1]
    )
    streams = [env.from_collection(some).assign_timestamps_and_watermarks(strategy) for some in (left, right)]
    return list(job(*streams).execute_and_collect())


def records_of(side: str, spec: list[tuple[str, int]]) -> list[Record]:
    return [(key, time, f"{side}{number} ") for number, (key, time) in enumerate(spec)]


@pytest.fixture(autouse=True, params=["parts of keys", "keys in parts", "many keys at once"])
def _small_limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_windows, "_GATHERED", 4)
    monkeypatch.setattr(batch_windows, "_MANY", 1)
    monkeypatch.setattr(interval_join, "_DROPPED", 1)
    monkeypatch.setattr(interval_join, "_EMITTED", 2)
    monkeypatch.setattr(batch_task, "RUN_RECORDS", 5)
    monkeypatch.setattr(ordering, "_MANY", 6)
    if request.param == "many keys at once":
        monkeypatch.setattr(batch_task, "FIRST_RECORDS", 100)
        monkeypatch.setattr(batch_task, "RUN_RECORDS", 100)
        monkeypatch.setattr(interval_join, "_MANY", 1)
        return
    monkeypatch.setattr(batch_task, "PARTS", 1)
    monkeypatch.setattr(batch_task, "FIRST_RECORDS", 3)
    monkeypatch.setattr(key_blocks, "_LEAST_RECORDS", 2)
    monkeypatch.setattr(key_blocks, "_MOST_RECORDS", 3)
    monkeypatch.setattr(key_records, "_WAITING_RECORDS", 4)
    monkeypatch.setattr(key_records, "_MADE_RECORDS", 2)
    if request.param == "parts of keys":
        monkeypatch.setattr(key_records, "_AT_ONCE_BYTES", 1)


#: Of several shapes: one key, a few with many records each, and many with a few records each.
SPECS = st.sampled_from(["a", "ab", "abcdefghijklmnop"]).flatmap(
    lambda keys: st.lists(st.tuples(st.sampled_from(keys), TIMES), min_size=8, max_size=24)
)


@pytest.mark.parametrize("name", JOBS)
def test_batch_emits_what_streaming_does(name: str) -> None:
    @settings(max_examples=max(CASES // 3, 4))
    @given(SPECS, SPECS)
    def check(left: list[tuple[str, int]], right: list[tuple[str, int]]) -> None:
        one, other = (
            records_of(side, sorted(spec, key=lambda each: each[1])) for side, spec in (("l", left), ("r", right))
        )
        expected, found = (results(JOBS[name], mode, one, other) for mode in ("STREAMING", "BATCH"))
        assert sorted(map(repr, found)) == sorted(map(repr, expected))

    check()


@pytest.mark.parametrize("name", ["timers", "interval join", "sessions, aggregate", "sliding, aggregate"])
def test_batch_of_records_out_of_order_emits_what_streaming_does(name: str) -> None:
    @settings(max_examples=max(CASES // 3, 4))
    @given(SPECS, SPECS)
    def check(left: list[tuple[str, int]], right: list[tuple[str, int]]) -> None:
        one, other = records_of("l", left), records_of("r", right)
        expected, found = (results(JOBS[name], mode, one, other) for mode in ("STREAMING", "BATCH"))
        assert sorted(map(in_any_order, found)) == sorted(map(in_any_order, expected))

    check()


def in_any_order(result: Any) -> str:
    """Return a result as text, without the order of the records that it is of."""
    if isinstance(result, str):
        return " ".join(sorted(result.split()))
    return repr([sorted(part, key=repr) if isinstance(part, list) else part for part in result])


@settings(max_examples=max(CASES // 3, 4))
@given(SPECS)
def test_batch_emits_the_last_value_of_a_rolling_reduce(spec: list[tuple[str, int]]) -> None:
    records = records_of("l", sorted(spec, key=lambda each: each[1]))
    rolling: Job = lambda left, right: left.key_by(key_of).reduce(joined)  # noqa: E731
    expected = {each[0]: each for each in results(rolling, "STREAMING", records, records)}
    found = results(rolling, "BATCH", records, records)
    assert sorted(found) == sorted(expected.values())


@settings(max_examples=max(CASES // 3, 4))
@given(SPECS, SPECS)
def test_batch_passes_the_records_of_both_inputs_of_a_key_in_time_order(
    left: list[tuple[str, int]], right: list[tuple[str, int]]
) -> None:
    both: Job = lambda one, other: one.connect(other).key_by(key_of, key_of).process(Both())  # noqa: E731
    found = results(both, "BATCH", records_of("l", left), records_of("r", right))
    for (key, time, text), others in found:
        side = right if text[0] == "l" else left
        before, until = (sum(k == key and t < limit for k, t in side) for limit in (time, time + 1))
        assert before <= (others or 0) <= until
    assert sorted(value for value, _ in found) == sorted([*records_of("l", left), *records_of("r", right)])


def refusing(one: Record, other: Record) -> Record:
    if other[2].startswith("l2"):
        raise ValueError("no")
    return one


@pytest.mark.parametrize(
    "job",
    [
        lambda left, right: left.key_by(key_of).reduce(refusing),
        lambda left, right: left.key_by(key_of).window(TumblingEventTimeWindows.of(ms(10))).reduce(refusing),
        lambda left, right: left.key_by(key_of).window(EventTimeSessionWindows.with_gap(ms(10))).reduce(refusing),
    ],
    ids=["reduce", "tumbling", "sessions"],
)
def test_a_function_that_fails_in_batch_is_reported_with_its_record(job: Job) -> None:
    records = records_of("l", [("a", time) for time in range(5)])
    with pytest.raises(JobError, match=r"\('a', 2, 'l2 '\)"):
        results(job, "BATCH", records, records)


class Counted(KeyedProcessFunction):
    """Emits each record with the number of those of its key before it, and the time, which it has none of."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.count.update((self.count.value() or 0) + 1)
        if self.count.value() % 2:
            yield value, ctx.get_current_key(), self.count.value(), ctx.timestamp()


@settings(max_examples=max(CASES // 3, 4))
@given(SPECS)
def test_batch_passes_records_without_times_as_streaming_does(spec: list[tuple[str, int]]) -> None:
    counted: Job = lambda left, right: left.key_by(key_of).process(Counted())  # noqa: E731
    found = []
    for mode in ("STREAMING", "BATCH"):
        configuration = Configuration.from_dict({"scurry.runner": "local", "execution.runtime-mode": mode})
        env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
        records = env.from_collection(records_of("l", spec))
        found.append(sorted(map(repr, counted(records, records).execute_and_collect())))
    assert found[0] == found[1]
