"""DISTINCT in groups: which rows are the first with their arguments, or take the last one back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from scurry.logical_types.values import to_values
from scurry.relational.expressions import AggregateCall
from scurry.runtime.keys import canonical_keys, encode_key
from scurry.runtime.tables.batch.aggregating import argument_column
from scurry.runtime.tables.streaming.groups.pieces import Pieces, ValueCounts
from scurry.runtime.tables.streaming.groups.segments import Segments

__all__ = ["DistinctView"]


class DistinctView:
    """How often each value of some arguments is in a group; aggregates with the same arguments and FILTER share it."""

    def __init__(self, call: AggregateCall) -> None:
        """Take one of the aggregates."""
        self._arguments = call.arguments

    def counted(
        self, batch: pa.RecordBatch, filtered: Any, segments: Segments, kept: list[Any]
    ) -> tuple[Any, list[Pieces]]:
        """Return which rows change the set of values, and for each segment how often each value is there, in pieces.

        Args:
            batch: The rows.
            filtered: For each row whether FILTER lets it pass.
            segments: How the rows are divided.
            kept: For each segment what was returned for it last; None for a new group.
        """
        candidates = np.flatnonzero(filtered)
        columns = [argument_column(each, batch).take(pa.array(candidates)) for each in self._arguments]
        values = [to_values(column) for column in columns]
        keys = (
            canonical_keys(values[0]) if len(values) == 1 else [encode_key(each) for each in zip(*values, strict=True)]
        )
        after: list[Pieces] = [{} if each is None else each for each in kept]
        counts = [ValueCounts(each) for each in after]
        signs = np.ones(segments.rows, dtype=np.int64) if segments.signs is None else segments.signs
        changes = np.zeros(segments.rows, dtype=bool)
        of_row, signs = segments.of_row[candidates].tolist(), signs[candidates].tolist()
        for row, segment, sign, key in zip(candidates.tolist(), of_row, signs, keys, strict=True):
            before, there = counts[segment].add(key, sign)
            changes[row] = before != there
        for each in counts:
            each.save()
        return changes, after
