"""Triggers and window assigners of the user's own, with state and timers, on the window operator."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Types
from scurry.common.time import Time
from scurry.datastream import AggregateFunction, DataStream, ProcessWindowFunction
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from scurry.datastream.window import (
    EventTimeSessionWindows,
    GlobalWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    WindowAssigner,
)
from scurry.errors import OperatorError
from support.runtime.scripted_pipeline import MAX_TIME, Driven, Record


class Count(AggregateFunction):
    """Accumulators are lists, results are numbers."""

    def create_accumulator(self) -> Any:
        return []

    def add(self, value: Any, accumulator: Any) -> Any:
        return [*accumulator, value]

    def get_result(self, accumulator: Any) -> Any:
        return len(accumulator)

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a + acc_b


class EveryThird(Trigger[Any, Any]):
    """Counts in a state of any kind."""

    def __init__(self, descriptor: StateDescriptor) -> None:
        self.descriptor = descriptor

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        state = ctx.get_partitioned_state(self.descriptor)
        state.add(1)
        found = state.get()
        count = found if isinstance(found, int) else len(list(found))
        return TriggerResult.FIRE if count % 3 == 0 else TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Any, ctx: Any) -> None:
        ctx.merge_partitioned_state(self.descriptor)

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.get_partitioned_state(self.descriptor).clear()


class Listed(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield list(elements)


def plus(one: int, two: int) -> int:
    return one + two


def windowed(assigner: Any, trigger: Any) -> Driven:
    def build(stream: DataStream) -> DataStream:
        return stream.key_by(lambda value: 0).window(assigner).trigger(trigger).process(Listed())

    return Driven(build)


STATES: dict[str, Any] = {
    "reducing": lambda: ReducingStateDescriptor("count", plus, Types.LONG()),
    "list": lambda: ListStateDescriptor("count", Types.LONG()),
    "aggregating": lambda: AggregatingStateDescriptor("count", Count(), Types.PICKLED_BYTE_ARRAY()),
}


@pytest.mark.parametrize("ttl", [False, True], ids=["", "with time to live"])
@pytest.mark.parametrize("kind", STATES)
def test_the_states_of_sessions_that_merge_are_merged(kind: str, ttl: bool) -> None:
    descriptor = STATES[kind]()
    if ttl:
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
    subject = windowed(EventTimeSessionWindows.with_gap(10), EveryThird(descriptor))
    subject.feed([Record("a", 0), Record("b", 18)])
    subject.feed([Record("c", 9), Record("d", 5), MAX_TIME])
    assert subject.results() == [["a", "b", "c"]]
    assert subject.is_empty()


def test_state_that_cannot_be_merged_is_refused() -> None:
    class Marked(EveryThird):
        def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
            ctx.get_partitioned_state(self.descriptor).update(1)
            return TriggerResult.CONTINUE

    subject = windowed(EventTimeSessionWindows.with_gap(10), Marked(ValueStateDescriptor("mark", Types.LONG())))
    with pytest.raises(OperatorError, match=r"(?s)'mark' is a value state, which cannot be merged.*reducing"):
        subject.feed([Record("a", 0), Record("b", 5)])


@pytest.mark.parametrize("lateness", [0, 5])
def test_windows_that_merge_have_no_state_of_their_own_for_functions(lateness: int) -> None:
    class Own(ProcessWindowFunction[Any, Any, Any, Any]):
        def process(self, key: Any, context: Any, elements: Any) -> Any:
            context.window_state().get_state(ValueStateDescriptor("own", Types.LONG())).update(1)

    sessions = EventTimeSessionWindows.with_gap(10)
    subject = Driven(
        lambda stream: stream.key_by(lambda value: 0).window(sessions).allowed_lateness(lateness).process(Own())
    )
    with pytest.raises(
        OperatorError, match=r"windows that merge have no state of their own such as 'own'.*global_state"
    ):
        subject.feed([Record("a", 0), MAX_TIME])


class Alarm(EveryThird):
    """Fires when a timer of its own is due; an element "off" deletes it."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        if element == "off":
            ctx.delete_event_time_timer(100)
        elif ctx.get_current_watermark() < 100:
            ctx.register_event_time_timer(100)
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        assert time == 100 <= ctx.get_current_watermark()
        return TriggerResult.FIRE_AND_PURGE

    def clear(self, window: Any, ctx: Any) -> None:
        """The window never ends."""


def test_timers_fire_in_windows_without_an_end() -> None:
    subject = windowed(GlobalWindows.create(), Alarm(STATES["list"]()))
    subject.feed([Record("a", 0), Record("b", 0), 99, Record("c", 0), 100, Record("d", 0), MAX_TIME])
    assert subject.results() == [["a", "b", "c"]]


def test_a_deleted_timer_does_not_fire() -> None:
    subject = windowed(GlobalWindows.create(), Alarm(STATES["list"]()))
    subject.feed([Record("a", 0)])
    subject.feed([Record("off", 0), 200])
    assert subject.results() == []


def test_purging_without_firing_drops_the_contents() -> None:
    class Forget(EveryThird):
        def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
            return {"forget": TriggerResult.PURGE, "show": TriggerResult.FIRE}.get(element, TriggerResult.CONTINUE)

    subject = windowed(GlobalWindows.create(), Forget(STATES["list"]()))
    subject.feed([Record(value, 0) for value in ("a", "forget", "b", "show", "c", "show")])
    assert subject.results() == [["b", "show"], ["b", "show", "c", "show"]]


def test_an_assigner_may_put_a_record_into_none_one_or_several_windows() -> None:
    class PerLetter(WindowAssigner[Any, Any]):
        def assign_windows(self, element: Any, timestamp: int, context: Any) -> Any:
            tens = TumblingEventTimeWindows.of(10)
            return [w for n in range(len(element)) for w in tens.assign_windows(element, n * 10, context)]

        def get_default_trigger(self, env: Any) -> Any:
            return TumblingEventTimeWindows.of(10).get_default_trigger(env)

        def is_event_time(self) -> bool:
            return True

    subject = Driven(lambda stream: stream.key_by(lambda value: 0).window(PerLetter()).process(Listed()))
    subject.feed([Record(value, 0) for value in ("a", "", "bb", "ccc")])
    subject.feed([MAX_TIME])
    assert subject.results() == [["a", "bb", "ccc"], ["bb", "ccc"], ["ccc"]]
