"""Write the pages to which a micro-batch has added rows."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from scurry.runtime.state.layout import GROUP_SHIFT, NUMBER
from scurry.runtime.tables.batch.batches import concatenated
from scurry.runtime.tables.streaming.hashed_rows.encoding import cut
from scurry.runtime.tables.streaming.hashed_rows.hashing import Hashes
from scurry.runtime.tables.streaming.hashed_rows.hot_pages import HOT_BYTES, Chunk
from scurry.runtime.tables.streaming.hashed_rows.tables import RowPage, Table, layout
from scurry.runtime.tables.streaming.hashed_rows.trie import Leaves

if TYPE_CHECKING:
    from scurry.runtime.tables.streaming.hashed_rows.pages import HashedRows

__all__ = ["RowPageWriter"]

#: A page of more bytes is split: in a micro-batch that adds few rows to each page that it touches, and in others.
_PAGE_BYTES, _LARGE_PAGE_BYTES = 4 * 1024, 16 * 1024
#: A micro-batch that adds more bytes to a page, on average, makes large ones.
_DENSE = 1024
#: About how many bytes are written together: as many are in memory twice more.
_PORTION = 32 * 1024 * 1024


class RowPageWriter:
    """End a micro-batch of some tables."""

    def __init__(self, rows: HashedRows) -> None:
        self._rows = rows
        self._tables = rows.tables
        self._layout = layout(rows.tables)
        #: key groups whose indexes have changed
        self._changed = {page >> GROUP_SHIFT for page in rows.obsolete}

    def write(self) -> None:
        """Write the pages to which rows were added."""
        for page in self._rows.obsolete:
            self._rows.write(page, None)
        leaves = Leaves.of(self._rows.indexes)
        ordered = [_Ordered.of(table, leaves) for table in self._tables]
        touched = np.unique(np.concatenate([rows.places[rows.is_new] for rows in ordered]))
        is_hot = np.asarray([page in self._rows.hot for page in leaves.pages[touched].tolist()], dtype=bool)
        if is_hot.any():
            self._append(leaves.at(touched[is_hot]), [rows.at(rows.is_new) for rows in ordered])
        if not is_hot.all():
            self._write(leaves.at(touched[~is_hot]), ordered)
        for group in self._changed:
            index = self._rows.indexes[group]
            if index.splits or index.hot:  # else the only page is in its place
                self._rows.write(group << GROUP_SHIFT | 1, pickle.dumps(index, 5))

    # ---------------------------------------------------------------- pages that are written again

    def _write(self, pages: Leaves, ordered: Sequence[_Ordered]) -> None:
        """Write pages with all their rows."""
        ordered = [rows.of_pages(pages) for rows in ordered]
        bytes_added = sum(int(rows.is_new.sum()) * rows.width for rows in ordered)
        limit = _LARGE_PAGE_BYTES if bytes_added > _DENSE * len(pages.pages) else _PAGE_BYTES
        pages = self._split(pages, ordered, limit)
        if self._rows.appends_only:
            bounds = [rows.bounds(pages) for rows in ordered]
            is_hot = (_sizes(bounds, ordered) > HOT_BYTES) & ~_have_different(bounds, ordered)
            self._heat(pages.at(is_hot), ordered)
            pages = pages.at(~is_hot)
            ordered = [rows.of_pages(pages) for rows in ordered]
        for start, stop in _portions(pages, ordered):
            self._write_pages(pages.at(slice(start, stop)), ordered)

    def _split(self, pages: Leaves, ordered: Sequence[_Ordered], limit: int) -> Leaves:
        """Return pages after those that are too large have been split."""
        while True:
            bounds = [rows.bounds(pages) for rows in ordered]
            large = _sizes(bounds, ordered) > limit
            large &= pages.can_split() & _have_different(bounds, ordered)
            if not large.any():
                return pages
            for page in pages.pages[large].tolist():
                self._rows.indexes[page >> GROUP_SHIFT].splits.add(page & NUMBER)
                self._make_way(page)
            pages = pages.halved(large)

    def _make_way(self, page: int) -> None:
        """Remove a page that splits, or gets hot."""
        self._changed.add(page >> GROUP_SHIFT)
        if page & NUMBER != 1 and page in self._rows.sizes:  # the index takes the place of the first page
            self._rows.write(page, None)

    def _write_pages(self, pages: Leaves, ordered: Sequence[_Ordered]) -> None:
        parts = []
        for table, rows in zip(self._tables, ordered, strict=True):
            starts, stops = rows.bounds(pages)
            bounds = np.append(starts, stops[-1])
            parts.append(cut(table.rows(rows.numbers[bounds[0] : bounds[-1]]), bounds - bounds[0]))
        for page, of_page in zip(pages.pages.tolist(), zip(*parts, strict=True), strict=True):
            if any(count for count, _ in of_page):
                self._rows.write(page, pickle.dumps(RowPage.of(of_page, self._layout), 5))

    # ---------------------------------------------------------------- hot pages

    def _heat(self, pages: Leaves, ordered: Sequence[_Ordered]) -> None:
        """Make hot pages of pages."""
        for page, hashed in zip(
            pages.pages.tolist(), _least_hashes([rows.bounds(pages) for rows in ordered], ordered).tolist(), strict=True
        ):
            self._make_way(page)
            self._rows.heat(page, hashed)
        self._append(pages, ordered)

    def _append(self, pages: Leaves, ordered: Sequence[_Ordered]) -> None:
        """Add rows to hot pages."""
        for place, (table, rows) in enumerate(zip(self._tables, ordered, strict=True)):
            for page, *bounds in zip(pages.pages.tolist(), *rows.bounds(pages), strict=True):
                numbers = rows.numbers[slice(*bounds)]
                if len(numbers):
                    self._add_chunk(page, place, table.rows(numbers))

    def _add_chunk(self, page: int, place: int, batch: pa.RecordBatch) -> None:
        """Add rows of a table to a hot page."""
        hot, table = self._rows.hot[page], self._tables[place]
        base, chunks = page & ~NUMBER, hot.chunks[place]
        merged = hot.mergeable(place, batch.nbytes)
        if merged:
            before = table.batch_of([stored.parts[place] for stored in self._rows.chunks_of(page, merged)])
            batch = concatenated([before, batch], table.schema)
            for chunk in merged:
                self._rows.write(base | chunk.number, None)
            del chunks[-len(merged) :]
        (part,) = cut(batch, np.asarray([0, batch.num_rows]))
        parts = tuple(part if each == place else (0, ()) for each in range(len(self._tables)))
        number = next(hot.free_numbers(page & NUMBER))
        self._rows.write(base | number, pickle.dumps(RowPage.of(parts, self._layout), 5))
        chunks.append(Chunk(number, int(batch.nbytes)))
        self._changed.add(page >> GROUP_SHIFT)


class _Ordered(NamedTuple):
    """The rows of a table in the order of their hashes.

    Attributes:
        hashes: Their hashes.
        numbers: Their numbers.
        places: The places of their pages.
        is_new: Which of them are of the micro-batch.
        width: How many bytes a row has, on average.
    """

    hashes: Hashes
    numbers: Any
    places: Any
    is_new: Any
    width: float

    @classmethod
    def of(cls, table: Table, leaves: Leaves) -> _Ordered:
        """Return the rows of a table that are not removed."""
        hashes, numbers = table.index.ordered()
        if len(table.removed):
            there = np.flatnonzero(~table.removed[numbers])
            hashes, numbers = hashes[there], numbers[there]
        is_new = np.repeat(np.asarray(table.is_new, bool), np.diff(table.starts))[numbers]
        return cls(hashes, numbers, leaves.places(hashes), is_new, table.width)

    def at(self, selected: Any) -> _Ordered:
        """Return some of the rows."""
        hashes, numbers, places, is_new, width = self
        return _Ordered(hashes[selected], numbers[selected], places[selected], is_new[selected], width)

    def of_pages(self, pages: Leaves) -> _Ordered:
        """Return the rows of some pages."""
        if not len(pages.pages):
            return self.at(slice(0))
        places = np.maximum(pages.places(self.hashes), 0)
        return self.at(np.flatnonzero(pages.have(places, self.hashes)))

    def bounds(self, pages: Leaves) -> tuple[Any, Any]:
        """Return where the rows of each page begin and end."""
        return np.searchsorted(self.hashes, pages.starts), np.searchsorted(self.hashes, pages.ends, side="right")


def _portions(pages: Leaves, ordered: Sequence[_Ordered]) -> list[tuple[int, int]]:
    """Return between which places pages are written together."""
    sizes = _sizes([rows.bounds(pages) for rows in ordered], ordered)
    bounds = [*np.flatnonzero(np.diff(np.cumsum(sizes) // _PORTION, prepend=-1)).tolist(), len(sizes)]
    return list(zip(bounds, bounds[1:], strict=False))


def _sizes(bounds: Sequence[tuple[Any, Any]], ordered: Sequence[_Ordered]) -> Any:
    """Return about how many bytes the rows of each page have."""
    return sum((stops - starts) * rows.width for (starts, stops), rows in zip(bounds, ordered, strict=True))


def _have_different(bounds: Sequence[tuple[Any, Any]], ordered: Sequence[_Ordered]) -> Any:
    """Return which pages have rows of different hashes: those of the others cannot be told apart."""
    greatest = np.zeros(len(bounds[0][0]), dtype=np.uint64)
    for (starts, stops), rows in zip(bounds, ordered, strict=True):
        there = np.flatnonzero(stops > starts)
        greatest[there] = np.maximum(greatest[there], rows.hashes[stops[there] - 1])
    return _least_hashes(bounds, ordered) < greatest


def _least_hashes(bounds: Sequence[tuple[Any, Any]], ordered: Sequence[_Ordered]) -> Any:
    """Return the least hash of the rows of each page."""
    least = np.full(len(bounds[0][0]), np.iinfo(np.uint64).max, dtype=np.uint64)
    for (starts, stops), rows in zip(bounds, ordered, strict=True):
        there = np.flatnonzero(stops > starts)
        least[there] = np.minimum(least[there], rows.hashes[starts[there]])
    return least
