"""The operator of tables with state: what a failed attempt of a micro-batch leaves in memory has no effect."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.errors import OperatorError
from scurry.graph import operators as ops
from scurry.graph.nodes import Origin
from scurry.graph.plan import OperatorPlan
from scurry.runtime.clock import ProcessingClock
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.rows import KeyedRowsFunction, KeyedRowsOperator, RowsContext
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.store import DictStore


class Holding(KeyedRowsFunction):
    """Hold numbers in memory until the watermark rises, or the micro-batch ends; fail on a text."""

    def open(self, context: Any) -> None:
        self._held: list[int] = []

    def process(self, index: int, rows: Any, context: RowsContext) -> list[Any]:
        self._held.append(int(rows))
        return []

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        self._held += context.state.pop("held")

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        raise AssertionError("no such timer was registered")

    def emit_after_timers(self, context: RowsContext) -> list[Any]:
        held, self._held = self._held, []
        return held

    def write_back(self, context: RowsContext) -> None:
        if self._held:
            context.select("all")["held"], self._held = self._held, []
            context.register_event_timer(context.watermark + 1)


class Received:
    def __init__(self) -> None:
        self.values: list[Any] = []

    def process(self, values: Values, timestamps: Timestamps) -> None:
        self.values += values

    def watermark(self, watermark: int) -> None:
        return


class Attempts:
    """One instance of an operator, which lives as long as its worker, and the state that was committed."""

    def __init__(self) -> None:
        plan = OperatorPlan(1, "held", "held", ops.KeyedRows(Holding()), None, 1, Origin("program.py", 3))
        collector, self.received, self.store = Collector(plan), Received(), DictStore()
        collector.main.append(self.received)
        self.operator = KeyedRowsOperator(plan, collector, TaskInfo(0, 1, 128, clock=ProcessingClock(lambda: 0)))
        self.operator.open()

    def run(self, values: list[Any], watermark: int | None = None) -> list[Any]:
        backend = KeyedStateBackend("held", self.store)
        self.received.values = []
        self.operator.bind(backend, MIN_TIME)
        self.operator.process_input(0, None, values, None)
        if watermark is not None:
            assert not [*self.operator.advance(watermark, 0)]
        self.operator.write_back()
        backend.flush()
        return self.received.values


def test_rows_of_a_failed_attempt_are_not_emitted_by_the_next_one() -> None:
    attempts = Attempts()
    with pytest.raises(OperatorError):
        attempts.run([1, 2, "no number"], watermark=5)
    assert attempts.run([1, 2], watermark=5) == [1, 2]


def test_rows_that_wait_when_a_micro_batch_ends_are_in_its_state() -> None:
    attempts = Attempts()
    assert attempts.run([1, 2]) == []
    attempts.operator = Attempts().operator
    attempts.operator.collector.main[:] = [attempts.received]
    assert attempts.run([3], watermark=5) == [3, 1, 2]
