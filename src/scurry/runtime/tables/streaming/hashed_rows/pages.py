"""The pages of rows in columns: which a micro-batch reads."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence

import numpy as np

from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import GROUP_SHIFT, NUMBER
from scurry.runtime.tables.streaming.hashed_rows.chunked_pages import Chunk, ChunkedPage, RowIndex
from scurry.runtime.tables.streaming.hashed_rows.hashing import Hashes, groups_of, row_hashes
from scurry.runtime.tables.streaming.hashed_rows.tables import RowPage, Table
from scurry.runtime.tables.streaming.hashed_rows.trie import Leaves
from scurry.runtime.tables.streaming.hashed_rows.writing import RowPageWriter

__all__ = ["HashedRows"]

#: How many pages are read together.
_AT_ONCE = 2048


class HashedRows:
    """The rows of some tables, with the same hash on the same page.

    Pages are split like those of `KeyedStateBackend`, by other bits of a hash. A micro-batch reads the pages that its
    rows lead to, once, and writes those that it adds rows to. Of a page in chunks it reads what its rows are joined
    with, and writes what it adds.

    Args:
        tables: The tables, without rows.
        backend: Where pages are stored.
        appends_only: Whether rows are never removed, and those of a table are not looked for when others are added.
    """

    def __init__(self, tables: Sequence[Table], backend: KeyedStateBackend, appends_only: bool = False) -> None:
        self.tables = tables
        self.appends_only = appends_only
        self._backend = backend
        #: by key group
        self.indexes: dict[int, RowIndex] = {}
        #: how many bytes pages have that were read, by id
        self.sizes: dict[int, int] = {}
        #: pages that are removed when the micro-batch ends
        self.obsolete: list[int] = []
        #: pages in chunks of these key groups, by id
        self.chunked: dict[int, ChunkedPage] = {}
        self._leaves = Leaves.of({})
        #: pages that rows of the micro-batch have led to
        self._touched: set[int] = set()
        #: other pages of these key groups that are not loaded
        self._unread: set[int] = set()
        #: for each table, pages in chunks of which it has no rows yet
        self._unread_chunks: list[set[int]] = [set() for _ in tables]

    # ---------------------------------------------------------------- reading

    def load(self, hashes: Hashes, own: int | None = None) -> None:
        """Load the pages of rows with some hashes, unless they are loaded.

        Args:
            hashes: The hashes.
            own: The position of the table of the rows: of pages in chunks, only rows of other tables are loaded.
        """
        groups = np.unique(groups_of(hashes)).tolist()
        self._load_groups([group for group in groups if group not in self.indexes])
        if not self._unread and not any(self._unread_chunks):
            return
        wanted = set(self._leaves.pages[np.unique(self._leaves.places(hashes))].tolist())
        self._load_pages(sorted(self._unread & wanted))
        for page in sorted(self.chunked.keys() & wanted - self._touched):
            if self.chunked[page].is_too_large:
                self._load_whole(page)
        self._touched |= wanted
        for place, unread in enumerate(self._unread_chunks):
            if place != own:
                self._load_chunks(place, sorted(unread & wanted))

    def _load_whole(self, page: int) -> None:
        """Load a page in chunks to store it as others, which are split."""
        for place in range(len(self.tables)):
            self._load_chunks(place, [page])
        for chunks in self.chunked.pop(page).chunks:
            self.obsolete += [page & ~NUMBER | number for number, _ in chunks]
        del self.indexes[page >> GROUP_SHIFT].chunked[page & NUMBER]

    def store_in_chunks(self, page: int, hashed: int | None) -> None:
        """Let a page have chunks, of which there are none yet."""
        found = ChunkedPage(hashed, [[] for _ in self.tables])
        self.chunked[page] = self.indexes[page >> GROUP_SHIFT].chunked[page & NUMBER] = found

    def _load_groups(self, groups: list[int]) -> None:
        if not groups:
            return
        firsts = [group << GROUP_SHIFT | 1 for group in groups]
        whole: list[RowPage] = []
        for group, blob in zip(groups, self.read(firsts), strict=True):
            content = pickle.loads(blob) if blob else None
            if isinstance(content, RowIndex):
                self.indexes[group] = content
                base = group << GROUP_SHIFT
                self._unread.update(base | leaf for leaf in content.leaves() if leaf not in content.chunked)
                self.chunked.update((base | number, page) for number, page in content.chunked.items())
                for unread in self._unread_chunks:
                    unread.update(base | number for number in content.chunked)
            else:
                self.indexes[group] = RowIndex()
                if content is not None:
                    whole.append(content)
        self._leaves = Leaves.of(self.indexes)
        self._add(whole)

    def _load_pages(self, pages: list[int]) -> None:
        self._unread.difference_update(pages)
        for start in range(0, len(pages), _AT_ONCE):
            self._add([pickle.loads(blob) for blob in self.read(pages[start : start + _AT_ONCE]) if blob])

    def _load_chunks(self, place: int, pages: list[int]) -> None:
        unread = self._unread_chunks[place]
        wanted = [(page, self.chunked[page].chunks[place]) for page in pages if page in unread]
        unread.difference_update(pages)
        for start in range(0, len(wanted), _AT_ONCE):
            self._add(self.stored_chunks(wanted[start : start + _AT_ONCE]))

    def stored_chunks(self, wanted: Iterable[tuple[int, Iterable[Chunk]]]) -> list[RowPage]:
        """Return chunks of some pages."""
        blobs = self.read([page & ~NUMBER | number for page, chunks in wanted for number, _ in chunks])
        return [pickle.loads(blob) for blob in blobs if blob]

    def read(self, pages: list[int]) -> list[bytes | None]:
        """Return what is stored of some pages."""
        backend = self._backend
        if not pages:
            return []
        blobs = backend.store.get_many([(backend.uid, "page", page) for page in pages])
        self.sizes.update((page, len(blob)) for page, blob in zip(pages, blobs, strict=True) if blob)
        return blobs

    def _add(self, pages: list[RowPage]) -> None:
        if not pages:
            return
        for table, parts in zip(self.tables, zip(*(page.parts for page in pages), strict=True), strict=True):
            batch = table.batch_of(parts)
            key = [batch.column(column) for column in table.key]
            table.add(batch, row_hashes(key, batch.num_rows, self._backend.max_parallelism), is_new=False)

    def write(self, page: int, blob: bytes | None) -> None:
        """Store a page, or remove it."""
        self._backend.write_page(page, blob, self.sizes.pop(page, 0))

    def settle(self) -> None:
        """End the micro-batch: write the pages to which rows were added. This is not used after it."""
        RowPageWriter(self).write()
