"""Remove empty plans: the empty sides of joins and set operations, and all plans that read only them.

A global aggregate of no rows is its one row, in STREAMING too, where Flink's operator would have none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import AggregateCall, Expression, Literal
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.models import VectorSearch
from scurry.sql.plan.nodes import (
    Aggregate,
    Filter,
    Join,
    Limit,
    Plan,
    Project,
    SetOperation,
    Sort,
    TableFunctionScan,
    Unnest,
    Values,
    WindowTable,
)
from scurry.sql.plan.schema import Schema


def prune_empty(plan: Plan, session: EvaluationContext) -> Plan:
    """Replace plans that have no rows by no rows, as Calcite does: they have no operators, and no state."""
    plan = plan.with_inputs(tuple(prune_empty(each, session) for each in plan.inputs))
    handler = _HANDLERS.get(type(plan))
    return plan if handler is None else handler(plan)


def _is_empty(plan: Plan) -> bool:
    return isinstance(plan, Values) and not plan.rows


def _nothing(plan: Plan) -> Plan:
    return Values(plan.schema, ())


def _never_holds(condition: Expression | None) -> bool:
    return any(isinstance(each, Literal) and not each.value for each in conjuncts(condition))


def _passing(plan: Any) -> Plan:
    return _nothing(plan) if _is_empty(plan.input) else plan


def _filter(plan: Filter) -> Plan:
    return _nothing(plan) if _never_holds(plan.condition) or _is_empty(plan.input) else plan


def _limit(plan: Limit) -> Plan:
    return _nothing(plan) if plan.fetch == 0 or _is_empty(plan.input) else plan


def _aggregate(plan: Aggregate) -> Plan:
    if not _is_empty(plan.input):
        return plan
    if () not in plan.grouping_sets:
        return _nothing(plan)
    values = [_of_nothing(each) for each in plan.calls]
    if plan.keys or not plan.is_simple or None in values:
        return plan
    # In STREAMING the operator would have no row before its input has one.
    return Values(plan.schema, (tuple(each for each in values if each is not None),))


def _of_nothing(call: AggregateCall) -> Literal | None:
    """Return the value of an aggregate of no rows, None for those that Calcite leaves alone."""
    known = properties_of(call.function)
    return Literal(known.value_of_nothing, call.type) if known.is_constant_of_nothing else None


def _join(plan: Join) -> Plan:
    never = _never_holds(plan.condition)
    left, right = _is_empty(plan.left), _is_empty(plan.right)
    match plan.kind:
        case "INNER" | "SEMI" if left or right or never:
            return _nothing(plan)
        case "LEFT" | "ANTI" if left:
            return _nothing(plan)
        case "RIGHT" if right:
            return _nothing(plan)
        case "FULL" if left and right:
            return _nothing(plan)
        case "ANTI" if right or never:
            return plan.left
        case "LEFT" | "FULL" if right or (never and plan.kind == "LEFT"):
            return _filled(plan, plan.left, 0)
        case "RIGHT" | "FULL" if left or (never and plan.kind == "RIGHT"):
            return _filled(plan, plan.right, len(plan.left.schema))
    return plan


def _filled(plan: Join, side: Plan, first: int) -> Plan:
    """Return the rows of a side of a join, with NULLs for the columns of the other one."""
    columns = [
        builders.column(side, place - first) if first <= place < first + len(side.schema) else Literal(None, each)
        for place, each in enumerate(plan.schema.types)
    ]
    return Project(side, tuple(columns), plan.schema.names)


def _set_operation(plan: SetOperation) -> Plan:
    first, *others = plan.branches
    if plan.kind == "INTERSECT":
        return _nothing(plan) if any(map(_is_empty, plan.branches)) else plan
    if plan.kind == "EXCEPT" and _is_empty(first):
        return _nothing(plan)
    kept = [each for each in others if not _is_empty(each)]
    if plan.kind == "EXCEPT" or not _is_empty(first):
        kept.insert(0, first)
    if not kept:
        return _nothing(plan)
    if len(kept) == len(plan.branches):
        return plan
    if len(kept) > 1:
        return SetOperation(plan.kind, plan.all, tuple(kept), plan.row_schema)
    if not _has_types(kept[0], plan.schema):
        return plan
    rows = builders.project(kept[0], builders.columns(kept[0]), plan.schema.names)
    return rows if plan.all else builders.distinct(rows)


def _has_types(plan: Plan, schema: Schema) -> bool:
    return plan.schema.types == schema.types


_HANDLERS: dict[type, Callable[[Any], Plan]] = {
    Aggregate: _aggregate,
    Filter: _filter,
    Join: _join,
    Limit: _limit,
    Project: _passing,
    SetOperation: _set_operation,
    Sort: _passing,
    TableFunctionScan: _passing,
    Unnest: _passing,
    VectorSearch: _passing,
    WindowTable: _passing,
}
