"""State by key that operators take over which keep rows in columns: their statement was executed by key before."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.keys import original_key
from scurry.runtime.state.backend import Index
from scurry.runtime.state.layout import Entry, page_of
from scurry.runtime.state.row_runs import Hashes, Part
from scurry.runtime.state.runs import Run
from scurry.sql.evaluation.batch.batches import arrow_batch, taken
from scurry.sql.types.values import from_values


@dataclass(frozen=True)
class EntryPages:
    """Read the entries of the keys of a group as rows of a table.

    Attributes:
        schema: The columns of the table, those of the key first.
        keys: How many columns the key has.
        values: Returns the other columns of the row of an entry; None if there is no row.
        hashes: Returns the hashes of rows.
    """

    schema: pa.Schema
    keys: int
    values: Callable[[Entry], Sequence[Any] | None]
    hashes: Callable[[pa.RecordBatch], Hashes]

    def numbers(self, first: Any) -> list[int]:
        """Return the numbers of the pages and runs of a group besides the first page, given the content of that."""
        return sorted(first.parts() - {1}) if isinstance(first, Index) else []

    def parts(self, contents: Iterable[Any]) -> list[Part]:
        """Return the rows, given the contents of all pages, or of all runs from the oldest one on."""
        entries: dict[Any, Entry] = {}
        for content in contents:
            if isinstance(content, Run):
                for stored in content:
                    entries[stored.key] = pickle.loads(stored.value) if stored.value else {}
            elif not isinstance(content, Index):
                entries.update(page_of(content))
        rows = [row for key, entry in entries.items() if (row := self._row(key, entry)) is not None]
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.schema)
        arrays = [from_values(list(column), kind) for column, kind in zip(columns, self.schema.types, strict=True)]
        batch = arrow_batch(arrays, self.schema.names, len(rows))
        hashes = self.hashes(batch)
        order = np.argsort(hashes, kind="stable")
        return [Part(hashes[order], np.zeros(0, np.uint64), taken(batch, order))]

    def _row(self, key: Any, entry: Entry) -> list[Any] | None:
        values = self.values(entry)
        if values is None:
            return None
        found = original_key(key)
        own = list(found) if self.keys != 1 else [found]
        return [*own, *(None if isinstance(each, Decimal) and each.is_nan() else each for each in values)]
