"""The first rows of each window and partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.graph.nodes import Node
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.runtime.state.slots import aligned_contents
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of, milliseconds
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import group_ids_of, order_codes
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.operators.windows.slices import WindowClock
from scurry.sql.plan.physical.windows import WindowDeduplicate, WindowRank
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.sql.operators.lowering import Lowering

#: Batches of one window and key group that are kept before the rows are dropped that others have displaced.
_KEPT = 4


def lower_window_rank(lowering: Lowering, plan: WindowRank) -> Node:
    """Return the node that keeps the first rows of windows."""
    name = type(plan).__name__
    rows, function = lowering.node(plan.input), WindowTop(without_inputs(plan), lowering.session)
    return lowering.keyed([rows], [plan.keys], function, name, by_group=True)


class WindowTop(KeyedRowsFunction):
    """Keep by key group and window the rows that may be among the first; emit them when the watermark has passed."""

    def __init__(self, plan: WindowRank, session: EvaluationContext) -> None:
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        """Prepare for a task."""
        self._clock = WindowClock(self._plan.window, self._session.time_zone)
        # Of several last rows Flink keeps the one that came last, of several first rows the one that came first.
        self._last_of_equal = isinstance(self._plan, WindowDeduplicate) and self._plan.order[0].descending
        self._due: list[pa.RecordBatch] = []

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep rows; drop those of windows that were emitted already."""
        context.prefetch(rows.keys)
        batch, group_ids = rows.changes.batch, rows.group_ids
        ends = milliseconds(batch.column(self._plan.end))
        order = np.lexsort((ends, group_ids))
        batch, ends, group_ids = batch.take(pa.array(order)), ends[order], group_ids[order]
        starts = np.flatnonzero(np.r_[True, (np.diff(group_ids) != 0) | (np.diff(ends) != 0)])
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(ends)], strict=True):
            end = int(ends[start])
            time = self._clock.timer(end - 1)
            if time <= context.watermark:
                context.late += stop - start
                continue
            context.select(rows.keys[group_ids[start]])
            slot, part = aligned_contents(end), Changes(batch.slice(start, stop - start))
            kept = [*context.state.get(slot, ()), part]
            if len(kept) == 1:
                context.register_event_timer(time, end)
            if len(kept) > _KEPT:
                kept = [Changes(self._first(pa.concat_batches([each.batch for each in kept]))[0])]
            context.state[slot] = kept
        return []

    def _first(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        """Return the rows that are among the first of their partition, by partition and number; and their numbers."""
        groups, _ = group_ids_of([batch.column(key) for key in self._plan.keys], batch.num_rows)
        keys = [order_codes(batch.column(key.index), key.descending, key.nulls_first) for key in self._plan.order]
        arrival = np.arange(batch.num_rows)
        order = np.lexsort((-arrival if self._last_of_equal else arrival, *reversed(keys), groups))
        sorted_groups = groups[order]
        heads = np.flatnonzero(np.r_[True, np.diff(sorted_groups) != 0])
        number = arrival - np.repeat(heads, np.diff(np.r_[heads, len(order)])) + 1
        kept = number <= self._plan.last
        return batch.take(pa.array(order[kept])), number[kept]

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Close a window of a key group."""
        self._due += [each.batch for each in context.state.pop(aligned_contents(namespace))]

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        """Return the first rows of closed windows, the earliest window first."""
        if not self._due:
            return []
        due, self._due = self._due, []
        batch, number = self._first(pa.concat_batches(due))
        chosen = np.flatnonzero(number >= self._plan.first)
        ends = milliseconds(batch.column(self._plan.end))[chosen]
        chosen = chosen[np.argsort(ends, kind="stable")]
        columns = list(batch.take(pa.array(chosen)).columns)
        if self._plan.number is not None:
            columns.append(pa.array(number[chosen]))
        return [Changes(batch_of(columns, self._plan.schema, len(chosen)))]
