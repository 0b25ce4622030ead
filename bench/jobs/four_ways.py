"""Sums per window and a total per key, over history in one of four ways; a PyFlink program (see bench/four_ways.py).

four_ways.py WAY DATA TARGET [SAVEPOINTS]

DATA has `all`, and the same records divided in `history` and `live`: lines `key,time,amount`. Each way is a function of
its own; all others are shared by all of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pyflink.common import Configuration, Duration, Encoder, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from pyflink.datastream.connectors.hybrid_source import HybridSource
from pyflink.datastream.functions import ProcessWindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows

PAYMENT = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])


class PaidAt(TimestampAssigner):
    """The second field of a payment."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return it."""
        return int(value[1])


class EndOfWindow(ProcessWindowFunction):
    """Gives a sum the end of its window."""

    def process(self, key: str, context: Any, elements: Iterable[Any]) -> Iterator[tuple[str, int, int]]:
        """Take the sum of a window."""
        for _, _, amount in elements:
            yield key, context.window().end, amount


class Total(KeyedProcessFunction):
    """Adds up all windows of a key."""

    def open(self, runtime_context: Any) -> None:
        """Get the state."""
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[str]:
        """Take a window."""
        total = (self.total.value() or 0) + value[2]
        self.total.update(total)
        yield f"{value[0]},{value[1]},{value[2]},{total}"


def parsed(line: str) -> tuple[str, int, int]:
    """Return the fields of a line."""
    key, at, amount = line.split(",")
    return key, int(at), int(amount)


def run(source: Any, target: str, **settings: str) -> None:
    """Run the job over a source."""
    configuration = Configuration()
    for name, value in {"python.execution-mode": "thread", **settings}.items():
        configuration.set_string(name, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    in_time = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    payments = (
        env.from_source(source, WatermarkStrategy.no_watermarks(), "payments", Types.STRING())
        .map(parsed, PAYMENT)
        .assign_timestamps_and_watermarks(in_time.with_timestamp_assigner(PaidAt()))
    )
    sums = (
        payments.key_by(lambda payment: payment[0], Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .reduce(lambda one, other: (one[0], one[1], one[2] + other[2]), EndOfWindow(), output_type=PAYMENT)
        .uid("sums")
    )
    totals = sums.key_by(lambda each: each[0], Types.STRING()).process(Total(), Types.STRING()).uid("totals")
    totals.sink_to(FileSink.for_row_format(target, Encoder.simple_string_encoder()).build())
    print(f"RESULT {env.execute('four ways').get_net_runtime() / 1000}", flush=True)


def lines_of(directory: str) -> FileSource:
    """Return the lines of a directory."""
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), directory).build()


def stream(data: str, target: str, savepoints: str) -> None:
    """(a) All records, as a stream."""
    run(lines_of(f"{data}/all"), target)


def batch(data: str, target: str, savepoints: str) -> None:
    """(b) All records, in BATCH."""
    run(lines_of(f"{data}/all"), target, **{"execution.runtime-mode": "BATCH"})


def hybrid(data: str, target: str, savepoints: str) -> None:
    """(c) History, then live, in one job."""
    source = HybridSource.builder(lines_of(f"{data}/history")).add_source(lines_of(f"{data}/live")).build()
    run(source, target)


def savepoint(data: str, target: str, savepoints: str) -> None:
    """(d) History in BATCH with a savepoint at its end, then live from there."""
    settings = {"execution.runtime-mode": "BATCH", "scurry.final-savepoint.dir": savepoints}
    run(lines_of(f"{data}/history"), target, **settings)
    (path,) = Path(savepoints).iterdir()
    run(lines_of(f"{data}/live"), target, **{"execution.state-recovery.path": str(path)})


WAYS: dict[str, Callable[[str, str, str], None]] = {
    way.__name__: way for way in (stream, batch, hybrid, savepoint)
}  # fmt: skip

if __name__ == "__main__":
    way, data, target, savepoints = sys.argv[1:]
    os.makedirs(savepoints, exist_ok=True)
    WAYS[way](data, target, savepoints)
