"""The operator of tables with state and timers, whose records are batches of rows."""

from __future__ import annotations

from typing import Any, Protocol

from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.failure import operator_error
from scurry.runtime.operators.base import KeyedOperator
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.slots import EVENT

__all__ = ["KeyedRowsFunction", "KeyedRowsOperator", "RowsContext"]


class RowsContext:
    """What a `KeyedRowsFunction` knows of the current key."""

    def __init__(self, backend: KeyedStateBackend, watermark: int) -> None:
        self._backend = backend
        #: the watermark behind which rows are late
        self.watermark = watermark
        #: how many rows the function has dropped because they are late
        self.late = 0

    @property
    def state(self) -> dict[Any, Any]:
        """The state of the current key, by slot."""
        return self._backend.entry

    def register_timer(self, time: int, namespace: Any) -> None:
        """Register an event-time timer of the current key."""
        self._backend.register_timer(EVENT, time, namespace)


class KeyedRowsFunction(Protocol):
    """What an operator of tables does with rows and timers."""

    def open(self, context: Any) -> None:
        """Prepare for a task."""

    def process(self, rows: Any, context: RowsContext) -> list[Any]:
        """Take rows of the current key; return rows to emit."""

    def on_timer(self, namespace: Any, context: RowsContext) -> list[Any]:
        """Handle a timer of the current key; return rows to emit."""


class KeyedRowsOperator(KeyedOperator):
    """Run `ops.KeyedRows`."""

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        assert keys is not None
        function, backend, value = self.plan.operator.function, self.backend, None
        context = RowsContext(backend, self.current_watermark)
        results: Values = []
        try:
            for key, value in zip(keys, values, strict=True):
                backend.select(key)
                results += function.process(value, context)
        except Exception as error:
            raise operator_error(self.plan, error, value) from error
        if context.late:
            self.info.count(self.plan.id, "numLateRecordsDropped", context.late)
        self.collector.emit(results, None)

    def on_event_time(self, time: int, namespace: Any) -> None:
        context = RowsContext(self.backend, self.current_watermark)
        self.collector.emit(self.call(self.plan.operator.function.on_timer, namespace, context), None)
