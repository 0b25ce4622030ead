"""Custom watermark generators, run in-process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scurry.common import Configuration, WatermarkStrategy
from scurry.common.watermark_strategy import WatermarkGenerator
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction
from scurry.errors import JobError

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


def seen(generator: Any, records: list[tuple[int, bool]]) -> list[tuple[int, int]]:
    configuration = Configuration.from_dict({"scurry.runner": "local"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_generator(generator).with_timestamp_assigner(lambda value, _: value[0])
    stream = env.from_collection(records).assign_timestamps_and_watermarks(strategy)
    with stream.key_by(lambda value: 0).process(Show()).execute_and_collect() as results:
        return list(results)


def test_a_punctuated_watermark_holds_from_the_record_that_brought_it() -> None:
    records = [(1, False), (2, True), (3, False), (4, True), (5, False)]
    assert seen(Marked, records) == [(1, MIN), (2, MIN), (3, 2), (4, 2), (5, 4)]


def test_a_generator_that_marks_its_stream_idle_is_told_what_to_use_instead() -> None:
    with pytest.raises(JobError, match="with_idleness"):
        seen(Idling, [(1, False)])
