"""Keyed process functions of BATCH: times, timers and values of one key after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import KeyedProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.state import ValueStateDescriptor
from scurry.errors import JobError

RECORDS = [(key, time) for key in "abc" for time in (30, 10, 20)]


class Times(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


class Timestamps(KeyedProcessFunction):
    """Ask for the time of a record, or do not; emit it or nothing."""

    def __init__(self, asks: Callable[[Any], bool], emits: Callable[[Any], bool]) -> None:
        self._asks, self._emits = asks, emits

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        if self._asks(value):
            assert ctx.timestamp() == value[1]
        if self._emits(value):
            yield value
        if self._asks(value):
            assert ctx.timestamp() == value[1]
        ctx.timer_service().register_event_time_timer(value[1] + 1)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        assert ctx.timestamp() == timestamp
        yield f"{ctx.get_current_key()} at", timestamp


class WithTimes(KeyedProcessFunction):
    """Show the timestamp of each record."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value, ctx.timestamp()


def results(function: KeyedProcessFunction, records: list[Any] = RECORDS, timed: bool = True) -> list[Any]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("scurry.runner", "local"))
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    stream = env.from_collection(records, Types.TUPLE([Types.STRING(), Types.LONG()]))
    if timed:
        stream = stream.assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
        )
    found = stream.key_by(lambda each: each[0], Types.STRING()).process(function)
    if timed:
        found = found.key_by(lambda each: each[0][0]).process(WithTimes())
    with found.execute_and_collect() as collected:
        return list(collected)


@pytest.mark.parametrize("emits", [lambda value: True, lambda value: value == ("a", 20), lambda value: False])
@pytest.mark.parametrize("asks", [lambda value: True, lambda value: value == ("b", 30), lambda value: False])
def test_results_have_the_time_of_their_record(asks: Callable[[Any], bool], emits: Callable[[Any], bool]) -> None:
    expected = [((key, time), time) for key, time in RECORDS if emits((key, time))]
    expected += [((f"{key} at", time + 1), time + 1) for key, time in RECORDS]
    assert sorted(results(Timestamps(asks, emits))) == sorted(expected)


def test_records_without_times_have_none() -> None:
    class Untimed(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            assert ctx.timestamp() == -(2**63)
            yield value

    assert sorted(results(Untimed(), timed=False)) == sorted(RECORDS)


def test_values_end_with_their_key() -> None:
    class Values(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.context = runtime_context
            self.early = runtime_context.get_state(ValueStateDescriptor("early", Types.LONG()))

        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            late = self.context.get_state(ValueStateDescriptor("late", Types.LONG()))
            same = self.context.get_state(ValueStateDescriptor("late", Types.LONG()))
            yield self.early.value(), late.value()
            self.early.update(value[1])
            same.update(value[1])
            if value[1] == 20:
                self.early.clear()
                late.update(None)

    assert results(Values(), timed=False) == [(None, None), (30, 30), (10, 10)] * 3


def test_values_are_refused_before_there_is_a_key() -> None:
    class Early(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            runtime_context.get_state(ValueStateDescriptor("early", Types.LONG())).update(1)

        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            yield value

    with pytest.raises(JobError, match="key"):
        results(Early(), timed=False)


@pytest.mark.parametrize("time", [1.5, "1", None, 2**63, [1]])
def test_times_of_timers_are_checked(time: Any) -> None:
    class Wrong(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> None:
            ctx.timer_service().register_event_time_timer(time)

    with pytest.raises(JobError, match=r"timer|unhashable"):
        results(Wrong(), timed=False)


def test_timers_that_are_registered_while_timers_fire() -> None:
    class Chain(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> None:
            ctx.timer_service().register_event_time_timer(value[1])
            ctx.timer_service().register_event_time_timer(value[1])
            ctx.timer_service().delete_event_time_timer(30)

        def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
            yield ctx.get_current_key(), timestamp
            if timestamp < 25:
                ctx.timer_service().register_event_time_timer(timestamp + 5)

    assert results(Chain(), timed=False) == [(key, time) for key in "abc" for time in (10, 15, 20, 25)]
