"""Rows of joins: columns to rows and back, pairs, and rows without a partner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.evaluation.batch.batches import batch_of, nulls, taken
from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.physical.joins import StreamingJoin
from scurry.sql.plan.schema import Schema
from scurry.sql.types.values import from_values, to_values

#: The values of a row.
RowValues = tuple[Any, ...]


def rows_of(batch: pa.RecordBatch) -> list[RowValues]:
    return list(zip(*map(to_values, batch.columns), strict=True)) if batch.num_columns else [()] * batch.num_rows


def batch_from(rows: Sequence[RowValues], schema: Schema) -> pa.RecordBatch:
    values = zip(*rows, strict=True) if rows else [()] * len(schema)
    columns = [from_values(list(each), column.type) for each, column in zip(values, schema, strict=True)]
    return batch_of(columns, schema, len(rows))


def with_null_key(batch: pa.RecordBatch, columns: Sequence[int]) -> Any:
    missing = np.zeros(batch.num_rows, dtype=bool)
    for column in map(batch.column, columns):
        if column.null_count:
            missing |= np.asarray(column.is_null())
    return missing


class Pairs:
    """Makes rows of a join out of rows of its sides."""

    def __init__(self, plan: StreamingJoin, session: EvaluationContext) -> None:
        self._plan = plan
        self._both = plan.left.schema + plan.right.schema
        self._check = None if plan.rest is None else compile_expressions([plan.rest], session)

    def joined(self, left: pa.RecordBatch, one: Any, right: pa.RecordBatch, other: Any) -> pa.RecordBatch:
        """Return the pairs of rows at some positions."""
        columns = [*taken(left, one).columns, *taken(right, other).columns]
        return batch_of(columns, self._plan.schema, len(one))

    def of_same_places(self, left: pa.RecordBatch, right: pa.RecordBatch) -> pa.RecordBatch:
        """Return the pairs of the rows at the same places for which the other conditions of the join are TRUE."""
        pairs = batch_of([*left.columns, *right.columns], self._plan.schema, left.num_rows)
        if self._check is None:
            return pairs
        return pairs.filter(pa.array(self._check.mask(batch_of(pairs.columns, self._both, left.num_rows))))

    def left_only(self, left: pa.RecordBatch, positions: Any) -> pa.RecordBatch:
        """Return left rows with NULLs in place of a partner."""
        rows = taken(left, positions)
        return batch_of([*rows.columns, *nulls(self._plan.right.schema, len(positions))], self._plan.schema, len(rows))

    def right_only(self, right: pa.RecordBatch, positions: Any) -> pa.RecordBatch:
        """Return right rows with NULLs in place of a partner."""
        rows = taken(right, positions)
        return batch_of([*nulls(self._plan.left.schema, len(positions)), *rows.columns], self._plan.schema, len(rows))

    def hold(self, left: pa.RecordBatch, one: Any, right: pa.RecordBatch, other: Any) -> Any:
        """Return for which pairs the other conditions of the join are TRUE."""
        if self._check is None or not len(one):
            return np.ones(len(one), dtype=bool)
        columns = [*taken(left, one).columns, *taken(right, other).columns]
        return self._check.mask(batch_of(columns, self._both, len(one)))
