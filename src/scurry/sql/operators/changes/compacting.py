"""WatermarkCompactingSinkMaterializer: changes by the key of a table, of which a key has one row at each watermark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scurry.common.types import RowKind
from scurry.errors import EvaluationError
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of
from scurry.sql.operators.changes.materialize import ADDED, place_of
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values, to_values
from scurry.sql.values.records import record_values

#: The slots of a key: the row that the table has, and the changes since the last watermark.
_CURRENT = "current"
_PENDING = "pending"


class CompactingMaterializer(KeyedRowsFunction):
    """Apply the changes of each key when a watermark has passed them; several rows that remain are a conflict."""

    def __init__(self, schema: Schema, primary_key: Sequence[int], upsert_key: Sequence[int], fails: bool) -> None:
        """Describe the rows.

        Args:
            primary_key: The positions of those of the table's primary key.
            upsert_key: The positions of those by which the query replaces rows; none for whole rows.
            fails: Whether a conflict fails the job; otherwise the table keeps the row it has, or gets the first one.
        """
        self._schema = schema
        self._primary_key = tuple(primary_key)
        self._key = tuple(upsert_key) or tuple(range(len(schema)))
        self._replaces = bool(upsert_key)
        self._fails = fails

    def open(self, context: Any) -> None:
        """Begin without results."""
        self._found: list[tuple[RowKind, tuple[Any, ...]]] = []

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep the changes until the watermark advances."""
        context.prefetch(rows.keys)
        batch = rows.changes.batch
        values = zip(*map(to_values, batch.columns), strict=True)
        kinds = [0] * batch.num_rows if rows.changes.kinds is None else list(rows.changes.kinds)
        pending: list[list[Any]] = [[] for _ in rows.keys]
        for group_id, kind, row in zip(rows.group_ids.tolist(), kinds, values, strict=True):
            pending[group_id].append((int(kind), row))
        for key, changes in zip(rows.keys, pending, strict=True):
            state = context.select(key)
            if _PENDING not in state:
                context.register_event_timer(context.watermark + 1)
            state[_PENDING] = [*state.get(_PENDING, ()), *changes]
        return []

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Apply the changes of a key."""
        state = context.state
        current = state.get(_CURRENT)
        found = self._applied([] if current is None else [current], state.pop(_PENDING, ()))
        if len(found) > 1:
            if self._fails:
                raise self._violation(found[0])
            found = found[:1] if current is None else [current]
        new = found[0] if found else None
        if new is None:
            if current is not None:
                self._found.append((RowKind.DELETE, current))
                del state[_CURRENT]
        elif current != new:
            self._found.append((RowKind.INSERT if current is None else RowKind.UPDATE_AFTER, new))
            state[_CURRENT] = new

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        found, self._found = self._found, []
        if not found:
            return []
        columns = [
            from_values([row[place] for _, row in found], arrow_type(column.type))
            for place, column in enumerate(self._schema)
        ]
        kinds = np.asarray([kind.value for kind, _ in found], dtype=np.int8)
        return [Changes(batch_of(columns, self._schema, len(found)), kinds)]

    def _violation(self, row: Sequence[Any]) -> EvaluationError:
        shown = []
        for column, value in ((self._schema.columns[place], row[place]) for place in self._primary_key):
            (found,) = record_values(from_values([value], column.type), column.type)
            shown.append(f"{column.name}={found}")
        return EvaluationError(
            "Primary key constraint violation: multiple distinct records with the same primary key detected. "
            f"Conflicting key: [{', '.join(shown)}]. Use ON CONFLICT DO NOTHING to keep the first record."
        )

    def _applied(self, rows: list[Any], changes: Sequence[Any]) -> list[Any]:
        """Return the rows that a key has after some changes, in the order in which they came."""
        for kind, row in changes:
            place = place_of(rows, row, self._key) if self._replaces or kind not in ADDED else None
            if kind in ADDED:
                if place is None:
                    rows.append(row)
                else:
                    rows[place] = row
            elif place is not None:
                del rows[place]
        return rows
