"""Records of a key keep their order from operator to operator, also where several readers send many at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from scurry.runtime.tasks import source_task

KEYS = 7


class Count(KeyedProcessFunction):
    """Emit the key with how many records it has had."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int]]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value % KEYS, count


class Last(KeyedProcessFunction):
    """Emit the records that do not follow the one before."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

    def process_element(self, value: tuple[int, int], ctx: Any) -> Iterator[tuple[int, int]]:
        if value[1] != (self.last.value() or 0) + 1:
            yield value
        self.last.update(value[1])


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_keyed_operator_gets_the_records_of_another_in_the_order_in_which_they_were_made(
    parallelism: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_task, "SEGMENT_RECORDS", 100)
    local = Configuration().set_string("scurry.runner", "local")
    env = StreamExecutionEnvironment.get_execution_environment(local)
    env.set_parallelism(parallelism)
    numbers = env.from_source(NumberSequenceSource(1, 30_000), WatermarkStrategy.no_watermarks(), "numbers")
    counted = numbers.key_by(lambda number: number % KEYS).process(Count())
    misplaced = counted.key_by(lambda pair: pair[0]).process(Last())
    assert list(misplaced.execute_and_collect()) == []
