"""Windows with evictors against a model that thins a window out whenever it fires."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from scurry.errors import OperatorError
from support.cases import CASES
from support.runtime.scripted_pipeline import MAX_TIME, Driven
from support.runtime.scripted_pipeline import Record as Fed
from support.runtime.window_cases import BATCHES, LATENESS, SESSIONS, TIME_WINDOWS, TRIGGERS
from support.runtime.window_functions import Contents, Sum, WithWindow, plus
from support.runtime.window_model import Decision, Element, Model, Pane


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
    """Flink's EvictingWindowOperator."""

    rule: Rule = Rule("count", 0, False)

    def element(self, element: Element) -> None:
        self.panes = dict(sorted(self.panes.items()))  # sessions merge in the order of time
        super().element(element)

    def _act(self, owner: str, window: Any, pane: Pane, decision: Decision) -> None:
        fire, purge = decision
        if fire and pane.elements:
            left = self.rule.left(pane.elements)
            self.fired.append((owner, window, list(pane.elements if self.rule.after else left)))
            pane.elements = left
        if purge:
            pane.elements = []


KINDS: dict[str, Any] = {
    "process": lambda windowed: windowed.process(Contents()),
    "reduce": lambda windowed: windowed.reduce(plus, WithWindow()),
    "aggregate": lambda windowed: windowed.aggregate(Sum(), WithWindow()),
}


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
@settings(max_examples=CASES)
@given(TIME_WINDOWS | SESSIONS, TRIGGERS, RULES, LATENESS, BATCHES)
def test_evicting_windows_agree_with_the_model(
    kind: str, windows: Any, trigger: Any, rule: Rule, lateness: int, batches: Any
) -> None:
    def build(stream: DataStream) -> DataStream:
        windowed = stream.key_by(lambda element: element[0]).window(windows.assigner()).trigger(trigger.trigger())
        results: DataStream = KINDS[kind](windowed.allowed_lateness(lateness).evictor(rule.evictor()))
        return results

    model, subject = EvictingModel(windows, trigger, lateness, rule=rule), Driven(build)
    for steps in [*batches, [MAX_TIME]]:
        for step in steps:
            if isinstance(step, tuple):
                model.element(step)
            else:
                model.time(step)
        subject.feed([Fed(step, step[1]) if isinstance(step, tuple) else step for step in steps])
        assert by_window(subject.results()) == by_window(expected(kind, model.fired))
    assert subject.harness.num_late_records_dropped() == len(model.late)
    assert subject.is_empty()


class Listed(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield list(elements)


def counted(every: int, evictor: Evictor[Any], purging: bool = False) -> Driven:
    """A global window that fires at every n-th element."""
    trigger: Any = CountTrigger.of(every)

    def build(stream: DataStream) -> DataStream:
        windowed = stream.key_by(lambda value: 0).window(GlobalWindows.create())
        windowed = windowed.trigger(PurgingTrigger.of(trigger) if purging else trigger).evictor(evictor)
        return windowed.process(Listed())

    return Driven(build)


def fed(*values: Any) -> list[Any]:
    return [Fed(value, time) for time, value in enumerate(values)]


@given(st.lists(st.integers(), max_size=30), st.integers(1, 4), st.integers(1, 6), st.booleans(), st.integers(0, 30))
def test_count_trigger_and_count_evictor_slide_over_the_elements(
    values: list[int], every: int, keep: int, after: bool, cut: int
) -> None:
    subject = counted(every, CountEvictor.of(keep, after))
    subject.feed(fed(*values[:cut]))
    subject.feed(fed(*values[cut:]))
    held: list[int] = []
    shown = []
    for place, value in enumerate(values, start=1):
        held.append(value)
        if place % every == 0:
            shown.append(held if after else held[-keep:])
            held = held[-keep:]
    assert subject.results() == shown


class Odd(Evictor[Any]):
    """Drops odd elements before, and everything but the last after the window function."""

    def evict_before(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
        assert size == len(elements) and evictor_context.get_current_processing_time() == 0
        elements[:] = [element for element in elements if element.get_value() % 2 == 0]

    def evict_after(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
        assert size == len(elements) and evictor_context.get_current_watermark() < 0
        evictor_context.get_metric_group().counter("evicted").inc(max(0, size - 1))
        del elements[:-1]


def test_an_evictor_of_the_users_own_may_remove_any_element() -> None:
    subject = counted(3, Odd())
    subject.feed(fed(1, 2, 4))
    subject.feed(fed(5, 6, 8))
    assert subject.results() == [[2, 4], [4, 6, 8]]
    assert subject.harness.metrics()["GlobalWindows.evicted"] == 3


def test_a_window_function_sees_an_empty_window_if_all_its_elements_were_evicted() -> None:
    subject = counted(2, CountEvictor.of(0))
    subject.feed(fed(1, 2, 3, 4))
    assert subject.results() == [[], []]


def test_a_window_whose_elements_were_all_evicted_does_not_fire_before_there_are_new_ones() -> None:
    def build(stream: DataStream) -> DataStream:
        windowed = stream.key_by(lambda value: 0).window(TumblingEventTimeWindows.of(100))
        windowed = windowed.trigger(ContinuousEventTimeTrigger.of(10)).evictor(CountEvictor.of(0, do_evict_after=True))
        return windowed.process(Listed())

    subject = Driven(build)
    subject.feed([Fed("a", 1), 10, 20, Fed("b", 25)])
    subject.feed([30, 40, MAX_TIME])
    assert subject.results() == [["a"], ["b"]]


def test_purging_empties_the_window_whatever_the_evictor_keeps() -> None:
    subject = counted(2, CountEvictor.of(9), purging=True)
    subject.feed(fed(1, 2, 3, 4))
    assert subject.results() == [[1, 2], [3, 4]]


def test_a_failing_evictor_is_reported_with_the_record() -> None:
    class Fails(Odd):
        def evict_before(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
            raise ValueError("cannot evict")

    with pytest.raises(OperatorError, match=r"(?s)cannot evict.*record: 7"):
        counted(1, Fails()).feed(fed(7))


def test_windows_over_all_records_take_evictors() -> None:
    def build(stream: DataStream) -> DataStream:
        windowed = stream.window_all(TumblingEventTimeWindows.of(10)).evictor(CountEvictor.of(2))
        return windowed.reduce(lambda a, b: a + b)

    subject = Driven(build)
    subject.feed([*fed("a", "b", "c"), MAX_TIME])
    assert subject.results() == ["bc"]
