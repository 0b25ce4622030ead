"""Identities and descriptions of operators: by them a job finds the state that an earlier one has saved.

An operation takes over state with the same description. Descriptions began as texts of EXPLAIN, and stay what they were
when those of EXPLAIN change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical import ranks, windows
from scurry.sql.planner.explain.physical import physical_text

#: Operators without state: a statement may get and lose them, and the others are still found.
_ROW_WISE = frozenset({"Calc", "ConstraintEnforcer", "DropUpdateBefore", "SelectColumns"})


class Identities:
    """Number operators: those of a statement in the order they are made in, those of a compiled plan by its nodes."""

    def __init__(self, prefix: str, numbers: Mapping[Plan, int] | None) -> None:
        """Begin.

        Args:
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


#: The names of a window's lengths, by its kind: of its slide and of its size.
_LENGTHS = {"HOP": ("slide", "size"), "CUMULATE": ("step", "max_size"), "SESSION": ("", "gap")}


def state_description(plan: Plan) -> str:
    """Describe an operation and the types of its rows, whatever its results are called."""
    text = re.sub(r" AS [^ ,\])]+(?=[,\]])", "", physical_text(plan))
    types = (", ".join(kind.as_summary_string() for kind in each.schema.types) for each in plan.inputs)
    return f"{_lasting(plan, text)} over {' and '.join(f'({each})' for each in types)}"


def _lasting(plan: Plan, text: str) -> str:
    if isinstance(plan, ranks.Deduplicate):
        return re.sub(r", outputInsertOnly=\[\w+\]", "", text)
    if isinstance(plan, windows.WindowAggregate | windows.WindowRank | windows.SessionTable):
        shown = re.search(r"window=\[\w+\((\w+=\[[^]]*\]).*?\)\]", text)
        assert shown is not None, text
        text = text.replace(shown[0], f"window=[{_window(plan, shown[1])}]", 1)
    if isinstance(plan, windows.WindowAggregate):
        text = re.sub(r"(?:row)?(start|end|time)\('w\$\)", r"\1", text).replace("COUNT(*)", "COUNT()")
    return text


def _window(plan: windows.WindowAggregate | windows.WindowRank | windows.SessionTable, time: str) -> str:
    """Describe a window, given the column of its time."""
    window, arguments = plan.window, [time]
    if isinstance(plan, windows.WindowAggregate) and not plan.attached:
        arguments = ["time_col=[$time]"]
    if isinstance(plan, windows.SessionTable) and plan.keys:
        names = plan.input.schema.names
        arguments.append(f"partition keys=[{', '.join(names[key] for key in plan.keys)}]")
    slide, size = _LENGTHS.get(window.kind, ("", "size"))
    arguments += [f"{slide}=[{window.slide} ms]"] if slide else []
    arguments.append(f"{size}=[{window.size} ms]")
    arguments += [f"offset=[{window.offset} ms]"] if window.offset else []
    return f"{window.kind}({', '.join(arguments)})"
