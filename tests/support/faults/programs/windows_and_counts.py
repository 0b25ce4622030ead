"""Readings from files -> windows per sensor -> a total per window, and a running count per sensor, all to files.

    windows_and_counts.py INPUT OUTPUT CHECKPOINTS [FUSE]

With a fuse (`failing_sink.py`), the job can be made to die after its sinks have committed and before Spark has.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from scurry.common import Duration, Encoder, Time, Types, WatermarkStrategy
from scurry.common.configuration import Configuration
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, StreamFormat
from scurry.datastream.functions import KeyedProcessFunction, ProcessWindowFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from support.faults.failing_sink import FailingSink

READING = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
WINDOW = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])


class Timestamp(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


class SumOfWindow(ProcessWindowFunction):
    def process(self, key: str, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        yield key, context.window().start, sum(value for _, _, value in elements)


class RunningCount(KeyedProcessFunction):
    """Counts the readings of a sensor; with a size, its state has so many bytes that change with the count."""

    def __init__(self, state_bytes: int = 0) -> None:
        self._state_bytes = state_bytes

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.content = runtime_context.get_state(ValueStateDescriptor("content", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[str]:
        count = (self.count.value() or 0) + 1
        if self._state_bytes:
            assert self.content.value() == (self._content(count - 1) if count > 1 else None)
            self.content.update(self._content(count))
        self.count.update(count)
        yield f"{value[0]},{count}"

    def _content(self, count: int) -> bytes:
        return random.Random(count).randbytes(self._state_bytes)


def parse(line: str) -> tuple[str, int, int]:
    sensor, time, value = line.split(",")
    return sensor, int(time), int(value)


def write(stream: DataStream, directory: str) -> None:
    buckets = BucketAssigner.base_path_bucket_assigner()
    sink = FileSink.for_row_format(directory, Encoder.simple_string_encoder()).with_bucket_assigner(buckets).build()
    stream.map(str, output_type=Types.STRING()).sink_to(sink)


def environment(checkpoints: str, settings: dict[str, str] | None = None) -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.dir", checkpoints)
    configuration.set_string("scurry.batch.max-bytes", "12000")
    configuration.set_string("restart-strategy.type", "none")  # the tests restart it themselves
    for key, value in (settings or {}).items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    env.set_max_parallelism(8)
    return env


def build(env: StreamExecutionEnvironment, source: str, output: str, state_bytes: int = 0) -> DataStream:
    """Adds the job to the environment; returns the running counts, the last of its streams."""
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), source).build()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    readings = (
        env.from_source(files, WatermarkStrategy.no_watermarks(), "readings")
        .map(parse, output_type=READING)
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Timestamp()))
    )
    per_sensor = readings.key_by(lambda reading: reading[0], key_type=Types.STRING())
    sums = per_sensor.window(TumblingEventTimeWindows.of(Time.seconds(10))).process(SumOfWindow(), output_type=WINDOW)
    totals = (
        sums.map(lambda window: ("all", window[1], window[2]), output_type=WINDOW)
        .key_by(lambda window: window[0], key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .reduce(lambda a, b: (a[0], a[1], a[2] + b[2]))
    )
    counts = per_sensor.process(RunningCount(state_bytes), output_type=Types.STRING())
    write(sums, f"{output}/sums")
    write(totals, f"{output}/totals")
    write(counts, f"{output}/counts")
    return counts


def main(source: str, output: str, checkpoints: str, fuse: str = "") -> None:
    env = environment(checkpoints)
    counts = build(env, source, output)
    if fuse:
        counts.sink_to(FailingSink(fuse))
    env.execute("windows and counts")


if __name__ == "__main__":
    main(*sys.argv[1:])
