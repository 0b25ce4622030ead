"""State that is forgotten when nothing has been written to it for some time: `table.exec.state.ttl`."""

from __future__ import annotations

from typing import Any

from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.runtime.state.slots import DOMAINS

#: The slot of the time at which state of a key was written last.
_TOUCHED = "touched"
#: The slot of the time at which an idle key is forgotten, and the namespace of its timer.
CLEANUP = "cleanup"


class StateTtl:
    """The time to live of state that is kept with the time at which it was written last.

    Attributes:
        milliseconds: How long state that is not written again stays; 0 for ever.
    """

    def __init__(self, milliseconds: int) -> None:
        self.milliseconds = milliseconds

    def now(self, context: RowsContext) -> int:
        """Return the time to keep with state that is written; 0 if it does not expire."""
        return context.processing_time if self.milliseconds else 0

    def has_expired(self, written: int, time: int) -> bool:
        return bool(self.milliseconds) and written + self.milliseconds <= time

    def register(self, written: int, context: RowsContext, namespace: Any = None) -> None:
        """Register the timer of the current key at which state expires that is new."""
        if self.milliseconds:
            context.register_processing_timer(written + self.milliseconds, namespace)

    def is_over(self, written: int, time: int, context: RowsContext, namespace: Any = None) -> bool:
        """Return whether state has expired at the time of its timer; otherwise look again when it may have."""
        if self.has_expired(written, time):
            return True
        self.register(written, context, namespace)
        return False


class Expiry:
    """Forgets the state of keys; it is not seen any more as soon as it has expired.

    Args:
        ttl: Milliseconds after which a key whose state has not been written is forgotten; 0 for never.
    """

    def __init__(self, ttl: int) -> None:
        self._ttl = StateTtl(ttl)

    def expire(self, context: RowsContext) -> None:
        """Clear the state of the current key if it has expired."""
        touched = context.state.get(_TOUCHED) if self._ttl.milliseconds else None
        if touched is not None and self._ttl.has_expired(touched, context.processing_time):
            _forget(context.state)

    def touch(self, context: RowsContext) -> None:
        """Note that state of the current key is written; clear earlier state if that has expired."""
        if not self._ttl.milliseconds:
            return
        self.expire(context)
        state, now = context.state, context.processing_time
        if _TOUCHED not in state:
            self._ttl.register(now, context, _TOUCHED)
        state[_TOUCHED] = now

    def on_processing_time(self, time: int, context: RowsContext) -> None:
        """Forget the current key if it has expired; otherwise look again when it may have."""
        touched = context.state.get(_TOUCHED)
        if touched is not None and self._ttl.is_over(touched, time, context, _TOUCHED):
            _forget(context.state)


class ExpiringFunction(KeyedRowsFunction):
    """A function that forgets the state of keys to which nothing has been written for some time.

    Args:
        ttl: Milliseconds after which a key without new rows is forgotten; 0 for never.
    """

    def __init__(self, ttl: int) -> None:
        self._expiry = Expiry(ttl)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Forget the current key if nothing has been written to it for long enough."""
        self._expiry.on_processing_time(time, context)


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
