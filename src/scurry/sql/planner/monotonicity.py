"""Monotonicity of columns under updates, derived as by Flink's `FlinkRelMdModifiedMonotonicity`.

MIN and MAX need not take rows back whose values only get better, and Top-N need not look for rows that only move up.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.expressions import AggregateCall, Call, Expression, InputReference
from scurry.sql.plan.join_keys import split_condition
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical import aggregates, joins, over, ranks, windows
from scurry.sql.plan.rewriting import substituted
from scurry.sql.planner.column_intervals import column_interval


class Monotonicity(enum.Enum):
    """The direction in which updates change a column."""

    CONSTANT = "CONSTANT"
    INCREASING = "INCREASING"
    DECREASING = "DECREASING"
    NOT_MONOTONIC = "NOT_MONOTONIC"


_CONSTANT, _INCREASING, _DECREASING, _NOT = Monotonicity
Columns = tuple[Monotonicity, ...]


def modified_monotonicity(plan: Plan) -> Columns | None:
    """Return the direction of each column of a plan; None if its rows may be deleted."""
    handler = _HANDLERS.get(type(plan))
    return None if handler is None else handler(plan)


def never_retracted(plan: nodes.Aggregate) -> tuple[bool, ...]:
    """Return for each aggregate whether no row is retracted from it: a MAX of growing, a MIN of shrinking values."""
    found = modified_monotonicity(plan)
    if found is None:
        return (False,) * len(plan.calls)
    directions = found[len(plan.schema) - len(plan.calls) :]
    return tuple(
        not call.distinct and properties_of(call.function).selects_value and _growth(call) is direction is not _NOT
        for call, direction in zip(plan.calls, directions, strict=True)
    )


def _constants(plan: Plan) -> Columns:
    return (_CONSTANT,) * len(plan.schema)


def _only_adds(columns: Columns | None) -> bool:
    return columns is not None and all(each is _CONSTANT for each in columns)


def _scan(plan: nodes.Scan) -> Columns | None:
    return _constants(plan) if plan.changes == "INSERT" else None


def _project(plan: nodes.Project) -> Columns | None:
    below = modified_monotonicity(plan.input)
    if below is None or _only_adds(below):
        return None if below is None else _constants(plan)
    sources = map(_source, plan.expressions)
    return tuple(_NOT if source is None else below[source] for source in sources)


def _source(expression: Expression) -> int | None:
    """Return the column that an expression is, also as another type."""
    while isinstance(expression, Call) and expression.function == "CAST":
        expression = expression.arguments[0]
    return expression.index if isinstance(expression, InputReference) else None


def _filter(plan: nodes.Filter) -> Columns | None:
    found = modified_monotonicity(plan.input)
    if found is None:
        return None
    condition, below = plan.condition, plan.input
    while isinstance(below, nodes.Project):
        condition, below = substituted(condition, below.expressions), below.input
    columns = modified_monotonicity(below)
    return (_NOT,) * len(found) if columns is None or _stops_passing(condition, columns) else found


def _stops_passing(condition: Expression, columns: Columns) -> bool:
    """Return whether a row that passes a condition may not pass after an update."""
    if isinstance(condition, InputReference):
        return columns[condition.index] is not _CONSTANT
    if not isinstance(condition, Call):
        return False
    if condition.function in ("AND", "OR"):
        return any(_stops_passing(each, columns) for each in condition.arguments)
    sources = [source for source in map(_source, condition.arguments) if source is not None]
    moving = [columns[source] for source in sources if columns[source] is not _CONSTANT]
    if condition.function in (">", ">="):
        return bool(moving) and moving[0] is not _INCREASING
    if condition.function in ("<", "<="):
        return bool(moving) and moving[0] is not _DECREASING
    if condition.function in ("=", "<>", "IN", "NOT IN"):
        return bool(moving)
    if condition.function in ("NOT", "IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE"):
        return _stops_passing(condition.arguments[0], columns)
    return False


def _aggregate(plan: nodes.Aggregate) -> Columns | None:
    below = modified_monotonicity(plan.input)
    if below is None or any(below[key] is not _CONSTANT for key in plan.keys):
        return None
    directions = [_of_call(call, plan.input) for call in plan.calls]
    if not _only_adds(below):
        directions = [
            _among_updates(call, direction, below) for call, direction in zip(plan.calls, directions, strict=True)
        ]
    return (_CONSTANT,) * (len(plan.schema) - len(plan.calls)) + tuple(directions)


def _growth(call: AggregateCall) -> Monotonicity:
    return {1: _INCREASING, -1: _DECREASING, 0: _NOT}[properties_of(call.function).growth]


def _of_call(call: AggregateCall, plan: Plan) -> Monotonicity:
    """Return the direction of an aggregate to which rows are only added."""
    if properties_of(call.function).growth:
        return _growth(call)
    if call.function != "SUM" or not isinstance(call.arguments[0], InputReference):
        return _NOT
    added = column_interval(plan, call.arguments[0].index)
    if added.lower is not None:
        return _INCREASING if added.lower >= 0 else _NOT
    return _DECREASING if added.upper is not None and added.upper <= 0 else _NOT


def _among_updates(call: AggregateCall, direction: Monotonicity, below: Columns) -> Monotonicity:
    if not call.arguments or (call.function == "COUNT" and len(call.arguments) == 1):
        return direction
    source = _source(call.arguments[0])
    agrees = len(call.arguments) == 1 and source is not None and below[source] is direction
    return direction if agrees else _NOT


def _join(plan: nodes.Join | joins.RegularJoin) -> Columns | None:
    if plan.kind == "ANTI":
        return None
    left, right = modified_monotonicity(plan.left), modified_monotonicity(plan.right)
    if left is None or right is None:
        return None
    if isinstance(plan, joins.RegularJoin):
        keys: Sequence[tuple[Any, Any]] = [(key.left, key.right) for key in plan.keys]
        rest: Any = plan.rest
    else:
        equal, rest = split_condition(plan.condition, len(left))
        keys = [(_source(each.left), _source(each.right)) for each in equal]
    for one, other in keys:
        if one is None or other is None or left[one] is not _CONSTANT or right[other] is not _CONSTANT:
            return None
    if rest and not (_only_adds(left) and _only_adds(right)):
        return None
    return left if plan.kind == "SEMI" else left + right


def _set_operation(plan: nodes.SetOperation) -> Columns | None:
    if plan.kind != "UNION" or not plan.all:
        return None
    branches = [modified_monotonicity(each) for each in plan.branches]
    if any(each is None for each in branches):
        return None
    return branches[0] if len(set(branches)) == 1 else (_NOT,) * len(plan.schema)


def _deduplicate(plan: ranks.Deduplicate) -> Columns | None:
    if not _only_adds(modified_monotonicity(plan.input)):
        return None
    if not plan.keep_last and not plan.has_event_time:
        return _constants(plan)
    return tuple(_CONSTANT if column in plan.keys else _NOT for column in range(len(plan.schema)))


def _rank(plan: ranks.Rank) -> Columns | None:
    below = modified_monotonicity(plan.input)
    if below is None or any(below[column] is not _CONSTANT for column in plan.partition_by):
        return None
    found = [_CONSTANT if column in plan.partition_by else _NOT for column in range(len(below))]
    if plan.order_by:
        first = plan.order_by[0]
        direction = _INCREASING if first.descending else _DECREASING
        found[first.index] = direction if below[first.index] in (direction, _CONSTANT) else _NOT
    return tuple(found) if plan.number is None else (*found, _CONSTANT)


def _passed(plan: Any) -> Columns | None:
    below = modified_monotonicity(plan.input)
    if below is None:
        return None
    return (_CONSTANT if _only_adds(below) else _NOT,) * len(plan.schema)


_HANDLERS: dict[type[Plan], Callable[[Any], Columns | None]] = {
    aggregates.Expand: _passed,
    joins.IntervalJoin: _constants,
    joins.LookupJoin: _passed,
    joins.RegularJoin: _join,
    joins.WindowJoin: _constants,
    nodes.Aggregate: _aggregate,
    nodes.Filter: _filter,
    nodes.Join: _join,
    nodes.Project: _project,
    nodes.Scan: _scan,
    nodes.SetOperation: _set_operation,
    nodes.TableFunctionScan: _passed,
    nodes.Unnest: _passed,
    nodes.Values: _constants,
    nodes.WindowTable: _passed,
    over.OverAggregate: _constants,
    ranks.Deduplicate: _deduplicate,
    ranks.Rank: _rank,
    windows.WindowAggregate: _constants,
    windows.WindowDeduplicate: _constants,
    windows.WindowRank: _constants,
}
