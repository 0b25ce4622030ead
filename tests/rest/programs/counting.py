"""Counts numbers for ever, by their remainder modulo 4: a job to operate from outside."""

from __future__ import annotations

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

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int]]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value % 4, count


env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_source(DataGeneratorSource(int, records_per_second=40), None, "numbers").uid("numbers")
numbers.key_by(lambda number: number % 4).process(Count()).uid("counts").name("counts").print()
env.execute("counting")
