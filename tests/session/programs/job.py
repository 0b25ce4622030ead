"""A job of a session: `finish`, `fail`, `run` for ever, `run-second`, or `twice`, which has two jobs and then fails."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

from scurry.common import Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.datagen import DataGeneratorSource
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[int]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield count


what = sys.argv[1]
env = StreamExecutionEnvironment.get_execution_environment()
print("parallelism", env.get_parallelism())
if what == "run-second":
    print("sum", sum(env.from_collection([1, 2]).execute_and_collect()))
    env.from_collection([1, 2]).map(lambda number: f"first {number}").print()
    env.execute("the first")
if what in ("run", "run-second"):
    source = env.from_source(DataGeneratorSource(int, records_per_second=40), None, "numbers").uid("numbers")
    source.key_by(lambda number: 0).process(Count()).uid("counts").name("counts").print()
elif what == "fail":
    env.from_collection([1, 0]).map(lambda number: 1 // number).print()
else:
    env.from_collection([1, 2]).map(lambda number: number * 10).print()
env.execute(what)
if what == "twice":
    time.sleep(1)
    env.from_collection([3]).map(lambda number: number * 10).print()
    env.execute("the second")
    raise ValueError("after both")
