"""Aggregates of windows: partial states where rows are read, merged by key group, emitted when windows close."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry._dataclasses import dataclass
from scurry.graph import operators as ops
from scurry.graph.nodes import Node
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.runtime.state.slots import aligned_contents
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of, concatenated_columns, milliseconds
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.operators.windows.phases import phases_of, unnamed_batch
from scurry.sql.operators.windows.sessions import lower_session_aggregate
from scurry.sql.operators.windows.slices import Slices, WindowClock, by_value, column_of_window
from scurry.sql.plan.physical.windows import WindowAggregate
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.sql.operators.lowering import Lowering

#: Batches of one window and key group that are kept before they are merged.
_KEPT = 4


def lower_window_aggregate(lowering: Lowering, plan: WindowAggregate) -> Node:
    """Return the node that aggregates windows: states are made where rows are read, and sent to where they are kept."""
    if plan.window.kind == "SESSION" and not plan.attached:
        return lower_session_aggregate(lowering, plan)
    rows, bare = lowering.node(plan.input), without_inputs(plan)
    retracts = not lowering.changelogs.is_insert_only(plan.input)
    local = LocalWindowAggregate(bare, retracts, lowering.session)
    rows = lowering.operator(rows, ops.Map(local), "LocalWindowAggregate")
    phases = phases_of(bare, retracts, lowering.session)
    merged = GlobalWindowAggregate(bare, retracts, lowering.session)
    indices = [phases.place_of(key) for key in plan.keys]
    return lowering.keyed([rows], [indices], merged, "GlobalWindowAggregate", by_group=True)


class LocalWindowAggregate:
    """Aggregate rows where they are read: the result has the states of their groups and slices."""

    def __init__(self, plan: WindowAggregate, retracts: bool, session: EvaluationContext) -> None:
        self._plan = plan
        self._retracts = retracts
        self._session = session

    def open(self, context: Any) -> None:
        self._phases = phases_of(self._plan, self._retracts, self._session)
        self._slices = Slices(self._plan.window, self._plan.attached)
        self._clock = WindowClock(self._plan.window, self._session.time_zone)

    def map(self, changes: Changes) -> Changes:
        """Return the states of some rows."""
        batch, plan = self._phases.rows_of(changes), self._plan
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


@dataclass
class _OpenSlice:
    """Rows of a slice in a micro-batch, in memory.

    Attributes:
        window: The first of its windows that was not emitted yet.
        parts: States with the key that stands for the key group of each.
    """

    window: int
    parts: list[tuple[pa.RecordBatch, Any]] = field(default_factory=list)


class GlobalWindowAggregate(KeyedRowsFunction):
    """Merge states by key group and slice; emit the windows that the watermark, or the clock, has passed.

    Slices of event time are in memory until the micro-batch ends: those whose windows are emitted in it are not stored.
    """

    def __init__(self, plan: WindowAggregate, retracts: bool, session: EvaluationContext) -> None:
        self._plan = plan
        self._retracts = retracts
        self._session = session

    def open(self, context: Any) -> None:
        self._phases = phases_of(self._plan, self._retracts, self._session)
        self._slices = Slices(self._plan.window, self._plan.attached)
        self._clock = WindowClock(self._plan.window, self._session.time_zone)
        #: windows with the slices that they consist of
        self._due: list[tuple[int, int, pa.RecordBatch]] = []
        self._open: dict[int, _OpenSlice] = {}

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep states; drop those of slices whose windows were all emitted already."""
        batch, owners = rows.changes.batch, np.asarray(rows.keys, dtype=np.int64)[rows.group_ids]
        if not (self._plan.window.is_event_time or self._plan.attached):
            now = self._clock.of_rows(np.array([context.processing_time]))
            (end,) = self._slices.ends(now).tolist()
            first = self._slices.first_window(end)
            if first is not None:
                self._store(end, first, batch, owners, context)
            return []
        for end, part, whose in by_value(np.asarray(batch.column(0)), batch, owners):
            first = self._slices.first_window(end)
            if first is None:
                continue
            window = self._first_open(first, end, context)
            if window is None:
                context.late += part.num_rows
            elif self._plan.window.is_event_time:
                self._open.setdefault(end, _OpenSlice(window)).parts.append((part, whose))
            else:
                self._store(end, window, part, whose, context)
        return []

    def write_back(self, context: RowsContext) -> None:
        """Store the slices of which windows are open, by key group."""
        owners = [whose for each in self._open.values() for _, whose in each.parts]
        context.prefetch(np.unique(np.concatenate(owners)).tolist() if owners else ())
        for end, each in self._open.items():
            for batch, owners in each.parts:
                self._store(end, each.window, batch, owners, context)
        self._open = {}

    def _store(self, end: int, window: int, batch: pa.RecordBatch, owners: Any, context: RowsContext) -> None:
        for owner, part, _ in by_value(owners, batch, owners):
            context.select(owner)
            self._keep(end, [Changes(part)], window, context)

    def _first_open(self, first: int, end: int, context: RowsContext) -> int | None:
        """Return the window of a slice, from its first on, that was not emitted yet, None if all were."""
        if not self._plan.window.is_event_time:
            return first
        window: int | None = first
        while window is not None and self._clock.timer(window - 1) <= context.watermark:
            window = self._following(window, end)
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
            self._due += [(namespace, each, part.batch) for part in context.state[aligned_contents(each)]]
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

    def _close_in_memory(self, context: RowsContext) -> None:
        for end, each in list(self._open.items()):
            window: int | None = each.window
            while window is not None and self._clock.timer(window - 1) <= context.watermark:
                self._due += [(window, end, batch) for batch, _ in each.parts]
                window = self._following(window, end)
            if window is None:
                del self._open[end]
            else:
                each.window = window

    def _following(self, window: int, end: int) -> int | None:
        """Return the window of a slice after one, None if it was the last."""
        return self._slices.next_window(window) if window < self._slices.last_window(end) else None

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        """Return the closed windows, the earliest first."""
        self._close_in_memory(context)
        if not self._due:
            return []
        due, self._due = self._due, []
        due.sort(key=lambda each: each[1], reverse=self._slices.latest_first)
        numbers = np.repeat([end for end, _, _ in due], [batch.num_rows for _, _, batch in due])
        _, *states = concatenated_columns([batch for _, _, batch in due])
        windows, keys, following = self._phases.result(
            self._phases.merge([unnamed_batch([pa.array(numbers), *states])])
        )
        ends = np.asarray(windows)
        columns = keys
        if not self._plan.attached:
            start = self._slices.starts(ends)
            columns = [*keys, *(column_of_window(each, start, ends, self._clock) for each in self._plan.columns)]
        batch = batch_of([*columns, *following], self._plan.schema, len(ends))
        if (np.diff(ends) < 0).any():
            batch = batch.take(pa.array(np.argsort(ends, kind="stable")))
        return [Changes(batch)]
