"""The interval join: each side keeps its rows as long as rows of the other side may be near them in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from scurry.graph.nodes import Node
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import concatenated, milliseconds, taken
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import joint_codes
from scurry.sql.operators.joins.rows import Pairs
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.physical.joins import IntervalJoin as IntervalJoinNode
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.sql.operators.lowering import Lowering

#: The rows of a key group by side: a list of `_Piece`.
ROWS = ("interval-join-left-rows", "interval-join-right-rows")


class _Piece(NamedTuple):
    """Rows that came together.

    Attributes:
        times: Their times, in milliseconds.
        matched: Which of them were in a result.
    """

    rows: Changes
    times: Any
    matched: Any


def lower_interval_join(lowering: Lowering, plan: IntervalJoinNode) -> Node:
    """Return the node that joins; rows are kept by key group."""
    function = IntervalJoin(without_inputs(plan), lowering.session)
    inputs = [lowering.node(plan.left), lowering.node(plan.right)]
    keys = [[key.left for key in plan.keys], [key.right for key in plan.keys]]
    return lowering.keyed(inputs, keys, function, plan.operator, by_group=True)


class IntervalJoin(KeyedRowsFunction):
    """Join rows whose times are not far from each other.

    Attributes:
        watermark_delay_ms: How much older than the watermark a result may be.
    """

    def __init__(self, plan: IntervalJoinNode, session: EvaluationContext) -> None:
        self._plan = plan
        self._session = session
        # Difference between a row's time and that of the last row of the other side that it can join.
        self._reach = (max(-plan.lower, 0), max(plan.upper, 0))
        self._pause = sum(self._reach) // 2
        self.watermark_delay_ms = max(self._reach) + self._pause if plan.event_time else 0

    def open(self, context: Any) -> None:
        """Compile the conditions."""
        plan = self._plan
        self._pairs = Pairs(plan, self._session)
        self._times = (plan.left_time, plan.right_time)
        self._keys = ([key.left for key in plan.keys], [key.right for key in plan.keys])
        self._matching_nulls = [key.null_equals_null for key in plan.keys]
        self._schemas = (plan.left.schema, plan.right.schema)
        self._keeps_alone = (plan.kind in ("LEFT", "FULL"), plan.kind in ("RIGHT", "FULL"))
        self._alone: tuple[list[pa.RecordBatch], list[pa.RecordBatch]] = ([], [])

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Join rows with those of the other side that are kept, and keep them."""
        context.prefetch(rows.keys)
        changes, now = rows.changes, self._now(context)
        if self._plan.event_time:
            times = milliseconds(changes.batch.column(self._times[index]))
        else:
            times = np.full(len(rows.group_ids), now)
        results, matched = self._joined(index, rows, times, context)
        order = np.argsort(rows.group_ids, kind="stable")
        bounds = np.searchsorted(rows.group_ids[order], np.arange(len(rows.keys) + 1))
        lasting = times + self._reach[index] > now
        for place, key in enumerate(rows.keys):
            own = order[bounds[place] : bounds[place + 1]]
            kept = own[lasting[own]]
            if len(kept):
                piece = _Piece(Changes(taken(changes.batch, kept)), times[kept], matched[kept])
                context.select(key).setdefault(ROWS[index], []).append(piece)
                self._register(index, int(times[kept].min()), context)
        if self._keeps_alone[index]:
            self._alone[index].append(taken(changes.batch, np.flatnonzero(~lasting & ~matched)))
            results += self._without_partner()
        return results

    def _joined(self, index: int, rows: KeyedChanges, times: Any, context: RowsContext) -> tuple[list[Changes], Any]:
        """Return the pairs of new rows with kept ones, and which of the new rows have one."""
        pieces = [piece for key in rows.keys for piece in context.select(key).get(ROWS[1 - index], ())]
        matched = np.zeros(len(times), dtype=bool)
        if not pieces:
            return [], matched
        kept = concatenated((piece.rows.batch for piece in pieces), self._schemas[1 - index])
        kept_times = np.concatenate([piece.times for piece in pieces])
        one, other = self._near(index, rows.changes.batch, times, kept, kept_times)
        batches, places = ((rows.changes.batch, kept), (one, other))
        if index == 1:
            batches, places = ((kept, rows.changes.batch), (other, one))
        held = self._pairs.hold(batches[0], places[0], batches[1], places[1])
        one, other = one[held], other[held]
        matched[one] = True
        is_matched = np.zeros(len(kept_times), dtype=bool)
        is_matched[other] = True
        first = 0
        for piece in pieces:
            piece.matched[:] |= is_matched[first : first + len(piece.times)]
            first += len(piece.times)
        if not len(one):
            return [], matched
        joined = self._pairs.joined(batches[0], places[0][held], batches[1], places[1][held])
        return [Changes(joined)], matched

    def _near(self, index: int, new: pa.RecordBatch, times: Any, kept: pa.RecordBatch, kept_times: Any) -> Any:
        """Return the positions of new and kept rows with equal keys whose times are near each other."""
        if self._matching_nulls:
            columns = [new.column(key) for key in self._keys[index]]
            kept_columns = [kept.column(key) for key in self._keys[1 - index]]
            group_ids, kept_codes = joint_codes(columns, kept_columns, self._matching_nulls)
        else:
            group_ids, kept_codes = np.zeros(len(times), np.int64), np.zeros(len(kept_times), np.int64)
        lower, upper = self._plan.lower, self._plan.upper
        earliest, latest = (times - upper, times - lower) if index == 0 else (times + lower, times + upper)
        distinct = np.unique(kept_times)
        width = len(distinct) + 1
        order = np.lexsort((kept_times, kept_codes))
        ordered = kept_codes[order] * width + np.searchsorted(distinct, kept_times[order])
        start = np.searchsorted(ordered, group_ids * width + np.searchsorted(distinct, earliest), side="left")
        end = np.searchsorted(ordered, group_ids * width + np.searchsorted(distinct, latest, side="right"), side="left")
        counts = np.where(group_ids < 0, 0, np.maximum(end - start, 0))
        one = np.repeat(np.arange(len(times)), counts)
        within = np.arange(len(one)) - np.repeat(np.cumsum(counts) - counts, counts)
        return one, order[np.repeat(start, counts) + within]

    def _now(self, context: RowsContext) -> int:
        return context.watermark if self._plan.event_time else context.processing_time

    def _register(self, index: int, first: int, context: RowsContext) -> None:
        """Register a timer that removes the rows of a side, not each time when one of them is not needed any more."""
        time = min(first + self._reach[index] + self._pause + 1, MAX_TIME)
        if self._plan.event_time:
            context.register_event_timer(time, index)
        else:
            context.register_processing_timer(time, index)

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Remove rows of a side of a key group that no row will be joined with."""
        self._remove(namespace, context.watermark, context)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Remove rows of a side of a key group that no row will be joined with."""
        self._remove(namespace, time, context)

    def _remove(self, index: int, now: int, context: RowsContext) -> None:
        kept = []
        for piece in context.state.pop(ROWS[index], ()):
            expired = piece.times + self._reach[index] < now
            if self._keeps_alone[index]:
                self._alone[index].append(taken(piece.rows.batch, np.flatnonzero(expired & ~piece.matched)))
            if expired.all():
                continue
            lasting = np.flatnonzero(~expired)
            rows = piece.rows if len(lasting) == len(expired) else Changes(taken(piece.rows.batch, lasting))
            kept.append(_Piece(rows, piece.times[lasting], piece.matched[lasting]))
        if kept:
            context.state[ROWS[index]] = kept
            self._register(index, min(int(piece.times.min()) for piece in kept), context)

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        """Return the removed rows that had no partner, if the join keeps them."""
        return self._without_partner()

    def _without_partner(self) -> list[Changes]:
        left, right = (concatenated(each, schema) for each, schema in zip(self._alone, self._schemas, strict=True))
        self._alone = ([], [])
        results = []
        if left.num_rows:
            results.append(self._pairs.left_only(left, np.arange(left.num_rows)))
        if right.num_rows:
            results.append(self._pairs.right_only(right, np.arange(right.num_rows)))
        return [Changes(batch) for batch in results]
