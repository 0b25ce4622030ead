"""The first rows of each partition of rows that are only added, kept in columns."""

from __future__ import annotations

from bisect import bisect
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from scurry.runtime.operators.rows import RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import arrow_schema, batch_of, concatenated, taken
from scurry.sql.functions.keys import order_codes
from scurry.sql.operators.hashed_rows.function import HashedRowsFunction
from scurry.sql.operators.partitioning import HashedChanges
from scurry.sql.plan.physical.ranks import Rank

#: Of a partition with more rows a micro-batch would write too much.
MOST_ROWS = 1000

_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = range(4)


class _Changed(NamedTuple):
    """Changes to emit: for each row number that gets another row, in the order of the rows that are the cause.

    Attributes:
        before: The row that had it, by its place in the order of all rows; -1 if none had.
        after: The row that has it now.
    """

    before: Any
    after: Any
    number: Any


class ColumnarTopN(HashedRowsFunction):
    """Emit the exact changes of each row; places in the order of all rows stand for rows until the end."""

    def __init__(self, plan: Rank, with_before: bool) -> None:
        self._plan = plan
        self._with_before = with_before
        #: Rows that leave and enter are deleted and inserted, if no number tells that one has replaced the other.
        self._is_numbered = plan.number is not None or plan.start > 1
        self._updates = self._is_numbered or plan.end == 1

    def open(self, context: Any) -> None:
        """Begin without rows in memory."""
        super().open(context)
        self._schema = arrow_schema(self._plan.input.schema)

    def process(self, index: int, rows: HashedChanges, context: RowsContext) -> list[Changes]:
        """Return the changes of the first rows."""
        plan, new = self._plan, rows.changes.batch
        kept = self._rows_of_keys(rows, self._schema, plan.partition_by, context)
        count = kept.batch.num_rows
        batch = concatenated([kept.batch, new], plan.input.schema)
        order = self._order(batch)
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        tops = _tops(kept.group_ids, places[:count], len(kept.first))
        changed = self._entered(tops, kept.new_group_ids, places[count:])
        remains = np.zeros(len(order), dtype=bool)
        remains[order[list(chain.from_iterable(tops))]] = True
        leaves = ~remains[:count]
        kept.table.remove(kept.numbers[leaves], kept.hashes[leaves])
        added = np.flatnonzero(remains[count:])
        kept.table.add(taken(new, added), rows.hashes[added])
        return self._changes(changed, batch, order)

    def _order(self, batch: pa.RecordBatch) -> Any:
        """Return the rows in their order; those that are equal in it in the order in which they came."""
        keys = [
            order_codes(batch.column(key.index), key.descending, key.nulls_first) for key in self._plan.order_by[::-1]
        ]
        return np.lexsort(keys) if keys else np.arange(batch.num_rows)

    def _entered(self, tops: list[list[int]], group_ids: Any, places: Any) -> _Changed:
        """Let rows enter the first ones of their partitions, one after the other.

        Args:
            tops: The places of the first rows of each partition.
            group_ids: The partition of each new row.
            places: The place of each new row.
        """
        end, moved, numbers, counts = self._plan.end, [], [], []
        behind_all = np.iinfo(np.int64).max
        last = np.asarray([top[-1] if len(top) >= end else behind_all for top in tops], dtype=np.int64)
        here = np.flatnonzero(places < last[group_ids])
        for group_id, place in zip(group_ids[here].tolist(), places[here].tolist(), strict=True):
            top = tops[group_id]
            if len(top) >= end and place > top[-1]:
                continue
            number = bisect(top, place)
            top.insert(number, place)
            moving = top[number:] if self._is_numbered else [place, *top[end:]]
            moved += moving
            numbers.append(number)
            counts.append(len(moving))
            del top[end:]
        return self._expanded(np.asarray(moved, np.int64), np.asarray(numbers, np.int64), np.asarray(counts, np.int64))

    def _expanded(self, moved: Any, numbers: Any, counts: Any) -> _Changed:
        """Return the changes of rows that enter.

        Args:
            moved: For each of them its place, and those of the rows that move by one because of it.
            numbers: For each of them how many rows are before it.
            counts: For each of them how many rows are moved.
        """
        event = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(moved)) - np.repeat(np.cumsum(counts) - counts, counts)
        number = numbers[event] + within + 1
        follows = within + 1 < counts[event]
        before = np.where(follows, np.roll(moved, -1), -1)
        emitted = (number <= self._plan.end) if self._is_numbered else within == 0
        emitted &= number >= self._plan.start
        return _Changed(before[emitted], moved[emitted], number[emitted])

    def _changes(self, changed: _Changed, batch: pa.RecordBatch, order: Any) -> list[Changes]:
        """Return changes, each row after the one whose place it takes."""
        before, after, number = changed
        is_update = (before >= 0) & self._updates
        kinds = np.c_[
            np.full(len(before), _UPDATE_BEFORE if self._updates else _DELETE),
            np.where(is_update, _UPDATE_AFTER, _INSERT),
        ].reshape(-1)
        rows = np.c_[before, after].reshape(-1)
        here = rows >= 0
        if not self._with_before:
            here &= kinds != _UPDATE_BEFORE
        rows, kinds = rows[here], kinds[here].astype(np.int8)
        if not len(rows):
            return []
        columns = list(taken(batch, order[rows]).columns)
        if self._plan.number is not None:
            columns.append(pa.array(np.repeat(number, 2)[here]))
        return [Changes(batch_of(columns, self._plan.schema, len(rows)), kinds if kinds.any() else None)]


def _tops(group_ids: Any, places: Any, count: int) -> list[list[int]]:
    """Return for each partition the places of its rows in order."""
    tops: list[list[int]] = [[] for _ in range(count)]
    order = np.argsort(places)
    for group_id, place in zip(group_ids[order].tolist(), places[order].tolist(), strict=True):
        tops[group_id].append(place)
    return tops
