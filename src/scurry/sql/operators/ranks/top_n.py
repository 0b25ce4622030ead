"""The first rows of each partition, with the exact changes that each row makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.keys import encode_key
from scurry.runtime.operators.rows import RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.operators.expiry import ExpiringFunction
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.operators.ranks.output import Output
from scurry.sql.operators.ranks.sort_keys import sort_keys
from scurry.sql.operators.ranks.sorted_rows import Row, SortedRows
from scurry.sql.plan.physical.ranks import Rank
from scurry.sql.types.values import to_values

_UPDATE_BEFORE, _DELETE = 1, 3

#: Slots of a key: the last number if a column says it, and the rows by their unique keys.
_END = "end"
_ROWS = "rows"


class TopN(ExpiringFunction):
    """Common part of all ranks: the rows of a batch are processed one after the other."""

    def __init__(self, plan: Rank, with_before: bool, ttl: int = 0) -> None:
        """Create the function of a rank.

        Args:
            with_before: Whether updates have to have the row before.
            ttl: Milliseconds after which a partition that has no new rows is forgotten; 0 for never.
        """
        super().__init__(ttl)
        self._plan = plan
        self._with_before = with_before
        #: Rows that leave and enter are deleted and inserted, if no number tells that one has replaced the other.
        self._is_numbered = plan.number is not None or plan.start > 1
        self._is_top_1 = plan.end == 1 and plan.start == 1 and plan.end_column is None

    def open(self, context: Any) -> None:
        """Do nothing."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the changes of the first rows."""
        context.prefetch(rows.keys)
        states = []
        for each in rows.keys:
            states.append(context.select(each))
            self._expiry.touch(context)
        sorted_rows = [SortedRows(state) for state in states]
        batch, group_ids, kinds = rows.changes.batch, rows.group_ids, rows.changes.kinds
        ends = self._ends(batch, group_ids, states)
        keys = sort_keys(batch, self._plan.order_by)
        here = self._possible(keys, group_ids.tolist(), sorted_rows, ends)
        if len(here) < batch.num_rows:
            batch, keys, group_ids = (
                batch.take(pa.array(here, pa.int64())),
                [keys[row] for row in here],
                group_ids[here],
            )
            kinds = None if kinds is None else np.asarray(kinds)[here]
        if not here:
            return []
        values = list(zip(*map(to_values, batch.columns), strict=True))
        out = Output(self._plan.schema, self._plan.start, self._plan.number is not None, self._with_before)
        retracted = [False] * len(values) if kinds is None else np.isin(kinds, (_UPDATE_BEFORE, _DELETE)).tolist()
        for group_id, key, row, is_retracted in zip(group_ids.tolist(), keys, values, retracted, strict=True):
            take = self.retract if is_retracted else self.add
            take(sorted_rows[group_id], states[group_id], ends[group_id], key, row, out)
        for found in sorted_rows:
            found.save()
        return out.changes()

    def _ends(self, batch: pa.RecordBatch, group_ids: Any, states: Sequence[dict[Any, Any]]) -> list[int]:
        """Return the last number of each key."""
        column = self._plan.end_column
        if column is None:
            return [self._plan.end] * len(states)
        new = [group_id for group_id, state in enumerate(states) if _END not in state]
        if new:
            values = to_values(batch.column(column))
            first = dict(zip(group_ids[::-1].tolist(), values[::-1], strict=True))
            for group_id in new:
                states[group_id][_END] = int(first[group_id])
        return [state[_END] for state in states]

    def _possible(self, keys: list[Any], group_ids: list[int], rows: list[SortedRows], ends: list[int]) -> list[int]:
        """Return the positions of the rows that may change anything."""
        return list(range(len(keys)))

    def add(self, rows: SortedRows, state: dict[Any, Any], end: int, key: Any, row: Row, out: Output) -> None:
        """Add a row that is new, or that updates another."""
        raise NotImplementedError

    def retract(self, rows: SortedRows, state: dict[Any, Any], end: int, key: Any, row: Row, out: Output) -> None:
        raise NotImplementedError

    def _entered(self, rows: SortedRows, end: int, position: int, row: Row, out: Output) -> Row | None:
        """Emit that a new row is at a position; drop and return the row that is one too many."""
        after = rows.rows(position, end + 1) if self._is_numbered else []
        left = rows.pop() if len(rows) > end else None
        if self._is_top_1 and left is not None:
            out.update(left, row, 1)
        elif self._is_numbered:
            out.shifted(after[1:], after[: end - position], position + 1)
        else:
            if left is not None:
                out.delete(left, end)
            out.insert(row, position + 1)
        return left


class AppendOnlyTopN(TopN):
    """Rows are only added: no more are kept than are emitted."""

    def _possible(self, keys: list[Any], group_ids: list[int], rows: list[SortedRows], ends: list[int]) -> list[int]:
        worst = [each.last_key() if each and len(each) >= end else None for each, end in zip(rows, ends, strict=True)]
        return [
            row
            for row, (group_id, key) in enumerate(zip(group_ids, keys, strict=True))
            if (limit := worst[group_id]) is None or key < limit
        ]

    def add(self, rows: SortedRows, state: dict[Any, Any], end: int, key: Any, row: Row, out: Output) -> None:
        if len(rows) < end or (end > 0 and key < rows.last_key()):
            self._entered(rows, end, rows.insert(key, row), row, out)


class UpdatableTopN(TopN):
    """Rows are updated to better places only, by a unique key: no more are kept than are emitted."""

    def add(self, rows: SortedRows, state: dict[Any, Any], end: int, key: Any, row: Row, out: Output) -> None:
        """Add a row that is new, or that updates the one of its unique key."""
        known = state.setdefault(_ROWS, {})
        name = self._name(row)
        if name not in known:
            if len(rows) < end or key < rows.last_key():
                known[name] = (key, row)
                left = self._entered(rows, end, rows.insert(key, row), row, out)
                if left is not None:
                    del known[self._name(left)]
            return
        old_key, old_row = known[name]
        if self._is_top_1 and not key < old_key:
            return
        known[name] = (key, row)
        if key == old_key:
            # also among rows that compare equal it keeps its place
            place = rows.replace(key, old_row, row)
            assert place is not None, "a row is where its unique key says"
            out.update(old_row, row, place + 1)
            return
        before = rows.remove(old_key, old_row)
        after = rows.insert(key, row)
        assert before is not None, "a row is where its unique key says"
        first, last = min(before, after), max(before, after)
        if not self._is_numbered:
            out.update(old_row, row, after + 1)
            return
        found = rows.rows(first, last + 1)
        old = [*found[1:], old_row] if after <= before else [old_row, *found[:-1]]
        out.shifted(old, found, first + 1)

    def retract(self, rows: SortedRows, state: dict[Any, Any], end: int, key: Any, row: Row, out: Output) -> None:
        """Do nothing: an update replaces the row before it, which comes only if another operator needs it."""

    def _name(self, row: Row) -> Any:
        return encode_key(tuple(row[column] for column in self._plan.update_key))


class RetractableTopN(TopN):
    """Rows may be taken back: all are kept."""

    def add(self, rows: SortedRows, state: dict[Any, Any], end: int, key: Any, row: Row, out: Output) -> None:
        position = rows.insert(key, row)
        if position >= end:
            return
        found = rows.rows(position, end + 1)
        if self._is_numbered:
            out.shifted(found[1:], found[: end - position], position + 1)
            return
        if len(found) > end - position:
            out.delete(found[-1], end)
        out.insert(row, position + 1)

    def retract(self, rows: SortedRows, state: dict[Any, Any], end: int, key: Any, row: Row, out: Output) -> None:
        position = rows.remove(key, row)
        if position is None or position >= end:
            return
        found = rows.rows(position, end)
        if self._is_numbered:
            out.shifted([row, *found][: end - position], found, position + 1)
            return
        out.delete(row, position + 1)
        if len(found) == end - position:
            out.insert(found[-1], end)
