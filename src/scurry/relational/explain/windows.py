"""Operations on windows as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.relational.explain.logical import expression_text
from scurry.relational.physical import windows
from scurry.relational.plan import Plan

__all__ = ["session_table_text", "window_aggregate_text", "window_rank_text"]


def _window_text(window: windows.Window, arguments: Sequence[str]) -> str:
    """Return a window as Flink's plans show it."""
    names = {"HOP": ("slide", "size"), "CUMULATE": ("step", "max_size"), "SESSION": ("", "gap")}
    of_kind = names.get(window.kind, ("", "size"))
    lengths = [f"{name}=[{value} ms]" for name, value in zip(of_kind, (window.slide, window.size), strict=True) if name]
    offset = [f"offset=[{window.offset} ms]"] if window.offset else []
    return f"{window.kind}({', '.join([*arguments, *lengths, *offset])})"


def window_aggregate_text(plan: windows.WindowAggregate) -> str:
    """Return an aggregation of windows as text."""
    time = f"{'win_end' if plan.attached else 'time_col'}=[{plan.input.schema.names[plan.time]}]"
    parts = [f"groupBy=[{_names(plan.input, plan.keys)}]"] if plan.keys else []
    parts.append(f"window=[{_window_text(plan.window, [time])}]")
    shown = [
        f"{expression_text(call, plan.input.schema.names)} AS {name}"
        for call, name in zip(plan.calls, plan.names, strict=True)
    ]
    shown += [f"{each.name} AS {each.column.name}" for each in plan.columns]
    keys = [plan.input.schema.names[key] for key in plan.keys]
    return f"WindowAggregate({', '.join(parts)}, select=[{', '.join([*keys, *shown])}])"


def session_table_text(plan: windows.SessionTable) -> str:
    """Return rows with their sessions as text."""
    keys = [f"partition keys=[{_names(plan.input, plan.keys)}]"] if plan.keys else []
    arguments = [f"time_col=[{plan.input.schema.names[plan.time]}]", *keys]
    return f"WindowTableFunction(window=[{_window_text(plan.window, arguments)}])"


def window_rank_text(plan: windows.WindowRank) -> str:
    """Return the first rows of windows as text."""
    below = plan.input.schema.names
    window = _window_text(plan.window, [f"win_end=[{below[plan.end]}]"])
    properties = windows.window_properties(plan.input)
    known = {} if properties is None else properties.columns
    keys = _names(plan.input, [key for key in plan.keys if key not in known])
    order = ", ".join(f"{below[key.index]} {'DESC' if key.descending else 'ASC'}" for key in plan.order)
    if isinstance(plan, windows.WindowDeduplicate):
        keep = "LastRow" if plan.order[0].descending else "FirstRow"
        return (
            f"WindowDeduplicate(window=[{window}], keep=[{keep}], partitionKeys=[{keys}], "
            f"orderKey=[{below[plan.order[0].index]}], order=[ROWTIME])"
        )
    return (
        f"WindowRank(window=[{window}], rankType=[ROW_NUMBER], "
        f"rankRange=[rankStart={plan.first}, rankEnd={plan.last}], partitionBy=[{keys}], orderBy=[{order}])"
    )


def _names(plan: Plan, columns: Sequence[int]) -> str:
    return ", ".join(plan.schema.names[column] for column in columns)
