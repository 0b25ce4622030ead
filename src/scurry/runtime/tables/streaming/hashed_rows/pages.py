"""The pages of rows in columns: which a micro-batch reads."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import GROUP_SHIFT, NUMBER
from scurry.runtime.tables.streaming.hashed_rows.hashing import Hashes, groups_of, row_hashes
from scurry.runtime.tables.streaming.hashed_rows.hot_pages import Chunk, HotPage, RowIndex
from scurry.runtime.tables.streaming.hashed_rows.tables import RowPage, Table
from scurry.runtime.tables.streaming.hashed_rows.trie import Leaves
from scurry.runtime.tables.streaming.hashed_rows.writing import RowPageWriter

__all__ = ["HashedRows"]

#: How many pages are read together.
_AT_ONCE = 2048


class HashedRows:
    """The rows of some tables, with the same hash on the same page.

    Pages are split like those of `KeyedStateBackend`, by other bits of a hash. A micro-batch reads the pages that its
    rows lead to, once, and writes those that it adds rows to. Of a hot page it reads what its rows are joined with.

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
        #: hot pages of these key groups, by id
        self.hot: dict[int, HotPage] = {}
        #: other pages of these key groups that are not loaded
        self._unread: set[int] = set()
        #: for each table, hot pages of which it has no rows yet
        self._unread_hot: list[set[int]] = [set() for _ in tables]

    # ---------------------------------------------------------------- reading

    def load(self, hashes: Hashes, own: int | None = None) -> None:
        """Load the pages of rows with some hashes, unless they are loaded.

        Args:
            hashes: The hashes.
            own: The position of the table of the rows: of hot pages, only rows of other tables are loaded.
        """
        groups = np.unique(groups_of(hashes)).tolist()
        self._load_groups([group for group in groups if group not in self.indexes])
        if not self._unread and not self.hot:
            return
        leaves = Leaves.of(self.indexes)
        wanted = set(leaves.pages[np.unique(leaves.places(hashes))].tolist())
        self._load_pages(sorted(self._unread & wanted))
        if self.hot:
            self._cool(hashes)
            for place, unread in enumerate(self._unread_hot):
                if place != own:
                    self._load_hot(place, sorted(unread & wanted))

    def _cool(self, hashes: Hashes) -> None:
        """Make pages of several keys of hot pages to which rows of other keys come, before these are added."""
        leaves = Leaves.of_pages(self.hot)
        own = np.asarray([self.hot[page].hashed for page in leaves.pages.tolist()], dtype=np.uint64)
        places = np.maximum(leaves.places(hashes), 0)
        others = leaves.have(places, hashes) & (own[places] != hashes)
        for page in leaves.pages[np.unique(places[others])].tolist():
            for place in range(len(self.tables)):
                self._load_hot(place, [page])
            for chunks in self.hot.pop(page).chunks:
                self.obsolete += [page & ~NUMBER | chunk.number for chunk in chunks]
            del self.indexes[page >> GROUP_SHIFT].hot[page & NUMBER]

    def heat(self, page: int, hashed: int) -> None:
        """Make a page a hot page without rows."""
        found = HotPage(hashed, [[] for _ in self.tables])
        self.hot[page] = self.indexes[page >> GROUP_SHIFT].hot[page & NUMBER] = found

    def _load_groups(self, groups: list[int]) -> None:
        firsts = [group << GROUP_SHIFT | 1 for group in groups]
        whole: list[RowPage] = []
        for group, blob in zip(groups, self.read(firsts), strict=True):
            content = pickle.loads(blob) if blob else None
            if isinstance(content, RowIndex):
                self.indexes[group] = content
                base = group << GROUP_SHIFT
                self._unread.update(base | leaf for leaf in content.leaves() if leaf not in content.hot)
                self.hot.update((base | number, page) for number, page in content.hot.items())
                for unread in self._unread_hot:
                    unread.update(base | number for number in content.hot)
            else:
                self.indexes[group] = RowIndex()
                if content is not None:
                    whole.append(content)
        self._add(whole)

    def _load_pages(self, pages: list[int]) -> None:
        self._unread.difference_update(pages)
        for start in range(0, len(pages), _AT_ONCE):
            self._add([pickle.loads(blob) for blob in self.read(pages[start : start + _AT_ONCE]) if blob])

    def _load_hot(self, place: int, pages: list[int]) -> None:
        unread = self._unread_hot[place]
        for page in unread.intersection(pages):
            unread.remove(page)
            self._add(self.chunks_of(page, self.hot[page].chunks[place]))

    def chunks_of(self, page: int, chunks: Iterable[Chunk]) -> list[RowPage]:
        """Return some chunks of a hot page."""
        return [pickle.loads(blob) for blob in self.read([page & ~NUMBER | chunk.number for chunk in chunks]) if blob]

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
