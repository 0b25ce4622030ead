"""State that is forgotten when nothing has been written to it for some time: `table.exec.state.ttl`."""

from __future__ import annotations

from typing import Any

from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.state.slots import DOMAINS

#: The slot of the time at which state of a key was written last.
_TOUCHED = "touched"
#: The slot of the time at which an idle key is forgotten, and the namespace of its timer.
CLEANUP = "cleanup"


class Expiry:
    """Forgets the state of keys; it is not seen any more as soon as it has expired.

    Args:
        ttl: Milliseconds after which a key whose state has not been written is forgotten; 0 for never.
    """

    def __init__(self, ttl: int) -> None:
        self._ttl = ttl

    def expire(self, context: RowsContext) -> None:
        """Clear the state of the current key if it has expired."""
        touched = context.state.get(_TOUCHED) if self._ttl else None
        if touched is not None and touched + self._ttl <= context.processing_time:
            _forget(context.state)

    def touch(self, context: RowsContext) -> None:
        """Note that state of the current key is written; clear earlier state if that has expired."""
        if not self._ttl:
            return
        self.expire(context)
        state, now = context.state, context.processing_time
        if _TOUCHED not in state:
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


class IdleStateRetention:
    """Says when keys without rows are forgotten: between one and one and a half times the TTL after the last row.

    Operators that wait for event time clean up so in Flink: what they keep is seen until its timer fires.

    Args:
        ttl: Milliseconds after which a key without rows is forgotten at the earliest; 0 for never.
    """

    def __init__(self, ttl: int) -> None:
        self._least = ttl
        self._most = ttl * 3 // 2

    def touch(self, context: RowsContext) -> None:
        """Note that the current key has rows."""
        if not self._least:
            return
        state, now = context.state, context.processing_time
        known = state.get(CLEANUP)
        if known is not None and now + self._least <= known:
            return
        if known is not None:
            context.delete_processing_timer(known, CLEANUP)
        state[CLEANUP] = now + self._most
        context.register_processing_timer(now + self._most, CLEANUP)

    def is_due(self, time: int, namespace: Any, context: RowsContext) -> bool:
        """Return whether a timer that has fired means that the current key has been idle for long enough."""
        return namespace == CLEANUP and context.state.get(CLEANUP) == time


def _forget(state: dict[Any, Any]) -> None:
    for slot in [slot for slot in state if slot not in DOMAINS]:
        del state[slot]
