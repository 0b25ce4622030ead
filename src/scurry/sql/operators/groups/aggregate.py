"""GroupAggregate: a change for every row that changes its group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import taken
from scurry.sql.evaluation.user_functions.opened import OpenFunctions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.aggregation.distinct import DistinctValues, counted, distinct_views
from scurry.sql.operators.aggregation.running import running
from scurry.sql.operators.aggregation.segments import Segments, running_sums, segments_of
from scurry.sql.operators.calc import function_context
from scurry.sql.operators.groups.kept import KeptGroups
from scurry.sql.operators.groups.net_changes import net_changes
from scurry.sql.operators.groups.row_changes import RunningValues, changes_of_rows, compared_columns, counted_rows
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.nodes import Aggregate


class GroupAggregate(KeyedRowsFunction):
    """Aggregate rows by key; emit a change for each row, as Flink without mini-batches."""

    def __init__(
        self,
        plan: Aggregate,
        retracts: bool,
        never_retracted: Sequence[bool],
        updates_before: bool,
        ttl: int,
        bundles: bool,
        session: EvaluationContext,
    ) -> None:
        """Describe the groups.

        Args:
            retracts: Whether rows may be taken back.
            never_retracted: For each aggregate whether rows that are taken back cannot change it.
            updates_before: Whether an update has the row before it.
            bundles: Whether the rows of a batch make one change per key, as with mini-batches in Flink.
            ttl: Milliseconds after which a group that has no new rows is forgotten; 0 for never.
        """
        self._plan = plan
        self._retracts = retracts
        self._never_retracted = never_retracted
        self._updates_before = updates_before
        self._ttl = ttl
        self._groups = KeptGroups(ttl)
        self._bundles = bundles
        self._session = session
        self._functions = OpenFunctions()

    def open(self, context: Any) -> None:
        """Make the aggregates; begin without groups in memory."""
        self._groups.open()
        self._functions = OpenFunctions(function_context(context, self._session))
        session = replace(self._session, functions=self._functions)
        plan = self._plan
        self._running = [
            running(call, plan.input.schema, self._retracts and not growing, session)
            for call, growing in zip(plan.calls, self._never_retracted, strict=True)
        ]
        self._views, self._view_of = distinct_views(plan.calls, lambda call: call.distinct and bool(call.arguments))

    def close(self) -> None:
        """Close the user-defined functions."""
        self._functions.close()

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the changes of the groups, in the order of the rows."""
        context.prefetch(rows.keys)
        kept = [self._groups.of(key, context) for key in rows.keys]
        order = np.argsort(rows.group_ids, kind="stable")
        group_ids, signs, counts = rows.group_ids[order], None, None
        if self._retracts:
            signs = rows.changes.signs
            signs = np.ones(len(group_ids), dtype=np.int64) if signs is None else signs[order]
            before = np.asarray([0 if group is None else group[0] for group in kept])
            used = _known_rows(group_ids, signs, before)
            if used is not None:
                order, group_ids, signs = order[used], group_ids[used], signs[used]
            counts = _counts(group_ids, signs, before)
        if not len(order):
            return []
        batch = taken(rows.changes.batch, order)
        segments = segments_of(group_ids, None if counts is None else counts == 0, signs)
        of_segment = group_ids[segments.starts]
        first_of_key = np.append(True, of_segment[1:] != of_segment[:-1])
        groups = [
            kept[group_id] if first else None
            for group_id, first in zip(of_segment.tolist(), first_of_key.tolist(), strict=True)
        ]
        columns, states, views = self._values(batch, segments, groups)
        last_of_key = np.append(first_of_key[1:], True)
        for segment in np.flatnonzero(last_of_key).tolist():
            count = 0 if counts is None else int(counts[segments.stops[segment] - 1])
            group = (count, [each[segment] for each in states], [each[segment] for each in views])
            is_gone = counts is not None and count == 0
            self._groups.keep(rows.keys[of_segment[segment]], None if is_gone else group, context)
        fresh = np.asarray([group is None for group in groups])
        if self._bundles:
            bounds = np.flatnonzero(first_of_key), np.flatnonzero(last_of_key)
            return self._net_changes(batch, columns, segments, *bounds, fresh, None if counts is None else counts == 0)
        gone, compared = None if counts is None else counts == 0, None if self._ttl else self._compared(columns)
        values = RunningValues(batch, order, segments, columns)
        return changes_of_rows(self._plan, values, fresh, gone, compared, self._updates_before)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Forget a group if it has had no rows for so long."""
        self._groups.forget(time, context)

    def write_back(self, context: RowsContext) -> None:
        """Move the groups that have changed to keyed state."""
        self._groups.write_back(context)

    def _values(self, batch: pa.RecordBatch, segments: Segments, groups: list[Any]) -> tuple[list[Any], ...]:
        """Return the values of the aggregates at all places, and the state of each segment for them and the views."""
        distinct = {call.arguments: DistinctValues(call.arguments, batch) for call in self._views}
        changed, views = [], []
        for number, call in enumerate(self._views):
            known = [None if group is None else group[2][number] for group in groups]
            changes, after = counted(distinct[call.arguments], counted_rows(call, batch), segments, known)
            changed.append(changes)
            views.append(after)
        columns, states = [], []
        for number, (call, each) in enumerate(zip(self._plan.calls, self._running, strict=True)):
            view_of = self._view_of[number]
            used = counted_rows(call, batch) if view_of < 0 else changed[view_of]
            if self._never_retracted[number] and segments.signs is not None:
                used = used & (segments.signs > 0)
            known = [None if group is None else group[1][number] for group in groups]
            column, kept = each.values(batch, used, segments, known)
            columns.append(column)
            states.append(kept)
        return columns, states, views

    def _net_changes(
        self,
        batch: pa.RecordBatch,
        columns: list[Any],
        segments: Segments,
        first: Any,
        last: Any,
        fresh: Any,
        gone: Any,
    ) -> list[Changes]:
        """Return the change of each key from before its first segment to after its last one."""
        heads = pa.array(segments.starts[first])
        remains = np.ones(len(first), dtype=bool) if gone is None else ~gone[segments.stops[last] - 1]
        return net_changes(
            [batch.column(key).take(heads) for key in self._plan.keys],
            columns,
            (segments.heads[first], segments.ends[last]),
            (~fresh[first], remains),
            None if self._ttl else self._compared(columns),
            self._updates_before,
            self._plan.schema,
        )

    def _compared(self, columns: list[Any]) -> Iterator[tuple[Any, pa.Array]]:
        return compared_columns(self._plan, self._running, columns)


def _counts(group_ids: Any, signs: Any, before: Any) -> Any:
    """Return the number of rows that the group of each row has after it."""
    if not len(group_ids):
        return signs
    starts = np.flatnonzero(np.append(True, group_ids[1:] != group_ids[:-1]))
    changes = signs.copy()
    changes[starts] += before[group_ids[starts]]
    return running_sums(changes, starts, np.append(starts[1:], len(group_ids)))


def _known_rows(group_ids: Any, signs: Any, before: Any) -> Any:
    """Return the rows without those that are taken back from groups that have none; None if there are no such rows."""
    if _counts(group_ids, signs, before).min(initial=0) >= 0:
        return None
    counts, used = before.tolist(), []
    for row, (group_id, sign) in enumerate(zip(group_ids.tolist(), signs.tolist(), strict=True)):
        if counts[group_id] or sign > 0:
            counts[group_id] += sign
            used.append(row)
    return np.asarray(used, dtype=np.int64)
