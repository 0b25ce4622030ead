"""Window joins and co-groups against a model that looks at all elements of a window each time it fires."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.datastream import CoGroupFunction, DataStream, FlatJoinFunction, JoinFunction
from scurry.datastream.window import (
    CountEvictor,
    CountTrigger,
    Evictor,
    GlobalWindows,
    MergingWindowAssigner,
    PurgingTrigger,
    TaggedUnion,
    TumblingEventTimeWindows,
)
from scurry.errors import OperatorError
from support.cases import CASES
from support.runtime.scripted_pipeline import MAX_TIME, Driven, Record
from support.runtime.window_cases import BATCHES, LATENESS, TIME_WINDOWS, TRIGGERS
from support.runtime.window_model import AtEnd, Element, Model, Sessions


class Both(JoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        return first, second


class BothIfLarger(FlatJoinFunction):
    """Any number of results: none, or the pair twice."""

    def join(self, first: Any, second: Any) -> Any:
        if first[2] >= second[2]:
            yield first, second
            yield first, second


class Groups(CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Any:
        yield sorted(first), sorted(second)


def side(element: Element) -> int:
    """Even numbers belong to the second stream."""
    return 1 - element[2] % 2


def keyed(pairing: Any) -> Any:
    return pairing.where(lambda element: element[0]).equal_to(lambda element: element[0])


KINDS: dict[str, tuple[Any, Any]] = {
    "join": (
        lambda first, second, windows: windows(keyed(first.join(second))).apply(Both()),
        lambda first, second: [(one, two) for one in first for two in second],
    ),
    "flat join": (
        lambda first, second, windows: windows(keyed(first.join(second))).apply(BothIfLarger()),
        lambda first, second: [(one, two) for one in first for two in second if one[2] >= two[2] for _ in (1, 2)],
    ),
    "callable": (
        lambda first, second, windows: windows(keyed(first.join(second))).apply(lambda one, two: (one, two)),
        lambda first, second: [(one, two) for one in first for two in second],
    ),
    "co-group": (
        lambda first, second, windows: windows(keyed(first.co_group(second))).apply(Groups()),
        lambda first, second: [(sorted(first), sorted(second))],
    ),
}


def expected(kind: str, fired: list[Any]) -> list[Any]:
    """What windows that fired with these elements emit."""
    emit = KINDS[kind][1]
    return [
        result
        for *_, elements in fired
        for result in emit([e for e in elements if side(e) == 0], [e for e in elements if side(e) == 1])
    ]


def by_key(results: list[Any]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for first, second in results:
        found[repr(min(first, second))].append((first, second))
    return {key: sorted(some) for key, some in found.items()}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=CASES)
@given(TIME_WINDOWS | st.builds(Sessions, st.integers(1, 8)), TRIGGERS, LATENESS, BATCHES)
def test_window_joins_agree_with_the_model(kind: str, windows: Any, trigger: Any, lateness: int, batches: Any) -> None:
    def build(first: DataStream, second: DataStream) -> DataStream:
        def in_windows(pairs: Any) -> Any:
            return pairs.window(windows.assigner()).trigger(trigger.trigger()).allowed_lateness(lateness)

        results: DataStream = KINDS[kind][0](first, second, in_windows)
        return results

    # what fires between two watermarks depends on the order in which records of the two streams meet
    model, subject = Model(windows, trigger, lateness), Driven(build, in_order=lateness > 0 or trigger != AtEnd())
    for steps in [*batches, [MAX_TIME]]:
        for step in steps:
            if isinstance(step, tuple):
                model.element(step)
            else:
                model.time(step)
        subject.feed([Record(step, step[1], side(step)) if isinstance(step, tuple) else step for step in steps])
        assert by_key(subject.results()) == by_key(expected(kind, model.fired))
    assert subject.harness.num_late_records_dropped() == len(model.late)
    assert subject.is_empty()


def one(value: Any, timestamp: int = 0) -> Record:
    return Record(value, timestamp, 0)


def two(value: Any, timestamp: int = 0) -> Record:
    return Record(value, timestamp, 1)


def co_grouped(windowed: Any) -> Driven:
    """A co-group of everything in windows that `windowed` makes of keyed pairs."""

    def build(first: DataStream, second: DataStream) -> DataStream:
        pairs = first.co_group(second).where(lambda value: 0).equal_to(lambda value: 0)
        results: DataStream = windowed(pairs).apply(lambda ones, twos: [(list(ones), list(twos))])
        return results

    return Driven(build, in_order=True)


def test_a_trigger_counts_the_records_of_both_streams() -> None:
    subject = co_grouped(lambda pairs: pairs.window(GlobalWindows.create()).trigger(PurgingTrigger(CountTrigger(3))))
    subject.feed([one("a"), two("b"), one("c"), two("d")])
    subject.feed([two("e"), two("f")])
    assert subject.results() == [(["a", "c"], ["b"]), ([], ["d", "e", "f"])]


def test_an_evictor_sees_the_records_of_both_streams_in_the_order_they_came() -> None:
    def windowed(pairs: Any) -> Any:
        return pairs.window(TumblingEventTimeWindows.of(10)).evictor(CountEvictor.of(3))

    subject = co_grouped(windowed)
    subject.feed([one("a"), two("b"), one("c"), two("d"), MAX_TIME])
    assert subject.results() == [(["c"], ["b", "d"])]


class DropFirstStream(Evictor[Any]):
    def evict_before(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
        elements[:] = [element for element in elements if element.value.is_two()]

    def evict_after(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
        assert all(element.value == TaggedUnion(1, element.value.get_two()) for element in elements)


def test_evictors_and_assigners_can_tell_the_streams_apart() -> None:
    class SkipEmpty(TumblingEventTimeWindows[Any]):
        def assign_windows(self, element: Any, timestamp: int, context: Any) -> Any:
            assert element.get_one() is None or element.get_two() is None
            return [] if not element.value else super().assign_windows(element, timestamp, context)

    subject = co_grouped(lambda pairs: pairs.window(SkipEmpty(10)).evictor(DropFirstStream()))
    subject.feed([one("a"), two("b"), two(""), MAX_TIME])
    assert subject.results() == [([], ["b"])]


def test_a_failing_join_is_reported_with_its_window() -> None:
    def build(first: DataStream, second: DataStream) -> DataStream:
        pairs = first.join(second).where(lambda value: value).equal_to(lambda value: value)
        return pairs.window(TumblingEventTimeWindows.of(10)).apply(lambda one, two: one / 0)

    with pytest.raises(OperatorError, match=r"(?s)division by zero.*TimeWindow\(start=0, end=10\) of key 1"):
        Driven(build).feed([one(1), two(1), MAX_TIME])


def test_a_merging_assigner_of_the_users_own_merges_the_records_of_both_streams() -> None:
    class Touching(MergingWindowAssigner[Any, Any]):
        """Windows of 10 ms, merged where they follow each other."""

        def assign_windows(self, element: Any, timestamp: int, context: Any) -> Any:
            return TumblingEventTimeWindows.of(10).assign_windows(element, timestamp, context)

        def merge_windows(self, windows: Any, callback: Any) -> None:
            type(next(iter(windows))).merge_windows(windows, callback)

        def get_default_trigger(self, env: Any) -> Any:
            return TumblingEventTimeWindows.of(10).get_default_trigger(env)

        def is_event_time(self) -> bool:
            return True

    subject = co_grouped(lambda pairs: pairs.window(Touching()))
    subject.feed([one("a", 1), two("b", 25)])
    subject.feed([two("c", 12), one("d", 40), 29, MAX_TIME])
    assert subject.results() == [(["a"], ["b", "c"]), (["d"], [])]
