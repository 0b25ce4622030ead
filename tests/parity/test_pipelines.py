"""Random pipelines over random records, on every runner, against plain Python.

Records are (key, number, time). Watermarks trail by more than the records are out of order, so nothing is late and the
results do not depend on who overtook whom. Of a rolling reduce only the final value counts: BATCH emits no other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scurry.common.output_tag import OutputTag
from scurry.common.time import Duration, Time
from scurry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from scurry.connectors import collection
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.functions import (
    AggregateFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
    ProcessWindowFunction,
)
from scurry.datastream.state import ListStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from support.cases import cases
from support.runners import Runner


class Record(NamedTuple):
    key: str
    number: int
    time: int


Records = list[Record]
ODD = OutputTag("odd")
END = 1_000_000


class ByTime(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value.time)


class Split(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield (ODD, value) if value.number % 2 else value


class PassOn(KeyedProcessFunction):
    """Passes records on, by way of its state."""

    def open(self, runtime_context: Any) -> None:
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.seen.add(value)
        yield list(self.seen.get())[-1]


class SumAtTheEnd(KeyedProcessFunction):
    """Sums until a timer far behind all records fires."""

    def open(self, runtime_context: Any) -> None:
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.sum.add(value.number)
        ctx.timer_service().register_event_time_timer(END)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        assert timestamp == END == ctx.timestamp()
        yield ctx.get_current_key(), self.sum.get()


class Joined(KeyedCoProcessFunction):
    """Left minus right, per key, at the end."""

    def open(self, runtime_context: Any) -> None:
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum"))

    def process_element1(self, value: Any, ctx: Any) -> None:
        self.sum.update((self.sum.value() or 0) + value.number)
        ctx.timer_service().register_event_time_timer(END)

    def process_element2(self, value: Any, ctx: Any) -> None:
        self.sum.update((self.sum.value() or 0) - value)
        ctx.timer_service().register_event_time_timer(END)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), self.sum.value()


class Total(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + int(value.number)

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class WithWindow(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, context.window().start, context.window().end, sum(elements)


class Elements(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, context.window().start, context.window().end, sum(e.number for e in elements)


# ------------------------------------------------------------------ steps: what a stream does, what a list does

ms = Time.milliseconds


def by_key(record: Record) -> str:
    return record.key


def split(stream: DataStream) -> DataStream:
    even = stream.process(Split())
    return even.union(even.get_side_output(ODD).map(lambda r: r._replace(number=r.number * 10)))


STEPS: dict[str, tuple[Callable[[DataStream], DataStream], Callable[[Records], Iterable[Record]]]] = {
    "map": (
        lambda stream: stream.map(lambda r: r._replace(number=r.number + 1)),
        lambda records: [r._replace(number=r.number + 1) for r in records],
    ),
    "filter": (
        lambda stream: stream.filter(lambda r: r.number % 3 != 0),
        lambda records: [r for r in records if r.number % 3 != 0],
    ),
    "flat_map": (
        lambda stream: stream.flat_map(lambda r: [r, r._replace(key="x")] if r.number > 0 else []),
        lambda records: [copy for r in records if r.number > 0 for copy in (r, r._replace(key="x"))],
    ),
    "rebalance": (lambda stream: stream.rebalance(), lambda records: records),
    "forked union": (
        lambda stream: stream.map(lambda r: r).union(stream.filter(lambda r: r.number > 5)),
        lambda records: [*records, *(r for r in records if r.number > 5)],
    ),
    "union with itself": (lambda stream: stream.union(stream).map(lambda r: r), lambda records: [*records, *records]),
    "side output": (
        split,
        lambda records: [r._replace(number=r.number * 10) if r.number % 2 else r for r in records],
    ),
    "keyed": (lambda stream: stream.key_by(by_key).process(PassOn()), lambda records: records),
    "keyed by number": (
        lambda stream: stream.key_by(lambda r: (r.number % 3, None)).process(PassOn()),
        lambda records: records,
    ),
}


def sums(pairs: Iterable[tuple[Any, int]]) -> dict[Any, int]:
    found: dict[Any, int] = defaultdict(int)
    for key, number in pairs:
        found[key] += number
    return dict(found)


def windowed(records: Records, starts: Callable[[int], Iterable[int]], size: int) -> list[Any]:
    totals = sums(((r.key, start, start + size), r.number) for r in records for start in starts(r.time))
    return [(*window, total) for window, total in totals.items()]


def sessions(records: Records, gap: int) -> list[Any]:
    found: list[Any] = []
    for record in sorted(records, key=lambda r: (r.key, r.time)):
        if found and found[-1][0] == record.key and record.time <= found[-1][2]:
            key, start, _, total = found[-1]
            found[-1] = (key, start, record.time + gap, total + record.number)
        else:
            found.append((record.key, record.time, record.time + gap, record.number))
    return found


ENDS: dict[str, tuple[Callable[[DataStream], DataStream], Callable[[Records], Iterable[Any]]]] = {
    "records": (lambda stream: stream, lambda records: records),
    "reduce": (
        lambda stream: stream.map(lambda r: (r.key, 1)).key_by(lambda p: p[0]).reduce(lambda a, b: (a[0], a[1] + b[1])),
        lambda records: Counter(r.key for r in records).items(),
    ),
    "tumbling": (
        lambda stream: stream.key_by(by_key).window(TumblingEventTimeWindows.of(ms(20))).process(Elements()),
        lambda records: windowed(records, lambda time: [time // 20 * 20], 20),
    ),
    "sliding": (
        lambda stream: (
            stream.key_by(by_key)
            .window(SlidingEventTimeWindows.of(ms(20), ms(10)))
            .aggregate(Total(), WithWindow())
        ),
        lambda records: windowed(records, lambda time: [time // 10 * 10, time // 10 * 10 - 10], 20),
    ),
    "session": (
        lambda stream: (
            stream.key_by(by_key).window(EventTimeSessionWindows.with_gap(ms(7))).aggregate(Total(), WithWindow())
        ),
        lambda records: sessions(records, 7),
    ),
    "window_all": (
        lambda stream: stream.window_all(TumblingEventTimeWindows.of(ms(50))).aggregate(Total()),
        lambda records: sums((r.time // 50, r.number) for r in records).values(),
    ),
    "timer": (
        lambda stream: stream.key_by(by_key).process(SumAtTheEnd()),
        lambda records: sums((r.key, r.number) for r in records).items(),
    ),
    "connected": (
        lambda stream: (
            stream.key_by(by_key).connect(stream.map(lambda r: r.number).key_by(lambda n: "x")).process(Joined())
        ),
        lambda records: sums([*((r.key, r.number) for r in records), *(("x", -r.number) for r in records)]).items(),
    ),
}  # fmt: skip


def final(end: str, results: list[Any]) -> list[Any]:
    """Results in an order of their own; of rolling counts the last, which is the highest."""
    if end == "reduce":
        highest: dict[Any, int] = {}
        for key, count in results:
            highest[key] = max(count, highest.get(key, 0))
        results = list(highest.items())
    return sorted(results, key=repr)


def pipeline(env: StreamExecutionEnvironment, records: Records, steps: list[str], end: str) -> DataStream:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(200))
    stream = env.from_collection(records).assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(ByTime()))
    for step in steps:
        stream = STEPS[step][0](stream)
    return ENDS[end][0](stream)


def expected(records: Records, steps: list[str], end: str) -> list[Any]:
    for step in steps:
        records = list(STEPS[step][1](records))
    return final(end, list(ENDS[end][1](records)))


RECORDS = st.lists(st.builds(Record, st.sampled_from("abx"), st.integers(-5, 20), st.integers(0, 150)), max_size=15)
PIPELINES = st.tuples(st.lists(st.sampled_from(sorted(STEPS)), max_size=3), st.sampled_from(sorted(ENDS)))
LOCAL = [Runner("local", "STREAMING"), Runner("local", "BATCH")]


@pytest.mark.parametrize("runner", LOCAL, ids=lambda runner: runner.mode)
@settings(max_examples=cases(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS, PIPELINES, st.sampled_from([1, 2, 4]), st.sampled_from([0, 10_000]))
def test_any_pipeline_gives_what_plain_python_gives(
    runner: Runner,
    monkeypatch: pytest.MonkeyPatch,
    records: Records,
    pipe: tuple[list[str], str],
    parallelism: int,
    single_channel: int,
) -> None:
    monkeypatch.setattr(collection, "SINGLE_CHANNEL_ELEMENTS", single_channel)
    steps, end = pipe
    results = runner.run(lambda env: {"out": pipeline(env, records, steps, end)}, parallelism)
    assert final(end, results["out"]) == expected(records, steps, end)


#: Every step and every end at least once.
SAMPLE: list[tuple[list[str], str]] = [
    (["map", "rebalance"], "records"),
    (["flat_map", "side output"], "reduce"),
    (["union with itself"], "tumbling"),
    (["filter", "keyed"], "sliding"),
    (["forked union", "keyed by number"], "session"),
    (["keyed", "map", "keyed by number"], "window_all"),
    (["side output", "forked union"], "timer"),
    (["rebalance"], "connected"),
]
SOME = [Record("abx"[n % 3], n * 7 % 23 - 3, n * 37 % 150) for n in range(40)]


def sample(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
    return {str(number): pipeline(env, SOME, *pipe) for number, pipe in enumerate(SAMPLE)}


def test_sample_covers_everything() -> None:
    assert {step for steps, _ in SAMPLE for step in steps} == set(STEPS)
    assert {end for _, end in SAMPLE} == set(ENDS)


def test_many_pipelines_in_one_job_give_the_same_on_every_runner(runner: Runner) -> None:
    results = runner.run(sample, parallelism=2)
    for number, (steps, end) in enumerate(SAMPLE):
        assert final(end, results[str(number)]) == expected(SOME, steps, end), (steps, end)


@pytest.mark.parametrize("parallelism", [1, 4])
@pytest.mark.parametrize("runner", LOCAL, ids=lambda runner: runner.mode)
def test_the_parallelism_changes_nothing(runner: Runner, parallelism: int) -> None:
    assert {name: len(found) for name, found in runner.run(sample, parallelism).items()} == {
        name: len(found) for name, found in runner.run(sample, 2).items()
    }
