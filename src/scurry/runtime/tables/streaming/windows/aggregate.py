"""Aggregates of windows: partial states where rows are read, merged by key group, emitted when windows close."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.connectors.tables.contract import Changes
from scurry.functions.definition import Session
from scurry.graph import operators as ops
from scurry.graph.nodes import Node
from scurry.relational.physical.windows import WindowAggregate
from scurry.relational.rewriting import without_inputs
from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.state.slots import aligned_contents
from scurry.runtime.tables.batch.batches import batch_of
from scurry.runtime.tables.streaming.partitioning import KeyedChanges
from scurry.runtime.tables.streaming.windows.phases import phases_of
from scurry.runtime.tables.streaming.windows.sessions import lower_session_aggregate
from scurry.runtime.tables.streaming.windows.slices import Slices, WindowClock, column_of_window, milliseconds

if TYPE_CHECKING:
    from scurry.runtime.tables.streaming.lowering import Lowering

__all__ = ["GlobalWindowAggregate", "LocalWindowAggregate", "lower_window_aggregate"]

#: Batches of one window and key group that are kept before they are merged.
_KEPT = 4


def lower_window_aggregate(lowering: Lowering, plan: WindowAggregate) -> Node:
    """Return the node that aggregates windows: states are made where rows are read, and sent to where they are kept."""
    if plan.window.kind == "SESSION" and not plan.attached:
        return lower_session_aggregate(lowering, plan)
    rows, bare = lowering.node(plan.input), without_inputs(plan)
    local = LocalWindowAggregate(bare, lowering.session)
    rows = lowering.operator(rows, ops.Map(local), "LocalWindowAggregate")
    phases = phases_of(bare, lowering.session)
    merged = GlobalWindowAggregate(bare, lowering.session)
    places = [phases.place_of(key) for key in plan.keys]
    return lowering.keyed([rows], [places], merged, "GlobalWindowAggregate", by_group=True)


class LocalWindowAggregate:
    """Aggregate rows where they are read: the result has the states of their groups and slices."""

    def __init__(self, plan: WindowAggregate, session: Session) -> None:
        """Take the aggregate and the session."""
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        """Make the accumulators."""
        self._phases = phases_of(self._plan, self._session)
        self._slices = Slices(self._plan.window, self._plan.attached)
        self._clock = WindowClock(self._plan.window, self._session.time_zone)

    def map(self, changes: Changes) -> Changes:
        """Return the states of some rows."""
        batch, plan = changes.batch, self._plan
        if not plan.window.is_event_time and not plan.attached:
            # The operator that keeps states assigns them to windows by its clock.
            return Changes(self._phases.partial(batch, pa.repeat(pa.scalar(0, pa.int64()), batch.num_rows)))
        column = batch.column(plan.time)
        if column.null_count:
            batch = batch.filter(column.is_valid())
            column = batch.column(plan.time)
        times = milliseconds(column)
        ends = self._slices.ends(times if plan.attached else self._clock.of_rows(times))
        return Changes(self._phases.partial(batch, pa.array(ends)))


class GlobalWindowAggregate:
    """Merge states by key group and slice; emit the windows that the watermark, or the clock, has passed."""

    def __init__(self, plan: WindowAggregate, session: Session) -> None:
        """Take the aggregate and the session."""
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        """Make the accumulators."""
        self._phases = phases_of(self._plan, self._session)
        self._slices = Slices(self._plan.window, self._plan.attached)
        self._clock = WindowClock(self._plan.window, self._session.time_zone)
        self._due: list[tuple[int, pa.RecordBatch]] = []

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep states; drop those of slices whose windows were all emitted already."""
        context.prefetch(rows.keys)
        batch, codes = rows.changes.batch, rows.codes
        if self._plan.window.is_event_time or self._plan.attached:
            ends = np.asarray(batch.column(0))
        else:
            now = self._clock.of_rows(np.array([context.processing_time]))
            ends = np.repeat(self._slices.ends(now), batch.num_rows)
        if (np.diff(codes) < 0).any() or len(set(ends.tolist())) > 1:
            order = np.lexsort((ends, codes))
            batch, ends, codes = batch.take(pa.array(order)), ends[order], codes[order]
        starts = np.flatnonzero(np.r_[True, (np.diff(codes) != 0) | (np.diff(ends) != 0)])
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(ends)], strict=True):
            window = self._first_open(int(ends[start]), context)
            if window is None:
                context.late += stop - start
                continue
            context.select(rows.keys[codes[start]])
            self._keep(int(ends[start]), [Changes(batch.slice(start, stop - start))], window, context)
        return []

    def _first_open(self, end: int, context: RowsContext) -> int | None:
        """Return the first window of a slice that was not emitted yet, None if all were."""
        if not self._plan.window.is_event_time:
            return end
        window: int | None = end
        while window is not None and self._clock.timer(window - 1) <= context.watermark:
            window = self._slices.next_window(window) if window < self._slices.last_window(end) else None
        return window

    def _keep(self, end: int, parts: list[Changes], window: int | None, context: RowsContext) -> None:
        slot = aligned_contents(end)
        kept = [*context.state.get(slot, ()), *parts]
        if window is not None and len(kept) == len(parts):
            self._register(window, context)
        if len(kept) > _KEPT:
            kept = [Changes(self._phases.merge([each.batch for each in kept]))]
        context.state[slot] = kept

    def _register(self, window: int, context: RowsContext) -> None:
        time = self._clock.timer(window - 1)
        if self._plan.window.is_event_time:
            context.register_event_timer(time, window)
        else:
            context.register_processing_timer(time, window)

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Close a window of a key group."""
        slices = [each for each in self._slices.of_window(namespace) if aligned_contents(each) in context.state]
        for each in slices:
            self._due += [(namespace, part.batch) for part in context.state[aligned_contents(each)]]
        collected = self._slices.collected(namespace)
        if collected is not None:
            parts = [part for each in slices for part in context.state.pop(aligned_contents(each))]
            self._keep(collected, parts, None, context)
        for each in self._slices.expired(namespace):
            context.state.pop(aligned_contents(each), None)
        following = self._slices.next_window(namespace)
        if following is not None and self._has_any(self._slices.of_window(following), context):
            self._register(following, context)

    def _has_any(self, slices: Iterable[int], context: RowsContext) -> bool:
        return any(aligned_contents(each) in context.state for each in slices)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Close a window of a key group."""
        self.on_event_time(time, namespace, context)

    def fired(self, context: RowsContext) -> list[Changes]:
        """Return the closed windows, the earliest first."""
        if not self._due:
            return []
        due, self._due = self._due, []
        batches = []
        for end, batch in due:
            numbers = pa.repeat(pa.scalar(end, pa.int64()), batch.num_rows)
            batches.append(batch.set_column(0, "c0", numbers))
        windows, keys, following = self._phases.result(self._phases.merge(batches))
        ends = np.asarray(windows)
        columns = keys
        if not self._plan.attached:
            start = self._slices.starts(ends)
            columns = [*keys, *(column_of_window(each, start, ends, self._clock) for each in self._plan.columns)]
        batch = batch_of([*columns, *following], self._plan.schema, len(ends))
        if (np.diff(ends) < 0).any():
            batch = batch.take(pa.array(np.argsort(ends, kind="stable")))
        return [Changes(batch)]
