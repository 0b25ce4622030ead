"""Event-time windows against a model that keeps every element and looks at all of them each time.

Elements and watermarks come interleaved and in several micro-batches, with the state written back in between.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Configuration, Types
from scurry.common.output_tag import OutputTag
from scurry.common.time import Time
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import AggregateFunction, ProcessWindowFunction
from scurry.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from scurry.graph.plan import JobPlan
from scurry.runtime.exchange import edge_writer
from scurry.runtime.local.runner import plan_loader
from scurry.runtime.state.store import DictStore
from scurry.runtime.task import LevelTask
from scurry.runtime.wire import COMMIT, MAX_TIME, METRICS, MIN_TIME, WireRow, channel_id, unpack

LATE = OutputTag("late")

#: (key, timestamp, number)
Element = tuple[str, int, int]


class Contents(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, context.window().start, context.window().end, sorted(elements)


class Sum(AggregateFunction):
    def create_accumulator(self) -> Any:
        return None, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return value[0], accumulator[1] + value[2]

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a[0] or acc_b[0], acc_a[1] + acc_b[1]


def plus(left: Any, right: Any) -> Any:
    return left[0], 0, left[2] + right[2]


class WithWindow(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        (element,) = elements
        yield key, context.window().start, context.window().end, element[-1]


@dataclass
class Windows:
    """Windows of a kind, as an assigner and for the model."""

    size: int = 0
    slide: int = 0
    gap: int = 0
    offset: int = 0

    def assigner(self) -> Any:
        ms = Time.milliseconds
        if self.gap:
            return EventTimeSessionWindows.with_gap(ms(self.gap))
        if self.slide:
            return SlidingEventTimeWindows.of(ms(self.size), ms(self.slide), ms(self.offset))
        return TumblingEventTimeWindows.of(ms(self.size), ms(self.offset))

    def of(self, time: int) -> list[tuple[int, int]]:
        if self.gap:
            return [(time, time + self.gap)]
        slide = self.slide or self.size
        first = (time - self.offset) // slide * slide + self.offset
        return [(start, start + self.size) for start in range(first, time - self.size, -slide)]


@dataclass
class Model:
    """What Flink's WindowOperator does, without any cleverness."""

    windows: Windows
    lateness: int
    watermark: int = MIN_TIME
    contents: dict[tuple[str, int, int], list[Element]] = field(default_factory=dict)
    fired: list[tuple[str, int, int, list[Element]]] = field(default_factory=list)
    late: list[Element] = field(default_factory=list)

    def element(self, element: Element) -> None:
        key, time, _ = element
        taken = False
        for window in self.windows.of(time):
            start, end = self.merged(key, *window) if self.windows.gap else window
            if end - 1 + self.lateness <= self.watermark:
                continue
            taken = True
            old = [of for of in self.contents if of[0] == key and start <= of[1] and of[2] <= end]
            elements = [e for of in old for e in self.contents.pop(of)] if self.windows.gap else []
            kept = self.contents.setdefault((key, start, end), elements)
            kept.append(element)
            if end - 1 <= self.watermark:
                self.fire((key, start, end))
        if not taken and time + self.lateness <= self.watermark:
            self.late.append(element)

    def merged(self, key: str, start: int, end: int) -> tuple[int, int]:
        touching = [of for of in self.contents if of[0] == key and of[1] <= end and start <= of[2]]
        return min([start, *(of[1] for of in touching)]), max([end, *(of[2] for of in touching)])

    def fire(self, window: tuple[str, int, int]) -> None:
        self.fired.append((*window, sorted(self.contents[window])))

    def time(self, watermark: int) -> None:
        before, self.watermark = self.watermark, max(watermark, self.watermark)
        for window in sorted(self.contents, key=lambda window: window[2]):
            if before < window[2] - 1 <= self.watermark:
                self.fire(window)
            if window[2] - 1 + self.lateness <= self.watermark:
                del self.contents[window]


@dataclass
class Outcome:
    results: list[Any] = field(default_factory=list)
    late: list[Any] = field(default_factory=list)
    dropped: int = 0


class Subject:
    """The window operator of a program, fed by hand: records and watermarks in, what reaches its sinks out."""

    def __init__(self, windows: Windows, lateness: int, kind: str, late_output: bool) -> None:
        configuration = Configuration()
        configuration.set_string("scurry.runner", "local")
        configuration.set_string("execution.runtime-mode", "STREAMING")
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(1)
        env.set_max_parallelism(1)
        stream = env.from_collection([("", 0, 0)], type_info=None).key_by(lambda element: element[0])
        windowed = stream.window(windows.assigner())
        if lateness:
            windowed = windowed.allowed_lateness(lateness)
        if late_output:
            windowed = windowed.side_output_late_data(LATE)
        self.outcome = Outcome()
        fired: Any = {
            "process": lambda: windowed.process(Contents()),
            "reduce": lambda: windowed.reduce(plus),
            "aggregate": lambda: windowed.aggregate(Sum()),
            "reduce and process": lambda: windowed.reduce(plus, WithWindow()),
            "aggregate and process": lambda: windowed.aggregate(Sum(), WithWindow(), Types.PICKLED_BYTE_ARRAY()),
        }[kind]()
        self.sinks: dict[int, list[Any]] = {}
        from scurry.connectors.collect_sink import CollectSink

        fired._sink(CollectSink(self.outcome.results.extend), "Results")
        if late_output:
            fired.get_side_output(LATE)._sink(CollectSink(self.outcome.late.extend), "Late")
        self.plan: JobPlan = env._plan("windows")
        for op in self.plan.operators.values():
            if op.name.endswith(("Results", "Late")):
                self.sinks[op.id] = self.outcome.late if op.name.endswith("Late") else self.outcome.results
        self.store, self.batch_id = DictStore(), 0
        (self.edge,) = self.plan.edges.values()
        self.level = LevelTask(plan_loader(self.plan), 1)

    def batch(self, steps: list[Any]) -> None:
        (source,) = self.plan.sources.values()
        writer = edge_writer(self.edge, self.plan.subtask_ids, channel_id(source.id), 0, source)
        seq, rows = self.batch_id << 24, []
        writer.point(seq, seq)
        for step in steps:
            seq += 1
            if isinstance(step, tuple):
                writer.process([step], [step[1]])
            else:
                writer.watermark(step)
                rows += writer.flush(seq, seq)
                writer.point(seq, seq)
        rows += [*writer.flush(seq, seq), *writer.progress()]
        for row in self.level.process(0, rows, self.store, self.batch_id):
            self.take(row)
        self.batch_id += 1

    def take(self, row: WireRow) -> None:
        if row.kind == COMMIT:
            for block in unpack(row.block):
                self.sinks[row.port].extend(pickle.loads(block))
        elif row.kind == METRICS:
            found = dict(unpack(row.block))
            self.outcome.dropped += sum(n for (_, metric), n in found.items() if metric == "numLateRecordsDropped")


WINDOWS = (
    st.builds(Windows, size=st.integers(1, 12), offset=st.integers(0, 0))
    | st.builds(Windows, size=st.just(10), offset=st.integers(-9, 9))
    | st.builds(Windows, size=st.integers(1, 12), slide=st.integers(1, 12))
    | st.builds(Windows, size=st.just(9), slide=st.just(3), offset=st.integers(-2, 2))
    | st.builds(Windows, gap=st.integers(1, 8))
)
KEYS = st.sampled_from(["a", "b"])
ELEMENTS = st.tuples(KEYS, st.integers(-20, 60), st.integers(1, 9))
#: Watermarks come as steps ahead or back; the driver never lets them fall.
STEPS = st.lists(st.one_of(ELEMENTS, ELEMENTS, st.integers(-20, 70)), max_size=25)
KINDS = ["process", "reduce", "aggregate", "reduce and process", "aggregate and process"]


def expected(kind: str, fired: list[Any]) -> list[Any]:
    """What windows that fired with these elements emit."""
    shown = []
    for key, start, end, elements in fired:
        total = sum(number for _, _, number in elements)
        shown.append(
            {
                "process": (key, start, end, elements),
                "reduce": (key, total),
                "aggregate": (key, total),
            }.get(kind, (key, start, end, total))
        )
    return shown


def emitted(kind: str, results: list[Any]) -> list[Any]:
    return [(key, number) for key, _, number in results] if kind == "reduce" else results


def by_window(results: list[Any]) -> dict[Any, list[Any]]:
    """Results by key and, where they tell it, window: the order within is the order of firing."""
    found: dict[Any, list[Any]] = defaultdict(list)
    for result in results:
        found[result[:3] if len(result) == 4 else result[:1]].append(result[-1])
    return found


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(WINDOWS, st.sampled_from([0, 1, 5, 30]), st.booleans(), st.lists(STEPS, min_size=1, max_size=3))
def test_windows_agree_with_the_model(
    kind: str, windows: Windows, lateness: int, late_output: bool, batches: list[Any]
) -> None:
    model, subject = Model(windows, lateness), Subject(windows, lateness, kind, late_output)
    for steps in [*batches, [MAX_TIME]]:
        for step in steps:
            if isinstance(step, tuple):
                model.element(step)
            else:
                model.time(step)
        subject.batch(steps)
        got = by_window(emitted(kind, subject.outcome.results))
        want = by_window(expected(kind, model.fired))
        if kind in ("reduce", "aggregate"):  # windows that end at the same time fire in any order
            got, want = ({k: sorted(v) for k, v in some.items()} for some in (got, want))
        assert got == want
    assert (subject.outcome.late if late_output else subject.outcome.dropped) == (
        model.late if late_output else len(model.late)
    )


@settings(max_examples=40, deadline=None)
@given(WINDOWS, st.sampled_from([0, 5]), st.lists(STEPS, min_size=1, max_size=3))
def test_nothing_is_left_of_windows_that_are_over(windows: Windows, lateness: int, batches: list[Any]) -> None:
    subject = Subject(windows, lateness, "process", late_output=False)
    for steps in [*batches, [MAX_TIME]]:
        subject.batch(steps)
    assert [key for key in subject.store if key[1] != "meta"] == []
