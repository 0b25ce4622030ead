"""A backlog beside a slow source: the records that wait in state are those of the drift."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Duration, Types, WatermarkStrategy
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.connectors.splits import SplitSource
from scurry.datastream import KeyedCoProcessFunction, RuntimeContext, StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.formats.csv import CsvReaderFormat, CsvSchema
from scurry.datastream.state import ValueStateDescriptor

DRIFT, STEP, END = 5_000, 5, 40_000
#: records of the backlog within the drift
FITTING = DRIFT // STEP


class Slow(SplitSource):
    """A record each 1,000 ms of event time; one in a micro-batch, however much a batch may read."""

    def splits(self) -> list[str]:
        return ["slow"]

    def advance(self, split: str, position: int, limit: int) -> int:
        return min(position + 1, END // 1000)

    def read_split(self, split: str, start: int, end: int) -> Iterator[int]:
        return iter(range(start * 1000, end * 1000, 1000))


class Itself(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value if isinstance(value, (int, str)) else value[0])


class Waiting(KeyedCoProcessFunction):
    """Keep records until their time has come, as a join does; the last one emits the most that waited at once."""

    def open(self, context: RuntimeContext) -> None:
        self.number = context.get_state(ValueStateDescriptor("number", Types.LONG()))
        self.most = context.get_state(ValueStateDescriptor("most", Types.LONG()))

    def _add(self, value: int, context: Any) -> None:
        number = (self.number.value() or 0) + 1
        self.number.update(number)
        self.most.update(max(number, self.most.value() or 0))
        context.timer_service().register_event_time_timer(context.timestamp())

    def process_element1(self, value: Any, context: Any) -> None:
        self._add(value, context)

    def process_element2(self, value: Any, context: Any) -> None:
        self._add(value, context)

    def on_timer(self, timestamp: int, context: Any) -> Iterator[int]:
        self.number.update((self.number.value() or 0) - 1)
        if timestamp == END - STEP:
            yield self.most.value() or 0


def lines(directory: Path) -> Any:
    for part in range(20):
        times = range(part * END // 20, (part + 1) * END // 20, STEP)
        (directory / f"{part:02}.txt").write_text("".join(f"{time}\n" for time in times))
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(directory)).build()


def one_file(directory: Path) -> Any:
    (directory / "all.txt").write_text("".join(f"{time}\n" for time in range(0, END, STEP)))
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(directory)).build()


def csv(directory: Path) -> Any:
    (directory / "all.csv").write_text("".join(f'{time},"two\nlines"\n' for time in range(0, END, STEP)))
    schema = CsvSchema.builder().add_number_column("n").add_string_column("text").build()
    return FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), str(directory)).build()


def most_waiting(source: Any, parallelism: int, **configuration: str) -> int:
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({"scurry.runner": "local", **configuration})
    )
    env.set_parallelism(parallelism)
    strategy: Any = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Itself())
    strategy = strategy.with_watermark_alignment("g", Duration.of_millis(DRIFT), Duration.of_millis(200))
    fast, slow = env.from_source(source, strategy, "fast"), env.from_source(Slow(), strategy, "slow")
    results = fast.connect(slow).key_by(lambda _: 0, lambda _: 0).process(Waiting(), Types.LONG())
    with results.execute_and_collect() as found:
        (most,) = found
    return most


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("source", [lines, one_file, csv])
def test_what_waits_is_bounded_by_the_drift(source: Any, parallelism: int, tmp_path: Path) -> None:
    assert most_waiting(source(tmp_path), parallelism) <= FITTING * 1.2


@pytest.mark.parametrize("parallelism", [1, 3])
def test_what_waits_is_bounded_where_several_readers_share_each_batch(parallelism: int) -> None:
    """The readers share each batch: the third one is always ahead of the first."""
    numbers = DataGeneratorSource(lambda n: n * STEP, END // STEP)
    assert most_waiting(numbers, parallelism) <= FITTING * 1.2
