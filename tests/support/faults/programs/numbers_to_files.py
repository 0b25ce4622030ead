"""Numbers -> a running count per key -> files, exactly once; where its checkpoints are is not said here.

numbers_to_files.py OUTPUT COUNT
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from scurry.common import Encoder, Types, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from scurry.datastream.connectors.file_system import FileSink
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor

KEYS, PER_SECOND = 5, 100


class RunningCount(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[str]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value % KEYS},{count}"


def main(output: str, count: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    source = DataGeneratorSource(lambda index: index, int(count), PER_SECOND, Types.LONG())
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    counts = numbers.key_by(lambda number: number % KEYS, Types.LONG()).process(RunningCount(), Types.STRING())
    counts.sink_to(FileSink.for_row_format(output, Encoder.simple_string_encoder()).build())
    env.execute("numbers to files")


if __name__ == "__main__":
    main(*sys.argv[1:])
