"""The pages of rows in columns: which a micro-batch reads."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np

from scurry.runtime.state.backend import Index, KeyedStateBackend
from scurry.runtime.state.layout import GROUP_SHIFT
from scurry.runtime.tables.batch.batches import batch_of
from scurry.runtime.tables.streaming.hashed_rows.encoding import joined
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
    rows lead to, once, and writes those that it adds rows to.
    """

    def __init__(self, tables: Sequence[Table], backend: KeyedStateBackend) -> None:
        self.tables = tables
        self._backend = backend
        self._indexes: dict[int, Index] = {}  # by key group
        #: pages of these key groups that are not loaded
        self._unread: set[int] = set()
        #: how many bytes pages have that were read
        self._sizes: dict[int, int] = {}

    # ---------------------------------------------------------------- reading

    def load(self, hashes: Hashes) -> None:
        """Load the pages of rows with some hashes, unless they are loaded."""
        groups = np.unique(groups_of(hashes)).tolist()
        self._load_groups([group for group in groups if group not in self._indexes])
        if self._unread:
            leaves = Leaves.of(self._indexes)
            wanted = leaves.pages[np.unique(leaves.places(hashes))]
            self._load_pages(sorted(self._unread.intersection(wanted.tolist())))

    def _load_groups(self, groups: list[int]) -> None:
        firsts = [group << GROUP_SHIFT | 1 for group in groups]
        whole: list[RowPage] = []
        for group, blob in zip(groups, self._read(firsts), strict=True):
            content = pickle.loads(blob) if blob else None
            if isinstance(content, Index):
                self._indexes[group] = content
                self._unread.update(group << GROUP_SHIFT | leaf for leaf in content.leaves())
            else:
                self._indexes[group] = Index()
                if content is not None:
                    whole.append(content)
        self._add(whole)

    def _load_pages(self, pages: list[int]) -> None:
        self._unread.difference_update(pages)
        for start in range(0, len(pages), _AT_ONCE):
            blobs = self._read(pages[start : start + _AT_ONCE])
            self._add([pickle.loads(blob) for blob in blobs if blob])

    def _read(self, pages: list[int]) -> list[bytes | None]:
        backend = self._backend
        if not pages:
            return []
        blobs = backend.store.get_many([(backend.uid, "page", page) for page in pages])
        self._sizes.update((page, len(blob)) for page, blob in zip(pages, blobs, strict=True) if blob)
        return blobs

    def _add(self, pages: list[RowPage]) -> None:
        if not pages:
            return
        for table, parts in zip(self.tables, zip(*(page.parts for page in pages), strict=True), strict=True):
            rows = sum(count for count, _ in parts)
            if rows:
                batch = batch_of(joined(parts, table.types), table.schema, rows)
                key = [batch.column(column) for column in table.key]
                table.add(batch, row_hashes(key, rows, self._backend.max_parallelism), is_new=False)

    def settle(self) -> None:
        """Write the pages to which rows were added, and forget all rows."""
        RowPageWriter(self.tables, self._indexes, self._sizes, self._backend).write()
        for table in self.tables:
            table.clear()
        self._indexes, self._unread, self._sizes = {}, set(), {}
