"""Numbers from files -> per key a count beside a long text and a timer, to files; the state is in runs.

many_keys.py INPUT OUTPUT CHECKPOINTS [PARALLELISM] [SAVEPOINT]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from scurry.common import Types, WatermarkStrategy
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ListStateDescriptor, ValueStateDescriptor
from support.faults.programs.windows_and_counts import environment, write

#: Every number is there three times; the four key groups have more state than pages hold.
KEYS, TIMES, FILES = 6000, 3, 8


class Number(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value) // KEYS


class Count(KeyedProcessFunction):
    """Counts the records of a key; when the end of all input is reached, tells what it has counted."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.text = runtime_context.get_state(ValueStateDescriptor("text", Types.STRING()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[str]:
        count = int((self.text.value() or "0").lstrip("x")) + 1
        self.text.update(f"{count}".rjust(60, "x"))
        self.seen.add(value)
        ctx.timer_service().register_event_time_timer(value // KEYS + 1)
        yield f"{value % KEYS},{count}"

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[str]:
        yield f"{ctx.get_current_key()},at {timestamp},{len(list(self.seen.get())) >= timestamp}"


def main(source: str, output: str, checkpoints: str, parallelism: str = "2", savepoint: str = "") -> None:
    settings = {"execution.state-recovery.path": savepoint} if savepoint else {}
    env = environment(checkpoints, settings)
    env.set_parallelism(int(parallelism))
    env.set_max_parallelism(4)
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), source).build()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Number())
    numbers = env.from_source(files, WatermarkStrategy.no_watermarks(), "numbers").map(int, output_type=Types.LONG())
    counted = (
        numbers.assign_timestamps_and_watermarks(strategy)
        .key_by(lambda number: number % KEYS, key_type=Types.LONG())
        .process(Count(), output_type=Types.STRING())
        .uid("count")
    )
    write(counted, f"{output}/counts")
    env.execute("many keys")


if __name__ == "__main__":
    main(*sys.argv[1:])
