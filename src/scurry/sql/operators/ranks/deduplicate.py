"""Deduplication: the first row of each key by time, and code shared with the last row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.operators.rows import RowsContext
from scurry.runtime.state.layout import Entry
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import arrow_batch, arrow_schema, milliseconds, taken
from scurry.sql.operators.expiry import ExpiringFunction
from scurry.sql.operators.hashed_rows.function import HashedRowsFunction
from scurry.sql.operators.kept_rows import joined, pieces, runs_of
from scurry.sql.operators.partitioning import HashedChanges, KeyedChanges
from scurry.sql.plan.physical.ranks import Deduplicate

#: Slots of a key: whether its row has been emitted, the row that is the first or last one so far, when a timer fires.
_EMITTED = "emitted"
_ROW = "row"


class Deduplication(ExpiringFunction):
    """Keep one row of each key."""

    packs_entries = True  # a key has a whole row

    def __init__(self, plan: Deduplicate, with_before: bool, ttl: int = 0) -> None:
        """Create the function of a deduplication.

        Args:
            with_before: Whether updates have to have the row before.
            ttl: Milliseconds after which a key that has no new rows is forgotten; 0 for never.
        """
        super().__init__(ttl)
        self._plan = plan
        self._with_before = with_before

    def open(self, context: Any) -> None:
        """Begin with no keys whose rows the watermark has passed."""
        self._due: list[Any] = []

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Note that the watermark has passed the row of the current key."""
        self._due.append(context.key)


class FirstRowByProcessingTime(Deduplication):
    """Emit the row of a key that arrives first, until the key has had no rows for some time."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the first rows of keys that had none."""
        context.prefetch(rows.keys)
        first = np.full(len(rows.keys), -1)
        first[rows.group_ids[::-1]] = np.arange(len(rows.group_ids))[::-1]
        new = []
        for group_id, key in enumerate(rows.keys):
            state = context.select(key)
            self._expiry.expire(context)
            if _EMITTED not in state:
                self._expiry.touch(context)
                state[_EMITTED] = True
                new.append(group_id)
        return [Changes(rows.changes.batch.take(pa.array(np.sort(first[new]))))] if new else []


class FirstRow(HashedRowsFunction):
    """Emit the row of a key that arrives first; the keys that there were are kept in columns."""

    def __init__(self, plan: Deduplicate) -> None:
        self._plan = plan

    takes_over_entries = True

    def row_of(self, entry: Entry) -> list[Any] | None:
        """Return that there is only the key of a row that was kept by key."""
        return [] if _EMITTED in entry else None

    def process(self, index: int, rows: HashedChanges, context: RowsContext) -> list[Changes]:
        """Return the first rows of keys that had none."""
        keys, new = self._plan.keys, rows.changes.batch
        schema = pa.schema([arrow_schema(self._plan.schema).field(key) for key in keys])
        kept = self._rows_of_keys(rows, schema, keys, context, range(len(keys)))
        fresh = np.ones(len(kept.first), dtype=bool)
        fresh[kept.group_ids] = False
        first = kept.first[fresh]
        if not len(first):
            return []
        found = taken(new, first)
        columns = [found.column(key) for key in keys]
        kept.table.add(arrow_batch(columns, schema.names, len(first)), rows.hashes[first])
        return [Changes(found)]


class FirstRowByEventTime(Deduplication):
    """Emit the row of a key that has the least time, when the watermark has passed it."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep the first row of each key; drop rows that are late."""
        context.prefetch(rows.keys)
        batch = rows.changes.batch
        times = milliseconds(batch.column(self._plan.time))
        is_emitted = np.asarray([self._is_emitted(key, context) for key in rows.keys], dtype=bool)[rows.group_ids]
        is_late = times <= context.watermark
        context.late += int((is_late & ~is_emitted).sum())
        here = np.flatnonzero(~is_late & ~is_emitted)
        here = here[np.lexsort((times[here], rows.group_ids[here]))]
        first = [(group_id, int(here[start])) for group_id, start, _ in runs_of(rows.group_ids[here])]
        kept = pieces(batch, [(row, row + 1) for _, row in first])
        for (group_id, row), piece in zip(first, kept, strict=True):
            state, time = context.select(rows.keys[group_id]), int(times[row])
            known = state.get(_ROW)
            if known is None or time < known[0]:
                if known is not None:
                    context.delete_event_timer(known[0])
                context.register_event_timer(time)
                state[_ROW] = (time, piece)
        return []

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
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
