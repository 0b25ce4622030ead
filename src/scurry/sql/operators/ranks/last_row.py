"""The last row of each key by time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from scurry.runtime.operators.rows import RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import arrow_schema, concatenated, milliseconds, taken
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.operators.hashed_rows.function import HashedRowsFunction
from scurry.sql.operators.kept_rows import joined, pieces
from scurry.sql.operators.partitioning import HashedChanges, KeyedChanges
from scurry.sql.operators.ranks.deduplicate import Deduplication
from scurry.sql.plan.physical.ranks import Deduplicate

_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER = range(3)

#: The slot of the row of a key.
_ROW = "row"


class _Replaced(NamedTuple):
    """Effect of new rows.

    Attributes:
        batch: The kept rows and, after them, the new ones.
        group_ids: The numbers of the keys that have rows.
        last: For each of them the position of its last row.
        changes: What is emitted.
    """

    batch: pa.RecordBatch
    group_ids: Any
    last: Any
    changes: list[Changes]


class _LastRows:
    """Find the last row of each key, and the changes until then."""

    def __init__(self, plan: Deduplicate, with_before: bool) -> None:
        self._plan = plan
        self._with_before = with_before

    def replace(self, kept: pa.RecordBatch, kept_codes: Any, new: pa.RecordBatch, group_ids: Any) -> _Replaced:
        """Replace rows.

        Args:
            kept_codes: The numbers of these keys.
            new: Further rows.
            group_ids: The number of the key of each.
        """
        batch = concatenated([kept, new], self._plan.schema)
        group_ids = np.concatenate([kept_codes, group_ids])
        order = np.argsort(group_ids, kind="stable")
        order = order[self._replaces(batch.take(pa.array(order)), group_ids[order])]
        ordered = group_ids[order]
        follows = np.flatnonzero(np.diff(ordered) == 0) + 1
        previous = np.full(len(group_ids), -1)
        previous[order[follows]] = order[follows - 1]
        ends = np.flatnonzero(np.diff(ordered, append=-1))
        changes = self._changes(batch, np.sort(order[order >= kept.num_rows]), previous)
        return _Replaced(batch, ordered[ends], order[ends], changes)

    def _replaces(self, batch: pa.RecordBatch, group_ids: Any) -> Any:
        """Return which rows, sorted by key, replace the one before them."""
        if self._plan.has_event_time:
            # The greatest time of the key so far: keys are kept apart by a shift larger than all differences.
            times = milliseconds(batch.column(self._plan.time))
            ranks = np.unique(times, return_inverse=True)[1].reshape(-1)
            shifted = ranks + group_ids * (len(times) + 1)
            return shifted >= np.maximum.accumulate(shifted)
        columns = [column for place, column in enumerate(batch.columns) if place != self._plan.time]
        equal, _ = group_ids_of([pa.array(group_ids), *columns], batch.num_rows)
        return np.diff(equal, prepend=-1) != 0

    def _changes(self, batch: pa.RecordBatch, new: Any, previous: Any) -> list[Changes]:
        """Return new rows, each after the one that it replaces."""
        if not len(new):
            return []
        replaced = previous[new]
        kinds = np.where(replaced < 0, _INSERT, _UPDATE_AFTER)
        if not self._with_before:
            return [Changes(batch.take(pa.array(new)), kinds.astype(np.int8))]
        rows = np.c_[replaced, new].reshape(-1)
        kinds = np.c_[np.full(len(new), _UPDATE_BEFORE), kinds].reshape(-1)
        here = rows >= 0
        return [Changes(batch.take(pa.array(rows[here])), kinds[here].astype(np.int8))]


class LastRow(HashedRowsFunction):
    """Emit each row that replaces the one of its key; the rows of all keys are kept in columns."""

    def __init__(self, plan: Deduplicate, with_before: bool) -> None:
        self._plan = plan
        self._last_rows = _LastRows(plan, with_before)

    def open(self, context: Any) -> None:
        """Begin without rows in memory."""
        super().open(context)
        self._schema = arrow_schema(self._plan.schema)

    def process(self, index: int, rows: HashedChanges, context: RowsContext) -> list[Changes]:
        """Return the rows that are the last ones of their keys, with those that they replace."""
        kept = self._rows_of_keys(rows, self._schema, self._plan.keys, context)
        found = self._last_rows.replace(kept.batch, kept.group_ids, rows.changes.batch, kept.new_group_ids)
        is_new = found.last >= kept.batch.num_rows
        replaced = np.zeros(len(kept.first), dtype=bool)
        replaced[found.group_ids[is_new]] = True
        leaves = replaced[kept.group_ids]
        kept.table.remove(kept.numbers[leaves], kept.hashes[leaves])
        kept.table.add(taken(found.batch, found.last[is_new]), rows.hashes[kept.first][found.group_ids[is_new]])
        return found.changes


class ExpiringLastRow(Deduplication):
    """Emit each row that replaces the one of its key, until that has had no rows for some time."""

    def __init__(self, plan: Deduplicate, with_before: bool, ttl: int) -> None:
        super().__init__(plan, with_before, ttl)
        self._last_rows = _LastRows(plan, with_before)

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the rows that are the last ones of their keys, with those that they replace."""
        context.prefetch(rows.keys)
        states = []
        for key in rows.keys:
            states.append(context.select(key))
            self._expiry.touch(context)
        known = [group_id for group_id, state in enumerate(states) if _ROW in state]
        kept = joined([states[group_id][_ROW] for group_id in known], self._plan.schema)
        found = self._last_rows.replace(kept, np.asarray(known, np.int64), rows.changes.batch, rows.group_ids)
        last = pieces(found.batch, [(row, row + 1) for row in found.last.tolist()])
        for group_id, piece in zip(found.group_ids.tolist(), last, strict=True):
            states[group_id][_ROW] = piece
        return found.changes
