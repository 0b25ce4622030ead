from __future__ import annotations

from typing import Any

import pytest

from scurry.datastream.functions import DeltaFunction
from scurry.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    NeverTrigger,
    ProcessingTimeoutTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    TimeWindow,
    Trigger,
    TriggerResult,
)
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from support.state_in_memory import ReducingStateInMemory, ValueStateInMemory

CONTINUE, FIRE, FIRE_AND_PURGE = TriggerResult.CONTINUE, TriggerResult.FIRE, TriggerResult.FIRE_AND_PURGE
WINDOW = TimeWindow(0, 1000)


class Context(Trigger.OnMergeContext):
    """One key and window; what other windows leave behind on a merge is in `inherited`."""

    def __init__(self, watermark: int = -(2**63), now: int = 0, inherited: tuple[int, ...] = ()) -> None:
        self.watermark, self.now, self.inherited = watermark, now, inherited
        self.event_timers: set[int] = set()
        self.processing_timers: set[int] = set()
        self.states: dict[str, Any] = {}

    def get_current_processing_time(self) -> int:
        return self.now

    def get_metric_group(self) -> Any:
        raise AssertionError("no trigger asks for it")

    def get_current_watermark(self) -> int:
        return self.watermark

    def register_processing_time_timer(self, time: int) -> None:
        self.processing_timers.add(time)

    def register_event_time_timer(self, time: int) -> None:
        self.event_timers.add(time)

    def delete_processing_time_timer(self, time: int) -> None:
        self.processing_timers.discard(time)

    def delete_event_time_timer(self, time: int) -> None:
        self.event_timers.discard(time)

    def get_partitioned_state(self, state_descriptor: Any) -> Any:
        if state_descriptor.kind == "value":
            return self.states.setdefault(state_descriptor.name, ValueStateInMemory())
        function = state_descriptor.get_reduce_function().reduce
        return self.states.setdefault(state_descriptor.name, ReducingStateInMemory(function))

    def merge_partitioned_state(self, state_descriptor: Any) -> None:
        for value in self.inherited:
            self.get_partitioned_state(state_descriptor).add(value)


class TestEventTimeTrigger:
    def test_waits_for_the_end_of_the_window(self) -> None:
        trigger, ctx = EventTimeTrigger.create(), Context()
        assert trigger.on_element("x", 5, WINDOW, ctx) is CONTINUE
        assert ctx.event_timers == {999}
        assert trigger.on_event_time(500, WINDOW, ctx) is CONTINUE
        assert trigger.on_event_time(999, WINDOW, ctx) is FIRE

    def test_fires_at_once_for_records_within_the_allowed_lateness(self) -> None:
        assert EventTimeTrigger.create().on_element("x", 5, WINDOW, Context(watermark=999)) is FIRE

    def test_merged_window_waits_for_its_own_end_unless_it_has_passed(self) -> None:
        ahead, passed = Context(watermark=10), Context(watermark=999)
        for ctx in (ahead, passed):
            EventTimeTrigger.create().on_merge(WINDOW, ctx)
        assert (ahead.event_timers, passed.event_timers) == ({999}, set())

    def test_clear_removes_the_timer(self) -> None:
        trigger, ctx = EventTimeTrigger.create(), Context()
        trigger.on_element("x", 5, WINDOW, ctx)
        trigger.clear(WINDOW, ctx)
        assert ctx.event_timers == set()

    def test_ignores_the_wall_clock(self) -> None:
        assert EventTimeTrigger.create().on_processing_time(999, WINDOW, Context()) is CONTINUE


class TestProcessingTimeTrigger:
    def test_waits_for_the_end_of_the_window_on_the_clock(self) -> None:
        trigger, ctx = ProcessingTimeTrigger.create(), Context()
        assert trigger.on_element("x", 5, WINDOW, ctx) is CONTINUE
        assert ctx.processing_timers == {999}
        assert trigger.on_processing_time(999, WINDOW, ctx) is FIRE
        assert trigger.on_event_time(999, WINDOW, ctx) is CONTINUE
        trigger.clear(WINDOW, ctx)
        assert ctx.processing_timers == set()

    def test_merged_window_waits_for_its_own_end_unless_it_has_passed(self) -> None:
        ahead, passed = Context(now=10), Context(now=999)
        for ctx in (ahead, passed):
            ProcessingTimeTrigger.create().on_merge(WINDOW, ctx)
        assert (ahead.processing_timers, passed.processing_timers) == ({999}, set())


class TestContinuousEventTimeTrigger:
    def test_fires_at_every_interval_and_at_the_end(self) -> None:
        trigger, ctx = ContinuousEventTimeTrigger.of(300), Context()
        assert trigger.on_element("x", 350, WINDOW, ctx) is CONTINUE
        assert ctx.event_timers == {600, 999}
        assert trigger.on_event_time(600, WINDOW, ctx) is FIRE
        assert 900 in ctx.event_timers
        assert trigger.on_event_time(900, WINDOW, ctx) is FIRE
        assert trigger.on_event_time(999, WINDOW, ctx) is FIRE

    def test_a_second_record_sets_no_second_interval(self) -> None:
        trigger, ctx = ContinuousEventTimeTrigger.of(300), Context()
        trigger.on_element("x", 350, WINDOW, ctx)
        trigger.on_element("x", 10, WINDOW, ctx)
        assert ctx.event_timers == {600, 999}

    def test_the_interval_never_reaches_beyond_the_window(self) -> None:
        ctx = Context()
        ContinuousEventTimeTrigger.of(5000).on_element("x", 350, WINDOW, ctx)
        assert ctx.event_timers == {999}

    def test_a_timer_of_somebody_else_is_left_alone(self) -> None:
        trigger, ctx = ContinuousEventTimeTrigger.of(300), Context()
        trigger.on_element("x", 350, WINDOW, ctx)
        assert trigger.on_event_time(555, WINDOW, ctx) is CONTINUE

    def test_merging_goes_on_with_the_earliest_interval(self) -> None:
        trigger, ctx = ContinuousEventTimeTrigger.of(300), Context(inherited=(900, 600))
        trigger.on_merge(WINDOW, ctx)
        assert ctx.event_timers == {600}

    def test_clear_forgets_the_interval(self) -> None:
        trigger, ctx = ContinuousEventTimeTrigger.of(300), Context()
        trigger.on_element("x", 350, WINDOW, ctx)
        trigger.clear(WINDOW, ctx)
        assert ctx.event_timers == {999}  # the end of the window is the operator's to clean up
        assert ctx.states["fire-time"].get() is None


class TestContinuousProcessingTimeTrigger:
    def test_fires_at_every_interval(self) -> None:
        trigger, ctx = ContinuousProcessingTimeTrigger.of(300), Context(now=350)
        trigger.on_element("x", 0, WINDOW, ctx)
        assert ctx.processing_timers == {600}
        assert trigger.on_processing_time(600, WINDOW, ctx) is FIRE
        assert trigger.on_processing_time(601, WINDOW, ctx) is CONTINUE
        assert ctx.processing_timers == {600, 900}
        trigger.clear(WINDOW, ctx)
        assert ctx.processing_timers == {600}

    def test_merging_goes_on_with_the_earliest_interval(self) -> None:
        trigger, ctx = ContinuousProcessingTimeTrigger.of(300), Context(inherited=(900, 600))
        trigger.on_merge(WINDOW, ctx)
        assert ctx.processing_timers == {600}


@pytest.mark.parametrize("kind", [ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger])
def test_continuous_triggers_need_a_positive_interval(kind: Any) -> None:
    with pytest.raises(ArgumentError, match="positive"):
        kind.of(0)


class TestCountTrigger:
    def test_fires_at_every_nth_record(self) -> None:
        trigger, ctx = CountTrigger.of(2), Context()
        assert [trigger.on_element("x", 0, WINDOW, ctx) for _ in range(4)] == [CONTINUE, FIRE, CONTINUE, FIRE]

    def test_merging_adds_the_counts_up(self) -> None:
        trigger, ctx = CountTrigger.of(5), Context(inherited=(1, 3))
        trigger.on_merge(WINDOW, ctx)
        assert trigger.on_element("x", 0, WINDOW, ctx) is FIRE

    def test_clear_forgets_the_count(self) -> None:
        trigger, ctx = CountTrigger.of(2), Context()
        trigger.on_element("x", 0, WINDOW, ctx)
        trigger.clear(WINDOW, ctx)
        assert trigger.on_element("x", 0, WINDOW, ctx) is CONTINUE


class TestPurgingTrigger:
    def test_turns_fire_into_fire_and_purge(self) -> None:
        trigger, ctx = PurgingTrigger.of(CountTrigger.of(2)), Context()
        assert [trigger.on_element("x", 0, WINDOW, ctx) for _ in range(2)] == [CONTINUE, FIRE_AND_PURGE]
        assert PurgingTrigger.of(EventTimeTrigger()).on_event_time(999, WINDOW, ctx) is FIRE_AND_PURGE
        assert PurgingTrigger.of(ProcessingTimeTrigger()).on_processing_time(9, WINDOW, ctx) is FIRE_AND_PURGE

    def test_merges_if_the_nested_trigger_does(self) -> None:
        assert PurgingTrigger.of(EventTimeTrigger()).can_merge()
        assert not PurgingTrigger.of(NeverTrigger()).can_merge()


class Distance(DeltaFunction):
    def get_delta(self, old_data_point: Any, new_data_point: Any) -> float:
        return float(abs(old_data_point - new_data_point))


class TestDeltaTrigger:
    @pytest.mark.parametrize("delta", [Distance(), lambda old, new: abs(old - new)])
    def test_fires_when_a_record_is_farther_than_the_threshold_from_the_one_that_fired_last(self, delta: Any) -> None:
        trigger, ctx = DeltaTrigger.of(2, delta), Context()
        fired = [value for value in (0, 2, 3, 4, 5, 6) if trigger.on_element(value, 0, WINDOW, ctx) is FIRE]
        assert fired == [3, 6]

    def test_clear_forgets_the_record_that_fired_last(self) -> None:
        trigger, ctx = DeltaTrigger.of(2, Distance()), Context()
        trigger.on_element(0, 0, WINDOW, ctx)
        trigger.clear(WINDOW, ctx)
        assert trigger.on_element(9, 0, WINDOW, ctx) is CONTINUE

    def test_cannot_merge_and_knows_no_time(self) -> None:
        trigger = DeltaTrigger.of(2, Distance())
        assert not trigger.can_merge()
        assert trigger.on_event_time(999, WINDOW, Context()) is CONTINUE
        assert trigger.on_processing_time(999, WINDOW, Context()) is CONTINUE

    def test_needs_a_function(self) -> None:
        with pytest.raises(ArgumentTypeError, match="DeltaFunction"):
            DeltaTrigger.of(2, Distance)  # type: ignore[arg-type]


class TestProcessingTimeoutTrigger:
    def test_fires_when_the_nested_trigger_does_and_starts_over(self) -> None:
        trigger, ctx = ProcessingTimeoutTrigger.of(CountTrigger.of(2), 100), Context(now=50)
        assert [trigger.on_element("x", 0, WINDOW, ctx) for _ in range(2)] == [CONTINUE, FIRE]
        assert ctx.processing_timers == set()
        assert trigger.on_element("x", 0, WINDOW, ctx) is CONTINUE

    def test_fires_a_while_after_the_first_record(self) -> None:
        trigger, ctx = ProcessingTimeoutTrigger.of(CountTrigger.of(5), 100), Context(now=50)
        trigger.on_element("x", 0, WINDOW, ctx)
        ctx.now = 70
        trigger.on_element("x", 0, WINDOW, ctx)
        assert ctx.processing_timers == {150}
        assert trigger.on_processing_time(150, WINDOW, ctx) is FIRE

    def test_a_record_may_start_the_timeout_again(self) -> None:
        trigger = ProcessingTimeoutTrigger.of(CountTrigger.of(5), 100, reset_timer_on_new_record=True)
        ctx = Context(now=50)
        trigger.on_element("x", 0, WINDOW, ctx)
        ctx.now = 70
        trigger.on_element("x", 0, WINDOW, ctx)
        assert ctx.processing_timers == {170}

    @pytest.mark.parametrize(("clears", "fired"), [(True, [1]), (False, [0])])
    def test_a_timeout_clears_the_nested_trigger_unless_told_not_to(self, clears: bool, fired: list[int]) -> None:
        trigger = ProcessingTimeoutTrigger.of(CountTrigger.of(2), 100, should_clear_on_timeout=clears)
        ctx = Context()
        trigger.on_element("x", 0, WINDOW, ctx)
        trigger.on_processing_time(100, WINDOW, ctx)
        assert [n for n in range(2) if trigger.on_element("x", 0, WINDOW, ctx) is FIRE] == fired

    def test_purges_if_the_nested_trigger_does(self) -> None:
        trigger, ctx = ProcessingTimeoutTrigger.of(PurgingTrigger.of(ProcessingTimeTrigger.create()), 100), Context()
        trigger.on_element("x", 0, WINDOW, ctx)
        assert trigger.on_processing_time(100, WINDOW, ctx) is FIRE_AND_PURGE
        assert trigger.on_event_time(999, WINDOW, ctx) is FIRE

    def test_needs_a_trigger_and_a_timeout(self) -> None:
        with pytest.raises(ArgumentTypeError, match="Trigger"):
            ProcessingTimeoutTrigger.of(5, 100)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="negative"):
            ProcessingTimeoutTrigger.of(CountTrigger.of(1), -1)


class TestWindowsWithoutEnd:
    END = GlobalWindow.get().max_timestamp()

    def test_fire_once_at_the_end_of_the_stream_if_asked_to(self) -> None:
        window, ctx = GlobalWindow.get(), Context()
        trigger: Any = GlobalWindows.create_with_end_of_stream_trigger().get_default_trigger(None)  # type: ignore[arg-type]
        assert trigger.on_element("x", 5, window, ctx) is CONTINUE
        assert ctx.event_timers == {self.END}
        assert [trigger.on_event_time(time, window, ctx) for time in (99, self.END)] == [CONTINUE, FIRE]

    def test_have_no_more_intervals_when_the_input_has_ended(self) -> None:
        window: Any = GlobalWindow.get()
        trigger, ctx = ContinuousEventTimeTrigger.of(300), Context()
        trigger.on_element("x", 350, window, ctx)
        ctx.watermark = self.END
        ctx.event_timers.clear()
        assert trigger.on_event_time(600, window, ctx) is FIRE
        assert ctx.event_timers == {self.END}

    def test_have_no_more_intervals_of_processing_time_either(self) -> None:
        window: Any = GlobalWindow.get()
        trigger, ctx = ContinuousProcessingTimeTrigger.of(300), Context(now=350, watermark=self.END)
        trigger.on_element("x", 0, window, ctx)
        assert ctx.processing_timers == {self.END}
        ctx.processing_timers.clear()
        assert trigger.on_processing_time(self.END, window, ctx) is FIRE
        assert ctx.processing_timers == set()


def test_a_trigger_that_does_not_say_how_to_merge_cannot() -> None:
    class Simple(NeverTrigger[Any]):
        on_merge = Trigger.on_merge

    assert not Simple().can_merge()
    with pytest.raises(UnsupportedError, match="on_merge"):
        Simple().on_merge(WINDOW, Context())  # type: ignore[arg-type]


def test_results_say_what_happens() -> None:
    assert [(r.is_fire(), r.is_purge()) for r in TriggerResult] == [
        (False, False),
        (True, True),
        (True, False),
        (False, True),
    ]
