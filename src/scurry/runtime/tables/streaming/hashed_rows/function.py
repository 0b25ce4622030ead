"""What functions of operators have in common that keep their rows in columns."""

from __future__ import annotations

from typing import Any

from scurry.connectors.tables.contract import Changes
from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.tables.streaming.hashed_rows.pages import HashedRows

__all__ = ["HashedRowsFunction"]


class HashedRowsFunction:
    """A function without timers; `process` makes the rows of a micro-batch when it needs them."""

    def open(self, context: Any) -> None:
        """Begin without rows in memory."""
        self._rows: HashedRows | None = None

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Do nothing: there are no timers."""

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Do nothing: there are no timers."""

    def fired(self, context: RowsContext) -> list[Changes]:
        """Return nothing."""
        return []

    def settle(self, context: RowsContext) -> None:
        """Write the rows that were added."""
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.settle()
