"""The first or the last row of each key by time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from scurry.connectors.tables.contract import Changes
from scurry.functions.keys import group_codes
from scurry.relational.physical.ranks import Deduplicate
from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.tables.streaming.expiry import Expiry
from scurry.runtime.tables.streaming.kept_rows import joined, pieces, runs_of
from scurry.runtime.tables.streaming.partitioning import KeyedChanges
from scurry.runtime.tables.times import milliseconds

__all__ = ["FirstRowByEventTime", "FirstRowByProcessingTime", "LastRow"]

_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER = range(3)

#: Slots of a key: whether its row has been emitted, the row that is the first or last one so far, when a timer fires.
_EMITTED = "emitted"
_ROW = "row"


class _Deduplication:
    packs_entries = True  # a key has a whole row

    def __init__(self, plan: Deduplicate, with_before: bool, ttl: int = 0) -> None:
        """Take the deduplication.

        Args:
            plan: The deduplication.
            with_before: Whether updates have to have the row before.
            ttl: Milliseconds after which a key that has no new rows is forgotten; 0 for never.
        """
        self._expiry = Expiry(ttl)
        self._plan = plan
        self._with_before = with_before

    def open(self, context: Any) -> None:
        """Begin with no keys whose rows the watermark has passed."""
        self._due: list[Any] = []

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Note that the watermark has passed the row of the current key."""
        self._due.append(context.key)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Forget a key that has had no rows for some time."""
        self._expiry.on_processing_time(time, context)

    def fired(self, context: RowsContext) -> list[Changes]:
        """Return nothing."""
        return []


class FirstRowByProcessingTime(_Deduplication):
    """Emit the row of a key that arrives first."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the first rows of keys that had none."""
        context.prefetch(rows.keys)
        first = np.full(len(rows.keys), -1)
        first[rows.codes[::-1]] = np.arange(len(rows.codes))[::-1]
        new = []
        for code, key in enumerate(rows.keys):
            state = context.select(key)
            self._expiry.expire(context)
            if _EMITTED not in state:
                self._expiry.touch(context)
                state[_EMITTED] = True
                new.append(code)
        return [Changes(rows.changes.batch.take(pa.array(np.sort(first[new]))))] if new else []


class FirstRowByEventTime(_Deduplication):
    """Emit the row of a key that has the least time, when the watermark has passed it."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep the first row of each key; drop rows that are late."""
        context.prefetch(rows.keys)
        batch = rows.changes.batch
        times = milliseconds(batch.column(self._plan.time))
        is_emitted = np.asarray([self._is_emitted(key, context) for key in rows.keys], dtype=bool)[rows.codes]
        is_late = times <= context.watermark
        context.late += int((is_late & ~is_emitted).sum())
        here = np.flatnonzero(~is_late & ~is_emitted)
        here = here[np.lexsort((times[here], rows.codes[here]))]
        first = [(code, int(here[start])) for code, start, _ in runs_of(rows.codes[here])]
        kept = pieces(batch, [(row, row + 1) for _, row in first])
        for (code, row), piece in zip(first, kept, strict=True):
            state, time = context.select(rows.keys[code]), int(times[row])
            known = state.get(_ROW)
            if known is None or time < known[0]:
                if known is not None:
                    context.delete_event_timer(known[0])
                context.register_event_timer(time)
                state[_ROW] = (time, piece)
        return []

    def fired(self, context: RowsContext) -> list[Changes]:
        """Return the rows that the watermark has passed, the earliest first."""
        keys, self._due = self._due, []
        if not keys:
            return []
        found = []
        for key in keys:
            state = context.select(key)
            found.append(state.pop(_ROW))
            self._expiry.touch(context)
            state[_EMITTED] = True
        return [Changes(joined([piece for _, piece in found], self._plan.schema))]

    def _is_emitted(self, key: Any, context: RowsContext) -> bool:
        state = context.select(key)
        self._expiry.expire(context)
        return _EMITTED in state


class LastRow(_Deduplication):
    """Emit each row that replaces the one of its key."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the rows that are the last ones of their keys, with those that they replace."""
        context.prefetch(rows.keys)
        states = []
        for key in rows.keys:
            states.append(context.select(key))
            self._expiry.touch(context)
        known = [code for code, state in enumerate(states) if _ROW in state]
        batch, codes = rows.changes.batch, rows.codes
        if known:
            before = joined([states[code][_ROW] for code in known], self._plan.schema)
            columns = [pa.concat_arrays([one, other]) for one, other in zip(before.columns, batch.columns, strict=True)]
            batch = pa.RecordBatch.from_arrays(columns, names=list(self._plan.schema.names))
            codes = np.r_[np.asarray(known), codes]
        order = np.argsort(codes, kind="stable")
        order = order[self._replaces(batch.take(pa.array(order)), codes[order])]
        sorted_codes = codes[order]
        runs = runs_of(sorted_codes)
        ends = order[[stop - 1 for _, _, stop in runs]].tolist()
        last = pieces(batch, [(row, row + 1) for row in ends])
        for (code, _, _), piece in zip(runs, last, strict=True):
            states[code][_ROW] = piece
        previous = np.full(batch.num_rows, -1)
        follows = np.flatnonzero(np.r_[False, sorted_codes[1:] == sorted_codes[:-1]])
        previous[order[follows]] = order[follows - 1]
        return self._changes(batch, np.sort(order[order >= len(known)]), previous)

    def _replaces(self, batch: pa.RecordBatch, codes: Any) -> Any:
        """Return which rows, sorted by key, replace the one before them."""
        if self._plan.has_event_time:
            # The greatest time of the key so far: keys are kept apart by a shift larger than all differences.
            times = milliseconds(batch.column(self._plan.time))
            ranks = np.unique(times, return_inverse=True)[1].reshape(-1)
            shifted = ranks + codes * (len(times) + 1)
            return shifted >= np.maximum.accumulate(shifted)
        columns = [column for place, column in enumerate(batch.columns) if place != self._plan.time]
        equal, _ = group_codes([pa.array(codes), *columns], batch.num_rows)
        return np.r_[True, equal[1:] != equal[:-1]]

    def _changes(self, batch: pa.RecordBatch, new: Any, previous: Any) -> list[Changes]:
        """Return new rows, each after the one that it replaces."""
        if not len(new):
            return []
        replaced = previous[new]
        kinds = np.where(replaced < 0, _INSERT, _UPDATE_AFTER)
        if not self._with_before:
            return [Changes(batch.take(pa.array(new)), kinds.astype(np.int8))]
        rows = np.c_[replaced, new].reshape(-1)
        kinds = np.c_[np.full(len(new), _UPDATE_BEFORE), kinds].reshape(-1)
        here = rows >= 0
        return [Changes(batch.take(pa.array(rows[here])), kinds[here].astype(np.int8))]
