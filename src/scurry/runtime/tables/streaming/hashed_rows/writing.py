"""Write the pages to which a micro-batch has added rows."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scurry.runtime.state.backend import Index, KeyedStateBackend
from scurry.runtime.state.layout import GROUP_SHIFT, NUMBER
from scurry.runtime.tables.streaming.hashed_rows.encoding import cut
from scurry.runtime.tables.streaming.hashed_rows.tables import RowPage, Table, layout
from scurry.runtime.tables.streaming.hashed_rows.trie import Leaves

__all__ = ["RowPageWriter"]

#: A page of more bytes is split: in a micro-batch that adds few rows to each page that it touches, and in others.
_PAGE_BYTES, _LARGE_PAGE_BYTES = 4 * 1024, 16 * 1024
#: A micro-batch that adds more bytes to a page, on average, makes large ones.
_DENSE = 1024
#: About how many bytes are written together: as many are in memory twice more.
_PORTION = 32 * 1024 * 1024


class RowPageWriter:
    """End a micro-batch of some tables.

    Args:
        tables: Their rows.
        indexes: The indexes of the key groups of the rows.
        sizes: How many bytes are stored of the pages, by id; nothing of those that are new.
        backend: Where pages are stored.
    """

    def __init__(
        self,
        tables: Sequence[Table],
        indexes: dict[int, Index],
        sizes: Mapping[int, int],
        backend: KeyedStateBackend,
    ) -> None:
        self._tables, self._indexes, self._sizes, self._backend = tables, indexes, sizes, backend
        self._layout = layout(tables)

    def write(self) -> None:
        """Write the pages to which rows were added."""
        leaves = Leaves.of(self._indexes)
        ordered = [_Ordered(table, leaves) for table in self._tables]
        touched = np.unique(np.concatenate([rows.places[rows.is_new] for rows in ordered]))
        if not len(touched):
            return
        bytes_added = sum(int(rows.is_new.sum()) * rows.width for rows in ordered)
        limit = _LARGE_PAGE_BYTES if bytes_added > _DENSE * len(touched) else _PAGE_BYTES
        for rows in ordered:
            rows.keep(touched)
        pages = self._split(Leaves(leaves.pages[touched], leaves.starts[touched]), ordered, limit)
        for start, stop in _portions(pages, ordered):
            self._write_pages(Leaves(pages.pages[start:stop], pages.starts[start:stop]), ordered)

    def _split(self, pages: Leaves, ordered: Sequence[_Ordered], limit: int) -> Leaves:
        """Return pages after those that are too large have been split."""
        split_groups = set()
        while True:
            bounds = [rows.bounds(pages) for rows in ordered]
            large = _sizes(bounds, ordered) > limit
            large &= pages.can_split() & _have_different(bounds, ordered)
            if not large.any():
                break
            for page in pages.pages[large].tolist():
                group, number = page >> GROUP_SHIFT, page & NUMBER
                self._indexes[group].splits.add(number)
                split_groups.add(group)
                if number != 1 and page in self._sizes:  # the index takes the place of the first page
                    self._put(page, None)
            pages = pages.halved(large)
        for group in split_groups:
            self._put(group << GROUP_SHIFT | 1, pickle.dumps(self._indexes[group], 5))
        return pages

    def _write_pages(self, pages: Leaves, ordered: Sequence[_Ordered]) -> None:
        parts = []
        for table, rows in zip(self._tables, ordered, strict=True):
            starts, stops = rows.bounds(pages)
            bounds = np.append(starts, stops[-1])
            parts.append(cut(table.rows(rows.numbers[bounds[0] : bounds[-1]]), bounds - bounds[0]))
        for page, of_page in zip(pages.pages.tolist(), zip(*parts, strict=True), strict=True):
            if any(count for count, _ in of_page):
                self._put(page, pickle.dumps(RowPage.of(of_page, self._layout), 5))

    def _put(self, page: int, blob: bytes | None) -> None:
        self._backend.write_page(page, blob, self._sizes.get(page, 0))


class _Ordered:
    """The rows of a table in the order of their hashes.

    Attributes:
        hashes: Their hashes.
        numbers: Their numbers.
        places: The places of their pages.
        is_new: Which of them are of the micro-batch.
        width: How many bytes a row has, on average.
    """

    def __init__(self, table: Table, leaves: Leaves) -> None:
        self.hashes, self.numbers = table.index.ordered()
        if len(table.removed):
            there = np.flatnonzero(~table.removed[self.numbers])
            self.hashes, self.numbers = self.hashes[there], self.numbers[there]
        self.places = leaves.places(self.hashes)
        self.is_new = np.repeat(np.asarray(table.is_new, bool), np.diff(table.starts))[self.numbers]
        self.width = table.width

    def keep(self, places: Any) -> None:
        """Keep only the rows of the pages at some places, which are in order."""
        kept = np.zeros(int(places[-1]) + 2, dtype=bool)
        kept[places] = True
        here = np.flatnonzero(kept[np.minimum(self.places, len(kept) - 1)])
        self.hashes, self.numbers = self.hashes[here], self.numbers[here]

    def bounds(self, pages: Leaves) -> tuple[Any, Any]:
        """Return where the rows of each page begin and end."""
        return np.searchsorted(self.hashes, pages.starts), np.searchsorted(self.hashes, pages.ends, side="right")


def _portions(pages: Leaves, ordered: Sequence[_Ordered]) -> list[tuple[int, int]]:
    """Return between which places pages are written together."""
    sizes = _sizes([rows.bounds(pages) for rows in ordered], ordered)
    starts = np.flatnonzero(np.diff(np.cumsum(sizes) // _PORTION, prepend=-1)).tolist()
    return list(zip(starts, [*starts[1:], len(sizes)], strict=True))


def _sizes(bounds: Sequence[tuple[Any, Any]], ordered: Sequence[_Ordered]) -> Any:
    """Return about how many bytes the rows of each page have."""
    return sum((stops - starts) * rows.width for (starts, stops), rows in zip(bounds, ordered, strict=True))


def _have_different(bounds: Sequence[tuple[Any, Any]], ordered: Sequence[_Ordered]) -> Any:
    """Return which pages have rows of different hashes: those of the others cannot be told apart."""
    least = np.full(len(bounds[0][0]), np.iinfo(np.uint64).max, dtype=np.uint64)
    greatest = np.zeros(len(least), dtype=np.uint64)
    for (starts, stops), rows in zip(bounds, ordered, strict=True):
        there = np.flatnonzero(stops > starts)
        least[there] = np.minimum(least[there], rows.hashes[starts[there]])
        greatest[there] = np.maximum(greatest[there], rows.hashes[stops[there] - 1])
    return least < greatest
