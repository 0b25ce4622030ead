"""Timers and state of a keyed function against a model that sorts all timers each time.

Records are commands: set or delete timers of either kind of time, and count. When a timer fires it tells what is in the
state, and may set another. 700 cases with SCURRY_CASES=700 (`make test-models`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common.time import TimeDomain
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import ListStateDescriptor, ValueStateDescriptor
from scurry.testing import TestHarness
from support.cases import CASES
from support.runtime.parts import in_parts

EVENT, PROCESSING = TimeDomain.EVENT_TIME, TimeDomain.PROCESSING_TIME
#: A firing timer sets the next one after this many ms, as long as that is below the end.
AGAIN, END = 7, 60


class Commanded(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))
        self.times = runtime_context.get_list_state(ListStateDescriptor("times"))

    def process_element(self, value: Any, ctx: Any) -> None:
        _, delete, domain, time = value
        self.count.update((self.count.value() or 0) + 1)
        timers = ctx.timer_service()
        if delete:
            (timers.delete_event_time_timer if domain is EVENT else timers.delete_processing_time_timer)(time)
        else:
            (timers.register_event_time_timer if domain is EVENT else timers.register_processing_time_timer)(time)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        timers, domain = ctx.timer_service(), ctx.time_domain()
        self.times.add(timestamp)
        yield ctx.get_current_key(), domain, timestamp, self.count.value(), list(self.times.get())
        if timestamp % 2 and timestamp + AGAIN < END:
            register = timers.register_event_time_timer if domain is EVENT else timers.register_processing_time_timer
            register(timestamp + AGAIN)


@dataclass
class Model:
    now: dict[TimeDomain, int] = field(default_factory=lambda: {EVENT: -(2**63), PROCESSING: 0})
    timers: dict[TimeDomain, set[tuple[int, str]]] = field(default_factory=lambda: {EVENT: set(), PROCESSING: set()})
    counts: dict[str, int] = field(default_factory=dict)
    times: dict[str, list[int]] = field(default_factory=dict)
    fired: list[Any] = field(default_factory=list)

    def command(self, key: str, delete: bool, domain: TimeDomain, time: int) -> None:
        self.counts[key] = self.counts.get(key, 0) + 1
        (self.timers[domain].discard if delete else self.timers[domain].add)((time, key))

    def advance(self, domain: TimeDomain, now: int) -> None:
        """Time of a kind comes to `now`; event-time timers look up only when it rises."""
        if domain is EVENT and now <= self.now[EVENT]:
            return
        self.now[domain] = max(now, self.now[domain])
        timers = self.timers[domain]
        while due := [timer for timer in timers if timer[0] <= self.now[domain]]:
            time, key = min(due)
            timers.remove((time, key))
            self.times.setdefault(key, []).append(time)
            self.fired.append((key, domain, time, self.counts.get(key), list(self.times[key])))
            if time % 2 and time + AGAIN < END:
                timers.add((time + AGAIN, key))


DOMAINS = st.sampled_from([EVENT, PROCESSING])
COMMANDS = st.tuples(st.sampled_from("abc"), st.booleans(), DOMAINS, st.integers(0, 50))
ADVANCES = st.tuples(DOMAINS, st.integers(0, 55))
STEPS = st.lists(st.one_of(COMMANDS, COMMANDS, ADVANCES), max_size=25)


def by_key(fired: list[Any]) -> dict[str, list[Any]]:
    """What fired for each key, in order; timers of different keys at the same time fire in any order."""
    return {key: [each for each in fired if each[0] == key] for key in {each[0] for each in fired}}


@settings(max_examples=CASES)
@given(STEPS)
def test_timers_and_state_agree_with_the_model(steps: list[Any]) -> None:
    check(steps)


@settings(max_examples=CASES)
@given(STEPS)
def test_timers_and_state_agree_with_the_model_in_parts(steps: list[Any]) -> None:
    with in_parts():
        check(steps)


def check(steps: list[Any]) -> None:
    model = Model()
    with TestHarness.of(lambda s: s.key_by(lambda command: command[0]).process(Commanded())) as harness:
        for step in steps:
            if len(step) == 4:
                model.command(*step)
                harness.process(step, 0)
                model.advance(PROCESSING, 0)
            else:
                domain, time = step
                if time >= model.now[domain]:
                    advance = harness.advance_watermark if domain is EVENT else harness.advance_processing_time
                    advance(time)
                    model.advance(domain, time)
            assert by_key(harness.outputs()) == by_key(model.fired)
            for domain in (EVENT, PROCESSING):
                assert {(timer.time, timer.key) for timer in harness.timers(domain=domain)} == model.timers[domain]
        harness.end_input()
        model.advance(EVENT, 2**63 - 1)
        assert by_key(harness.outputs()) == by_key(model.fired)
        assert {key: harness.state(ValueStateDescriptor("count"), key) for key in model.counts} == model.counts
