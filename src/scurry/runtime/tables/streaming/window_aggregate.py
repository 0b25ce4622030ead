"""Aggregates of windows: partial states where rows are read, merged by key group, fired by the watermark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.connectors.tables.contract import Changes
from scurry.functions.definition import Session
from scurry.functions.keys import group_codes
from scurry.relational.plan import Aggregate
from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.state.slots import aligned_contents
from scurry.runtime.tables.batch.aggregating import accumulator, aggregated, argument_column
from scurry.runtime.tables.batch.batches import batch_of
from scurry.runtime.tables.streaming.key_groups import by_key_group, without_group

__all__ = ["GlobalWindowAggregate", "LocalWindowAggregate", "Phases", "WindowKeys"]

#: Batches of one window and key group that are kept before they are merged.
_KEPT = 4


class WindowKeys:
    """Which columns of the input of an aggregate are its keys.

    Attributes:
        end: Position of the column window_end.
        others: Positions of the keys that are no columns of the window.
    """

    def __init__(self, end: int, others: Sequence[int]) -> None:
        """Take the positions."""
        self.end = end
        self.others = tuple(others)


class Phases:
    """The phases of an aggregate over batches: states of rows, one state of several, values of states.

    An aggregate that needs the rows themselves, as with DISTINCT, has the rows as its states.
    """

    def __init__(self, plan: Aggregate, session: Session) -> None:
        """Take the aggregate, whose keys include those of the window, and the session."""
        self._plan = plan
        self._session = session
        self._keeps_rows = any(call.distinct or call.order_by for call in plan.calls)
        self._accumulators = [] if self._keeps_rows else [accumulator(call, session) for call in plan.calls]
        self._widths: list[int] = []

    def place_of(self, column: int) -> int:
        """Return where a key column of the input is in a state."""
        return column if self._keeps_rows else self._plan.keys.index(column)

    def partial(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the states of rows."""
        if self._keeps_rows:
            return _numbered(batch.columns)
        keys = [batch.column(key) for key in self._plan.keys]
        groups, first = group_codes(keys, batch.num_rows)
        states = []
        for call, found in zip(self._plan.calls, self._accumulators, strict=True):
            columns, of = [argument_column(each, batch) for each in call.arguments], groups
            if call.filter is not None:
                kept = argument_column(call.filter, batch).fill_null(False)
                columns, of = [each.filter(kept) for each in columns], groups[np.asarray(kept)]
            states.append(found.partial(columns, of, len(first)))
        return self._states(keys, first, states)

    def merge(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Return one state for each key."""
        whole = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
        if self._keeps_rows:
            return whole
        count = len(self._plan.keys)
        keys = list(whole.columns[:count])
        groups, first = group_codes(keys, whole.num_rows)
        states, at = [], count
        for found in self._accumulators:
            width = self._width(found)
            states.append(found.merge(whole.columns[at : at + width], groups, len(first)))
            at += width
        return self._states(keys, first, states)

    def result(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of the aggregate."""
        if self._keeps_rows:
            rows = batch_of(batch.columns, self._plan.input.schema, batch.num_rows)
            return next(aggregated(self._plan, rows, self._session))
        at = len(self._plan.keys)
        columns = list(batch.columns[:at])
        for found in self._accumulators:
            width = self._width(found)
            columns.append(found.result(batch.columns[at : at + width]))
            at += width
        return batch_of(columns, self._plan.schema, batch.num_rows)

    def _width(self, found: Any) -> int:
        """Return the number of columns of a state: no state is known before rows are."""
        if not self._widths:
            empty = batch_of([pa.nulls(0)] * len(self._plan.input.schema), self._plan.input.schema, 0)
            for call, each in zip(self._plan.calls, self._accumulators, strict=True):
                columns = [argument_column(argument, empty) for argument in call.arguments]
                self._widths.append(len(each.partial(columns, np.zeros(0, dtype=np.int64), 0)))
        return self._widths[self._accumulators.index(found)]

    def _states(self, keys: Sequence[Any], first: Any, states: Sequence[Sequence[Any]]) -> pa.RecordBatch:
        heads = [key.take(pa.array(first)) for key in keys]
        return _numbered([*heads, *(_plain(column) for state in states for column in state)])


class LocalWindowAggregate:
    """Aggregate rows where they are read; a record of the result has the states of one key group."""

    def __init__(self, plan: Aggregate, keys: WindowKeys, session: Session) -> None:
        """Take the aggregate, its keys and the session."""
        self._plan = plan
        self._keys = keys
        self._session = session

    def open(self, context: Any) -> None:
        """Make the accumulators."""
        self._phases = Phases(self._plan, self._session)
        self._groups = context.get_max_number_of_parallel_subtasks()

    def flat_map(self, changes: Changes) -> list[Changes]:
        """Return the states of some rows."""
        places = [self._phases.place_of(key) for key in self._keys.others]
        return list(by_key_group(self._phases.partial(changes.batch), places, self._groups))


class GlobalWindowAggregate:
    """Merge states by key group and window; emit the windows that the watermark has passed."""

    def __init__(self, plan: Aggregate, keys: WindowKeys, session: Session) -> None:
        """Take the aggregate, its keys and the session."""
        self._plan = plan
        self._keys = keys
        self._session = session

    def open(self, context: Any) -> None:
        """Make the accumulators."""
        self._phases = Phases(self._plan, self._session)

    def process(self, rows: Changes, context: RowsContext) -> list[Changes]:
        """Keep states; drop those of windows that were emitted already."""
        batch = without_group(rows)
        column = batch.column(self._phases.place_of(self._keys.end))
        ends = np.asarray(column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()))
        for end in np.unique(ends).tolist():
            here = np.flatnonzero(ends == end)
            if end - 1 <= context.watermark:
                context.late += len(here)
                continue
            slot = aligned_contents(end)
            kept = context.state.get(slot)
            part = Changes(batch if len(here) == len(ends) else batch.take(pa.array(here)))
            if kept is None:
                context.register_timer(end - 1, end)
                context.state[slot] = [part]
            elif len(kept) < _KEPT:
                context.state[slot] = [*kept, part]
            else:
                context.state[slot] = [Changes(self._phases.merge([each.batch for each in [*kept, part]]))]
        return []

    def on_timer(self, end: int, context: RowsContext) -> list[Changes]:
        """Emit a window."""
        kept = context.state.pop(aligned_contents(end))
        return [Changes(self._phases.result(self._phases.merge([each.batch for each in kept])))]


def _plain(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _numbered(columns: Sequence[Any]) -> pa.RecordBatch:
    """Return a batch of columns whose names do not matter."""
    return pa.RecordBatch.from_arrays(list(columns), names=[f"c{place}" for place in range(len(columns))])
