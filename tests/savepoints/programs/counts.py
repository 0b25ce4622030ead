"""Counts 100 keys once more; each that goes on from a savepoint stands at 11 then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: Any, ctx: Any) -> Iterator[int]:
        self.count.update((self.count.value() or 0) + 1)
        yield self.count.value()


env = StreamExecutionEnvironment.get_execution_environment()
keys = env.from_collection([f"key {number}" for number in range(100)])
keys.key_by(lambda key: key).process(Count()).uid("counts").print()
env.execute("counts")
