"""State that is forgotten when its key has had no rows for some time: `table.exec.state.ttl`."""

from __future__ import annotations

from typing import Any

from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.state.slots import DOMAINS

__all__ = ["Expiry"]

#: The slot of the time at which a key had its last rows.
_TOUCHED = "touched"


class Expiry:
    """Forgets the state of keys.

    Args:
        ttl: Milliseconds after which a key that has no new rows is forgotten; 0 for never.
    """

    def __init__(self, ttl: int) -> None:
        self._ttl = ttl

    def touch(self, context: RowsContext) -> None:
        """Note that the current key has rows; forget what was kept of it if that has expired."""
        if not self._ttl:
            return
        state, now = context.state, context.processing_time
        touched = state.get(_TOUCHED)
        if touched is not None and touched + self._ttl <= now:
            _forget(state)
        if touched is None:
            context.register_processing_timer(now + self._ttl, _TOUCHED)
        state[_TOUCHED] = now

    def on_processing_time(self, time: int, context: RowsContext) -> None:
        """Forget the current key if it has expired; otherwise look again when it may have."""
        touched = context.state.get(_TOUCHED)
        if touched is None:
            return
        if touched + self._ttl <= time:
            _forget(context.state)
        else:
            context.register_processing_timer(touched + self._ttl, _TOUCHED)


def _forget(state: dict[Any, Any]) -> None:
    for slot in [slot for slot in state if slot not in DOMAINS]:
        del state[slot]
