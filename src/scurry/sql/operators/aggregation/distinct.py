"""DISTINCT in groups: which rows are the first with their arguments, or take the last one back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.keys import CanonicalKey, key_hashes, row_keys
from scurry.sql.evaluation.batch.aggregating import argument_column
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.operators.aggregation.pieces import Pieces, ValueCounts, value_counts
from scurry.sql.operators.aggregation.segments import Segments
from scurry.sql.plan.expressions import AggregateCall, Expression
from scurry.sql.types.values import to_values


class DistinctValues:
    """The different values that some arguments have in a batch; encoded once for all aggregates that have them.

    Attributes:
        group_ids: For each row the position of its value.
        keys: The values, in canonical form.
    """

    def __init__(self, arguments: Sequence[Expression], batch: pa.RecordBatch) -> None:
        columns = [argument_column(each, batch) for each in arguments]
        self.group_ids, first = group_ids_of(columns, batch.num_rows)
        indices = pa.array(first)
        self.keys = row_keys([to_values(column.take(indices)) for column in columns])
        self.hashes = key_hashes(self.keys)


def distinct_views(
    calls: Sequence[AggregateCall], is_distinct: Callable[[AggregateCall], bool]
) -> tuple[list[AggregateCall], list[int]]:
    """Return the sets of distinct arguments of some aggregates: those of the same arguments and FILTER share one.

    Args:
        is_distinct: Whether an aggregate has a set.

    Returns:
        An aggregate for each set, and for each aggregate the number of its set, -1 if it has none.
    """
    views: dict[Any, tuple[int, AggregateCall]] = {}
    view_of = [
        views.setdefault((call.arguments, call.filter), (len(views), call))[0] if is_distinct(call) else -1
        for call in calls
    ]
    return [call for _, call in views.values()], view_of


def presence_changes(
    counts: Sequence[ValueCounts], groups: Any, numbers: Any, keys: Iterable[CanonicalKey], hashes: Iterable[int]
) -> Any:
    """Add values to the counts of groups; return for each 1 if it is new in its group, -1 if it is gone, or else 0.

    Args:
        numbers: How many times it is added; negative if it is taken back.
    """
    changes = np.zeros(len(groups), dtype=np.int64)
    values = zip(groups.tolist(), numbers.tolist(), keys, hashes, strict=True)
    for row, (group, number, key, hashed) in enumerate(values):
        before, there = counts[group].add(key, hashed, number)
        if before != there:
            changes[row] = there - before
    return changes


def counted(
    values: DistinctValues, filtered: Any, segments: Segments, kept: Sequence[Pieces | ValueCounts | None]
) -> tuple[Any, list[ValueCounts]]:
    """Return which rows change the set of values of their group, and for each segment how often each value is there.

    Args:
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
    positions = group_ids.tolist()
    keys, hashes = map(values.keys.__getitem__, positions), map(values.hashes.__getitem__, positions)
    changed = np.zeros(segments.rows, dtype=bool)
    changed[rows] = presence_changes(counts, of_row, numbers, keys, hashes) != 0
    return changed, counts
