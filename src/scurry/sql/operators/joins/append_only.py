"""The regular inner join of rows that are only inserted: both sides keep their rows in columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.operators.rows import RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import arrow_schema, taken
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.operators.hashed_rows.function import HashedRowsFunction
from scurry.sql.operators.hashed_rows.hashing import are_hashed_alike, equal_rows
from scurry.sql.operators.hashed_rows.rows import HashedRows
from scurry.sql.operators.hashed_rows.tables import Table
from scurry.sql.operators.joins.rows import Pairs, with_null_key
from scurry.sql.operators.partitioning import HashedChanges
from scurry.sql.plan.physical.joins import RegularJoin
from scurry.sql.types.arrow import arrow_type


def can_hash_keys(plan: RegularJoin) -> bool:
    """Return whether equal keys of both sides have equal hashes."""
    left, right = plan.left.schema.types, plan.right.schema.types
    return all(are_hashed_alike(arrow_type(left[key.left]), arrow_type(right[key.right])) for key in plan.keys)


class AppendOnlyJoin(HashedRowsFunction):
    """Join each row with all rows that the other side has had so far."""

    def __init__(self, plan: RegularJoin, session: EvaluationContext) -> None:
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        """Compile the conditions."""
        super().open(context)
        plan = self._plan
        self._pairs = Pairs(plan, self._session)
        self._keys = ([key.left for key in plan.keys], [key.right for key in plan.keys])
        self._strict = [
            [column for column, key in zip(columns, plan.keys, strict=True) if not key.null_equals_null]
            for columns in self._keys
        ]
        self._unique = (plan.left_unique, plan.right_unique)

    def process(self, index: int, rows: HashedChanges, context: RowsContext) -> list[Changes]:
        """Return the pairs of some rows with kept ones, and keep them."""
        kept = self._kept(context)
        batch, hashes = rows.changes.batch, rows.hashes
        # A row with NULL in its key has no pairs whatever comes.
        matching = np.flatnonzero(~with_null_key(batch, self._strict[index]))
        if len(matching) < len(hashes):
            batch, hashes = taken(batch, matching), hashes[matching]
        kept.load(hashes, own=index)
        results = self._joined(index, batch, hashes, kept.tables[1 - index])
        kept.tables[index].add(batch, hashes)
        return results

    def _kept(self, context: RowsContext) -> HashedRows:
        if self._rows is None:
            left, right = arrow_schema(self._plan.left.schema), arrow_schema(self._plan.right.schema)
            tables = (Table("join-left", left, self._keys[0]), Table("join-right", right, self._keys[1]))
            self._rows = HashedRows(tables, context.backend, appends_only=True)
        return self._rows

    def _joined(self, index: int, batch: pa.RecordBatch, hashes: Any, table: Table) -> list[Changes]:
        own, numbers = table.find(hashes)
        if not len(own):
            return []
        one, other = taken(batch, own), table.rows(numbers)
        equal = self._equal(index, one, other)
        if not equal.all():
            own, one, other = own[equal], taken(one, np.flatnonzero(equal)), taken(other, np.flatnonzero(equal))
        last = self._last_of_each(1 - index, own, other)
        if last is not None:
            one, other = taken(one, last), taken(other, last)
        joined = self._pairs.of_same_places(one, other) if index == 0 else self._pairs.of_same_places(other, one)
        return [Changes(joined)] if joined.num_rows else []

    def _equal(self, index: int, one: pa.RecordBatch, other: pa.RecordBatch) -> Any:
        """Return which rows at the same places have equal keys: hashes of different keys may be equal."""
        own, others = self._keys[index], self._keys[1 - index]
        columns = [(one.column(left), other.column(right)) for left, right in zip(own, others, strict=True)]
        return equal_rows(columns, [key.null_equals_null for key in self._plan.keys], one.num_rows)

    def _last_of_each(self, side: int, own: Any, other: pa.RecordBatch) -> Any:
        """Return the places of the last row with the same unique columns among those of a new row; None for all."""
        unique = self._unique[side]
        if unique is None or (np.diff(own) > 0).all():
            return None
        group_ids, _ = group_ids_of([pa.array(own), *(other.column(column) for column in unique)], len(own))
        last = np.zeros(int(group_ids.max(initial=-1)) + 1, dtype=np.int64)
        last[group_ids] = np.arange(len(group_ids))
        return np.sort(last)
