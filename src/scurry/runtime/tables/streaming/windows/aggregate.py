"""Aggregates of windows: partial states where rows are read, merged by key group, fired by the watermark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.connectors.tables.contract import Changes
from scurry.functions.definition import Session
from scurry.functions.keys import group_codes
from scurry.graph import operators as ops
from scurry.graph.nodes import Node
from scurry.relational.physical.windows import WindowAggregate
from scurry.relational.plan import Aggregate
from scurry.relational.rewriting import without_inputs
from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.state.slots import aligned_contents
from scurry.runtime.tables.batch.aggregating import accumulator, aggregated, argument_column
from scurry.runtime.tables.batch.batches import batch_of
from scurry.runtime.tables.streaming.partitioning import KeyedChanges

if TYPE_CHECKING:
    from scurry.runtime.tables.streaming.lowering import Lowering

__all__ = ["GlobalWindowAggregate", "LocalWindowAggregate", "Phases", "lower_window_aggregate"]

#: Batches of one window and key group that are kept before they are merged.
_KEPT = 4


def lower_window_aggregate(lowering: Lowering, plan: WindowAggregate) -> Node:
    """Return the node that aggregates windows: states are made where rows are read, and sent to where they are kept."""
    rows, bare = lowering.node(plan.input), without_inputs(plan)
    local = LocalWindowAggregate(bare, lowering.session)
    rows = lowering.operator(rows, ops.Map(local), "LocalWindowAggregate")
    phases = Phases(bare.aggregate, lowering.session)
    merged = GlobalWindowAggregate(bare, lowering.session)
    places = [phases.place_of(key) for key in plan.keys]
    return lowering.keyed([rows], [places], merged, "GlobalWindowAggregate", by_group=True)


class Phases:
    """The phases of an aggregate over batches: states of rows, one state of several, values of states.

    An aggregate that needs the rows themselves, as with DISTINCT, has the rows as its states.
    """

    def __init__(self, plan: Aggregate, session: Session) -> None:
        """Take the aggregate, whose keys include those of the window, and the session."""
        self._plan = plan
        self._session = session
        self._keeps_rows = any(call.distinct or call.order_by for call in plan.calls)
        self._accumulators = [] if self._keeps_rows else [accumulator(call, session) for call in plan.calls]
        self._widths: list[int] = []

    def place_of(self, column: int) -> int:
        """Return where a key column of the input is in a state."""
        return column if self._keeps_rows else self._plan.keys.index(column)

    def partial(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the states of rows."""
        if self._keeps_rows:
            return _numbered(batch.columns)
        keys = [batch.column(key) for key in self._plan.keys]
        groups, first = group_codes(keys, batch.num_rows)
        states = []
        for call, found in zip(self._plan.calls, self._accumulators, strict=True):
            columns, of = [argument_column(each, batch) for each in call.arguments], groups
            if call.filter is not None:
                kept = argument_column(call.filter, batch).fill_null(False)
                columns, of = [each.filter(kept) for each in columns], groups[np.asarray(kept)]
            states.append(found.partial(columns, of, len(first)))
        return self._states(keys, first, states)

    def merge(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Return one state for each key."""
        whole = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
        if self._keeps_rows:
            return whole
        count = len(self._plan.keys)
        keys = list(whole.columns[:count])
        groups, first = group_codes(keys, whole.num_rows)
        states, at = [], count
        for found in self._accumulators:
            width = self._width(found)
            states.append(found.merge(whole.columns[at : at + width], groups, len(first)))
            at += width
        return self._states(keys, first, states)

    def result(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of the aggregate."""
        if self._keeps_rows:
            rows = batch_of(batch.columns, self._plan.input.schema, batch.num_rows)
            return next(aggregated(self._plan, rows, self._session))
        at = len(self._plan.keys)
        columns = list(batch.columns[:at])
        for found in self._accumulators:
            width = self._width(found)
            columns.append(found.result(batch.columns[at : at + width]))
            at += width
        return batch_of(columns, self._plan.schema, batch.num_rows)

    def _width(self, found: Any) -> int:
        """Return the number of columns of a state: no state is known before rows are."""
        if not self._widths:
            empty = batch_of([pa.nulls(0)] * len(self._plan.input.schema), self._plan.input.schema, 0)
            for call, each in zip(self._plan.calls, self._accumulators, strict=True):
                columns = [argument_column(argument, empty) for argument in call.arguments]
                self._widths.append(len(each.partial(columns, np.zeros(0, dtype=np.int64), 0)))
        return self._widths[self._accumulators.index(found)]

    def _states(self, keys: Sequence[Any], first: Any, states: Sequence[Sequence[Any]]) -> pa.RecordBatch:
        heads = [key.take(pa.array(first)) for key in keys]
        return _numbered([*heads, *(_plain(column) for state in states for column in state)])


class LocalWindowAggregate:
    """Aggregate rows where they are read: the result has the states of their groups."""

    def __init__(self, plan: WindowAggregate, session: Session) -> None:
        """Take the aggregate and the session."""
        self._plan = plan.aggregate
        self._session = session

    def open(self, context: Any) -> None:
        """Make the accumulators."""
        self._phases = Phases(self._plan, self._session)

    def map(self, changes: Changes) -> Changes:
        """Return the states of some rows."""
        return Changes(self._phases.partial(changes.batch))


class GlobalWindowAggregate:
    """Merge states by key group and window; emit the windows that the watermark has passed."""

    def __init__(self, plan: WindowAggregate, session: Session) -> None:
        """Take the aggregate and the session."""
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        """Make the accumulators."""
        self._phases = Phases(self._plan.aggregate, self._session)
        self._place_of_end = self._phases.place_of(self._plan.end)
        self._due: list[pa.RecordBatch] = []

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep states; drop those of windows that were emitted already."""
        context.prefetch(rows.keys)
        column = rows.changes.batch.column(self._place_of_end)
        ends = np.asarray(column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()))
        order = np.lexsort((ends, rows.codes))
        batch, ends, codes = rows.changes.batch.take(pa.array(order)), ends[order], rows.codes[order]
        starts = np.flatnonzero(np.r_[True, (np.diff(codes) != 0) | (np.diff(ends) != 0)])
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(ends)], strict=True):
            end = int(ends[start])
            if end - 1 <= context.watermark:
                context.late += stop - start
                continue
            context.select(rows.keys[codes[start]])
            self._keep(end, Changes(batch.slice(start, stop - start)), context)
        return []

    def _keep(self, end: int, part: Changes, context: RowsContext) -> None:
        slot = aligned_contents(end)
        kept = context.state.get(slot)
        if kept is None:
            context.register_event_timer(end - 1, end)
            context.state[slot] = [part]
        elif len(kept) < _KEPT:
            context.state[slot] = [*kept, part]
        else:
            context.state[slot] = [Changes(self._phases.merge([each.batch for each in [*kept, part]]))]

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Close a window of a key group."""
        self._due += [each.batch for each in context.state.pop(aligned_contents(namespace))]

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Do nothing: there are no such timers."""

    def fired(self, context: RowsContext) -> list[Changes]:
        """Return the closed windows, the earliest first."""
        if not self._due:
            return []
        due, self._due = self._due, []
        merged = self._phases.merge(due)
        order = np.argsort(np.asarray(merged.column(self._place_of_end).cast(pa.int64())), kind="stable")
        return [Changes(self._phases.result(merged.take(pa.array(order))))]


def _plain(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _numbered(columns: Sequence[Any]) -> pa.RecordBatch:
    """Return a batch of columns whose names do not matter."""
    return pa.RecordBatch.from_arrays(list(columns), names=[f"c{place}" for place in range(len(columns))])
