"""The pairs of rows that a join matches."""

from __future__ import annotations

from typing import Any

import numpy as np

Positions = np.ndarray[Any, Any]
Pairs = tuple[Positions, Positions]


def equal_pairs(left: Positions, right: Positions) -> Pairs:
    """Return the positions of all pairs of rows with the same number.

    Args:
        left: Numbers of the left rows; negative ones match nothing.
        right: Numbers of the right rows; negative ones match nothing.

    Returns:
        Positions of left and right rows, in the order of the left rows.
    """
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    start = np.searchsorted(ordered, left, side="left")
    end = np.searchsorted(ordered, left, side="right")
    counts = np.where(left < 0, 0, end - start)
    left_positions = np.repeat(np.arange(len(left)), counts)
    within = np.arange(len(left_positions)) - np.repeat(np.cumsum(counts) - counts, counts)
    return left_positions, order[np.repeat(start, counts) + within]


def cross_pairs(first: int, last: int, right_rows: int) -> Pairs:
    """Return the positions of all pairs of the left rows from `first` to before `last` with each right row."""
    left = np.repeat(np.arange(first, last), right_rows)
    return left, np.tile(np.arange(right_rows), last - first)


def unmatched(rows: int, matched: Positions) -> Positions:
    """Return the positions of the rows that are not among the matched ones."""
    missing = np.ones(rows, dtype=bool)
    missing[matched] = False
    return np.flatnonzero(missing)
