"""Messages with numbers -> a running count per key -> files.

from_queue.py SYSTEM PORT CHECKPOINTS OUTPUT
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from scurry.common import Configuration, Encoder, Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSink
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from support.queues import SYSTEMS

KEYS = 5


class RunningCount(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: str, ctx: Any) -> Iterator[str]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value},{int(value) % KEYS},{count}"


def main(system: str, port: str, checkpoints: str, output: str) -> None:
    configuration = Configuration.from_dict(dict(SYSTEMS[system].settings))
    configuration.set_string("execution.checkpointing.dir", checkpoints)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_max_parallelism(8)
    source = SYSTEMS[system].source
    assert source is not None
    numbers = env.add_source(source(int(port)), "numbers")
    counts = numbers.key_by(lambda number: int(number) % KEYS, Types.LONG()).process(RunningCount(), Types.STRING())
    counts.sink_to(FileSink.for_row_format(output, Encoder.simple_string_encoder()).build())
    env.execute("from a queue")


if __name__ == "__main__":
    main(*sys.argv[1:])
