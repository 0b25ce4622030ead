"""Numbers -> a running count per key -> a table of a database, exactly once.

    to_database.py CHECKPOINTS URL USER FUSE; the password is in SCURRY_TEST_PASSWORD

With a fuse (`failing_sink.py`), the job can be made to die after its sinks have committed and before Spark has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from scurry.common import Configuration, Row, Types, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from scurry.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from support.faults.failing_sink import FailingSink

PER_SECOND, KEYS = 300, 7
#: Each life writes some 200 to 700 before it is killed, so that the input outlasts all kills.
NUMBERS = 800 + 800 * int(os.environ.get("SCURRY_KILLS", "20"))
COUNT = Types.ROW_NAMED(["number", "key", "count", "text"], [Types.INT(), Types.INT(), Types.INT(), Types.STRING()])


class RunningCount(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[Row]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield Row(value, ctx.get_current_key(), count, "x" * 4000)  # enough for some batches to be staged


def main(checkpoints: str, url: str, user: str, fuse: str) -> None:
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.dir", checkpoints)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_max_parallelism(8)
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url).with_user_name(user)
    options = builder.with_password(os.environ["SCURRY_TEST_PASSWORD"]).build()
    source = DataGeneratorSource(lambda index: index, NUMBERS, PER_SECOND, Types.INT())
    counts = (
        env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
        .key_by(lambda number: number % KEYS, key_type=Types.INT())
        .process(RunningCount(), output_type=COUNT)
    )
    insert = "INSERT INTO target VALUES (?, ?, ?, ?)"
    execution = JdbcExecutionOptions.builder().with_batch_size(50).with_max_retries(6).build()
    counts.add_sink(JdbcSink.exactly_once_sink(insert, COUNT, options, execution)).name("target").uid("target")
    counts.sink_to(FailingSink(fuse))
    env.execute("to database")


if __name__ == "__main__":
    main(*sys.argv[1:])
