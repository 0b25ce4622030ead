"""Identities of operators: by them a job finds the state that an earlier one has saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from scurry.sql.plan.nodes import Plan

#: Operators without state: a statement may get and lose them, and the others are still found.
_ROW_WISE = frozenset({"Calc", "ConstraintEnforcer", "DropUpdateBefore", "SelectColumns"})


class Identities:
    """Number operators: those of a statement in the order they are made in, those of a compiled plan by its nodes."""

    def __init__(self, prefix: str, numbers: Mapping[Plan, int] | None) -> None:
        """Begin.

        Args:
            prefix: What all identities begin with.
            numbers: The numbers of a compiled plan's nodes; None for a statement.
        """
        self._prefix = prefix
        self._numbers = numbers
        self._made: Counter[str] = Counter()
        self._counts = {True: 0, False: 0}
        self._current = 0

    def number(self, plan: Plan) -> int:
        """Return the number of a node; that of the node around it if it has none of its own."""
        return self._current if self._numbers is None else self._numbers.get(plan, self._current)

    @contextmanager
    def of(self, plan: Plan) -> Iterator[None]:
        """Let operators that are made meanwhile be those of a node."""
        before, self._current = self._current, self.number(plan)
        try:
            yield
        finally:
            self._current = before

    def next(self, name: str) -> str:
        if self._numbers is None:
            is_row_wise = name in _ROW_WISE
            self._counts[is_row_wise] += 1
            return f"{self._prefix}{self._counts[is_row_wise]}_{name}"
        uid = f"{self._prefix}{self._current}_{name}"
        self._made[uid] += 1
        return uid if self._made[uid] == 1 else f"{uid}_{self._made[uid]}"
