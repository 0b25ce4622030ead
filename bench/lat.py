"""Latency: lines "key,emit time" from a socket, counted per key; who runs it stamps their arrival on standard output.

    scurry run bench/lat.py PORT
    scurry run --mode batch bench/lat.py FILE       # lines that have been gathered

bench/run.py compares it with peers, bench/ladder.py with itself in other modes.

The same job as the peer benchmark's pyflink_lat.py, which has to borrow a Java source: PyFlink has none of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from scurry.common import Types, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import FileSource, StreamFormat
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor

KV = Types.TUPLE([Types.STRING(), Types.STRING()])


class Count(KeyedProcessFunction):
    """Counts per key and passes the emit time on."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the state."""
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[str]:
        """Count one record."""
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"LAT {value[1]}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
if sys.argv[1].isdigit():
    lines = env.socket_text_stream("localhost", int(sys.argv[1]))
else:
    gathered = FileSource.for_record_stream_format(StreamFormat.text_line_format(), sys.argv[1]).build()
    lines = env.from_source(gathered, WatermarkStrategy.no_watermarks(), "gathered")
(
    lines.map(lambda line: tuple(line.split(",")), output_type=KV)
    .key_by(lambda pair: pair[0], key_type=Types.STRING())
    .process(Count(), output_type=Types.STRING())
    .print()
)
env.execute("latency")
