"""Common part of the functions of operators that keep their rows in columns."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from scurry._dataclasses import dataclass
from scurry.runtime.keys import original_key
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.runtime.state.backend import Index
from scurry.runtime.state.layout import Entry, page_of
from scurry.runtime.state.row_runs import Part
from scurry.runtime.state.runs import Run
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import arrow_batch, concatenated_columns, taken
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.operators.hashed_rows.hashing import Hashes, equal_rows
from scurry.sql.operators.hashed_rows.rows import HashedRows
from scurry.sql.operators.hashed_rows.tables import Table
from scurry.sql.operators.partitioning import HashedChanges, PartitionByHash
from scurry.sql.types.values import from_values


@dataclass(frozen=True)
class EntryPages:
    """Read the entries of the keys of a group as rows of a table.

    Attributes:
        schema: The columns of the table, those of the key first.
        keys: How many columns the key has.
        values: Returns the other columns of the row of an entry; None if there is no row.
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


class KeptRows(NamedTuple):
    """The rows that are kept of the keys of some new ones.

    Attributes:
        table: Where they are kept.
        batch: The rows, those of a key in the order in which they came.
        group_ids: For each of them the number of its key.
        numbers: For each of them its number in the table.
        new_group_ids: For each new row the number of its key.
        first: For each key the position of its first new row.
    """

    table: Table
    batch: pa.RecordBatch
    group_ids: Any
    numbers: Any
    hashes: Hashes
    new_group_ids: Any
    first: Any


class HashedRowsFunction(KeyedRowsFunction):
    """A function without timers; `process` makes the rows of a micro-batch when it needs them.

    Attributes:
        takes_over_entries: Whether it takes over state by key with `row_of`. Its rows are then partitioned with
            `PartitionByHash(by_key=True)`, and their columns begin with the key.
    """

    has_rows_only = True
    joins_records = True
    takes_over_entries = False

    def row_of(self, entry: Entry) -> list[Any] | None:
        """Return the values of a row, behind those of its key, of the state of the key; None if it has none."""
        raise NotImplementedError

    def open(self, context: Any) -> None:
        """Begin without rows in memory."""
        self._rows: HashedRows | None = None

    def joined(self, records: list[HashedChanges]) -> HashedChanges:
        """Return the rows of several records in one: all are looked up together."""
        batches = [each.changes.batch for each in records]
        rows = sum(batch.num_rows for batch in batches)
        whole = arrow_batch(concatenated_columns(batches), batches[0].schema.names, rows)
        kinds = None
        if any(each.changes.kinds is not None for each in records):
            kinds = np.concatenate([_kinds(each.changes) for each in records])
        return HashedChanges(Changes(whole, kinds), np.concatenate([each.hashes for each in records]))

    def write_back(self, context: RowsContext) -> None:
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.write_back()

    def _rows_of_keys(
        self,
        rows: HashedChanges,
        schema: pa.Schema,
        keys: Sequence[int],
        context: RowsContext,
        kept_keys: Sequence[int] | None = None,
    ) -> KeptRows:
        """Return the kept rows with the keys of new rows, in the only table of the function.

        Args:
            keys: The positions of the columns of the key in new rows.
            context: Where rows are kept.
            kept_keys: The same in kept rows; None if they have the columns of new ones.
        """
        own = keys if kept_keys is None else kept_keys
        if self._rows is None:
            earlier = None
            if self.takes_over_entries:
                partition, groups = PartitionByHash(own, by_key=True), context.backend.max_parallelism
                earlier = EntryPages(schema, len(own), self.row_of, lambda batch: partition.hashes(batch, groups))
            self._rows = HashedRows([Table("row", schema, own)], context.backend, earlier=earlier)
        (table,) = self._rows.tables
        self._rows.load(rows.hashes)
        new = rows.changes.batch
        new_group_ids, first = group_ids_of([new.column(key) for key in keys], new.num_rows)
        group_ids, numbers = table.find(rows.hashes[first])
        batch, wanted = table.rows(numbers), taken(new, first[group_ids])
        pairs = [(wanted.column(key), batch.column(kept)) for key, kept in zip(keys, own, strict=True)]
        equal = equal_rows(pairs, [True] * len(pairs), batch.num_rows)
        if not equal.all():
            group_ids, numbers, batch = group_ids[equal], numbers[equal], taken(batch, np.flatnonzero(equal))
        return KeptRows(table, batch, group_ids, numbers, rows.hashes[first][group_ids], new_group_ids, first)


def _kinds(changes: Changes) -> Any:
    return np.zeros(changes.batch.num_rows, np.int8) if changes.kinds is None else np.asarray(changes.kinds)
