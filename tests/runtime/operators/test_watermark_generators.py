"""Custom watermark generators, run in-process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from scurry.common import Configuration, WatermarkStrategy
from scurry.common.watermark_strategy import IngestionTimeAssigner, WatermarkGenerator
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction, ProcessFunction

MIN = -(2**63)


class Marked(WatermarkGenerator):
    """A record that is marked brings a watermark."""

    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        if event[1]:
            output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output: Any) -> None:
        pass


class Idling(Marked):
    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        output.mark_idle()


class Show(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value[0], ctx.timer_service().current_watermark()


def seen(generator: Any, records: list[tuple[int, bool]], mode: str = "STREAMING") -> list[tuple[int, int]]:
    configuration = Configuration.from_dict({"scurry.runner": "local", "execution.runtime-mode": mode})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_generator(generator).with_timestamp_assigner(lambda value, _: value[0])
    stream = env.from_collection(records).assign_timestamps_and_watermarks(strategy)
    with stream.key_by(lambda value: 0).process(Show()).execute_and_collect() as results:
        return list(results)


def test_a_punctuated_watermark_holds_from_the_record_that_brought_it() -> None:
    records = [(1, False), (2, True), (3, False), (4, True), (5, False)]
    assert seen(Marked, records) == [(1, MIN), (2, MIN), (3, 2), (4, 2), (5, 4)]


def test_in_batch_generators_are_not_asked_and_no_record_gets_lost() -> None:
    records = [(1, False), (2, True), (3, False)]
    assert seen(Marked, records, "BATCH") == [(1, MIN), (2, MIN), (3, MIN)]


def test_a_stream_whose_generator_marks_it_idle_is_not_waited_for() -> None:
    configuration = Configuration.from_dict({"scurry.runner": "local"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)

    def stream(generator: Any, *records: tuple[int, bool]) -> Any:
        strategy = WatermarkStrategy.for_generator(generator).with_timestamp_assigner(lambda value, _: value[0])
        return env.from_source(Scripted([*records]), strategy, "scripted")

    both = stream(Marked, (10, True), (20, True), (30, True)).union(stream(Idling, (1, False), (2, False), (3, False)))
    with both.key_by(lambda value: 0).process(Show()).execute_and_collect() as results:
        marks = dict(results)
    assert marks[20] == 10
    assert marks[30] == 20


class Scripted(Source):
    """One record per micro-batch."""

    def __init__(self, records: list[Any]) -> None:
        self.records = records

    def channels(self, parallelism: int) -> int:
        return 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return ScriptedEnumerator(self.records)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        yield [work], None


class ScriptedEnumerator(Enumerator):
    def __init__(self, records: list[Any]) -> None:
        self.records, self.dealt = records, 0

    def next_batch(self) -> list[Assignment]:
        if self.dealt == len(self.records):
            return []
        self.dealt += 1
        return [Assignment(0, self.records[self.dealt - 1], self.dealt == len(self.records))]

    def position(self) -> dict[str, Any]:
        return {"dealt": self.dealt}

    def restore(self, position: dict[str, Any]) -> None:
        self.dealt = position["dealt"]


def test_ingestion_time_is_when_a_record_is_read() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(IngestionTimeAssigner())
    before = time.time_ns() // 1_000_000
    stream = env.from_collection([1, 2, 3]).assign_timestamps_and_watermarks(strategy)
    with stream.process(TimestampOf()).execute_and_collect() as results:
        times = list(results)
    assert before <= times[0] <= times[1] <= times[2] <= time.time_ns() // 1_000_000


class TimestampOf(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[int]:
        yield ctx.timestamp()


class WatermarkOf(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[int]:
        yield ctx.timer_service().current_watermark()


def test_a_chained_function_never_sees_the_watermark_go_back() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
    stream = env.from_source(Scripted([10, 30, 20, 5, 40]), WatermarkStrategy.no_watermarks(), "scripted")
    with stream.assign_timestamps_and_watermarks(strategy).process(WatermarkOf()).execute_and_collect() as results:
        assert list(results) == [MIN, 9, 29, 29, 29]


class TestAlignment:
    """Sources of one group do not run away from each other by more than the drift."""

    def run(self, drift: int, *scripts: list[int]) -> list[int]:
        """The order in which the records of sources with a record per micro-batch were read."""
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
        env.set_parallelism(1)
        strategy = (
            WatermarkStrategy.for_monotonous_timestamps()
            .with_timestamp_assigner(lambda value, _: value)
            .with_watermark_alignment("group", drift)
        )
        first, *others = [env.from_source(Scripted(script), strategy, str(script)) for script in scripts]
        with first.union(*others).execute_and_collect() as results:
            return list(results)

    def test_a_source_that_is_ahead_waits_for_the_slowest(self) -> None:
        order = self.run(15, [10, 100, 200], [1, 2, 3, 90, 190])
        assert order.index(100) < order.index(90)  # read before its watermark was known to be ahead
        assert order.index(200) > order.index(90)

    def test_a_wide_drift_lets_all_read_at_once(self) -> None:
        assert self.run(1000, [10, 100, 200], [1, 2, 3, 90, 190]) == [10, 1, 100, 2, 200, 3, 90, 190]

    def test_a_source_that_has_ended_holds_nobody_back(self) -> None:
        assert self.run(0, [1], [10, 20, 30]) == [1, 10, 20, 30]
