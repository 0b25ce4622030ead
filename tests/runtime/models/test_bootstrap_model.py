"""BATCH over history, then STREAMING from its savepoint, gives what STREAMING over all gives.

The records of a random stream are cut at a random place. Whatever the operator, the results on both sides of the cut
are those of the pipeline that had no cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.cep import CEP, Pattern, PatternProcessFunction
from scurry.common import Time, Types
from scurry.common.output_tag import OutputTag
from scurry.datastream import DataStream, KeyedProcessFunction, ProcessJoinFunction
from scurry.datastream.functions import (
    AggregateFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    ProcessWindowFunction,
)
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import (
    ContinuousEventTimeTrigger,
    CountEvictor,
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from scurry.testing import TestHarness
from support.cases import CASES
from support.runtime.bootstrap_jobs import Pipeline, batch, streaming, temporary_directory
from support.runtime.scripted_pipeline import MAX_TIME, MIN_TIME, Record, Step

LATE = OutputTag("late")
BOUND = 5


class Contents(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        seen = context.window_state().get_state(ValueStateDescriptor("seen", Types.LONG()))
        total = context.global_state().get_state(ValueStateDescriptor("total", Types.LONG()))
        seen.update((seen.value() or 0) + 1)
        total.update((total.value() or 0) + 1)
        yield key, getattr(context.window(), "start", None), seen.value(), total.value(), sorted(elements)

    def clear(self, context: Any) -> None:
        context.window_state().get_state(ValueStateDescriptor("seen", Types.LONG())).clear()


class Sum(AggregateFunction):
    def create_accumulator(self) -> Any:
        return None, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return value[0], accumulator[1] + value[1]

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a[0] or acc_b[0], acc_a[1] + acc_b[1]


class InOrder(KeyedProcessFunction):
    """Holds records back until the watermark reaches them, then numbers them."""

    def open(self, runtime_context: Any) -> None:
        self.waiting = runtime_context.get_map_state(MapStateDescriptor("waiting", Types.LONG(), Types.LONG()))
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        if ctx.timestamp() <= ctx.timer_service().current_watermark():
            yield LATE, value
            return
        self.waiting.put(ctx.timestamp(), (self.waiting.get(ctx.timestamp()) or 0) + value[1])
        ctx.timer_service().register_event_time_timer(ctx.timestamp())

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield ctx.get_current_key(), timestamp, self.count.value(), self.waiting.get(timestamp)
        self.waiting.remove(timestamp)


class Meeting(KeyedCoProcessFunction):
    """Gathers records of both sides until ten milliseconds after them."""

    def open(self, runtime_context: Any) -> None:
        self.sides = [runtime_context.get_list_state(ListStateDescriptor(name, Types.LONG())) for name in ("a", "b")]

    def process_element1(self, value: Any, ctx: Any, side: int = 0) -> None:
        self.sides[side].add(ctx.timestamp())
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)

    def process_element2(self, value: Any, ctx: Any) -> None:
        self.process_element1(value, ctx, 1)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        found = [sorted(time for time in side.get() if time <= timestamp - 10) for side in self.sides]
        yield ctx.get_current_key(), timestamp, found
        for side, over in zip(self.sides, found, strict=True):
            side.update([time for time in side.get() if time not in over])


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        yield left, right, ctx.get_timestamp()


class Running(KeyedProcessFunction):
    """Adds up the values of a key."""

    def open(self, runtime_context: Any) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.total.update((self.total.value() or 0) + value[1])
        yield value[0], ctx.timestamp(), self.total.value()


RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())


class Weighing(KeyedBroadcastProcessFunction):
    """Multiplies by the latest rule of a key; gathers the sum."""

    def open(self, runtime_context: Any) -> None:
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        weight = ctx.get_broadcast_state(RULES).get(value[0]) or 1
        self.sum.update((self.sum.value() or 0) + weight * value[1])
        yield value[0], self.sum.value()

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(value[0], value[1])


class Found(PatternProcessFunction[Any, Any]):
    def process_match(self, match: Any, ctx: Any) -> Any:
        yield sorted(match.items()), ctx.timestamp()


def key(value: Any) -> Any:
    return value[0]


def gathered(left: Any, right: Any) -> Any:
    yield sorted(left), sorted(right)


@dataclass(frozen=True)
class Case:
    """A kind of operator.

    Attributes:
        pipeline: With the operator.
        inputs: Number of its inputs.
        in_order: Whether results depend on the order of the records of a key, which BATCH puts in the order of time.
        broadcast: Whether input 1 is broadcast: BATCH reads it before input 0.
        same_history: Whether BATCH emits the same as STREAMING; if not, only what it keeps is the same.
        same_entries: Whether BATCH keeps as many entries of state as STREAMING; if not, it may keep fewer.
    """

    pipeline: Pipeline
    inputs: int = 1
    in_order: bool = False
    broadcast: bool = False
    same_history: bool = True
    same_entries: bool = True


def windows(assigner: Any) -> Any:
    return lambda stream: stream.key_by(key).window(assigner)


tumbling = windows(TumblingEventTimeWindows.of(Time.milliseconds(10)))
sliding = windows(SlidingEventTimeWindows.of(Time.milliseconds(15), Time.milliseconds(5)))
sessions = windows(EventTimeSessionWindows.with_gap(Time.milliseconds(4)))
global_windows = windows(GlobalWindows.create())


def joined(left: DataStream, right: DataStream) -> DataStream:
    keyed = left.key_by(key).interval_join(right.key_by(key)).between(-4, 7)
    return keyed.side_output_left_late_data(LATE).process(Pair()).uid("join")


def two_levels(stream: DataStream) -> DataStream:
    sums: DataStream = tumbling(stream).aggregate(Sum()).uid("sums").map(lambda value: ("all", value[1]))
    return sums.window_all(TumblingEventTimeWindows.of(Time.milliseconds(30))).aggregate(Sum()).uid("totals")


def matched(stream: DataStream) -> DataStream:
    """Pairs of numbers, of which several begin before the history ends and find their second number after it."""
    pairs = Pattern.begin("a").where(lambda value: value[1] % 3 == 0).followed_by("b")
    pattern = pairs.where(lambda value: value[1] % 3 == 1).within(Time.milliseconds(20))
    return CEP.pattern(stream.key_by(key), pattern).side_output_late_data(LATE).process(Found()).uid("op")


def totals_of_windows(stream: DataStream) -> DataStream:
    sums: DataStream = tumbling(stream).aggregate(Sum()).uid("sums")
    return sums.key_by(key).process(Running()).uid("totals")


CASES_BY_NAME = {
    "tumbling reduce": Case(lambda s: tumbling(s).reduce(lambda a, b: (a[0], a[1] + b[1])).uid("op")),
    "tumbling with allowed lateness": Case(
        lambda s: tumbling(s).allowed_lateness(7).side_output_late_data(LATE).process(Contents()).uid("op")
    ),
    "sliding process": Case(lambda s: sliding(s).side_output_late_data(LATE).process(Contents()).uid("op")),
    "sessions": Case(lambda s: sessions(s).side_output_late_data(LATE).aggregate(Sum()).uid("op")),
    "sessions with allowed lateness": Case(
        lambda s: sessions(s).allowed_lateness(6).side_output_late_data(LATE).aggregate(Sum()).uid("op")
    ),
    "counting windows": Case(
        lambda s: global_windows(s).trigger(PurgingTrigger.of(CountTrigger.of(3))).process(Contents()).uid("op"),
        in_order=True,
    ),
    "early firings": Case(
        lambda s: tumbling(s).trigger(ContinuousEventTimeTrigger.of(Time.milliseconds(3))).aggregate(Sum()).uid("op"),
        in_order=True,  # when it fires next depends on the record that came first
        same_history=False,
    ),
    "evictor": Case(
        lambda s: global_windows(s).trigger(CountTrigger.of(2)).evictor(CountEvictor.of(3)).aggregate(Sum()).uid("op"),
        in_order=True,
    ),
    "timers": Case(lambda s: s.key_by(key).process(InOrder()).uid("op")),
    "rolling reduce": Case(
        lambda s: s.key_by(key).reduce(lambda a, b: (a[0], a[1] + b[1])).uid("op"), in_order=True, same_history=False
    ),
    "two levels": Case(two_levels),
    "totals of windows": Case(totals_of_windows),
    # BATCH knows that the watermark has passed a partial match, for which STREAMING waits until the key's next record
    "pattern": Case(matched, same_entries=False),
    "interval join": Case(joined, inputs=2, in_order=True),
    "window join": Case(
        lambda a, b: a.join(b).where(key).equal_to(key).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
        .apply(lambda left, right: (left, right)).uid("op"),
        inputs=2,
    ),
    "co-group of sessions": Case(
        lambda a, b: a.co_group(b).where(key).equal_to(key)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(4))).apply(gathered).uid("op"),
        inputs=2,
    ),
    "two inputs with timers": Case(
        lambda a, b: a.key_by(key).connect(b.key_by(key)).process(Meeting()).uid("op"), inputs=2
    ),
    "broadcast state": Case(
        lambda a, b: a.key_by(key).connect(b.broadcast(RULES)).process(Weighing()).uid("op"), inputs=2, in_order=True,
        broadcast=True,
    ),
}  # fmt: skip


@st.composite
def cut_streams(draw: st.DrawFn, case: Case) -> tuple[list[list[Record]], list[Step]]:
    """History for each input, in which nothing is late, and what comes after it, where much is."""
    number = iter(range(1_000_000))

    def values() -> st.SearchStrategy[Any]:
        return st.sampled_from("abc").map(lambda letter: (letter, next(number)))

    history = []
    for index in range(case.inputs):
        # less than BOUND: what comes at the very end of a session that has just been closed belongs to it in BATCH
        jitter = st.just(0) if case.in_order else st.integers(0, BOUND - 1)
        times = draw(st.lists(st.tuples(st.integers(0, 80), jitter), min_size=1, max_size=25))
        times.sort(key=sum)
        history.append([Record(draw(values()), time, index) for time, _ in times])
    record = st.builds(Record, values(), st.integers(0, 130), st.integers(0, case.inputs - 1))
    rest = draw(st.lists(record | st.integers(80, 130), max_size=25))
    return history, rest


def feed(harness: TestHarness, steps: Sequence[Step]) -> None:
    watermark = MIN_TIME
    for step in steps:
        if isinstance(step, Record):
            harness.process(step.value, step.timestamp, input=step.input + 1)
        elif step > watermark:
            watermark = step
            harness.advance_watermark(step)


def feed_history(harness: TestHarness, history: list[list[Record]], broadcast: bool) -> None:
    """Feeds the records of all inputs, with a watermark behind each."""
    records = [record for records in history for record in records]
    if broadcast:
        records.sort(key=lambda record: -record.input)
    elif len(history) > 1:
        records.sort(key=lambda record: record.timestamp)
    highest = [MIN_TIME] * len(history)
    for record in records:
        harness.process(record.value, record.timestamp, input=record.input + 1)
        highest[record.input] = max(highest[record.input], record.timestamp)
        harness.advance_watermark(highest[record.input] - BOUND - 1, input=record.input + 1)


def taken(harness: TestHarness) -> tuple[Counter[str], Counter[str]]:
    """What was emitted since the last call: results and late records."""
    results, late = map(repr, harness.outputs()), map(repr, harness.side_output(LATE))
    found = Counter(results), Counter(late)
    harness.clear_outputs()
    return found


@pytest.mark.parametrize("name", CASES_BY_NAME)
def test_streaming_goes_on_where_batch_has_ended(name: str) -> None:
    case = CASES_BY_NAME[name]

    @settings(max_examples=max(CASES // 7, 4), deadline=None)
    @given(cut_streams(case), st.sampled_from([1, 2]))
    def check(streams: tuple[list[list[Record]], list[Step]], parallelism: int) -> None:
        history, rest = streams
        with temporary_directory() as directory, streaming(case.pipeline) as uncut:
            feed_history(uncut, history, case.broadcast)
            results, savepoint = batch(case.pipeline, history, directory, BOUND, parallelism)
            before, _ = taken(uncut)
            if case.same_history:
                assert Counter(map(repr, results)) == before
            with streaming(case.pipeline, savepoint, 3 - parallelism) as resumed:
                for steps in (rest, [MAX_TIME]):
                    feed(uncut, steps)
                    feed(resumed, steps)
                    assert taken(resumed) == taken(uncut)
                    here, there = resumed.num_keyed_state_entries(), uncut.num_keyed_state_entries()
                    assert here == there or (here < there and not case.same_entries)

    check()
