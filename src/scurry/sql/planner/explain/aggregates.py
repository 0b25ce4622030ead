"""Aggregates of groups as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scurry._dataclasses import dataclass
from scurry.sql.functions.aggregate.catalogue import properties_of, state_names
from scurry.sql.plan.expressions import AggregateCall, Expression
from scurry.sql.plan.nodes import Aggregate
from scurry.sql.plan.physical.aggregates import Expand, GlobalGroupAggregate, LocalGroupAggregate
from scurry.sql.planner.explain.expressions import expression_text


def group_aggregate_text(plan: Aggregate, retracted: Sequence[bool] = ()) -> str:
    """Return an aggregation of groups as text.

    Args:
        retracted: For each aggregate whether it takes rows back; empty if none does.
    """
    names = plan.input.schema.names
    keys = [names[key] for key in plan.keys]
    suffixes = ["_RETRACT" if each else "" for each in retracted or [False] * len(plan.calls)]
    named = zip(plan.calls, suffixes, plan.names, strict=True)
    calls = [f"{call_text(call, names, suffix)} AS {name}" for call, suffix, name in named]
    hint = "" if plan.state_ttl is None else f", stateTtlHints=[[[STATE_TTL options:[{plan.state_ttl}ms]]]]"
    return f"GroupAggregate({_grouped(keys)}select=[{', '.join([*keys, *calls])}]{hint})"


def local_text(plan: LocalGroupAggregate) -> str:
    """Return the first phase of an aggregation as text."""
    names = plan.input.schema.names
    keys = [names[key] for key in plan.keys]
    made = local_calls(plan.calls, plan.retracts, names)
    return f"LocalGroupAggregate({_grouped(keys)}select=[{', '.join([*keys, *made])}])"


def local_calls(calls: Sequence[AggregateCall], retracts: bool, names: Sequence[str]) -> list[str]:
    """Return the aggregates of the local phase as text; `names` are the columns of its input."""
    made, counter = [], -1
    for each in _phases(calls, retracts):
        arguments = ", ".join(expression_text(argument, names) for argument in each.call.arguments) or "*"
        shown = f"{each.function}({each.view}{arguments})"
        if each.call.filter is not None:
            shown += f" FILTER {expression_text(each.call.filter, names)}"
        made.append(f"{shown} AS {each.state}")
        counter = each.last
    if retracts and not any(_counts_rows(call) for call in calls):
        made.append(f"COUNT_RETRACT(*) AS count1${counter + 1}")
    for number, different in enumerate(_views(calls)):
        made.append(f"DISTINCT({', '.join(expression_text(each, names) for each in different)}) AS distinct${number}")
    return made


def global_text(plan: GlobalGroupAggregate) -> str:
    """Return the second phase of an aggregation as text."""
    keys = [plan.schema.names[key] for key in plan.keys]
    merged = global_calls(plan.aggregate.calls, plan.retracts, plan.aggregate.names)
    ttl = plan.aggregate.state_ttl
    hint = "" if ttl is None else f", stateTtlHints=[[[STATE_TTL options:[{ttl}ms]]]]"
    return f"GlobalGroupAggregate({_grouped(keys)}select=[{', '.join([*keys, *merged])}]{hint})"


def global_calls(calls: Sequence[AggregateCall], retracts: bool, names: Sequence[str]) -> list[str]:
    """Return the aggregates of the global phase as text; their input is the states of the local phase."""
    return [
        f"{each.function}({each.view}{each.state}) AS {name}"
        for each, name in zip(_phases(calls, retracts), names, strict=True)
    ]


@dataclass(frozen=True)
class _Phase:
    """An aggregate as the lines of its local and its global phase show it.

    Attributes:
        view: The set of different arguments that it is of, and a space; empty if it is of all of them.
        last: The number of the last part of its state.
    """

    call: AggregateCall
    function: str
    view: str
    state: str
    last: int


def _phases(calls: Sequence[AggregateCall], retracts: bool) -> Iterator[_Phase]:
    views, number = _views(calls), 0
    for call in calls:
        parts = state_parts(call, retracts)
        named = [f"{part}${number + place}" for place, part in enumerate(parts)]
        number += len(parts)
        state = named[0] if len(named) == 1 else f"({', '.join(named)})"
        view = f"distinct${views.index(call.arguments)} " if _is_distinct(call) else ""
        yield _Phase(call, f"{call.function}{'_RETRACT' if retracts else ''}", view, state, number - 1)


def state_parts(call: AggregateCall, retracts: bool) -> tuple[str, ...]:
    """Return Flink's names of the columns of the state of an aggregate."""
    if call.function == "COUNT" and not call.arguments:
        return ("count1",)
    return state_names(call.function, retracts)


def _views(calls: Sequence[AggregateCall]) -> list[tuple[Expression, ...]]:
    return list(dict.fromkeys(call.arguments for call in calls if _is_distinct(call)))


def _is_distinct(call: AggregateCall) -> bool:
    return call.distinct and not properties_of(call.function).distinct_free


def _counts_rows(call: AggregateCall) -> bool:
    return call.function == "COUNT" and not call.arguments and call.filter is None


def _grouped(keys: Sequence[str]) -> str:
    return f"groupBy=[{', '.join(keys)}], " if keys else ""


def call_text(call: AggregateCall, names: Sequence[str], suffix: str = "") -> str:
    """Return an aggregate over columns with names as text; `suffix` stands behind its own name."""
    arguments = ", ".join(expression_text(each, names) for each in call.arguments) or "*"
    shown = f"{call.function}{suffix}({'DISTINCT ' if call.distinct else ''}{arguments})"
    return shown if call.filter is None else f"{shown} FILTER {expression_text(call.filter, names)}"


def expand_text(plan: Expand) -> str:
    """Return rows that are repeated for each grouping set as text."""
    names = plan.input.schema.names
    projects = []
    for number, grouping_set in zip(plan.numbers, plan.grouping_sets, strict=True):
        left_out = {key for place, key in enumerate(plan.keys) if place not in grouping_set}
        shown = [f"null AS {name}" if place in left_out else name for place, name in enumerate(names)]
        shown += [f"{number} AS $e", *(f"{names[key]} AS {names[key]}_0" for key in plan.copied)]
        projects.append(f"{{{', '.join(shown)}}}")
    return f"Expand(projects=[{', '.join(projects)}])"
