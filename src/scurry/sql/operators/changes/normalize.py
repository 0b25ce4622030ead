"""ChangelogNormalize: rows that replace each other by key, as inserts, updates and deletions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from scurry.common.types import RowKind
from scurry.runtime.operators.rows import RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.functions.keys import codes_of
from scurry.sql.operators.aggregation.segments import segments_of
from scurry.sql.operators.expiry import ExpiringFunction
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.schema import Schema
from scurry.sql.types.values import from_values, to_values

#: The slot of a key: its row.
_ROW = "row"


class ChangelogNormalizer(ExpiringFunction):
    """Keep the row of each key."""

    def __init__(self, schema: Schema, updates_before: bool, ttl: int) -> None:
        """Describe the rows.

        Args:
            updates_before: Whether an update has the row before it.
            ttl: Milliseconds after which a row that has not been written again is forgotten; 0 for never.
        """
        self._schema = schema
        self._updates_before = updates_before
        self._emits_equal = ttl > 0
        super().__init__(ttl)

    def open(self, context: Any) -> None:
        """Do nothing."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the changes of the rows, in their order."""
        context.prefetch(rows.keys)
        order = np.argsort(rows.group_ids, kind="stable")
        batch, group_ids = taken(rows.changes.batch, order), rows.group_ids[order]
        kinds = np.zeros(len(order), np.int8) if rows.changes.kinds is None else np.asarray(rows.changes.kinds)[order]
        segments = segments_of(group_ids, None, None)
        kept = [self._kept(rows.keys[group_id], context) for group_id in group_ids[segments.starts].tolist()]
        known = np.asarray([row is not None for row in kept])
        columns = self._with_kept(batch, [row for row in kept if row is not None], segments.heads[known], segments)
        present = np.zeros(segments.places, dtype=bool)
        present[segments.heads] = known
        present[segments.place_of_row] = np.isin(kinds, (RowKind.INSERT.value, RowKind.UPDATE_AFTER.value))
        self._keep(rows, group_ids[segments.starts], columns, present, segments.ends, context)
        return self._changes(columns, present, segments.place_of_row, order)

    def _kept(self, key: Any, context: RowsContext) -> Any:
        state = context.select(key)
        self._expiry.expire(context)
        return state.get(_ROW)

    def _with_kept(self, batch: pa.RecordBatch, kept: list[Any], heads: Any, segments: Any) -> list[pa.Array]:
        """Return the columns at all places: the kept row of a key, then its rows."""
        source = np.full(segments.places, -1)
        source[segments.place_of_row] = np.arange(segments.rows)
        source[heads] = segments.rows + np.arange(len(heads))
        positions = pa.array(source, mask=source < 0)
        by_column = list(zip(*kept, strict=True)) if kept else [()] * batch.num_columns
        return [
            pa.concat_arrays([column, from_values(list(values), column.type)]).take(positions)
            for column, values in zip(batch.columns, by_column, strict=True)
        ]

    def _keep(
        self, rows: KeyedChanges, group_ids: Any, columns: Any, present: Any, ends: Any, context: RowsContext
    ) -> None:
        last = zip(*(to_values(column.take(pa.array(ends))) for column in columns), strict=True)
        for group_id, row, is_there in zip(group_ids.tolist(), last, present[ends].tolist(), strict=True):
            state = context.select(rows.keys[group_id])
            if is_there:
                self._expiry.touch(context)
                state[_ROW] = row
            else:
                state.pop(_ROW, None)

    def _changes(self, columns: list[pa.Array], present: Any, places: Any, order: Any) -> list[Changes]:
        before = places - 1
        # Who has a TTL, too, has to hear that a row is still there.
        same = np.full(len(places), not self._emits_equal)
        for column in columns:
            group_ids = codes_of(column)
            same &= group_ids[places] == group_ids[before]
        updated = present[places] & present[before] & ~same
        parts = [
            (np.flatnonzero(present[places] & ~present[before]), 0, RowKind.INSERT),
            (np.flatnonzero(updated), 1, RowKind.UPDATE_BEFORE),
            (np.flatnonzero(updated), 0, RowKind.UPDATE_AFTER),
            (np.flatnonzero(~present[places] & present[before]), 1, RowKind.DELETE),
        ]
        if not self._updates_before:
            del parts[1]
        cause = np.concatenate([rows for rows, _, _ in parts])
        if not len(cause):
            return []
        source = np.concatenate([places[rows] - back for rows, back, _ in parts])
        kinds = np.concatenate([np.full(len(rows), kind.value, dtype=np.int8) for rows, _, kind in parts])
        sorting = np.argsort(order[cause], kind="stable")
        chosen, kinds = pa.array(source[sorting]), kinds[sorting]
        result = batch_of([column.take(chosen) for column in columns], self._schema, len(kinds))
        return [Changes(result, kinds if kinds.any() else None)]
