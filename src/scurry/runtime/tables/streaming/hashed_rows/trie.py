"""Numbers of pages: a page that splits is a node of a trie of hashes, those that hold rows are its leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scurry.runtime.state.backend import Index
from scurry.runtime.state.layout import GROUP_SHIFT, NUMBER
from scurry.runtime.tables.streaming.hashed_rows.hashing import Hashes

__all__ = ["DEEPEST", "halved", "leaves_of"]

#: How often a page is split at most.
DEEPEST = 24


def leaves_of(hashes: Hashes, indexes: Mapping[int, Index], max_parallelism: int) -> Any:
    """Return for each hash the id of the page that holds its rows.

    Args:
        hashes: The hashes.
        indexes: The indexes of their key groups.
        max_parallelism: The number of key groups.
    """
    groups = (hashes % np.uint64(max_parallelism)).astype(np.int64) << GROUP_SHIFT
    found = groups | 1
    splits = [group << GROUP_SHIFT | split for group, index in indexes.items() for split in index.splits]
    if not splits:
        return found
    ordered, inside = np.sort(np.asarray(splits, dtype=np.int64)), np.arange(len(hashes))
    for _ in range(DEEPEST):
        places = np.minimum(np.searchsorted(ordered, found[inside]), len(ordered) - 1)
        inside = inside[ordered[places] == found[inside]]
        if not len(inside):
            break
        found[inside] = _below(found[inside], hashes[inside])
    return found


def halved(pages: Any, hashes: Hashes, split: Any) -> Any:
    """Return the pages of rows after some pages, in order, have been split once."""
    places = np.minimum(np.searchsorted(split, pages), len(split) - 1)
    inside = np.flatnonzero(split[places] == pages)
    found = pages.copy()
    found[inside] = _below(pages[inside], hashes[inside])
    return found


def _below(pages: Any, hashes: Hashes) -> Any:
    """Return the half of each page to which a hash leads: by its next bit, of those above the lower 32."""
    numbers = pages & NUMBER
    levels = np.frexp(numbers.astype(np.float64))[1].astype(np.uint64) + np.uint64(31)
    return pages + numbers + (hashes >> levels & np.uint64(1)).astype(np.int64)
