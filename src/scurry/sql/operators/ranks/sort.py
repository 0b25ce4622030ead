"""LIMIT without an order, and rows sorted by time, as far as the time has passed."""

from __future__ import annotations

from typing import Any

import numpy as np

from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import concatenated, milliseconds, sorted_positions
from scurry.sql.operators.expiry import ExpiringFunction
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.nodes import Limit
from scurry.sql.plan.physical.ranks import TemporalSort

_WAITING = "waiting"
_TIMER = "timer"
#: The latest time of the rows that have been emitted: a row is late if rows after it are gone.
_LAST = "last"


class TimeSort(KeyedRowsFunction):
    """Keep rows until the watermark, or processing time, has passed them; emit them sorted."""

    def __init__(self, plan: TemporalSort) -> None:
        self._plan = plan

    def open(self, context: Any) -> None:
        """Begin with no key whose rows time has passed."""
        self._due: Any = None

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep the rows; drop those that are late."""
        state, batch = context.select(rows.keys[0]), rows.changes.batch
        if not self._plan.has_event_time:
            if len(self._plan.keys) == 1:
                return [rows.changes]
            state[_WAITING] = [*state.get(_WAITING, ()), rows.changes]
            context.register_processing_timer(context.processing_time + 1)
            return []
        times = milliseconds(batch.column(self._plan.keys[0].index))
        here = np.flatnonzero(times > state.get(_LAST, MIN_TIME))
        context.late += batch.num_rows - len(here)
        if len(here):
            state[_WAITING] = [*state.get(_WAITING, ()), Changes(batch.take(here))]
            self._wake(int(times[here].min()), context)
        return []

    def _wake(self, time: int, context: RowsContext) -> None:
        timer = context.state.get(_TIMER)
        if timer is None or time < timer:
            context.state[_TIMER] = time
            context.register_event_timer(time)

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Note that the watermark has passed rows."""
        self._due = context.key

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Note that processing time has passed rows."""
        self._due = context.key

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        if self._due is None:
            return []
        key, self._due = self._due, None
        context.select(key).pop(_TIMER, None)
        waiting = context.state.pop(_WAITING, ())
        if not waiting:
            return []
        batch = concatenated([each.batch for each in waiting], self._plan.schema)
        order = sorted_positions(batch.columns, self._plan.keys, batch.num_rows)
        if self._plan.has_event_time:
            times = milliseconds(batch.column(self._plan.keys[0].index))
            stays = np.flatnonzero(times > context.watermark)
            if len(stays):
                context.state[_WAITING] = [Changes(batch.take(stays))]
                self._wake(int(times[stays].min()), context)
            order = order[times[order] <= context.watermark]
            if len(order):
                context.state[_LAST] = int(times[order].max())
        return [Changes(batch.take(order))] if len(order) else []


_SEEN = "seen"


class FirstRows(ExpiringFunction):
    """Emit some of the rows as they arrive, then nothing any more."""

    def __init__(self, plan: Limit, ttl: int) -> None:
        super().__init__(ttl)
        self._offset = plan.offset
        self._end = plan.offset + (plan.fetch or 0)

    def open(self, context: Any) -> None:
        """Do nothing."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the rows that are within the limit."""
        state = context.select(rows.keys[0])
        self._expiry.expire(context)
        seen = state.get(_SEEN, 0)
        if seen >= self._end:
            return []
        self._expiry.touch(context)
        batch = rows.changes.batch
        state[_SEEN] = min(seen + batch.num_rows, self._end)
        first = max(self._offset - seen, 0)
        last = min(self._end - seen, batch.num_rows)
        return [Changes(batch.slice(first, last - first))] if last > first else []
