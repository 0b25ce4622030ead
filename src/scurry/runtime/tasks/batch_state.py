"""BatchState: the keyed state of an operator while a micro-batch is processed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scurry.graph.plan import OperatorPlan
from scurry.runtime.failure import operator_error
from scurry.runtime.operators import KeyedOperator, RuntimeOperator
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.store import StateSize, StateStore


@contextmanager
def writing_state(plan: OperatorPlan) -> Iterator[None]:
    """Name the operator whose state cannot be written."""
    try:
        yield
    except Exception as error:
        hint = "state values must fit their declared type and be picklable"
        raise operator_error(plan, error, hint=hint) from error


class BatchState:
    """The keyed state of one operator in a batch, in parts: large parts are written back before the end.

    Args:
        operator: The operator.
        plan: The operator.
        store: The store of the subtask.
        max_parallelism: The number of key groups.
        state_bytes: About how many bytes the state of a part may take up in memory.

    Attributes:
        backend: The state of the part that has begun.
    """

    def __init__(
        self, operator: RuntimeOperator, plan: OperatorPlan, store: StateStore, max_parallelism: int, state_bytes: int
    ) -> None:
        self._operator, self._plan, self._store = operator, plan, store
        self._max_parallelism, self._state_bytes = max_parallelism, state_bytes
        self._written = self._merged = 0
        self.backend = self._begun()

    def _begun(self) -> KeyedStateBackend:
        return KeyedStateBackend(self._plan.uid, self._store, self._max_parallelism, state_bytes=self._state_bytes)

    def bind(self, watermark: int) -> None:
        """Let the operator use the state; the part begins at this watermark."""
        if isinstance(self._operator, KeyedOperator):
            self._operator.bind(self.backend, watermark)

    def cut(self, now: int) -> None:
        """Begin another part: write back the state of this one, and forget it."""
        assert isinstance(self._operator, KeyedOperator)
        self._operator.emit_after_timers()
        self.end(now)
        self.backend = self._begun()
        self.bind(self._operator.current_watermark)

    def end(self, now: int) -> StateSize | None:
        """Write back the state; return its size, and the bytes written by all parts, None if that is unknown.

        Args:
            now: The time in milliseconds, by which state expires.
        """
        if isinstance(self._operator, KeyedOperator):
            self._operator.write_back()
        with writing_state(self._plan):
            size = self.backend.flush(now)
        self.backend.forget()
        if size is None:
            return None
        self._written += size.written
        self._merged += size.merged
        return StateSize(size.total, self._written, self._merged)
