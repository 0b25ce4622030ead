"""Operations on windows as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.plan.nodes import Plan, WindowTable
from scurry.sql.plan.physical import windows
from scurry.sql.planner.explain.aggregates import call_text, global_calls, local_calls
from scurry.sql.types import BigIntType


def window_text(window: windows.Window, arguments: Sequence[str], keys: Sequence[str] = ()) -> str:
    """Return a window as Flink's plans show it."""
    names = {"HOP": ("slide", "size"), "CUMULATE": ("step", "max_size"), "SESSION": ("", "gap")}
    slide, size = names.get(window.kind, ("", "size"))
    lengths = [f"{size}=[{_duration(window.size)}]"]
    if window.slide is not None and slide:
        lengths.append(f"{slide}=[{_duration(window.slide)}]")
    offset = [f"offset=[{_duration(window.offset)}]"] if window.offset else []
    return f"{window.kind}({', '.join([*arguments, *lengths, *offset, *keys])})"


def _duration(milliseconds: int) -> str:
    """Return a duration in the longest unit of which it has a whole number."""
    units = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))
    found = next(((length, unit) for length, unit in units if milliseconds % length == 0), (1, "ms"))
    return f"{milliseconds // found[0]} {found[1]}"


def table_window_text(plan: WindowTable) -> str:
    """Return the windows that rows are given as text."""
    column = plan.input.schema[plan.time]
    window = windows.Window(plan.kind, plan.size, plan.slide, plan.offset, column.type)
    text = window_text(window, [f"time_col=[{column.name}]"], _keys(plan.input, plan.partition_by or ()))
    return f"WindowTableFunction(window=[{text}])"


def _keys(plan: Plan, columns: Sequence[int]) -> list[str]:
    return [f"partition keys=[{_names(plan, columns)}]"] if columns else []


def window_aggregate_text(plan: windows.WindowAggregate) -> str:
    """Return an aggregation of windows as text."""
    time = f"{'win_end' if plan.attached else 'time_col'}=[{plan.input.schema.names[plan.time]}]"
    parts = [f"groupBy=[{_names(plan.input, plan.keys)}]"] if plan.keys else []
    of_session = plan.keys if plan.window.kind == "SESSION" and not plan.attached else ()
    parts.append(f"window=[{window_text(plan.window, [time], _keys(plan.input, of_session))}]")
    names = plan.input.schema.names
    shown = [f"{call_text(call, names)} AS {name}" for call, name in zip(plan.calls, plan.names, strict=True)]
    shown += _bounds(plan)
    keys = [plan.input.schema.names[key] for key in plan.keys]
    return f"WindowAggregate({', '.join(parts)}, select=[{', '.join([*keys, *shown])}])"


def has_two_phases(plan: windows.WindowAggregate) -> bool:
    """Return whether rows are aggregated where they are read, and their states where those of their keys are.

    The windows of the clock are those of the operator that has the keys, and so are sessions. Flink aggregates with
    user-defined functions in one phase.
    """
    if not all(isinstance(call.function, str) for call in plan.calls):
        return False
    return plan.attached or (plan.window.is_event_time and plan.window.kind != "SESSION")


def local_window_text(plan: windows.WindowAggregate) -> str:
    """Return the first phase of an aggregation of windows as text."""
    names = plan.input.schema.names
    time = f"{'win_end' if plan.attached else 'time_col'}=[{names[plan.time]}]"
    end = "window_end('w$) AS $window_end" if plan.attached else "slice_end('w$) AS $slice_end"
    return _phase_text("LocalWindowAggregate", plan, time, [*local_calls(_counted(plan), False, names), end])


def _counted(plan: windows.WindowAggregate) -> tuple[AggregateCall, ...]:
    """Return the aggregates with the count of rows by which Flink knows empty windows of HOP."""
    rows = AggregateCall("COUNT", (), BigIntType(False))
    counts = any(call.function == "COUNT" and not call.arguments and call.filter is None for call in plan.calls)
    return plan.calls if plan.window.kind != "HOP" or counts else (*plan.calls, rows)


def global_window_text(plan: windows.WindowAggregate) -> str:
    """Return the second phase of an aggregation of windows as text."""
    time = "win_end=[$window_end]" if plan.attached else "slice_end=[$slice_end]"
    calls = _counted(plan)
    if len(calls) == len(plan.calls):
        shown = [*global_calls(calls, False, plan.names), *_bounds(plan)]
        return _phase_text("GlobalWindowAggregate", plan, time, shown)
    # Flink gives the count the name of the first column behind the aggregates, and so on.
    names = [*plan.names, *(each.column.name for each in plan.columns)]
    values = [*global_calls(calls, False, [""] * len(calls)), *_bounds(plan)]
    shown = [f"{value.rpartition(' AS ')[0]} AS {name}" for value, name in zip(values, names, strict=False)]
    return _phase_text("GlobalWindowAggregate", plan, time, shown)


def _bounds(plan: windows.WindowAggregate) -> list[str]:
    return [f"{'row' if each.name == 'time' else ''}{each.name}('w$) AS {each.column.name}" for each in plan.columns]


def _phase_text(name: str, plan: windows.WindowAggregate, time: str, shown: Sequence[str]) -> str:
    parts = [f"groupBy=[{_names(plan.input, plan.keys)}]"] if plan.keys else []
    parts.append(f"window=[{window_text(plan.window, [time])}]")
    keys = [plan.input.schema.names[key] for key in plan.keys]
    return f"{name}({', '.join(parts)}, select=[{', '.join([*keys, *shown])}])"


def session_table_text(plan: windows.SessionTable) -> str:
    """Return rows with their sessions as text."""
    arguments = [f"time_col=[{plan.input.schema.names[plan.time]}]"]
    return f"WindowTableFunction(window=[{window_text(plan.window, arguments, _keys(plan.input, plan.keys))}])"


def window_rank_text(plan: windows.WindowRank) -> str:
    """Return the first rows of windows as text."""
    below = plan.input.schema.names
    window = window_text(plan.window, [f"win_end=[{below[plan.end]}]"])
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


def group_window_parts(plan: windows.GroupWindowAggregate) -> list[str]:
    """Return the keys, the window and the columns of the window of an operator of group windows as text."""
    names, window = plan.input.schema.names, plan.window
    kind = {"TUMBLE": "Tumbling", "HOP": "Sliding", "SESSION": "Session"}[window.kind]
    lengths = [str(each) for each in (window.size, window.slide) if each is not None]
    parts = [f"groupBy=[{_names(plan.input, plan.keys)}]"] if plan.keys else []
    parts.append(f"window=[{kind}GroupWindow('w$, {', '.join([names[plan.time], *lengths])})]")
    if plan.properties:
        parts.append(f"properties=[{', '.join(f'w${each}' for each in plan.properties)}]")
    return parts


def group_window_text(plan: windows.GroupWindowAggregate) -> str:
    """Return an aggregation of windows of GROUP BY as text."""
    names = plan.input.schema.names
    shown = [names[key] for key in plan.keys]
    shown += [f"{call_text(call, names)} AS {name}" for call, name in zip(plan.calls, plan.names, strict=True)]
    shown += [f"{each}('w$) AS w${each}" for each in plan.properties]
    return f"GroupWindowAggregate({', '.join(group_window_parts(plan))}, select=[{', '.join(shown)}])"


def keys_without_window(plan: windows.WindowRank) -> tuple[int, ...]:
    """Return the columns that the rows of a window are partitioned by."""
    properties = windows.window_properties(plan.input)
    known = {} if properties is None else properties.columns
    return tuple(key for key in plan.keys if key not in known)


def shown_window_rank_text(plan: windows.WindowRank) -> str:
    """Return the first rows of windows as EXPLAIN shows them."""
    below, properties = plan.input.schema.names, windows.window_properties(plan.input)
    starts = [] if properties is None else [key for key in plan.keys if properties.columns.get(key) == "start"]
    bounds = [*(f"win_start=[{below[key]}]" for key in starts[:1]), f"win_end=[{below[plan.end]}]"]
    text = window_rank_text(plan).replace(f"(win_end=[{below[plan.end]}]", f"({', '.join(bounds)}", 1)
    if isinstance(plan, windows.WindowDeduplicate):
        return text
    return f"{text.removesuffix(')')}, select=[{', '.join(plan.schema.names)}])"


def _names(plan: Plan, columns: Sequence[int]) -> str:
    return ", ".join(plan.schema.names[column] for column in columns)
