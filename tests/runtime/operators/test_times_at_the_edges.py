"""Times that are no ints of 64 bits are refused, whoever they come from; none vanishes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from scurry.common import Configuration, Time, WatermarkStrategy
from scurry.common.watermark_strategy import Watermark, WatermarkGenerator
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.datastream import DataStream, KeyedProcessFunction, ProcessWindowFunction, StreamExecutionEnvironment
from scurry.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
    WindowAssigner,
)
from scurry.errors import ArgumentTypeError, JobError, OperatorError, TimestampError
from scurry.testing import TestHarness

MIN, MAX = -(2**63), 2**63 - 1
NAN = float("nan")
NO_TIMES = [2**70, 2**63, -(2**63) - 1, 1.5, NAN, float("inf"), True, None, "5"]

RUNNERS = ["local", pytest.param("spark", marks=pytest.mark.spark)]


def failure(build: Any, runner: str = "local", mode: str = "STREAMING") -> str:
    """What a job says that fails."""
    configuration = Configuration.from_dict({"scurry.runner": runner, "execution.runtime-mode": mode})
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    build(env).print()
    with pytest.raises(JobError) as caught:
        env.execute()
    return str(caught.value)


def stamped(env: StreamExecutionEnvironment, *times: Any) -> DataStream:
    """Records whose timestamps are these; each record is the text of its own."""
    by_text = {repr(time): time for time in times}
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: by_text[value])
    return env.from_collection(list(by_text)).assign_timestamps_and_watermarks(strategy).name("stamped")


class Show(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        yield context.window().start, context.window().end, len(list(elements))


# ------------------------------------------------------------------ timestamps


@pytest.mark.parametrize("time", NO_TIMES, ids=repr)
def test_a_timestamp_that_is_none_is_refused_with_its_record(time: Any) -> None:
    text = failure(lambda env: stamped(env, 1, time))
    assert "TimestampError: a timestamp must be" in text and repr(time) in text
    assert "'stamped'" in text and f"record: {repr(time)!r}" in text


class Stamping(Source):
    """A source of the program's own, which gives its one record a timestamp."""

    def __init__(self, time: Any) -> None:
        self.time = time

    def channels(self, parallelism: int) -> int:
        return 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        class Once(Enumerator):
            done = False

            def next_batch(self) -> list[Assignment]:
                before, self.done = self.done, True
                return [] if before else [Assignment(0, 0, True)]

            def position(self) -> dict[str, Any]:
                return {"done": self.done}

            def restore(self, position: dict[str, Any]) -> None:
                self.done = position["done"]

        return Once()

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        yield ["x"], [self.time]


@pytest.mark.parametrize("time", NO_TIMES, ids=repr)
def test_a_source_of_the_program_gives_times_only(time: Any) -> None:
    text = failure(lambda env: env.from_source(Stamping(time), WatermarkStrategy.no_watermarks(), "stamping"))
    assert "TimestampError: a timestamp must be" in text and repr(time) in text and "record: 'x'" in text


@pytest.mark.parametrize("time", [time for time in NO_TIMES if time is not None], ids=repr)
def test_a_harness_takes_times_only(time: Any) -> None:
    with TestHarness.of(lambda stream: stream.map(str)) as harness:
        for step in (partial(harness.process, "x"), harness.advance_watermark, harness.advance_processing_time):
            with pytest.raises((TimestampError, ArgumentTypeError)):
                step(time)


# ------------------------------------------------------------------ watermarks


class Emitting(WatermarkGenerator):
    def __init__(self, watermark: Any) -> None:
        self.watermark = watermark

    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        output.emit_watermark(self.watermark)

    def on_periodic_emit(self, output: Any) -> None:
        """Everything is said."""


@pytest.mark.parametrize("time", NO_TIMES, ids=repr)
@pytest.mark.parametrize("wrap", [lambda time: time, Watermark], ids=["plain", "Watermark"])
def test_a_watermark_that_is_no_time_is_refused_with_its_record(time: Any, wrap: Any) -> None:
    strategy = WatermarkStrategy.for_generator(lambda: Emitting(wrap(time)))
    text = failure(lambda env: env.from_collection(["x"]).assign_timestamps_and_watermarks(strategy))
    assert "TimestampError: a watermark must be" in text and repr(time) in text and "record: 'x'" in text


# ------------------------------------------------------------------ timers


class Timers(KeyedProcessFunction):
    def __init__(self, method: str, time: Any) -> None:
        self.method, self.time = method, time

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        getattr(ctx.timer_service(), self.method)(self.time)
        yield value

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield timestamp


METHODS = [f"{verb}_{domain}_time_timer" for verb in ("register", "delete") for domain in ("event", "processing")]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("time", NO_TIMES, ids=repr)
def test_a_timer_that_is_no_time_is_refused_with_its_record(method: str, time: Any) -> None:
    text = failure(lambda env: env.from_collection(["x"]).key_by(str).process(Timers(method, time)).name("timers"))
    assert "TimestampError: a timer must be" in text and repr(time) in text
    assert "'timers'" in text and "record: 'x'" in text


@pytest.mark.parametrize("time", [MIN, MIN + 1, -1, 0, MAX])
def test_timers_fire_at_any_time(time: int) -> None:
    with TestHarness.of(lambda s: s.key_by(str).process(Timers("register_event_time_timer", time))) as harness:
        harness.process("x", 0)
        harness.advance_watermark(MAX)
        assert harness.outputs() == ["x", time]


def test_what_counts_as_an_int_is_one() -> None:
    class Index:
        def __index__(self) -> int:
            return 5

    with TestHarness.of(lambda s: s.key_by(str).process(Timers("register_event_time_timer", Index()))) as harness:
        harness.process("x", 0)
        harness.advance_watermark(5)
        assert harness.outputs() == ["x", 5] and type(harness.outputs()[1]) is int


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_timer_beyond_the_end_of_time_is_refused_everywhere(runner: str) -> None:
    timers = Timers("register_event_time_timer", 2**63)
    text = failure(lambda env: env.from_collection(["x"]).key_by(str).process(timers), runner)
    assert "TimestampError: a timer must be" in text and str(2**63) in text and "record: 'x'" in text


# ------------------------------------------------------------------ windows

ms = Time.milliseconds
TUMBLING = TumblingEventTimeWindows.of(ms(10))
SLIDING = SlidingEventTimeWindows.of(ms(10), ms(5))
SESSIONS = EventTimeSessionWindows.with_gap(ms(10))
#: windows that are not within 64 bits: PyFlink fails on the same ones (OverflowError)
BEYOND: list[tuple[Any, int]] = [
    (TUMBLING, MAX),
    (TUMBLING, MAX - 1),
    (TUMBLING, MIN + 1),
    (SLIDING, MAX - 6),
    (SLIDING, MIN + 3),
]
BEYOND += [(SESSIONS, MAX - 1), (SESSIONS, MAX - 9), (SESSIONS, MAX - 8)]


def windowed(env: StreamExecutionEnvironment, assigner: Any, *times: int, general: bool = False) -> DataStream:
    windows = stamped(env, *times).key_by(lambda value: "k").window(assigner)
    return (windows.allowed_lateness(1) if general else windows).process(Show()).name("windows")


@pytest.mark.parametrize("general", [False, True], ids=["fast", "general"])
@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize(("assigner", "time"), BEYOND, ids=str)
def test_a_window_beyond_64_bits_is_refused_with_its_record(assigner: Any, time: int, mode: str, general: bool) -> None:
    text = failure(lambda env: windowed(env, assigner, time, general=general), mode=mode)
    assert "TimestampError: the" in text and "TimeWindow" in text and "must be from -2**63" in text
    assert "'windows'" in text and f"record: '{time}'" in text


@pytest.mark.parametrize("general", [False, True], ids=["fast", "general"])
@pytest.mark.parametrize(
    ("assigner", "time", "start", "end"),
    [
        (TUMBLING, MAX - 17, MAX - 17, MAX - 7),
        (TumblingEventTimeWindows.of(ms(10), ms(7)), MAX - 3, MAX - 10, MAX),
        (TUMBLING, MIN + 12, MIN + 8, MIN + 18),
        (SESSIONS, MAX - 20, MAX - 20, MAX - 10),
        (SESSIONS, MAX - 10, MAX - 10, MAX),
        (SESSIONS, MIN + 1, MIN + 1, MIN + 11),
    ],
    ids=str,
)
def test_windows_at_the_edges_are_as_in_flink(assigner: Any, time: int, start: int, end: int, general: bool) -> None:
    lateness = 1 if general else 0
    with TestHarness.of(lambda s: s.key_by(str).window(assigner).allowed_lateness(lateness).process(Show())) as harness:
        harness.process("x", time)
        harness.advance_watermark(MAX)
        assert harness.outputs() == [(start, end, 1)]


def test_a_session_that_grows_beyond_the_end_of_time_is_refused() -> None:
    with TestHarness.of(lambda s: s.key_by(str).window(SESSIONS).process(Show())) as harness:
        harness.process("x", MAX - 15)
        harness.process("x", MAX - 7)
        with pytest.raises(OperatorError, match=r"(?s)TimestampError: the .* of TimeWindow.* key 'x'"):
            harness.advance_watermark(MAX)


def test_a_record_without_a_timestamp_among_others_has_no_window() -> None:
    assigner = TumblingEventTimeWindows.of(ms(1024))  # one starts at Long.MIN_VALUE
    assert "MissingTimestampError" in failure(lambda env: windowed(env, assigner, 5, MIN))


class Odd(WindowAssigner[Any, Any]):
    """Windows of the program's own."""

    def __init__(self, start: Any, end: Any) -> None:
        self.window = (start, end)

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> list[Any]:
        return [TimeWindow(*self.window)]

    def get_default_trigger(self, env: Any) -> Any:
        return CountTrigger.of(9)

    def get_window_serializer(self) -> Any:
        raise NotImplementedError

    def is_event_time(self) -> bool:
        return True


@pytest.mark.parametrize(("start", "end"), [(0, 2**64), (0, NAN), (0, 5.5), (-(2**64), 5), (0, None)])
def test_windows_of_an_assigner_of_the_program_are_checked(start: Any, end: Any) -> None:
    text = failure(lambda env: windowed(env, Odd(start, end), 1))
    assert "record: '1'" in text and ("TimestampError: the" in text or end is None)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_record_at_the_end_of_time_does_not_vanish_from_its_window(runner: str, mode: str) -> None:
    text = failure(lambda env: windowed(env, TUMBLING, MAX), runner, mode)
    assert "TimestampError: the last timestamp of TimeWindow" in text and f"record: '{MAX}'" in text
