"""Descriptions of operations that savepoints contain: an operation takes over state with the same description.

They began as texts of EXPLAIN, and stay what they were when those of EXPLAIN change.
"""

from __future__ import annotations

import re

from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical import ranks, windows
from scurry.sql.planner.explain.physical import physical_text

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
