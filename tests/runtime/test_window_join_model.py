"""Window joins and co-groups against a model that looks at all elements of a window each time it fires."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from driving import Driven, Record
from hypothesis import given, settings
from hypothesis import strategies as st
from test_windows_model import STEPS, WINDOWS, Element, Model, Windows

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
from scurry.runtime.failure import OperatorError
from scurry.runtime.wire import MAX_TIME


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
        lambda stream, windows: windows(keyed(stream.join(stream))).apply(Both()),
        lambda first, second: [(one, two) for one in first for two in second],
    ),
    "flat join": (
        lambda stream, windows: windows(keyed(stream.join(stream))).apply(BothIfLarger()),
        lambda first, second: [(one, two) for one in first for two in second if one[2] >= two[2] for _ in (1, 2)],
    ),
    "callable": (
        lambda stream, windows: windows(keyed(stream.join(stream))).apply(lambda one, two: (one, two)),
        lambda first, second: [(one, two) for one in first for two in second],
    ),
    "co-group": (
        lambda stream, windows: windows(keyed(stream.co_group(stream))).apply(Groups()),
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
@settings(max_examples=50)
@given(WINDOWS, st.sampled_from([0, 0, 5, 30]), st.lists(STEPS, min_size=1, max_size=3))
def test_window_joins_agree_with_the_model(kind: str, windows: Windows, lateness: int, batches: list[Any]) -> None:
    def build(stream: DataStream) -> dict[str, DataStream]:
        def in_windows(pairs: Any) -> Any:
            return pairs.window(windows.assigner()).allowed_lateness(lateness)

        return {"out": KINDS[kind][0](stream, in_windows)}

    model, subject = Model(windows, lateness), Driven(build)
    for steps in [*batches, [MAX_TIME]]:
        for step in steps:
            if isinstance(step, tuple):
                model.element(step)
            else:
                model.time(step)
        subject.batch([Record(step, step[1], side(step)) if isinstance(step, tuple) else step for step in steps])
        assert by_key(subject.results["out"]) == by_key(expected(kind, model.fired))
    assert subject.metrics["numLateRecordsDropped"] == len(model.late)
    assert subject.pages() == []


def one(value: Any, timestamp: int = 0) -> Record:
    return Record(value, timestamp, 0)


def two(value: Any, timestamp: int = 0) -> Record:
    return Record(value, timestamp, 1)


def co_grouped(windowed: Any) -> Driven:
    """A co-group of everything in windows that `windowed` makes of keyed pairs."""

    def build(stream: DataStream) -> dict[str, DataStream]:
        pairs = stream.co_group(stream).where(lambda value: 0).equal_to(lambda value: 0)
        return {"out": windowed(pairs).apply(lambda first, second: [(list(first), list(second))])}

    return Driven(build)


def test_a_trigger_counts_the_records_of_both_streams() -> None:
    subject = co_grouped(lambda pairs: pairs.window(GlobalWindows.create()).trigger(PurgingTrigger(CountTrigger(3))))
    subject.batch([one("a"), two("b"), one("c"), two("d")])
    subject.batch([two("e"), two("f")])
    assert subject.results["out"] == [(["a", "c"], ["b"]), ([], ["d", "e", "f"])]


def test_an_evictor_sees_the_records_of_both_streams_in_the_order_they_came() -> None:
    def windowed(pairs: Any) -> Any:
        return pairs.window(TumblingEventTimeWindows.of(10)).evictor(CountEvictor.of(3))

    subject = co_grouped(windowed)
    subject.batch([one("a"), two("b"), one("c"), two("d"), MAX_TIME])
    assert subject.results["out"] == [(["c"], ["b", "d"])]


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
    subject.batch([one("a"), two("b"), two(""), MAX_TIME])
    assert subject.results["out"] == [([], ["b"])]


def test_a_failing_join_is_reported_with_its_window() -> None:
    def build(stream: DataStream) -> dict[str, DataStream]:
        pairs = stream.join(stream).where(lambda value: value).equal_to(lambda value: value)
        return {"out": pairs.window(TumblingEventTimeWindows.of(10)).apply(lambda first, second: first / 0)}

    with pytest.raises(OperatorError, match=r"(?s)division by zero.*TimeWindow\(start=0, end=10\) of key 1"):
        Driven(build).batch([one(1), two(1), MAX_TIME])


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
    subject.batch([one("a", 1), two("b", 25)])
    subject.batch([two("c", 12), one("d", 40), 29, MAX_TIME])
    assert subject.results["out"] == [(["a"], ["b", "c"]), (["d"], [])]
