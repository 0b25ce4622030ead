"""Numbers of pages: a page that splits is a node of a trie of hashes, those that hold rows are its leaves.

A page has the rows whose hashes begin with its bits: neighbours in the order of hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from scurry.runtime.state.backend import Index
from scurry.runtime.state.layout import GROUP_SHIFT, NUMBER
from scurry.runtime.tables.streaming.hashed_rows.hashing import HASH_BITS, Hashes

__all__ = ["Leaves"]

#: How often a page is split at most.
_DEEPEST = 24


class Leaves(NamedTuple):
    """Pages in the order of their hashes.

    Attributes:
        pages: Their ids.
        starts: The least hash of each.
    """

    pages: Any
    starts: Hashes

    @classmethod
    def of(cls, indexes: Mapping[int, Index]) -> Leaves:
        """Return all pages that hold rows of some key groups."""
        return cls.of_pages([group << GROUP_SHIFT | leaf for group in indexes for leaf in indexes[group].leaves()])

    @classmethod
    def of_pages(cls, pages: Iterable[int]) -> Leaves:
        """Return some pages."""
        found = np.fromiter(pages, np.int64)
        starts = _starts(found)
        order = np.argsort(starts)
        return cls(found[order], starts[order])

    def at(self, selected: Any) -> Leaves:
        """Return some of the pages."""
        return Leaves(self.pages[selected], self.starts[selected])

    def places(self, hashes: Hashes) -> Any:
        """Return the places of the pages of rows with some hashes."""
        return np.searchsorted(self.starts, hashes, side="right") - 1

    def have(self, places: Any, hashes: Hashes) -> Any:
        """Return which rows with some hashes belong to the pages at some places."""
        return (hashes >= self.starts[places]) & (hashes <= self.ends[places])

    @property
    def ends(self) -> Hashes:
        """The greatest hash of each page."""
        return self.starts + (np.uint64(1) << _spans(self.pages)) - np.uint64(1)

    def can_split(self) -> Any:
        """Return which pages are not as deep as pages can be."""
        return self.pages & NUMBER < 1 << _DEEPEST

    def halved(self, split: Any) -> Leaves:
        """Return the pages, with both halves instead of those that are split."""
        whole, halves = self.pages[~split], self.pages[split]
        first = halves + (halves & NUMBER)
        return Leaves.of_pages(np.concatenate([whole, first, first + 1]))


def _spans(pages: Any) -> Hashes:
    """Return how many bits of a hash do not lead to each page."""
    levels = np.frexp((pages & NUMBER).astype(np.float64))[1] - 1
    spans: Hashes = (HASH_BITS - levels).astype(np.uint64)
    return spans


def _starts(pages: Any) -> Hashes:
    spans = _spans(pages)
    numbers = (pages & NUMBER).astype(np.uint64)
    groups = (pages >> GROUP_SHIFT).astype(np.uint64) << np.uint64(HASH_BITS)
    starts: Hashes = groups | (numbers << spans & np.uint64((1 << HASH_BITS) - 1))
    return starts
