"""The window join: rows wait for the end of their window, then all of it is joined at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.connectors.tables.contract import Changes
from scurry.functions.definition import Session
from scurry.functions.keys import joint_codes
from scurry.graph.nodes import Node
from scurry.relational.physical.joins import WindowJoin as WindowJoinNode
from scurry.relational.rewriting import without_inputs
from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.tables.batch.batches import concatenated, taken
from scurry.runtime.tables.batch.joining import equal_pairs, unmatched
from scurry.runtime.tables.streaming.joins.rows import Pairs
from scurry.runtime.tables.streaming.partitioning import KeyedChanges
from scurry.runtime.tables.streaming.windows.slices import WindowClock
from scurry.runtime.tables.times import milliseconds

if TYPE_CHECKING:
    from scurry.runtime.tables.streaming.lowering import Lowering

__all__ = ["WindowJoin", "lower_window_join"]

#: Slots of the rows of a window, of a key group, by side: (name, end of the window).
ROWS = ("window-join-left", "window-join-right")


def lower_window_join(lowering: Lowering, plan: WindowJoinNode) -> Node:
    """Return the node that joins; rows are kept by key group."""
    function = WindowJoin(without_inputs(plan), lowering.session)
    inputs = [lowering.node(plan.left), lowering.node(plan.right)]
    keys = [[key.left for key in plan.keys], [key.right for key in plan.keys]]
    return lowering.keyed(inputs, keys, function, plan.operator, by_group=True)


class WindowJoin:
    """Join the rows of each window."""

    def __init__(self, plan: WindowJoinNode, session: Session) -> None:
        """Take the join, whose inputs matter only by their columns, and the session."""
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        """Compile the conditions."""
        plan = self._plan
        self._pairs = Pairs(plan, self._session)
        self._clock = WindowClock(plan.window, self._session.time_zone)
        self._ends = (plan.left_window[1], plan.right_window[1])
        self._left_keys = [*(key.left for key in plan.keys), *plan.left_window]
        self._right_keys = [*(key.right for key in plan.keys), *plan.right_window]
        self._matching_nulls = [*(key.null_equals_null for key in plan.keys), False, False]
        self._due: tuple[list[Changes], list[Changes]] = ([], [])

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep rows; drop those of windows that were joined already."""
        context.prefetch(rows.keys)
        ends = milliseconds(rows.changes.batch.column(self._ends[index]))
        order = np.lexsort((ends, rows.codes))
        batch, ends, codes = taken(rows.changes.batch, order), ends[order], rows.codes[order]
        starts = np.flatnonzero(np.r_[True, (np.diff(codes) != 0) | (np.diff(ends) != 0)])
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(ends)], strict=True):
            end = int(ends[start])
            time = self._clock.timer(end - 1)
            if time <= context.watermark:
                context.late += stop - start
                continue
            state = context.select(rows.keys[codes[start]])
            state.setdefault((ROWS[index], end), []).append(Changes(batch.slice(start, stop - start)))
            context.register_event_timer(time, end)
        return []

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Take the rows of a window of a key group."""
        for name, due in zip(ROWS, self._due, strict=True):
            due += context.state.pop((name, namespace), ())

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Do nothing: there are no such timers."""

    def fired(self, context: RowsContext) -> list[Changes]:
        """Return the joined windows, the earliest first."""
        if not any(self._due):
            return []
        due, self._due = self._due, ([], [])
        left = concatenated((each.batch for each in due[0]), self._plan.left.schema)
        right = concatenated((each.batch for each in due[1]), self._plan.right.schema)
        return [Changes(batch) for batch in self._joined(left, right) if batch.num_rows]

    def _joined(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Sequence[pa.RecordBatch]:
        ones = [left.column(key) for key in self._left_keys]
        others = [right.column(key) for key in self._right_keys]
        one, other = equal_pairs(*joint_codes(ones, others, self._matching_nulls))
        held = self._pairs.hold(left, one, right, other)
        one, other = one[held], other[held]
        kind = self._plan.kind
        if kind in ("SEMI", "ANTI"):
            alone = unmatched(left.num_rows, one)
            return [taken(left, alone if kind == "ANTI" else unmatched(left.num_rows, alone))]
        results = [self._pairs.joined(left, one, right, other)]
        if kind in ("LEFT", "FULL"):
            results.append(self._pairs.left_only(left, unmatched(left.num_rows, one)))
        if kind in ("RIGHT", "FULL"):
            results.append(self._pairs.right_only(right, unmatched(right.num_rows, other)))
        return results
