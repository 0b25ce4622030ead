"""The slots of a key's entry, which checkpoints and savepoints contain."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common.time import Time
from scurry.datastream import DataStream
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import EventTimeSessionWindows, TimeWindow, TumblingEventTimeWindows
from scurry.runtime.state import slots
from scurry.runtime.state.slots import EVENT, PROCESSING
from scurry.testing import TestHarness
from scurry.testing.inspection import entries_of

WINDOW = TimeWindow(0, 10)


def test_slots_are_stored_and_therefore_never_change() -> None:
    assert (EVENT, PROCESSING) == (0, 1)
    assert slots.window_state("count", WINDOW) == ("count", WINDOW)
    assert slots.window_contents(WINDOW) == ("window-contents", WINDOW)
    assert slots.aligned_contents(20) == (20,)
    assert slots.MERGING == ("window-contents", "set")
    assert slots.SESSIONS == ("window-contents", "sessions")
    assert slots.REDUCED == "reduce"
    assert slots.JOINED == ("interval-join-left", "interval-join-right")


class Counting(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.count.update(value)
        ctx.timer_service().register_event_time_timer(5)


def keyed(stream: DataStream) -> Any:
    return stream.key_by(lambda value: 0)


@pytest.mark.parametrize(
    ("build", "used"),
    [
        (lambda stream: keyed(stream).reduce(max), {slots.REDUCED}),
        (lambda stream: keyed(stream).process(Counting()), {"count", EVENT}),
        (
            lambda stream: keyed(stream).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(max),
            {slots.aligned_contents(0), EVENT},
        ),
        (
            lambda stream: (
                keyed(stream).window(TumblingEventTimeWindows.of(Time.milliseconds(10))).allowed_lateness(1).reduce(max)
            ),
            {slots.window_contents(WINDOW), EVENT},
        ),
        (
            lambda stream: keyed(stream).window(EventTimeSessionWindows.with_gap(Time.milliseconds(9))).reduce(max),
            {slots.SESSIONS, EVENT},
        ),
        (
            lambda stream: (
                keyed(stream)
                .window(EventTimeSessionWindows.with_gap(Time.milliseconds(9)))
                .allowed_lateness(1)
                .reduce(max)
            ),
            {slots.window_contents(TimeWindow(1, 10)), slots.MERGING, EVENT},
        ),
    ],
)
def test_operators_use_the_slots_that_are_listed(build: Any, used: set[Any]) -> None:
    with TestHarness.of(build) as harness:
        harness.process(1, 1)
        (operator,) = harness._operators(None)
        (entry,) = entries_of(operator, harness._levels).values()
        assert set(entry) == used


@pytest.mark.parametrize(
    ("slot", "name"),
    [
        ("count", "count"),
        (slots.window_state("count", WINDOW), "count"),
        (slots.window_contents(WINDOW), slots.CONTENTS),
        (slots.aligned_contents(0), slots.CONTENTS),
        (slots.SESSIONS, slots.CONTENTS),
        (slots.MERGING, None),
        (EVENT, None),
    ],
)
def test_a_slot_belongs_to_a_state(slot: Any, name: str | None) -> None:
    assert slots.state_name(slot) == name
