"""Operators of tables, whose records are batches of rows: to and from streams, watermarks, and state with timers."""

from __future__ import annotations

from typing import Any

from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.failure import NO_RECORD, operator_error
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.base import KeyedOperator, RuntimeOperator
from scurry.runtime.operators.timestamps import AssignTimestampsOperator
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.slots import EVENT, PROCESSING


class RecordsToRowsOperator(RuntimeOperator):
    """Run `ops.RecordsToRows`."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        try:
            rows = self.plan.operator.function.rows(values, timestamps)
        except Exception as error:
            index = getattr(error, "index", None)
            raise operator_error(self.plan, error, NO_RECORD if index is None else values[index]) from error
        self.collector.emit([rows], None)

    def watermark(self, watermark: int) -> None:
        operator = self.plan.operator
        assert isinstance(operator, ops.RecordsToRows)
        if watermark == MAX_TIME or operator.watermarks:
            self.collector.watermark(watermark)


class RowsToRecordsOperator(RuntimeOperator):
    """Run `ops.RowsToRecords`."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        function = self.plan.operator.function
        for batch in values:
            try:
                records, times = function.records(batch)
            except Exception as error:
                raise operator_error(self.plan, error, batch) from error
            self.collector.emit(records, times)


class AssignWatermarksOperator(AssignTimestampsOperator):
    """Generate watermarks per row, as Flink's WatermarkAssigner does, for records that are batches of rows.

    The watermark of a row follows it at once where event time has moved by more than the emit interval. A batch is cut
    only in front of rows that are behind such a watermark: no other row can tell whether the watermark came earlier.
    """

    def functions(self) -> list[Any]:
        return [self.plan.operator.function]

    def open(self) -> None:
        self._open(self.plan.operator.function)
        self._batch = -1
        self.last = self._before = MIN_TIME
        self.begin()

    def begin(self) -> None:
        """Begin a batch, so that a replay generates the same watermarks."""
        if self.info.batch_id != self._batch:
            self._batch, self._before = self.info.batch_id, self.last
        self.last = self._highest = self._in_force = self._before
        self.idle = False

    def process(self, values: Values, timestamps: Timestamps) -> None:
        function, value = self.plan.operator.function, None
        try:
            for value in values:
                self._process(value, *function.progress(value, self._highest, self.last))
        except Exception as error:
            raise operator_error(self.plan, error, value) from error

    def _process(self, rows: Any, cuts: list[tuple[int, int]], emitted: int, highest: int) -> None:
        """Emit rows.

        Args:
            cuts: Positions of rows that are behind a watermark, with that watermark.
            emitted: The last watermark that a row has caused.
        """
        start = 0
        for position, watermark in cuts:
            if watermark > self._in_force:
                if position > start:
                    self.collector.emit([rows.slice(start, position - start)], None)
                    start = position
                self._forward(watermark)
                if self.punctuate is not None:
                    self.punctuate()
                self._in_force = watermark
        self.collector.emit([rows.slice(start) if start else rows], None)
        self._forward(emitted)
        self._highest = highest

    def emit_periodic(self) -> None:
        """Emit the current watermark; called when the auto-watermark interval has passed."""
        self._forward(self._highest)


class RowsContext:
    """State, timers and time of a `KeyedRowsFunction`.

    Attributes:
        watermark: The watermark behind which rows are late.
        late: How many rows the function has dropped because they are late.
        backend: The state of all keys, for functions that keep it in another way than by key.
        select: Makes a key the current one, and returns its state by slot.
        prefetch: Loads the state of keys at once; only for speed.
    """

    def __init__(self, info: TaskInfo, backend: KeyedStateBackend, watermark: int) -> None:
        self._info = info
        self.backend = backend
        self.watermark = watermark
        self.late = 0
        self.select = backend.select
        self.prefetch = backend.prefetch

    @property
    def key(self) -> Any:
        """The current key, in canonical form."""
        return self.backend.key

    @property
    def state(self) -> Entry:
        """The state of the current key, by slot."""
        return self.backend.entry

    @property
    def processing_time(self) -> int:
        """Return the time at which rows were read, or at which a timer fires, in milliseconds since the epoch."""
        return self._info.clock.now()

    def register_event_timer(self, time: int, namespace: Any = None) -> None:
        """Register an event-time timer of the current key."""
        self.backend.register_timer(EVENT, time, namespace)

    def delete_event_timer(self, time: int, namespace: Any = None) -> None:
        """Delete an event-time timer of the current key."""
        self.backend.delete_timer(EVENT, time, namespace)

    def register_processing_timer(self, time: int, namespace: Any = None) -> None:
        """Register a processing-time timer of the current key."""
        self.backend.register_timer(PROCESSING, time, namespace)

    def delete_processing_timer(self, time: int, namespace: Any = None) -> None:
        """Delete a processing-time timer of the current key."""
        self.backend.delete_timer(PROCESSING, time, namespace)


class KeyedRowsFunction:
    """The function of a table operator: it processes rows and timers.

    What it keeps in memory between two calls, it sets up in `open`, which is called again after an attempt of a
    micro-batch has failed.

    Attributes:
        watermark_delay_ms: How much older than the watermark results may be; the watermark of the results is behind
            by it.
        joins_records: Whether each call has costs of its own, so that `joined` makes one record of several.
        page_bytes: The size of pages of state, if keys are touched far apart; None for the usual one.
        packs_entries: Whether the state of each key is decoded only if it is touched.
        has_rows_only: Whether its state is rows in columns, without timers.
    """

    watermark_delay_ms: int = 0
    joins_records: bool = False
    page_bytes: int | None = None
    packs_entries: bool = False
    has_rows_only: bool = False

    def open(self, context: Any) -> None:
        """Prepare for a task."""

    def process(self, index: int, rows: Any, context: RowsContext) -> list[Any]:
        """Process a record of an input; return records to emit."""
        raise NotImplementedError

    def joined(self, records: list[Any]) -> Any:
        """Make one record of several, with `joins_records`."""
        raise NotImplementedError

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Handle an event-time timer of the current key; `emit_after_timers` returns the output."""

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Handle a processing-time timer of the current key; `emit_after_timers` returns the output."""

    def emit_after_timers(self, context: RowsContext) -> list[Any]:
        """Return records to emit, after all timers that were due."""
        return []

    def write_back(self, context: RowsContext) -> None:
        """Move rows in memory to keyed state at the end of a micro-batch."""


class KeyedRowsOperator(KeyedOperator):
    """Run `ops.KeyedRows`."""

    #: functions emit what all timers that are due make together
    fires_in_parts = False

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._function: KeyedRowsFunction = plan.operator.function
        self._context = RowsContext(info, self.backend, MIN_TIME)
        #: whether a micro-batch has begun and not ended
        self._begun = False

    def bind(self, backend: KeyedStateBackend, watermark: int) -> None:
        super().bind(backend, watermark)
        if self._function.page_bytes is not None:
            backend.page_bytes = self._function.page_bytes
        backend.packs_entries = self._function.packs_entries
        if self._function.has_rows_only:
            backend.forget_timers()
        self._context = RowsContext(self.info, backend, watermark)
        if self._begun:
            self.close()
            self._open(self._function)
        self._begun = True

    def write_back(self) -> None:
        self.call(self._function.write_back, self._context)
        self._begun = False

    def outgoing(self, watermark: int) -> int:
        return watermark if watermark == MAX_TIME else max(watermark - self._function.watermark_delay_ms, MIN_TIME)

    def set_watermark(self, watermark: int) -> None:
        self.current_watermark = self._context.watermark = watermark

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        process, context, value = self._function.process, self._context, None
        results: Values = []
        try:
            if self._function.joins_records and len(values) > 1:
                values = [self._function.joined(values)]
            for value in values:
                results += process(index, value, context)
        except Exception as error:
            raise operator_error(self.plan, error, value) from error
        if context.late:
            self.info.count(self.plan.id, "numLateRecordsDropped", context.late)
            context.late = 0
        self.collector.emit(results, None)

    def on_event_time(self, time: int, namespace: Any) -> None:
        self.call(self._function.on_event_time, time, namespace, self._context)

    def on_processing_time(self, time: int, namespace: Any) -> None:
        self.call(self._function.on_processing_time, time, namespace, self._context)

    def emit_after_timers(self) -> None:
        self.collector.emit(self.call(self._function.emit_after_timers, self._context), None)
