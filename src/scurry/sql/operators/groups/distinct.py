"""DISTINCT in groups: which rows are the first with their arguments, or take the last one back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.keys import key_hashes, row_keys
from scurry.sql.evaluation.batch.aggregating import argument_column
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.operators.groups.pieces import Pieces, ValueCounts, value_counts
from scurry.sql.operators.groups.segments import Segments
from scurry.sql.plan.expressions import Expression
from scurry.sql.types.values import to_values


class DistinctValues:
    """The different values that some arguments have in a batch; encoded once for all aggregates that have them.

    Attributes:
        group_ids: For each row the position of its value.
        keys: The values, in canonical form.
        hashes: The hashes of the values.
    """

    def __init__(self, arguments: Sequence[Expression], batch: pa.RecordBatch) -> None:
        columns = [argument_column(each, batch) for each in arguments]
        self.group_ids, first = group_ids_of(columns, batch.num_rows)
        places = pa.array(first)
        self.keys = row_keys([to_values(column.take(places)) for column in columns])
        self.hashes = key_hashes(self.keys)


def counted(
    values: DistinctValues, filtered: Any, segments: Segments, kept: Sequence[Pieces | ValueCounts | None]
) -> tuple[Any, list[ValueCounts]]:
    """Return which rows change the set of values of their group, and for each segment how often each value is there.

    Args:
        values: The values of the rows.
        filtered: For each row whether FILTER lets it pass.
        segments: How the rows are divided.
        kept: For each segment what was returned for it last, or its pieces; None for a new group.
    """
    counts = [value_counts(each) for each in kept]
    rows = np.flatnonzero(filtered)
    group_ids, of_row = values.group_ids[rows], segments.of_row[rows]
    if segments.signs is None:
        _, first, numbers = np.unique(of_row * len(values.keys) + group_ids, return_index=True, return_counts=True)
        rows, group_ids, of_row = rows[first], group_ids[first], of_row[first]
    else:
        numbers = segments.signs[rows]
    changed = np.zeros(segments.rows, dtype=bool)
    found = zip(rows.tolist(), of_row.tolist(), group_ids.tolist(), numbers.tolist(), strict=True)
    keys, hashes = values.keys, values.hashes
    for row, segment, group_id, number in found:
        before, there = counts[segment].add(keys[group_id], hashes[group_id], number)
        changed[row] = before != there
    return changed, counts
