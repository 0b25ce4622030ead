"""Write the pages to which a micro-batch has added rows."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scurry.runtime.state.backend import Index, KeyedStateBackend
from scurry.runtime.state.layout import GROUP_SHIFT, NUMBER
from scurry.runtime.tables.streaming.hashed_rows.encoding import cut
from scurry.runtime.tables.streaming.hashed_rows.hashing import Hashes
from scurry.runtime.tables.streaming.hashed_rows.tables import RowPage, Table
from scurry.runtime.tables.streaming.hashed_rows.trie import DEEPEST, halved, leaves_of

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
        self._layout = pickle.dumps([(table.name, table.types, tuple(table.key)) for table in tables], 5)
        self._hashes = [np.concatenate([*table.hashes, np.zeros(0, np.uint64)]) for table in tables]
        self._widths = [table.width for table in tables]
        self._split_groups: set[int] = set()

    def write(self) -> None:
        """Write the pages to which rows were added."""
        pages = [leaves_of(hashes, self._indexes, self._backend.max_parallelism) for hashes in self._hashes]
        new = [np.repeat(np.asarray(table.is_new, bool), np.diff(table.starts)) for table in self._tables]
        touched = np.unique(np.concatenate([some[added] for some, added in zip(pages, new, strict=True)]))
        if not len(touched):
            return
        bytes_added = sum(int(added.sum()) * width for added, width in zip(new, self._widths, strict=True))
        limit = _LARGE_PAGE_BYTES if bytes_added > _DENSE * len(touched) else _PAGE_BYTES
        for numbers in self._portions(pages, touched):
            self._write_pages(numbers, limit)
        for group in self._split_groups:
            self._put(group << GROUP_SHIFT | 1, pickle.dumps(self._indexes[group], 5))

    def _portions(self, pages: Sequence[Any], touched: Any) -> list[list[Any]]:
        """Return the numbers of all rows of the touched pages: for each portion, of each table."""
        ordered = []
        for some, table in zip(pages, self._tables, strict=True):
            places = np.searchsorted(touched, some)
            places[(places == len(touched)) | (touched[np.minimum(places, len(touched) - 1)] != some)] = -1
            if len(table.removed):
                places[table.removed[: len(places)]] = -1
            order = np.argsort(places, kind="stable")
            order = order[np.searchsorted(places[order], 0) :]
            ordered.append((places[order], order))
        counts = [np.bincount(places, minlength=len(touched)) for places, _ in ordered]
        sizes = np.sum([count * width for count, width in zip(counts, self._widths, strict=True)], axis=0)
        bounds = [*np.flatnonzero(np.diff(np.cumsum(sizes) // _PORTION, prepend=-1)).tolist(), len(touched)]
        return [
            [numbers[slice(*np.searchsorted(places, [start, stop]))] for places, numbers in ordered]
            for start, stop in zip(bounds, bounds[1:], strict=False)
        ]

    def _write_pages(self, numbers: Sequence[Any], limit: int) -> None:
        """Write the pages of some rows of each table, which are all rows of their pages."""
        hashes = [hashed[some] for hashed, some in zip(self._hashes, numbers, strict=True)]
        pages = self._split(hashes, limit)
        written = np.unique(np.concatenate(pages))
        parts = []
        for table, some, page in zip(self._tables, numbers, pages, strict=True):
            order = np.argsort(page, kind="stable")
            bounds = np.append(np.searchsorted(page[order], written), len(page))
            parts.append(cut(table.rows(some[order]), bounds))
        for number, of_page in zip(written.tolist(), zip(*parts, strict=True), strict=True):
            self._put(number, pickle.dumps(RowPage(of_page, self._layout), 5))

    def _split(self, hashes: Sequence[Hashes], limit: int) -> list[Any]:
        """Return the pages of rows after those that are too large have been split."""
        pages = [leaves_of(some, self._indexes, self._backend.max_parallelism) for some in hashes]
        while True:
            large = self._too_large(pages, hashes, limit)
            if not len(large):
                return pages
            for page in large.tolist():
                group, number = page >> GROUP_SHIFT, page & NUMBER
                self._indexes[group].splits.add(number)
                self._split_groups.add(group)
                if number != 1 and page in self._sizes:  # the index takes the place of the first page
                    self._put(page, None)
            pages = [halved(some, hashed, large) for some, hashed in zip(pages, hashes, strict=True)]

    def _too_large(self, pages: Sequence[Any], hashes: Sequence[Hashes], limit: int) -> Any:
        """Return the pages that are too large and have rows of different hashes, in order."""
        sizes = np.concatenate([np.full(len(some), width) for some, width in zip(pages, self._widths, strict=True)])
        every, hashed = np.concatenate(pages), np.concatenate(hashes)
        order = np.argsort(every, kind="stable")
        every, hashed = every[order], hashed[order]
        starts = np.flatnonzero(np.diff(every, prepend=-1))
        found = every[starts]
        differ = np.minimum.reduceat(hashed, starts) != np.maximum.reduceat(hashed, starts)
        large = np.add.reduceat(sizes[order], starts) > limit
        return found[large & differ & (found & NUMBER < 1 << DEEPEST)]

    def _put(self, page: int, blob: bytes | None) -> None:
        self._backend.write_page(page, blob, self._sizes.get(page, 0))
