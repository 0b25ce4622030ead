"""SinkUpsertMaterializer: changes of a query as changes by the key of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scurry.common.types import RowKind
from scurry.runtime.operators.rows import RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of
from scurry.sql.operators.expiry import ExpiringFunction
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values, to_values

#: The slot of a key: its rows, the one that the table has at the end.
_ROWS = "rows"
#: The kinds of changes that add a row.
ADDED = (RowKind.INSERT.value, RowKind.UPDATE_AFTER.value)


class SinkUpsertMaterializer(ExpiringFunction):
    """Keep the rows of each key of the table, in the order in which they came; the table has the last one."""

    def __init__(self, schema: Schema, upsert_key: Sequence[int], ttl: int) -> None:
        """Describe the rows.

        Args:
            upsert_key: The positions of those by which the query replaces rows; none for whole rows.
            ttl: Milliseconds after which rows of a key without changes are forgotten; 0 for never.
        """
        super().__init__(ttl)
        self._schema = schema
        self._key = tuple(upsert_key) or tuple(range(len(schema)))
        self._replaces = bool(upsert_key)

    def open(self, context: Any) -> None:
        """Do nothing."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the changes by key, in the order of the rows."""
        context.prefetch(rows.keys)
        batch = rows.changes.batch
        values = list(zip(*map(to_values, batch.columns), strict=True))
        kinds = [0] * batch.num_rows if rows.changes.kinds is None else list(rows.changes.kinds)
        kept = [self._kept(key, context) for key in rows.keys]
        found: list[tuple[RowKind, tuple[Any, ...]]] = []
        for group_id, kind, row in zip(rows.group_ids.tolist(), kinds, values, strict=True):
            change = self._added(kept[group_id], row) if kind in ADDED else self._removed(kept[group_id], row)
            if change is not None:
                found.append(change)
        for key, current in zip(rows.keys, kept, strict=True):
            state = context.select(key)
            if current:
                self._expiry.touch(context)
                state[_ROWS] = current
            else:
                state.pop(_ROWS, None)
        if not found:
            return []
        columns = [
            from_values([row[place] for _, row in found], arrow_type(column.type))
            for place, column in enumerate(self._schema)
        ]
        return [
            Changes(
                batch_of(columns, self._schema, len(found)),
                np.asarray([kind.value for kind, _ in found], dtype=np.int8),
            )
        ]

    def _kept(self, key: Any, context: RowsContext) -> list[Any]:
        state = context.select(key)
        self._expiry.expire(context)
        return list(state.get(_ROWS) or ())

    def _added(self, current: list[Any], row: tuple[Any, ...]) -> tuple[RowKind, tuple[Any, ...]]:
        kind = RowKind.UPDATE_AFTER if current else RowKind.INSERT
        place = place_of(current, row, self._key) if self._replaces else None
        if place is None:
            current.append(row)
        else:
            current[place] = row
        return kind, row

    def _removed(self, current: list[Any], row: tuple[Any, ...]) -> tuple[RowKind, tuple[Any, ...]] | None:
        place = place_of(current, row, self._key)
        if place is None:
            return None
        was_last = place == len(current) - 1
        removed = current.pop(place)
        if not current:
            return RowKind.DELETE, removed
        return (RowKind.UPDATE_AFTER, current[-1]) if was_last else None


def place_of(rows: Sequence[Any], row: tuple[Any, ...], key: Sequence[int]) -> int | None:
    """Return the position of the first row with the same key as `row`, or None."""
    wanted = [row[column] for column in key]
    for place, each in enumerate(rows):
        if [each[column] for column in key] == wanted:
            return place
    return None
