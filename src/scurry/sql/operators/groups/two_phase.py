"""LocalGroupAggregate and GlobalGroupAggregate: groups whose rows are aggregated where they are read, then merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.keys import key_hashes, row_keys
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.aggregating import argument_column
from scurry.sql.evaluation.batch.batches import batch_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.operators.aggregation.distinct import presence_changes
from scurry.sql.operators.aggregation.partial import DistinctArguments, PartialState, RawArguments, partials
from scurry.sql.operators.aggregation.pieces import ValueCounts, value_counts
from scurry.sql.operators.aggregation.running import RunningAggregate, running
from scurry.sql.operators.aggregation.segments import Segments
from scurry.sql.operators.groups.kept import KeptGroups
from scurry.sql.operators.groups.net_changes import net_changes
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.physical.aggregates import GlobalGroupAggregate, LocalGroupAggregate
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import as_array
from scurry.sql.types.values import from_values, to_values

#: The values of an aggregate: those of all groups before, then those after; what tells whether a group has changed, in
#: the same order; and what is kept of each group.
_Advanced = tuple[pa.Array, list[pa.Array], list[Any]]
#: Argument columns of a batch by group: columns, row ids, and for each row the index of its group.
_Rows = tuple[list[pa.Array], Any, Any]


class LocalGroups:
    """Make a row per group of rows that are read together: the key, and the columns of the `Partial`s."""

    def __init__(self, plan: LocalGroupAggregate, session: EvaluationContext) -> None:
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        plan = self._plan
        sent, views, _ = partials(plan.calls, plan.input.schema, plan.retracts, self._session)
        self._sent = [*(each for each in sent if each is not None), *views]

    def map(self, changes: Changes) -> Changes:
        batch, plan = changes.batch, self._plan
        keys = [batch.column(key) for key in plan.keys]
        group_ids, first = group_ids_of(keys, batch.num_rows)
        count, signs = len(first), changes.signs if plan.retracts else None
        columns = [key.take(pa.array(first)) for key in keys]
        if plan.retracts:
            number = np.bincount(group_ids, weights=signs, minlength=count)
            columns.append(pa.array(number.astype(np.int64)))
        for each in self._sent:
            columns += each.partial(batch, signs, group_ids, count)
        if not columns:
            # An aggregate of nothing by nothing; a row says that there are rows.
            columns = [pa.nulls(count)]
        return Changes(pa.RecordBatch.from_arrays(columns, names=[f"c{place}" for place in range(len(columns))]))


class GlobalGroups(KeyedRowsFunction):
    """Merge the output of `LocalGroups` by group; emit the change of each group."""

    def __init__(self, plan: GlobalGroupAggregate, updates_before: bool, ttl: int, session: EvaluationContext) -> None:
        """Describe the groups.

        Args:
            plan: The second phase.
            updates_before: Whether an update has the row before it.
            ttl: Milliseconds after which a group that has no new rows is forgotten; 0 for never.
        """
        self._plan = plan
        self._updates_before = updates_before
        self._ttl = ttl
        self._groups = KeptGroups(ttl)
        self._session = session

    def open(self, context: Any) -> None:
        """Make the accumulators; begin without groups in memory."""
        self._groups.open()
        plan, retracts = self._plan.aggregate, self._plan.retracts
        self._sent, self._views, self._view_of = partials(plan.calls, plan.input.schema, retracts, self._session)
        self._rows = [
            each if isinstance(each, RawArguments) else RawArguments(call, plan.input.schema) if each is None else None
            for call, each in zip(plan.calls, self._sent, strict=True)
        ]
        self._running = [
            None if rows is None else running(rows.call, rows.schema, retracts, self._session) for rows in self._rows
        ]

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        context.prefetch(rows.keys)
        kept = [self._groups.of(key, context) for key in rows.keys]
        batch, group_ids, count = rows.changes.batch, rows.group_ids, len(rows.keys)
        existed = np.asarray([group is not None for group in kept])
        numbers, remains = np.zeros(count, dtype=np.int64), np.ones(count, dtype=bool)
        if self._plan.retracts:
            sent = np.asarray(batch.column(len(self._plan.keys)))
            numbers = np.bincount(group_ids, weights=sent, minlength=count).astype(np.int64)
            numbers += np.asarray([0 if group is None else group[0] for group in kept])
            remains = numbers > 0
        values, compared, states, views = self._advanced(batch, group_ids, kept)
        for place, key in enumerate(rows.keys):
            group = (int(numbers[place]), [each[place] for each in states], [each[place] for each in views])
            self._groups.keep(key, group if remains[place] else None, context)
        first = np.empty(count, dtype=np.int64)
        first[group_ids[::-1]] = np.arange(len(group_ids))[::-1]
        keys = [batch.column(key).take(pa.array(first)) for key in self._plan.keys]
        indices = np.arange(count), np.arange(count, 2 * count)
        tests = None if self._ttl else compared
        return net_changes(keys, values, indices, (existed, remains), tests, self._updates_before, self._plan.schema)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Forget a group if it has had no rows for so long."""
        self._groups.forget(time, context)

    def write_back(self, context: RowsContext) -> None:
        """Move the groups that have changed to keyed state."""
        self._groups.write_back(context)

    def _advanced(self, batch: pa.RecordBatch, group_ids: Any, kept: list[Any]) -> tuple[list[Any], ...]:
        """Return the aggregates' values before and after, the compared columns, and the new state."""
        at = len(self._plan.keys) + self._plan.retracts
        columns: list[list[pa.Array]] = []
        for each in (*(sent for sent in self._sent if sent is not None), *self._views):
            columns.append(batch.columns[at : at + each.width])
            at += each.width
        viewed, views = [], []
        for number, (view, lists) in enumerate(
            zip(self._views, columns[len(columns) - len(self._views) :], strict=True)
        ):
            known = [None if group is None else group[2][number] for group in kept]
            changed, after = _changed_values(view, view.counted(*view.flat(lists, group_ids)), known)
            viewed.append(changed)
            views.append(after)
        values, compared, states = [], [], []
        following = iter(columns)
        for place, (call, sent) in enumerate(zip(self._plan.aggregate.calls, self._sent, strict=True)):
            known = [None if group is None else group[1][place] for group in kept]
            if isinstance(sent, PartialState):
                column, tests, after = _merged(sent, next(following), group_ids, known)
            else:
                shape, computes = self._rows[place], self._running[place]
                assert shape is not None
                assert computes is not None
                rows = viewed[self._view_of[place]] if sent is None else shape.flat(next(following), group_ids)
                column, tests, after = _after_rows(computes, shape.schema, rows, self._plan.retracts, known)
            values.append(column)
            compared += [(call.function, each) for each in tests]
            states.append(after)
        return values, compared, states, views


def _merged(sent: PartialState, states: Sequence[pa.Array], group_ids: Any, kept: list[Any]) -> _Advanced:
    known = [place for place, each in enumerate(kept) if each is not None]
    found = zip(*(kept[place] for place in known), strict=True) if known else [()] * len(states)
    before = [from_values(list(each), kind) for each, kind in zip(found, sent.types, strict=True)]
    values, tests, after = merged_states(sent, states, group_ids, len(kept), before, known)
    return values, tests, list(zip(*map(to_values, after), strict=True))


def merged_states(
    sent: PartialState, states: Sequence[pa.Array], group_ids: Any, count: int, before: Sequence[pa.Array], known: Any
) -> tuple[pa.Array, list[pa.Array], list[pa.Array]]:
    """Merge the states of groups with those that are kept.

    Args:
        states: The columns of its new states.
        group_ids: For each of them the number of its group.
        before: The columns of the states that are kept.
        known: For each of them the number of its group, in order.

    Returns:
        The values of all groups before, then those after; what tells whether a group has changed, in the same order;
        and the columns of the new states of the groups.
    """
    after = sent.merged(states, group_ids, count)
    if len(known):
        both = [pa.concat_arrays(pair) for pair in zip(before, after, strict=True)]
        after = sent.merged(both, np.concatenate([known, np.arange(count)]), count)
    source = np.full(2 * count, -1, dtype=np.int64)
    source[known] = np.arange(len(known))
    source[count:] = np.arange(len(known), len(known) + count)
    states_of_all = [pa.concat_arrays(pair) for pair in zip(before, after, strict=True)]
    indices = pa.array(source, mask=source < 0)
    values = as_array(sent.accumulator.result(states_of_all))
    tests = [each.take(indices) for each in sent.accumulator.compared(states_of_all, values)]
    return values.take(indices), tests, after


def _after_rows(computes: RunningAggregate, schema: Schema, rows: _Rows, retracts: bool, kept: list[Any]) -> _Advanced:
    """Return an aggregate before and after rows, which are sorted by group."""
    columns, signs, group_ids = rows
    groups = np.arange(len(kept))
    starts, stops = np.searchsorted(group_ids, groups, "left"), np.searchsorted(group_ids, groups, "right")
    segments = Segments(starts, stops, group_ids, signs if retracts else None)
    batch = batch_of(columns, schema, len(group_ids))
    values, after = computes.values(batch, np.ones(len(group_ids), dtype=bool), segments, kept)
    indices = pa.array(np.concatenate([segments.heads, segments.ends]))
    return values.take(indices), [each.take(indices) for each in computes.compared(values)], after


def _changed_values(view: DistinctArguments, rows: _Rows, kept: list[Any]) -> tuple[_Rows, list[ValueCounts]]:
    """Return the values that groups have newly, or not any more, and how often each value is in each group."""
    columns, numbers, group_ids = rows
    batch = batch_of(columns, view.schema, len(group_ids))
    values = [to_values(argument_column(each, batch)) for each in view.call.arguments]
    keys = row_keys(values)
    counts = [value_counts(each) for each in kept]
    signs = presence_changes(counts, group_ids, numbers, keys, key_hashes(keys))
    changed = np.flatnonzero(signs)
    indices = pa.array(changed)
    return ([column.take(indices) for column in columns], signs[changed], group_ids[changed]), counts
