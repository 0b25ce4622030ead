"""Operations on windows as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical import windows
from scurry.sql.planner.explain.aggregates import global_calls, local_calls
from scurry.sql.planner.explain.logical import expression_text

__all__ = [
    "global_window_text",
    "has_two_phases",
    "local_window_text",
    "session_table_text",
    "window_aggregate_text",
    "window_rank_text",
]


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


def has_two_phases(plan: windows.WindowAggregate) -> bool:
    """Say whether rows are aggregated where they are read, and their states where those of their keys are.

    The windows of the clock are those of the operator that has the keys, and so are sessions. Flink aggregates with
    functions of users in one phase.
    """
    if not all(isinstance(call.function, str) for call in plan.calls):
        return False
    return plan.attached or (plan.window.is_event_time and plan.window.kind != "SESSION")


def local_window_text(plan: windows.WindowAggregate) -> str:
    """Return the first phase of an aggregation of windows as text."""
    names = plan.input.schema.names
    time = f"{'win_end' if plan.attached else 'time_col'}=[{names[plan.time]}]"
    end = "window_end('w$) AS $window_end" if plan.attached else "slice_end('w$) AS $slice_end"
    return _phase_text("LocalWindowAggregate", plan, time, [*local_calls(plan.calls, False, names), end])


def global_window_text(plan: windows.WindowAggregate) -> str:
    """Return the second phase of an aggregation of windows as text."""
    time = "win_end=[$window_end]" if plan.attached else "slice_end=[$slice_end]"
    bounds = [f"{'row' if each.name == 'time' else ''}{each.name}('w$) AS {each.column.name}" for each in plan.columns]
    return _phase_text("GlobalWindowAggregate", plan, time, [*global_calls(plan.calls, False, plan.names), *bounds])


def _phase_text(name: str, plan: windows.WindowAggregate, time: str, shown: Sequence[str]) -> str:
    parts = [f"groupBy=[{_names(plan.input, plan.keys)}]"] if plan.keys else []
    parts.append(f"window=[{_window_text(plan.window, [time])}]")
    keys = [plan.input.schema.names[key] for key in plan.keys]
    return f"{name}({', '.join(parts)}, select=[{', '.join([*keys, *shown])}])"


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
