"""The rows of tables that a micro-batch touches, read and written."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np

from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.row_groups import EarlierPages, RowGroups
from scurry.runtime.state.row_runs import Hashes, Part, distinct, is_in
from scurry.sql.operators.hashed_rows.index import HashIndex
from scurry.sql.operators.hashed_rows.pages import RowPages
from scurry.sql.operators.hashed_rows.tables import Description, Table


class HashedRows:
    """The rows of some tables by hash: a micro-batch reads those of the hashes that it touches, and writes changes.

    Args:
        tables: The tables, without rows.
        backend: Where they are stored.
        appends_only: Whether rows are never removed, and those of a table are not looked for when others are added.
        earlier: Reads what earlier versions stored; None for pages of rows.
    """

    def __init__(
        self,
        tables: Sequence[Table],
        backend: KeyedStateBackend,
        appends_only: bool = False,
        earlier: EarlierPages | None = None,
    ) -> None:
        self.tables = tables
        self._appends_only = appends_only
        description = pickle.dumps(Description([(table.name, table.schema, tuple(table.key)) for table in tables]), 5)
        schemas, pages = [table.schema for table in tables], earlier or RowPages(tables, backend.max_parallelism)
        self._groups = RowGroups(backend, schemas, not appends_only, description, pages)
        #: for each table, the hashes whose rows have been read
        self._read = [HashIndex() for _ in tables]

    def load(self, hashes: Hashes, own: int | None = None) -> None:
        """Read the rows of some hashes, unless they have been read.

        Args:
            own: The position of the table of these rows: of rows that are only added, those of other tables are read.
        """
        wanted = distinct(hashes)
        for place, table in enumerate(self.tables):
            if self._appends_only and place == own:
                continue
            known, new = self._read[place], np.ones(len(wanted), bool)
            new[known.find(wanted)[0]] = False
            unread = wanted[new]
            if len(unread):
                known.add(unread, 0, np.zeros(0, bool))
                rows = self._groups.rows(place, unread)
                if rows:
                    found, batches = zip(*rows, strict=True)
                    table.add(table.concatenated(batches), np.concatenate(found), is_new=False)

    def write_back(self) -> None:
        """End the micro-batch: write the changes. The object is not used after it."""
        self._groups.write([self._changed(table) for table in self.tables])

    def _changed(self, table: Table) -> Part:
        """Return the part of a table to be written: its new rows, or all rows of the hashes that have changed."""
        hashes, numbers = table.index.ordered()
        if len(table.removed):
            there = ~table.removed[numbers]
            hashes, numbers = hashes[there], numbers[there]
        is_new = table.new_rows()[numbers]
        if self._appends_only:
            here, removed = is_new, np.zeros(0, np.uint64)
        else:
            changed = distinct(np.concatenate([hashes[is_new], *table.removed_hashes]))
            here, removed = is_in(hashes, changed), changed[~is_in(changed, hashes)]
        return Part(hashes[here], removed, table.in_schema(table.rows(numbers[here])))
