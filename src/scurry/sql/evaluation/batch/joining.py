"""The pairs of rows that a join matches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

Positions = np.ndarray[Any, Any]
Pairs = tuple[Positions, Positions]


def equal_pairs(left: Positions, right: Positions, at_once: int) -> Iterator[Pairs]:
    """Yield the positions of all pairs of rows with the same number.

    Args:
        left: Numbers of the left rows; negative ones match nothing.
        right: Numbers of the right rows; negative ones match nothing.
        at_once: About how many pairs are yielded at once; those of one left row stay together.

    Yields:
        Positions of left and right rows, in the order of the left rows.
    """
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    start = np.searchsorted(ordered, left, side="left")
    counts = np.where(left < 0, 0, np.searchsorted(ordered, left, side="right") - start)
    ends = np.cumsum(counts)
    first = 0
    while first < len(left):
        before = ends[first] - counts[first]
        last = max(int(np.searchsorted(ends, before + at_once, side="right")), first + 1)
        some = counts[first:last]
        positions = np.repeat(np.arange(first, last), some)
        within = np.arange(len(positions)) - np.repeat(ends[first:last] - some - before, some)
        yield positions, order[np.repeat(start[first:last], some) + within]
        first = last


def all_equal_pairs(left: Positions, right: Positions) -> Pairs:
    none = np.zeros(0, dtype=np.int64)
    return next(equal_pairs(left, right, 1 << 62), (none, none))


def cross_pairs(first: int, last: int, right_rows: int) -> Pairs:
    """Return the positions of all pairs of the left rows from `first` to before `last` with each right row."""
    left = np.repeat(np.arange(first, last), right_rows)
    return left, np.tile(np.arange(right_rows), last - first)


def unmatched(rows: int, matched: Positions) -> Positions:
    """Return the positions of the rows that are not among the matched ones."""
    missing = np.ones(rows, dtype=bool)
    missing[matched] = False
    return np.flatnonzero(missing)


def outer_positions(rows: int, places: Positions) -> tuple[Positions, pa.Array]:
    """Return the pairs of a left outer join, those of rows without a pair among them, in the order of the left rows.

    Args:
        places: For each pair the position of its left row, ascending.

    Returns:
        The positions of the left rows, and for each that of its pair, NULL for none.
    """
    every = np.concatenate([places, unmatched(rows, places)])
    order = np.argsort(every, kind="stable")
    return every[order], pa.array(order, mask=order >= len(places))
