"""LIMIT without an order: the rows that come first."""

from __future__ import annotations

from typing import Any

from scurry.connectors.tables.contract import Changes
from scurry.relational.plan import Limit
from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.tables.streaming.partitioning import KeyedChanges

__all__ = ["FirstRows"]

_SEEN = "seen"


class FirstRows:
    """Emit some of the rows as they arrive, then nothing any more."""

    def __init__(self, plan: Limit) -> None:
        """Take the limit."""
        self._offset = plan.offset
        self._end = plan.offset + (plan.fetch or 0)

    def open(self, context: Any) -> None:
        """Do nothing."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the rows that are within the limit."""
        state = context.select(rows.keys[0])
        seen = state.get(_SEEN, 0)
        if seen >= self._end:
            return []
        batch = rows.changes.batch
        state[_SEEN] = min(seen + batch.num_rows, self._end)
        first = max(self._offset - seen, 0)
        last = min(self._end - seen, batch.num_rows)
        return [Changes(batch.slice(first, last - first))] if last > first else []

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Do nothing: there are no such timers."""

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Do nothing: there are no such timers."""

    def fired(self, context: RowsContext) -> list[Changes]:
        """Return nothing: there are no timers."""
        return []
