"""LIMIT without an order: the rows that come first."""

from __future__ import annotations

from typing import Any

from scurry.runtime.operators.rows import RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.operators.expiry import ExpiringFunction
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.nodes import Limit

_SEEN = "seen"


class FirstRows(ExpiringFunction):
    """Emit some of the rows as they arrive, then nothing any more."""

    def __init__(self, plan: Limit, ttl: int) -> None:
        super().__init__(ttl)
        self._offset = plan.offset
        self._end = plan.offset + (plan.fetch or 0)

    def open(self, context: Any) -> None:
        """Do nothing."""

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Return the rows that are within the limit."""
        state = context.select(rows.keys[0])
        self._expiry.expire(context)
        seen = state.get(_SEEN, 0)
        if seen >= self._end:
            return []
        self._expiry.touch(context)
        batch = rows.changes.batch
        state[_SEEN] = min(seen + batch.num_rows, self._end)
        first = max(self._offset - seen, 0)
        last = min(self._end - seen, batch.num_rows)
        return [Changes(batch.slice(first, last - first))] if last > first else []
