"""The window join: rows wait for the end of their window, then all of it is joined at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from scurry.graph.nodes import Node
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import concatenated, milliseconds, taken
from scurry.sql.evaluation.batch.joining import all_equal_pairs, unmatched
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import joint_codes
from scurry.sql.operators.joins.rows import Pairs
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.operators.windows.slices import WindowClock, by_value
from scurry.sql.plan.physical.joins import WindowJoin as WindowJoinNode
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.sql.operators.lowering import Lowering

#: Slots of the rows of a window, of a key group, by side: (name, end of the window).
ROWS = ("window-join-left", "window-join-right")


#: The end of a window, and rows of it.
_Rows: TypeAlias = "tuple[int, pa.RecordBatch]"
#: By the end of a window: rows, with the key that stands for the key group of each.
_OpenWindows: TypeAlias = "dict[int, list[tuple[pa.RecordBatch, Any]]]"


def lower_window_join(lowering: Lowering, plan: WindowJoinNode) -> Node:
    """Return the node that joins; rows are kept by key group."""
    function = WindowJoin(without_inputs(plan), lowering.session)
    inputs = [lowering.node(plan.left), lowering.node(plan.right)]
    keys = [[key.left for key in plan.keys], [key.right for key in plan.keys]]
    return lowering.keyed(inputs, keys, function, plan.operator, by_group=True)


class WindowJoin(KeyedRowsFunction):
    """Join the rows of each window.

    Rows are in memory until the micro-batch ends: those of windows that end in it are not stored.
    """

    def __init__(self, plan: WindowJoinNode, session: EvaluationContext) -> None:
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
        #: the rows of windows that end, with the end, by side
        self._due: tuple[list[_Rows], list[_Rows]] = ([], [])
        self._open: tuple[_OpenWindows, _OpenWindows] = ({}, {})

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep rows; drop those of windows that were joined already."""
        batch, owners = rows.changes.batch, np.asarray(rows.keys, dtype=np.int64)[rows.group_ids]
        for end, part, whose in by_value(milliseconds(batch.column(self._ends[index])), batch, owners):
            if self._clock.timer(end - 1) <= context.watermark:
                context.late += part.num_rows
            else:
                self._open[index].setdefault(end, []).append((part, whose))
        return []

    def write_back(self, context: RowsContext) -> None:
        """Store the rows of open windows, by key group."""
        stored = [
            (name, end, part, owners)
            for name, windows in zip(ROWS, self._open, strict=True)
            for end, parts in windows.items()
            for part, owners in parts
        ]
        context.prefetch(np.unique(np.concatenate([each[-1] for each in stored])).tolist() if stored else ())
        for name, end, batch, owners in stored:
            for owner, part, _ in by_value(owners, batch, owners):
                state = context.select(owner)
                state.setdefault((name, end), []).append(Changes(part))
                context.register_event_timer(self._clock.timer(end - 1), end)
        self._open = ({}, {})

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Join the rows of a window of a key group."""
        for name, due in zip(ROWS, self._due, strict=True):
            due += [(namespace, each.batch) for each in context.state.pop((name, namespace), ())]

    def _close_in_memory(self, context: RowsContext) -> None:
        for due, windows in zip(self._due, self._open, strict=True):
            for end in [end for end in windows if self._clock.timer(end - 1) <= context.watermark]:
                due += [(end, part) for part, _ in windows.pop(end)]

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        """Return the joined windows, the earliest first."""
        self._close_in_memory(context)
        if not any(self._due):
            return []
        due, self._due = self._due, ([], [])
        ones, others = ([part for _, part in sorted(each, key=lambda rows: rows[0])] for each in due)
        left, right = concatenated(ones, self._plan.left.schema), concatenated(others, self._plan.right.schema)
        return [Changes(batch) for batch in self._joined(left, right) if batch.num_rows]

    def _joined(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Sequence[pa.RecordBatch]:
        ones = [left.column(key) for key in self._left_keys]
        others = [right.column(key) for key in self._right_keys]
        one, other = all_equal_pairs(*joint_codes(ones, others, self._matching_nulls))
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
