"""OVER aggregations by a column that is no time: a row changes the values of the rows behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.operators.rows import RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.expiry import ExpiringFunction
from scurry.sql.operators.over.running import Runs, running
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.operators.ranks.sort_keys import sort_keys
from scurry.sql.operators.ranks.sorted_rows import Row, SortedRows
from scurry.sql.plan.nodes import SortKey
from scurry.sql.plan.physical.over import OverAggregate
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values, to_values

_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = range(4)


class AnyOrderOver(ExpiringFunction):
    """Keep all rows in their order; emit each row that is new, or gone, and those whose values it changes."""

    def __init__(self, plan: OverAggregate, with_before: bool, ttl: int, session: EvaluationContext) -> None:
        """Create the function of an aggregation.

        Args:
            plan: The aggregation; its frames begin with the first row.
            with_before: Whether updates have to have the row before.
            ttl: Milliseconds after which a key that has no new rows is forgotten; 0 for never.
        """
        self._plan = plan
        self._with_before = with_before
        super().__init__(ttl)
        self._session = session

    def open(self, context: Any) -> None:
        """Compile the aggregates."""
        self._calls = [running(call, self._plan.input.schema, self._session) for call in self._plan.calls]
        key = self._plan.calls[0].order_by[0]
        self._order = (SortKey(self._plan.time, key.descending, key.nulls_first),)
        self._has_peers = self._plan.frame.units == "RANGE"

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        context.prefetch(rows.keys)
        sorted_rows = [self._rows(key, context) for key in rows.keys]
        batch, kinds = rows.changes.batch, rows.changes.kinds
        changes = [_INSERT] * batch.num_rows if kinds is None else np.asarray(kinds).tolist()
        values = zip(*map(to_values, batch.columns), strict=True)
        out: list[tuple[int, Row]] = []
        shown: dict[int, list[Row]] = {}
        for group_id, kind, key, row in zip(
            rows.group_ids.tolist(), changes, sort_keys(batch, self._order), values, strict=True
        ):
            if group_id not in shown:
                shown[group_id] = self._with_values(sorted_rows[group_id])
            shown[group_id] = self._take(sorted_rows[group_id], kind, key, row, shown[group_id], out)
        for each in sorted_rows:
            each.save()
        return self._changes(out)

    def _rows(self, key: Any, context: RowsContext) -> SortedRows:
        state = context.select(key)
        self._expiry.touch(context)
        return SortedRows(state)

    def _take(
        self, rows: SortedRows, kind: int, key: Any, row: Row, old: list[Row], out: list[tuple[int, Row]]
    ) -> list[Row]:
        """Emit the changes that a change of a row causes, and return all rows of the key after it."""
        is_gone = kind in (_UPDATE_BEFORE, _DELETE)
        place = rows.remove(key, row) if is_gone else rows.insert(key, row)
        if place is None:
            return old
        new = self._with_values(rows)
        if is_gone:
            out.append((_DELETE, old.pop(place)))
            self._differences(old, new, out)
            return new
        self._differences(old[:place], new[:place], out)
        out.append((kind, new[place]))
        self._differences(old[place:], new[place + 1 :], out)
        return new

    def _differences(self, old: Sequence[Row], new: Sequence[Row], out: list[tuple[int, Row]]) -> None:
        for one, other in zip(old, new, strict=True):
            if one != other:
                if self._with_before:
                    out.append((_UPDATE_BEFORE, one))
                out.append((_UPDATE_AFTER, other))

    def _with_values(self, kept: SortedRows) -> list[Row]:
        """Return all rows of a key with the values of the aggregates."""
        rows = kept.rows(0, len(kept))
        if not rows:
            return []
        batch = _batch(rows, self._plan.input.schema)
        start = np.zeros(len(rows), dtype=np.int64)
        last = np.arange(len(rows))
        if self._has_peers:
            keys = sort_keys(batch, self._order)
            ends = [place for place in range(len(keys)) if place + 1 == len(keys) or keys[place] != keys[place + 1]]
            last = np.asarray(ends)[np.searchsorted(ends, last)]
        runs = Runs(batch, start, last, [(0, len(rows))])
        columns = [to_values(call.values(runs, [None])[0]) for call in self._calls]
        return [(*row, *values) for row, values in zip(rows, zip(*columns, strict=True), strict=True)]

    def _changes(self, out: list[tuple[int, Row]]) -> list[Changes]:
        if not out:
            return []
        batch = _batch([row for _, row in out], self._plan.schema)
        return [Changes(batch, np.asarray([kind for kind, _ in out], dtype=np.int8))]


def _batch(rows: Sequence[Row], schema: Any) -> pa.RecordBatch:
    columns = [
        from_values(list(values), arrow_type(column.type))
        for values, column in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(schema.names))
