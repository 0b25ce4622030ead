"""Write the pages to which a micro-batch has added rows."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from scurry.runtime.state.layout import GROUP_SHIFT, NUMBER
from scurry.runtime.tables.streaming.hashed_rows.chunked_pages import Chunk
from scurry.runtime.tables.streaming.hashed_rows.encoding import Part, cut
from scurry.runtime.tables.streaming.hashed_rows.hashing import Hashes
from scurry.runtime.tables.streaming.hashed_rows.tables import RowPage, Table, layout
from scurry.runtime.tables.streaming.hashed_rows.trie import Leaves

if TYPE_CHECKING:
    from scurry.runtime.tables.streaming.hashed_rows.pages import HashedRows

__all__ = ["RowPageWriter"]

#: A page of more bytes is split: in a micro-batch that adds few rows to each page that it touches, and in others.
_PAGE_BYTES, _LARGE_PAGE_BYTES = 4 * 1024, 16 * 1024
#: A larger page is stored in chunks.
_CHUNKED_BYTES = 6 * 1024
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
        """Write the pages to which rows were added, or of which rows were removed."""
        for page in self._rows.obsolete:
            self._rows.write(page, None)
        leaves = Leaves.of(self._rows.indexes)
        ordered = [_Ordered.of(table, leaves) for table in self._tables]
        removed = [leaves.places(hashes) for table in self._tables for hashes in table.removed_hashes]
        touched = np.unique(np.concatenate([*(rows.places[rows.is_new] for rows in ordered), *removed]))
        chunked = np.asarray([page in self._rows.chunked for page in leaves.pages[touched].tolist()], dtype=bool)
        if chunked.any():
            self._append(leaves.at(touched[chunked]), [rows.at(rows.is_new) for rows in ordered])
        if not chunked.all():
            self._write(leaves.at(touched[~chunked]), ordered)
        for group in self._changed:
            index = self._rows.indexes[group]
            if index.splits or index.chunked:  # else the only page is in its place
                self._rows.write(group << GROUP_SHIFT | 1, pickle.dumps(index, 5))

    # ---------------------------------------------------------------- pages that are written again

    def _write(self, pages: Leaves, ordered: Sequence[_Ordered]) -> None:
        """Write pages with all their rows."""
        ordered = [rows.of_pages(pages) for rows in ordered]
        bytes_added = sum(int(rows.is_new.sum()) * rows.width for rows in ordered)
        limit = _LARGE_PAGE_BYTES if bytes_added > _DENSE * len(pages.pages) else _PAGE_BYTES
        pages = self._split(pages, ordered, limit)
        if self._rows.appends_only:
            chunked = _sizes([rows.bounds(pages) for rows in ordered], ordered) > _CHUNKED_BYTES
            self._store_in_chunks(pages.at(chunked), ordered)
            pages = pages.at(~chunked)
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
        """Remove a page that splits, or gets chunks."""
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
            elif page in self._rows.sizes:  # all its rows are removed
                self._rows.write(page, None)

    # ---------------------------------------------------------------- pages in chunks

    def _store_in_chunks(self, pages: Leaves, ordered: Sequence[_Ordered]) -> None:
        """Store pages in chunks from now on."""
        for page in pages.pages.tolist():
            self._make_way(page)
        self._append(pages, ordered)

    def _append(self, pages: Leaves, ordered: Sequence[_Ordered]) -> None:
        """Add rows to pages in chunks."""
        ordered = [rows.of_pages(pages) for rows in ordered]
        bounds = [rows.bounds(pages) for rows in ordered]
        least, greatest = _least_hashes(bounds, ordered).tolist(), _greatest_hashes(bounds, ordered).tolist()
        for page, first, last in zip(pages.pages.tolist(), least, greatest, strict=True):
            hashed, known = first if first == last else None, self._rows.chunked.get(page)
            if known is None:
                self._rows.store_in_chunks(page, hashed)
            elif known.hashed != hashed:
                known.hashed = None
            self._changed.add(page >> GROUP_SHIFT)
        for place, rows in enumerate(ordered):
            for start, stop in _portions(pages, [rows]):
                self._append_of(place, pages.at(slice(start, stop)), rows)

    def _append_of(self, place: int, pages: Leaves, rows: _Ordered) -> None:
        """Add rows of one table."""
        starts, stops = rows.bounds(pages)
        has_rows = stops > starts
        if not has_rows.any():
            return
        starts, stops, pages = starts[has_rows], stops[has_rows], pages.at(has_rows)
        batch = self._tables[place].rows(rows.numbers[starts[0] : stops[-1]])
        parts = cut(batch, np.append(starts, stops[-1]) - starts[0])
        for page, start, part in zip(pages.pages.tolist(), (starts - starts[0]).tolist(), parts, strict=True):
            size = sum(map(len, part[1]))
            merged = self._rows.chunked[page].mergeable(place, size)
            if merged:
                part = self._merged(page, place, merged, batch.slice(start, part[0]))
                size = sum(map(len, part[1]))
            self._add_chunk(page, place, part, size)

    def _merged(self, page: int, place: int, chunks: list[Chunk], batch: pa.RecordBatch) -> Part:
        """Remove chunks; return their rows and some more as one part."""
        table = self._tables[place]
        before = table.batch_of([stored.parts[place] for stored in self._rows.stored_chunks([(page, chunks)])])
        for number, _ in chunks:
            self._rows.write(page & ~NUMBER | number, None)
        del self._rows.chunked[page].chunks[place][-len(chunks) :]
        whole = table.concatenated([before, batch])
        (part,) = cut(whole, np.asarray([0, whole.num_rows]))
        return part

    def _add_chunk(self, page: int, place: int, part: Part, size: int) -> None:
        chunked = self._rows.chunked[page]
        number = next(chunked.free_numbers(page & NUMBER))
        parts = tuple(part if each == place else (0, ()) for each in range(len(self._tables)))
        self._rows.write(page & ~NUMBER | number, pickle.dumps(RowPage.of(parts, self._layout), 5))
        chunked.chunks[place].append((number, size))


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
    return _least_hashes(bounds, ordered) < _greatest_hashes(bounds, ordered)


def _greatest_hashes(bounds: Sequence[tuple[Any, Any]], ordered: Sequence[_Ordered]) -> Any:
    """Return the greatest hash of the rows of each page; 0 without rows."""
    greatest = np.zeros(len(bounds[0][0]), dtype=np.uint64)
    for (starts, stops), rows in zip(bounds, ordered, strict=True):
        there = np.flatnonzero(stops > starts)
        greatest[there] = np.maximum(greatest[there], rows.hashes[stops[there] - 1])
    return greatest


def _least_hashes(bounds: Sequence[tuple[Any, Any]], ordered: Sequence[_Ordered]) -> Any:
    """Return the least hash of the rows of each page."""
    least = np.full(len(bounds[0][0]), np.iinfo(np.uint64).max, dtype=np.uint64)
    for (starts, stops), rows in zip(bounds, ordered, strict=True):
        there = np.flatnonzero(stops > starts)
        least[there] = np.minimum(least[there], rows.hashes[starts[there]])
    return least
