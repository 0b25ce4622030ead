"""MIN and MAX of rows that may be taken back: the values of a group are kept in their order, in pieces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.keys import CanonicalKey, canonical_keys, key_hashes
from scurry.sql.evaluation.batch.aggregating import argument_column
from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.operators.aggregation.pieces import LoadedPieces, Pieces, ValueCounts
from scurry.sql.operators.aggregation.segments import Segments
from scurry.sql.operators.ranks.sorted_rows import SortedRows
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.types.values import from_values, to_values

#: The greatest number below zero; -0.0 sorts directly after it.
_LEAST_BELOW_ZERO = -5e-324


class _SortedValues(LoadedPieces):
    """Count of each value in a group, and the distinct values sorted."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._counts = ValueCounts(pieces)
        self.ordered = SortedRows(pieces)

    def change(self, value: Any, key: CanonicalKey, hashed: int, sign: int) -> None:
        before, there = self._counts.add(key, hashed, sign)
        if there and not before:
            self.ordered.insert(_sortable(value), ())
        elif before and not there:
            self.ordered.remove(_sortable(value), ())

    def save(self) -> Pieces:
        self._counts.save()
        self.ordered.save()
        return self._pieces


class ExtremeOfKept:
    """Keeps how often each value is in a group, and the different values sorted."""

    def __init__(self, call: AggregateCall) -> None:
        self._argument = call.arguments[0]
        self._greatest = properties_of(call.function).growth > 0

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        column = argument_column(self._argument, batch)
        used = (counted & np.asarray(column.is_valid())).tolist()
        values = to_values(column)
        keys = canonical_keys(values)
        hashes = key_hashes(keys)
        signs = [1] * segments.rows if segments.signs is None else segments.signs.tolist()
        found: list[Any] = []
        after: list[_SortedValues] = []
        for start, stop, state in zip(segments.starts.tolist(), segments.stops.tolist(), kept, strict=True):
            sorted_values = state if isinstance(state, _SortedValues) else _SortedValues({} if state is None else state)
            found.append(self._extreme(sorted_values.ordered))
            for row in range(start, stop):
                if used[row]:
                    sorted_values.change(values[row], keys[row], hashes[row], signs[row])
                found.append(self._extreme(sorted_values.ordered))
            after.append(sorted_values)
        return from_values(found, column.type), after

    def compared(self, values: pa.Array) -> list[pa.Array]:
        return [values]

    def _extreme(self, ordered: SortedRows) -> Any:
        if not len(ordered):
            return None
        is_nan, value, *sign = ordered.last_key() if self._greatest else ordered.first_key()
        return math.nan if is_nan else -0.0 if sign else value


def _sortable(value: Any) -> tuple[Any, ...]:
    """Return a sort key of values, NaN after all others and -0.0 before 0.0."""
    if value == 0 and isinstance(value, float) and math.copysign(1, value) < 0:
        return (False, _LEAST_BELOW_ZERO, "-")
    return (True, None) if isinstance(value, float) and math.isnan(value) else (False, value)
