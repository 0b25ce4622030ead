"""GroupTableAggregate: the rows of a group are taken back and made again when it changes."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.common.types import RowKind
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.evaluation.user_functions.opened import OpenFunctions
from scurry.sql.evaluation.user_functions.table_aggregate import TableAggregator
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.calc import function_context
from scurry.sql.operators.expiry import StateTtl
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.nodes import TableAggregate

#: The slot of a group: its number of rows, its accumulator, and when it was written last.
_GROUP = "group"


class GroupTableAggregate(KeyedRowsFunction):
    """Aggregate rows by key to rows; the rows of a batch change a group once, as a bundle does in PyFlink."""

    def __init__(self, plan: TableAggregate, ttl: int, session: EvaluationContext) -> None:
        """Describe the groups.

        Args:
            ttl: Milliseconds after which a group that has no new rows is forgotten; 0 for never.
        """
        self._plan = plan
        self._ttl = StateTtl(ttl)
        self._session = session
        self._functions = OpenFunctions()

    def open(self, context: Any) -> None:
        self._functions = OpenFunctions(function_context(context, self._session))
        self._aggregator = TableAggregator(self._plan, replace(self._session, functions=self._functions))

    def close(self) -> None:
        self._functions.close()

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        context.prefetch(rows.keys)
        batch, signs = rows.changes.batch, rows.changes.signs
        if signs is None:
            signs = np.ones(batch.num_rows, dtype=np.int64)
        kept = [self._kept(key, context) for key in rows.keys]
        counts = [0 if group is None else group[0] for group in kept]
        used = _known_rows(rows.group_ids, signs, counts)
        groups, signs = rows.group_ids[used], signs[used]
        accumulator = self._aggregator.accumulator
        current = [accumulator.create() if group is None else pickle.loads(group[1]) for group in kept]
        emitted = self._aggregator.emitted()
        causes: list[int] = []

        def emit(group_id: int, sign: int) -> None:
            before = len(emitted.rows)
            self._aggregator.emit(current[group_id], emitted)
            causes.extend([group_id] * (len(emitted.rows) - before))
            if sign < 0:
                emitted.signs[before:] = [-each for each in emitted.signs[before:]]

        touched = dict.fromkeys(groups.tolist())
        known = [group_id for group_id in touched if kept[group_id] is not None]
        if not self._aggregator.updates:
            for group_id in known:
                emit(group_id, -1)
        columns = [batch.column(each).take(pa.array(used)) for each in self._plan.arguments]
        accumulator.change(current, columns, groups, signs)
        for group_id, count in zip(*_counted(groups, signs), strict=True):
            counts[group_id] += count
        for group_id in touched:
            # A function that emits updates retracts the results of a group without rows itself.
            if counts[group_id] or self._aggregator.updates:
                emit(group_id, 1)
            self._keep(rows.keys[group_id], counts[group_id], current[group_id], context)
        return self._changes(batch, rows.group_ids, emitted.rows, emitted.signs, causes)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Forget a group if it has had no rows for so long."""
        group = context.state.get(_GROUP)
        if group is not None and self._ttl.is_over(group[2], time, context):
            del context.state[_GROUP]

    def _kept(self, key: Any, context: RowsContext) -> Any:
        group = context.select(key).get(_GROUP)
        return None if group is not None and self._ttl.has_expired(group[2], context.processing_time) else group

    def _keep(self, key: Any, count: int, accumulator: Any, context: RowsContext) -> None:
        state = context.select(key)
        if not count:
            state.pop(_GROUP, None)
            return
        now = self._ttl.now(context)
        if _GROUP not in state:
            self._ttl.register(now, context)
        state[_GROUP] = (count, pickle.dumps(accumulator, 5), now)

    def _changes(
        self, batch: pa.RecordBatch, group_ids: Any, rows: Sequence[Any], signs: list[int], causes: list[int]
    ) -> list[Changes]:
        if not rows:
            return []
        first_of_code = np.zeros(int(group_ids.max()) + 1, dtype=np.int64)
        first_of_code[group_ids[::-1]] = np.arange(len(group_ids))[::-1]
        heads = taken(batch, first_of_code[np.asarray(causes, dtype=np.int64)])
        keys = [heads.column(key) for key in self._plan.keys]
        result = batch_of([*keys, *self._aggregator.columns(rows)], self._plan.schema, len(rows))
        kinds = np.where(np.asarray(signs) > 0, RowKind.INSERT.value, RowKind.DELETE.value).astype(np.int8)
        return [Changes(result, kinds if kinds.any() else None)]


def _known_rows(group_ids: Any, signs: Any, counts: Sequence[int]) -> Any:
    """Return the positions of the rows, without those that are taken back from groups that have none."""
    if (signs > 0).all():
        return np.arange(len(group_ids))
    left, used = list(counts), []
    for row, (group_id, sign) in enumerate(zip(group_ids.tolist(), signs.tolist(), strict=True)):
        if left[group_id] or sign > 0:
            left[group_id] += sign
            used.append(row)
    return np.asarray(used, dtype=np.int64)


def _counted(groups: Any, signs: Any) -> tuple[list[int], list[int]]:
    """Return each group with the number of rows by which it has changed."""
    found, indices = np.unique(groups, return_inverse=True)
    return found.tolist(), np.bincount(indices, weights=signs).astype(np.int64).tolist()
