"""An index of rows by hash that grows block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scurry.sql.operators.hashed_rows.hashing import Hashes


class HashIndex:
    """The numbers of rows by hash: sorted runs, of which one is merged with the next when that has grown as large.

    So a row is sorted again only as often as the index doubles, and there are few runs to look into.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Hashes, Any]] = []

    def add(self, hashes: Hashes, first: int, removed: Any) -> None:
        """Add rows.

        Args:
            first: The number of the first of them, which is higher than those of all rows before.
            removed: By number, the rows that are no longer searched; empty without any.
        """
        runs, order = self._runs, _stable_order(hashes)
        hashes, numbers = hashes[order], first + order
        while runs and len(runs[-1][0]) <= 2 * len(hashes):
            before, numbers_before = runs.pop()
            if len(removed):
                there = ~removed[numbers_before]
                before, numbers_before = before[there], numbers_before[there]
            hashes, numbers = _merged([before, hashes], [numbers_before, numbers])
        runs.append((hashes, numbers))

    def ordered(self) -> tuple[Hashes, Any]:
        """Return the hashes of all rows in order, and their numbers: of equal hashes, those of earlier rows first."""
        if not self._runs:
            return np.zeros(0, np.uint64), np.zeros(0, np.int64)
        hashes, numbers = zip(*self._runs, strict=True)
        return _merged(hashes, numbers)

    def find(self, hashes: Hashes) -> tuple[Any, Any]:
        """Find the rows with some hashes.

        Returns:
            Pairs in the order of the hashes, those of one in the order of the rows: positions in `hashes`, and numbers.
        """
        order = np.argsort(hashes)
        wanted = hashes[order]
        found = [_found(wanted, *run) for run in self._runs if len(run[0])]
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        places = order[np.concatenate([each[0] for each in found])]
        numbers = np.concatenate([each[1] for each in found])
        in_order = np.argsort(places * (int(numbers.max(initial=0)) + 1) + numbers)
        return places[in_order], numbers[in_order]


def _stable_order(hashes: Hashes) -> Any:
    """Return the order of some hashes, as a stable sort does in five times the time."""
    order = np.argsort(hashes)
    ordered = hashes[order]
    repeats = ordered[1:] == ordered[:-1]
    if repeats.any():
        inside = np.flatnonzero(np.append(repeats, False) | np.append(False, repeats))
        runs = np.cumsum(np.diff(ordered[inside], prepend=ordered[inside[:1]]) != 0)
        order[inside] = order[inside][np.argsort(runs * len(hashes) + order[inside])]
    return order


def _merged(hashes: Sequence[Hashes], numbers: Sequence[Any]) -> tuple[Hashes, Any]:
    """Return sorted runs as one; a stable sort merges them."""
    whole = np.concatenate(hashes)
    order = np.argsort(whole, kind="stable")
    return whole[order], np.concatenate(numbers)[order]


def _found(wanted: Hashes, run: Hashes, numbers: Any) -> tuple[Any, Any]:
    """Return the places of sorted hashes that are in a run, and the numbers there."""
    starts = np.searchsorted(run, wanted)
    hits = np.flatnonzero(run[np.minimum(starts, len(run) - 1)] == wanted)
    starts = starts[hits]
    counts = np.searchsorted(run, wanted[hits], side="right") - starts
    places = np.repeat(hits, counts)
    within = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    return places, numbers[np.repeat(starts, counts) + within]
