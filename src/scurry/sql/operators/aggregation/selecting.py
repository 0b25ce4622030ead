"""Aggregates whose value is that of one of the rows, after each row: MIN, MAX, FIRST_VALUE, LAST_VALUE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.functions.aggregate.definition import Selecting
from scurry.sql.operators.aggregation.segments import Segments
from scurry.sql.types.values import from_values

#: Segments of more rows are sorted.
MOST_STEPS = 12


def chosen(
    accumulator: Selecting, column: pa.Array, counted: Any, segments: Segments, known: Any, before: pa.Array
) -> tuple[pa.Array, pa.Array]:
    """Return the value at each index, and the new state of each segment.

    Args:
        counted: For each row whether it counts.
        segments: How the rows are divided.
        known: The segments of which something is kept.
        before: For each of them what was returned for it last.
    """
    source = np.full(segments.places, -1, dtype=np.int64)
    source[segments.place_of_row[counted]] = np.flatnonzero(counted)
    if len(known):
        source[segments.heads[known]] = len(column) + np.arange(len(known))
        column = pa.concat_arrays([column, before])
    at_places = column.take(pa.array(source, mask=source < 0))
    place = _by_steps(accumulator, at_places, segments)
    if place is None:
        place = _greatest(accumulator.ranks(at_places, segments.heads), segments)
    values = at_places.take(pa.array(place))
    return values, values.take(pa.array(segments.ends))


def known_columns(kept: Sequence[Any], types: Sequence[pa.DataType]) -> tuple[Any, list[pa.Array]]:
    """Return of which segments something is kept, and the columns of that.

    Args:
        kept: For each segment a tuple, None if nothing is kept.
    """
    known = np.asarray([place for place, each in enumerate(kept) if each is not None], dtype=np.int64)
    found = zip(*(kept[place] for place in known.tolist()), strict=True) if len(known) else [()] * len(types)
    return known, [from_values(list(each), kind) for each, kind in zip(found, types, strict=True)]


def _by_steps(accumulator: Selecting, column: pa.Array, segments: Segments) -> Any:
    """Return the result of `_greatest` for short segments in steps: the values of all segments' first rows, and so on.

    That costs a fraction of sorting values; None if it would cost more, or values are not compared by two.
    """
    before = segments.rows_before
    if before.max(initial=0) > MOST_STEPS:
        return None
    found = np.arange(segments.places)
    for step in range(1, int(before.max(initial=0)) + 1):
        here = np.flatnonzero(before == step)
        kept = found[here - 1]
        replaces = accumulator.replaces(column.take(pa.array(here)), column.take(pa.array(kept)))
        if replaces is None:
            return None
        found[here] = np.where(replaces, here, kept)
    return found


def _greatest(ranks: Any, segments: Segments) -> Any:
    """Return for each place the first place of its segment, up to it, with the greatest rank."""
    is_first = np.zeros(segments.places, dtype=bool)
    is_first[segments.heads] = True
    least = ranks.min(initial=0)
    width = ranks.max(initial=0) - least + 1
    # Each segment has greater numbers than those before it.
    rising = np.maximum.accumulate(ranks - least + (np.cumsum(is_first) - 1) * width)
    is_new = is_first
    is_new[1:] |= rising[1:] > rising[:-1]
    return np.maximum.accumulate(np.where(is_new, np.arange(segments.places), 0))
