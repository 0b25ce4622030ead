"""MIN and MAX of rows that may be taken back: the values of a group are kept in their order, in pieces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.logical_types.values import from_values, to_values
from scurry.relational.expressions import AggregateCall
from scurry.runtime.keys import canonical_keys
from scurry.runtime.tables.batch.aggregating import argument_column
from scurry.runtime.tables.streaming.groups.pieces import Pieces, ValueCounts
from scurry.runtime.tables.streaming.groups.segments import Segments
from scurry.runtime.tables.streaming.ranks.sorted_rows import SortedRows

__all__ = ["ExtremeOfKept"]


class ExtremeOfKept:
    """Keeps how often each value is in a group, and the different values sorted."""

    def __init__(self, call: AggregateCall) -> None:
        """Take the aggregate."""
        self._argument = call.arguments[0]
        self._greatest = call.function == "MAX"

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        """Return the extreme value at each place, and the pieces of each segment."""
        column = argument_column(self._argument, batch)
        used = (counted & np.asarray(column.is_valid())).tolist()
        values = to_values(column)
        keys = canonical_keys(values)
        signs = [1] * segments.rows if segments.signs is None else segments.signs.tolist()
        found: list[Any] = []
        after: list[Pieces] = []
        for start, stop, state in zip(segments.starts.tolist(), segments.stops.tolist(), kept, strict=True):
            pieces = _pieces(state)
            counts, ordered = ValueCounts(pieces), SortedRows(pieces)
            found.append(self._extreme(ordered))
            for row in range(start, stop):
                if used[row]:
                    before, there = counts.add(keys[row], signs[row])
                    if there and not before:
                        ordered.insert(_sortable(values[row]), ())
                    elif before and not there:
                        ordered.remove(_sortable(values[row]), ())
                found.append(self._extreme(ordered))
            counts.save()
            ordered.save()
            after.append(pieces)
        return from_values(found, column.type), after

    def compared(self, values: pa.Array) -> list[pa.Array]:
        """Return the values."""
        return [values]

    def _extreme(self, ordered: SortedRows) -> Any:
        if not len(ordered):
            return None
        is_nan, value = ordered.last_key() if self._greatest else ordered.first_key()
        return math.nan if is_nan else value


def _pieces(state: Any) -> Pieces:
    """Return the pieces of a group; earlier versions kept a list of rows."""
    if not isinstance(state, list):
        return {} if state is None else state
    values = [value for (value,) in state if value is not None]
    pieces: Pieces = {}
    counts, ordered = ValueCounts(pieces), SortedRows(pieces)
    for value, key in zip(values, canonical_keys(values), strict=True):
        before, _ = counts.add(key, 1)
        if not before:
            ordered.insert(_sortable(value), ())
    counts.save()
    ordered.save()
    return pieces


def _sortable(value: Any) -> tuple[bool, Any]:
    """Return what sorts values, NaN after all others."""
    return (True, None) if isinstance(value, float) and math.isnan(value) else (False, value)
