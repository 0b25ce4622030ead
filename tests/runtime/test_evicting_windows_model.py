"""Windows with evictors against a model that thins a window out whenever it fires."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest
from driving import Driven
from driving import Record as Fed
from hypothesis import given, settings
from hypothesis import strategies as st
from test_windows_model import STEPS, WINDOWS, Contents, Element, Model, Sum, Windows, plus

from scurry.datastream import DataStream, ProcessWindowFunction
from scurry.datastream.window import (
    ContinuousEventTimeTrigger,
    CountEvictor,
    CountTrigger,
    DeltaEvictor,
    Evictor,
    GlobalWindows,
    PurgingTrigger,
    TimeEvictor,
    TumblingEventTimeWindows,
)
from scurry.runtime.failure import OperatorError
from scurry.runtime.wire import MAX_TIME

KINDS = ["process", "reduce", "aggregate"]


@dataclass(frozen=True)
class Rule:
    """What to evict, as an evictor and for the model."""

    kind: str
    amount: int
    after: bool

    def evictor(self) -> Evictor[Any]:
        of: dict[str, Any] = {
            "count": lambda: CountEvictor.of(self.amount, self.after),
            "time": lambda: TimeEvictor.of(self.amount, self.after),
            "delta": lambda: DeltaEvictor.of(self.amount, lambda old, new: abs(old[2] - new[2]), self.after),
        }
        made: Evictor[Any] = of[self.kind]()
        return made

    def left(self, elements: list[Element]) -> list[Element]:
        if self.kind == "count":
            return [e for place, e in enumerate(elements) if place >= len(elements) - self.amount]
        if self.kind == "time":
            return [e for e in elements if e[1] > max(time for _, time, _ in elements) - self.amount]
        return [e for e in elements if abs(e[2] - elements[-1][2]) < self.amount]


@dataclass
class EvictingModel(Model):
    """What Flink's EvictingWindowOperator does."""

    rule: Rule = Rule("count", 0, False)

    def fire(self, window: tuple[str, int, int]) -> None:
        elements = self.contents[window]
        if not elements:
            return  # all were evicted, and none has come since
        left = self.rule.left(elements)
        self.fired.append((*window, list(elements if self.rule.after else left)))
        self.contents[window] = left

    def element(self, element: Element) -> None:
        # merged contents come in the order of the windows
        self.contents = dict(sorted(self.contents.items()))
        super().element(element)


def folded(windowed: Any, kind: str) -> DataStream:
    fold: dict[str, Any] = {
        "process": lambda: windowed.process(Contents()),
        "reduce": lambda: windowed.reduce(plus, Total()),
        "aggregate": lambda: windowed.aggregate(Sum(), Total()),
    }
    stream: DataStream = fold[kind]()
    return stream


class Total(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        ((*_, total),) = elements
        yield key, context.window().start, context.window().end, total


def expected(kind: str, fired: list[Any]) -> list[Any]:
    if kind == "process":
        return [(*window, sorted(elements)) for *window, elements in fired]
    return [
        (*window, sum(number for *_, number in elements))
        for *window, elements in fired
        if elements or kind == "aggregate"  # there is nothing to reduce, but an empty accumulator has a result
    ]


def by_window(results: list[Any]) -> dict[Any, list[Any]]:
    """Results by key and window: the order within is the order of firing."""
    found: dict[Any, list[Any]] = defaultdict(list)
    for *window, result in results:
        found[tuple(window)].append(result)
    return found


RULES = st.builds(Rule, st.sampled_from(["count", "time", "delta"]), st.integers(0, 6), st.booleans())


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(WINDOWS, RULES, st.sampled_from([0, 5, 30]), st.lists(STEPS, min_size=1, max_size=3))
def test_evicting_windows_agree_with_the_model(
    kind: str, windows: Windows, rule: Rule, lateness: int, batches: list[Any]
) -> None:
    def build(stream: DataStream) -> dict[str, DataStream]:
        windowed = stream.key_by(lambda element: element[0]).window(windows.assigner())
        return {"out": folded(windowed.allowed_lateness(lateness).evictor(rule.evictor()), kind)}

    model, subject = EvictingModel(windows, lateness, rule=rule), Driven(build)
    for steps in [*batches, [MAX_TIME]]:
        for step in steps:
            if isinstance(step, tuple):
                model.element(step)
            else:
                model.time(step)
        subject.batch([Fed(step, step[1]) if isinstance(step, tuple) else step for step in steps])
        assert by_window(subject.results["out"]) == by_window(expected(kind, model.fired))
    assert subject.metrics["numLateRecordsDropped"] == len(model.late)
    assert subject.pages() == []


class Listed(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield list(elements)


def counted(every: int, evictor: Evictor[Any], purging: bool = False) -> Driven:
    """A global window that fires at every n-th element."""
    trigger: Any = CountTrigger.of(every)

    def build(stream: DataStream) -> dict[str, DataStream]:
        windowed = stream.key_by(lambda value: 0).window(GlobalWindows.create())
        windowed = windowed.trigger(PurgingTrigger.of(trigger) if purging else trigger).evictor(evictor)
        return {"out": windowed.process(Listed())}

    return Driven(build)


def fed(*values: Any) -> list[Any]:
    return [Fed(value, time) for time, value in enumerate(values)]


@given(st.lists(st.integers(), max_size=30), st.integers(1, 4), st.integers(1, 6), st.booleans(), st.integers(0, 30))
def test_count_trigger_and_count_evictor_slide_over_the_elements(
    values: list[int], every: int, keep: int, after: bool, cut: int
) -> None:
    subject = counted(every, CountEvictor.of(keep, after))
    subject.batch(fed(*values[:cut]))
    subject.batch(fed(*values[cut:]))
    held: list[int] = []
    shown = []
    for place, value in enumerate(values, start=1):
        held.append(value)
        if place % every == 0:
            shown.append(held if after else held[-keep:])
            held = held[-keep:]
    assert subject.results["out"] == shown


class Odd(Evictor[Any]):
    """Drops odd elements before, and everything but the last after the window function."""

    def evict_before(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
        assert size == len(elements) and evictor_context.get_current_processing_time() > 0
        elements[:] = [element for element in elements if element.get_value() % 2 == 0]

    def evict_after(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
        assert size == len(elements) and evictor_context.get_current_watermark() < 0
        evictor_context.get_metric_group().counter("evicted").inc(max(0, size - 1))
        del elements[:-1]


def test_an_evictor_of_the_users_own_may_remove_any_element() -> None:
    subject = counted(3, Odd())
    subject.batch(fed(1, 2, 4))
    subject.batch(fed(5, 6, 8))
    assert subject.results["out"] == [[2, 4], [4, 6, 8]]
    assert subject.metrics["evicted"] == 3


def test_a_window_function_sees_an_empty_window_if_all_its_elements_were_evicted() -> None:
    subject = counted(2, CountEvictor.of(0))
    subject.batch(fed(1, 2, 3, 4))
    assert subject.results["out"] == [[], []]


def test_a_window_whose_elements_were_all_evicted_does_not_fire_before_there_are_new_ones() -> None:
    def build(stream: DataStream) -> dict[str, DataStream]:
        windowed = stream.key_by(lambda value: 0).window(TumblingEventTimeWindows.of(100))
        windowed = windowed.trigger(ContinuousEventTimeTrigger.of(10)).evictor(CountEvictor.of(0, do_evict_after=True))
        return {"out": windowed.process(Listed())}

    subject = Driven(build)
    subject.batch([Fed("a", 1), 10, 20, Fed("b", 25)])
    subject.batch([30, 40, MAX_TIME])
    assert subject.results["out"] == [["a"], ["b"]]


def test_purging_empties_the_window_whatever_the_evictor_keeps() -> None:
    subject = counted(2, CountEvictor.of(9), purging=True)
    subject.batch(fed(1, 2, 3, 4))
    assert subject.results["out"] == [[1, 2], [3, 4]]


def test_a_failing_evictor_is_reported_with_the_record() -> None:
    class Fails(Odd):
        def evict_before(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
            raise ValueError("cannot evict")

    with pytest.raises(OperatorError, match=r"(?s)cannot evict.*record: 7"):
        counted(1, Fails()).batch(fed(7))


def test_windows_over_all_records_take_evictors() -> None:
    def build(stream: DataStream) -> dict[str, DataStream]:
        windowed = stream.window_all(TumblingEventTimeWindows.of(10)).evictor(CountEvictor.of(2))
        return {"out": windowed.reduce(lambda a, b: a + b)}

    subject = Driven(build)
    subject.batch([*fed("a", "b", "c"), MAX_TIME])
    assert subject.results["out"] == ["bc"]
