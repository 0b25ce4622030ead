"""OVER aggregations by time: rows by event time wait for the watermark, those by processing time do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of, milliseconds
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.expiry import CLEANUP, Expiry, IdleStateRetention
from scurry.sql.operators.kept_rows import Piece, joined, length_of, pieces, runs_of
from scurry.sql.operators.over.frames import evaluator
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.expressions import Literal
from scurry.sql.plan.physical.over import OverAggregate

#: Slots of a key: rows that wait for the watermark, when a timer fires, what rows before have left, their last time,
#: when that is forgotten.
_WAITING = "waiting"
_TIMER = "timer"
_KEPT = "kept"
_LAST = "last"
_END = "end"


class EventTimeOver(KeyedRowsFunction):
    """Emit rows when the watermark has passed them, in the order of their times."""

    def __init__(self, plan: OverAggregate, ttl: int, session: EvaluationContext) -> None:
        """Create the function of an aggregation.

        Args:
            ttl: Milliseconds after which a key without rows is forgotten; 0 for never, unless a RANGE says when.
        """
        self._plan = plan
        self._ttl = 0 if _length(plan) is not None else ttl
        self._session = session

    def open(self, context: Any) -> None:
        """Compile the aggregates."""
        self._cleanup = IdleStateRetention(self._ttl)
        self._evaluator = evaluator(self._plan, self._session)
        self._schema = self._plan.input.schema
        self._due: dict[Any, None] = {}
        self._ending: list[tuple[Any, int]] = []

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep rows; drop those that are late."""
        context.prefetch(rows.keys)
        for key in rows.keys if self._ttl else ():
            context.select(key)
            self._cleanup.touch(context)
        batch, group_ids = rows.changes.batch, rows.group_ids
        times = milliseconds(batch.column(self._plan.time))
        behind = times <= self._passed(rows, context)[group_ids]
        if behind.any():
            context.late += int(behind.sum())
            here = np.flatnonzero(~behind)
            batch, group_ids, times = batch.take(pa.array(here)), group_ids[here], times[here]
        order = np.argsort(group_ids, kind="stable")
        batch, group_ids, times = batch.take(pa.array(order)), group_ids[order], times[order]
        runs = runs_of(group_ids)
        kept = pieces(batch, [(start, stop) for _, start, stop in runs])
        for (group_id, start, stop), piece in zip(runs, kept, strict=True):
            state = context.select(rows.keys[group_id])
            state[_WAITING] = [*state.get(_WAITING, ()), piece]
            self._wake(int(times[start:stop].min()), context)
        return []

    def _passed(self, rows: KeyedChanges, context: RowsContext) -> Any:
        """Return for each key the time at or before which its rows are late."""
        if self._plan.is_unbounded:
            return np.full(len(rows.keys), context.watermark)
        return np.asarray([context.select(key).get(_LAST, 0) for key in rows.keys])

    def _wake(self, time: int, context: RowsContext) -> None:
        """Have a timer of the current key fire at a time, or before."""
        timer = context.state.get(_TIMER)
        if timer is None or time < timer:
            context.state[_TIMER] = time
            context.register_event_timer(time)

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Note that the current key may have rows that the watermark has passed; drop rows outside all frames."""
        if namespace == _END:
            self._ending.append((context.key, time))
        else:
            self._due[context.key] = None

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Forget an idle key; one whose rows still wait stays."""
        if not self._cleanup.is_due(time, namespace, context):
            return
        if context.state.get(_WAITING):
            self._cleanup.touch(context)
        else:
            _drop(context, _KEPT, _LAST, CLEANUP)

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        """Return the rows that the watermark has passed, the earliest first."""
        found = self._passed_rows(context)
        # Only now: rows that the same watermark has passed see what is forgotten, or put that off.
        ending, self._ending = self._ending, []
        for key, time in ending:
            context.select(key)
            _forget(time, context)
        return found

    def _passed_rows(self, context: RowsContext) -> list[Changes]:
        keys, self._due = list(self._due), {}
        if not keys:
            return []
        group_ids, waiting = _gathered(keys, context)
        if not waiting:
            return []
        batch = joined(waiting, self._schema)
        times = milliseconds(batch.column(self._plan.time))
        is_due = times <= context.watermark
        self._put_back(keys, batch, group_ids, times, ~is_due, context)
        here = np.flatnonzero(is_due)
        here = here[np.lexsort((times[here], group_ids[here]))]
        if not len(here):
            return []
        batch, group_ids, times = batch.take(pa.array(here)), group_ids[here], times[here]
        kept = [context.select(key).get(_KEPT) for key in keys]
        found = self._evaluator.evaluate(batch, group_ids, times, kept)
        for group_id, _, stop in runs_of(group_ids):
            state = context.select(keys[group_id])
            state[_KEPT] = found.kept[group_id]
            self._cleanup.touch(context)
            if not self._plan.is_unbounded:
                state[_LAST] = int(times[stop - 1])
                end = _new_end(self._plan, state[_LAST], context)
                if end is not None:
                    context.register_event_timer(end, _END)
        order = np.argsort(milliseconds(found.batch.column(self._plan.time)), kind="stable")
        return [Changes(found.batch.take(pa.array(order)))]

    def _put_back(
        self, keys: list[Any], batch: pa.RecordBatch, group_ids: Any, times: Any, stays: Any, context: RowsContext
    ) -> None:
        """Keep the rows of which the watermark has not passed yet."""
        here = np.flatnonzero(stays)
        if not len(here):
            return
        runs = runs_of(group_ids[here])
        kept = pieces(batch.take(pa.array(here)), [(start, stop) for _, start, stop in runs])
        for (group_id, start, stop), piece in zip(runs, kept, strict=True):
            state = context.select(keys[group_id])
            state[_WAITING] = [piece]
            self._wake(int(times[here[start:stop]].min()), context)


class ProcessingTimeOver(KeyedRowsFunction):
    """Emit rows as they arrive."""

    def __init__(self, plan: OverAggregate, ttl: int, session: EvaluationContext) -> None:
        self._plan = plan
        self._expiry = Expiry(ttl if plan.is_unbounded else 0)
        self._cleanup = IdleStateRetention(0 if plan.is_unbounded or _length(plan) is not None else ttl)
        self._session = session

    def open(self, context: Any) -> None:
        """Compile the aggregates."""
        self._evaluator = evaluator(self._plan, self._session)

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the rows with the values of the aggregates, in the order in which they arrived."""
        context.prefetch(rows.keys)
        count = rows.changes.batch.num_rows
        order = np.argsort(rows.group_ids, kind="stable")
        batch, group_ids = (
            self._at(context.processing_time, rows.changes.batch).take(pa.array(order)),
            rows.group_ids[order],
        )
        kept = [self._kept(key, context) for key in rows.keys]
        found = self._evaluator.evaluate(batch, group_ids, np.full(count, context.processing_time), kept)
        for key, left in zip(rows.keys, found.kept, strict=True):
            context.select(key)[_KEPT] = left
            end = _new_end(self._plan, context.processing_time, context)
            if end is not None:
                context.register_processing_timer(end, _END)
        return [Changes(found.batch.take(pa.array(np.argsort(order))))]

    def _kept(self, key: Any, context: RowsContext) -> Any:
        state = context.select(key)
        self._expiry.touch(context)
        self._cleanup.touch(context)
        return state.get(_KEPT)

    def _at(self, time: int, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with the time at which they are processed."""
        columns = list(batch.columns)
        place = self._plan.time
        columns[place] = pa.repeat(pa.scalar(time, pa.timestamp("ms")), batch.num_rows).cast(columns[place].type)
        return batch_of(columns, self._plan.input.schema, batch.num_rows)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Drop rows outside all frames, and idle keys."""
        if namespace == _END:
            _forget(time, context)
        elif self._cleanup.is_due(time, namespace, context):
            _drop(context, _KEPT, CLEANUP)
        else:
            self._expiry.on_processing_time(time, context)


def _new_end(plan: OverAggregate, last: int, context: RowsContext) -> int | None:
    """Return when the rows of the current key expire, if that is later than the known time.

    As in Flink they may stay for half the length of a frame longer, so that there are few timers.
    """
    length = _length(plan)
    if length is None:
        return None
    known = context.state.get(_END)
    if known is not None and known >= last + length + 1:
        return None
    end = context.state[_END] = last + length + length // 2 + 1
    return end


def _length(plan: OverAggregate) -> int | None:
    """Return the length of a frame by time; None if the frame has no end or is one of rows."""
    distance = plan.frame.lower.distance
    return int(distance.value) if plan.frame.units == "RANGE" and isinstance(distance, Literal) else None


def _forget(time: int, context: RowsContext) -> None:
    """Drop the results of expired rows of the current key, if no later ones have put that off."""
    if context.state.get(_END) == time:
        _drop(context, _KEPT, _LAST, _END)


def _drop(context: RowsContext, *slots: str) -> None:
    for slot in slots:
        context.state.pop(slot, None)


def _gathered(keys: list[Any], context: RowsContext) -> tuple[Any, list[Piece]]:
    """Return the waiting rows of keys, removed from state, and the key of each row."""
    waiting: list[Piece] = []
    lengths = []
    for key in keys:
        state = context.select(key)
        state.pop(_TIMER, None)
        found = state.pop(_WAITING, ())
        lengths.append(sum(map(length_of, found)))
        waiting += found
    return np.repeat(np.arange(len(keys)), lengths), waiting
