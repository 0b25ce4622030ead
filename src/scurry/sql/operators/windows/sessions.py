"""Sessions: windows per key that grow with every row, and end after some time without rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.graph.nodes import Node
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of, milliseconds
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.operators.windows.phases import BufferedRows, WindowState, phases_of, unnamed_batch
from scurry.sql.operators.windows.slices import WindowClock, column_of_window
from scurry.sql.plan.nodes import Aggregate
from scurry.sql.plan.physical.windows import SessionTable, WindowAggregate, WindowColumn
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.sql.operators.lowering import Lowering

_SLOT = ("sessions",)


def lower_session_aggregate(lowering: Lowering, plan: WindowAggregate) -> Node:
    retracts = not lowering.changelogs.is_insert_only(plan.input)
    rows, function = lowering.node(plan.input), Sessions(without_inputs(plan), retracts, lowering.session)
    return lowering.keyed([rows], [plan.keys], function, "WindowAggregate", by_group=True)


def lower_session_table(lowering: Lowering, plan: SessionTable) -> Node:
    """Return the node that gives rows the sessions they belong to."""
    rows, function = lowering.node(plan.input), Sessions(without_inputs(plan), False, lowering.session)
    return lowering.keyed([rows], [plan.keys], function, "WindowTableFunction", by_group=True)


class Sessions(KeyedRowsFunction):
    """Keep the open sessions of each key group; emit those that the watermark, or the clock, has passed.

    What is kept are the starts and ends of sessions beside what `WindowState` keeps of their rows.
    """

    def __init__(self, plan: WindowAggregate | SessionTable, retracts: bool, session: EvaluationContext) -> None:
        self._plan = plan
        self._retracts = retracts
        self._session = session

    def open(self, context: Any) -> None:
        plan, session = self._plan, self._session
        if isinstance(plan, SessionTable):
            self._phases = _kept(plan, session)
        else:
            self._phases = phases_of(plan, self._retracts, session)
        self._clock = WindowClock(plan.window, self._session.time_zone)
        self._due: list[pa.RecordBatch] = []

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        batch, group_ids, times = self._timed(rows, context)
        context.prefetch(rows.keys)
        known = [_kept_of(context.select(key)) for key in rows.keys]
        old = [each for each in known if each is not None]
        old_codes = [np.full(each.num_rows, group_id) for group_id, each in enumerate(known) if each is not None]
        keys = [batch.column(key) for key in self._plan.keys]
        indices = [2 + self._phases.place_of(key) for key in self._plan.keys]
        before = pa.Table.from_batches(old).combine_chunks().to_batches()[0] if old else None
        if before is not None:
            keys = [
                pa.concat_arrays([before.column(p), each.cast(before.column(p).type)])
                for p, each in zip(indices, keys, strict=True)
            ]
        count = 0 if before is None else before.num_rows
        of_key, _ = group_ids_of(keys, count + len(times))
        starts, ends = times, times + self._plan.window.size
        if before is not None:
            starts = np.r_[np.asarray(before.column(0)), starts]
            ends = np.r_[np.asarray(before.column(1)), ends]
        kept = self._not_late(of_key, starts, ends, count, context)
        context.late += int(len(kept) - kept.sum())
        number, start, end = merged_sessions(of_key[kept], starts[kept], ends[kept])
        parts = []
        if before is not None:
            parts.append(before.select(before.schema.names[2:]).set_column(0, "c0", pa.array(number[:count])))
        new = np.flatnonzero(kept[count:])
        parts.append(self._phases.partial(batch.take(pa.array(new)), pa.array(number[count:])))
        merged = self._phases.merge([unnamed_batch(each.columns) for each in parts])
        group = np.zeros(len(start), dtype=np.int64)
        group[number] = np.r_[*old_codes, group_ids[new]] if old_codes else group_ids[new]
        self._store(rows, merged, group, start, end, context)
        return []

    def _timed(self, rows: KeyedChanges, context: RowsContext) -> tuple[pa.RecordBatch, Any, Any]:
        batch, group_ids = self._phases.rows_of(rows.changes), rows.group_ids
        if not self._plan.window.is_event_time:
            return batch, group_ids, np.repeat(self._clock.of_rows(np.array([context.processing_time])), batch.num_rows)
        column = batch.column(self._plan.time)
        if column.null_count:
            valid = column.is_valid()
            batch, group_ids = batch.filter(valid), group_ids[np.asarray(valid)]
            column = batch.column(self._plan.time)
        return batch, group_ids, self._clock.of_rows(milliseconds(column))

    def _not_late(self, of_key: Any, starts: Any, ends: Any, count: int, context: RowsContext) -> Any:
        """Say of known sessions and of new rows which are kept: a late row is, if it touches an open session."""
        kept = np.ones(len(starts), dtype=bool)
        if not self._plan.window.is_event_time:
            return kept
        late = self._passed(ends, context.watermark)
        late[:count] = False
        if not late.any():
            return kept
        for key in np.unique(of_key[late]).tolist():
            open_sessions: list[tuple[int, int]] = []
            for row in np.flatnonzero(of_key == key).tolist():
                start, end = int(starts[row]), int(ends[row])
                touched = [each for each in open_sessions if each[0] <= end and start <= each[1]]
                if late[row] and not touched:
                    kept[row] = False
                    continue
                rest = [each for each in open_sessions if each not in touched]
                touched.append((start, end))
                open_sessions = [*rest, (min(s for s, _ in touched), max(e for _, e in touched))]
        return kept

    def _passed(self, ends: Any, time: int) -> Any:
        """Say which sessions a watermark, or the clock, has passed."""
        return self._clock.reached(ends - 1, time)

    def _store(
        self, rows: KeyedChanges, merged: pa.RecordBatch, group: Any, start: Any, end: Any, context: RowsContext
    ) -> None:
        number = np.asarray(merged.column(0))
        order = np.argsort(group[number], kind="stable")
        merged, number = merged.take(pa.array(order)), number[order]
        columns = [pa.array(start[number]), pa.array(end[number]), *merged.columns]
        whole = unnamed_batch(columns)
        bounds = np.searchsorted(group[number], np.arange(len(rows.keys) + 1))
        for group_id, key in enumerate(rows.keys):
            first, last = int(bounds[group_id]), int(bounds[group_id + 1])
            if last > first:
                context.select(key)
                self._keep(whole.slice(first, last - first), context)

    def _keep(self, batch: pa.RecordBatch, context: RowsContext) -> None:
        """Keep the sessions of the current key group, to be looked at when the first of them ends."""
        context.state[_SLOT] = Changes(batch)
        time = self._clock.timer(int(np.asarray(batch.column(1)).min()) - 1)
        if self._plan.window.is_event_time:
            context.register_event_timer(time)
        else:
            context.register_processing_timer(time)

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Close the sessions of a key group that the watermark has passed."""
        self._close(max(time, context.watermark), context)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Close the sessions of a key group that the clock has passed."""
        self._close(time, context)

    def _close(self, time: int, context: RowsContext) -> None:
        batch = _kept_of(context.state)
        if batch is None:
            return
        passed = self._passed(np.asarray(batch.column(1)), time)
        if not passed.any():
            return
        self._due.append(batch.filter(pa.array(passed)))
        del context.state[_SLOT]
        if not passed.all():
            self._keep(batch.filter(pa.array(~passed)), context)

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        """Return the closed sessions, the earliest end first."""
        if not self._due:
            return []
        due, self._due = self._due, []
        whole = pa.Table.from_batches(due).combine_chunks().to_batches()[0]
        starts, ends = np.asarray(whole.column(0)), np.asarray(whole.column(1))
        # A number per key group is no number any more: give each session one, in the order in which they end.
        indices = [2 + self._phases.place_of(key) for key in self._plan.keys]
        of_key, _ = group_ids_of([whole.column(place) for place in indices], whole.num_rows)
        order = np.lexsort((of_key, starts, ends))
        changed = np.r_[True, np.diff(ends[order]) != 0] | np.r_[True, np.diff(starts[order]) != 0]
        changed |= np.r_[True, np.diff(of_key[order]) != 0]
        number = np.cumsum(changed) - 1
        first = order[changed]
        sorted_rows = whole.take(pa.array(order))
        kept = unnamed_batch([pa.array(number), *sorted_rows.columns[3:]])
        windows, keys, following = self._phases.result(kept)
        of = np.asarray(windows)
        bounds = [column_of_window(each, starts[first][of], ends[first][of], self._clock) for each in self._bounds()]
        if isinstance(self._plan, SessionTable):
            columns = [*following, *bounds]
        else:
            columns = [*keys, *bounds, *following]
        batch = batch_of(columns, self._plan.schema, len(of))
        return [Changes(batch.take(pa.array(np.argsort(of, kind="stable"))))]

    def _bounds(self) -> Sequence[WindowColumn]:
        if isinstance(self._plan, WindowAggregate):
            return self._plan.columns
        names = ("start", "end", "time")
        return [WindowColumn(name, column) for name, column in zip(names, self._plan.window_schema, strict=True)]


def merged_sessions(of_key: Any, starts: Any, ends: Any) -> tuple[Any, Any, Any]:
    """Merge intervals of the same key that overlap or touch.

    Returns:
        For each interval the number of its session, and the starts and ends of the sessions.
    """
    if not len(starts):
        return starts, starts, ends
    order = np.lexsort((starts, of_key))
    keys, first = of_key[order], starts[order]
    ranks, values = np.unique(ends[order], return_inverse=True)
    # The greatest end so far within each key: ends of a key are ranked above all those of the keys before it.
    highest = np.maximum.accumulate(values + keys * len(ranks)) - keys * len(ranks)
    reached = ranks[highest]
    begins = np.r_[True, (keys[1:] != keys[:-1]) | (first[1:] > reached[:-1])]
    number = np.cumsum(begins) - 1
    of_interval = np.empty(len(order), dtype=np.int64)
    of_interval[order] = number
    heads = np.flatnonzero(begins)
    return of_interval, first[heads], np.maximum.reduceat(ends[order], heads)


class _Rows(BufferedRows):
    """Keep the rows of sessions as they are."""

    def result(self, batch: pa.RecordBatch) -> tuple[pa.Array, list[pa.Array], list[pa.Array]]:
        return batch.column(0), [], list(batch.columns[1:])


def _kept(plan: SessionTable, session: EvaluationContext) -> WindowState:
    return _Rows(Aggregate(plan.input, plan.keys, (), (), (tuple(range(len(plan.keys))),)), session)


def _kept_of(state: Any) -> pa.RecordBatch | None:
    found = state.get(_SLOT)
    return None if found is None else found.batch
