"""Compute the keys of joins below the joins, so that they are columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.calls import all_of
from scurry.sql.plan.expressions import Call, Expression, InputReference
from scurry.sql.plan.join_keys import split_condition
from scurry.sql.plan.nodes import Join, Plan, Project, TemporalJoin
from scurry.sql.plan.rewriting import remapped
from scurry.sql.types import BooleanType


def equal_columns(plan: Plan, session: EvaluationContext) -> Plan:
    """Let the equalities of joins be between columns: rows are exchanged and found by columns."""
    plan = plan.with_inputs(tuple(equal_columns(each, session) for each in plan.inputs))
    return _with_columns(plan) if isinstance(plan, Join | TemporalJoin) else plan


def _with_columns(plan: Join | TemporalJoin) -> Plan:
    width = len(plan.left.schema)
    equal, rest = split_condition(plan.condition, width)
    if all(isinstance(side, InputReference) for each in equal for side in (each.left, each.right)):
        return plan
    left, lefts = _appended(plan.left, [each.left for each in equal])
    right, rights = _appended(plan.right, [each.right for each in equal])
    offset = len(left.schema)
    places = [*range(width), *(offset + place for place in range(len(plan.right.schema)))]
    conditions: list[Expression] = [
        Call(
            "IS NOT DISTINCT FROM" if each.null_equals_null else "=",
            (builders.column(left, one), InputReference(offset + other, right.schema[other].type)),
            BooleanType(),
        )
        for each, one, other in zip(equal, lefts, rights, strict=True)
    ]
    if rest is not None:
        conditions.append(remapped(rest, places))
    condition = all_of(conditions, EvaluationContext())
    joined = replace(plan, left=left, right=right, condition=condition)
    kept = places[: len(plan.schema)]
    return builders.project(joined, [builders.column(joined, place) for place in kept], plan.schema.names)


def _appended(plan: Plan, expressions: Sequence[Expression]) -> tuple[Plan, list[int]]:
    """Return a plan with columns of expressions, and the positions of all of them."""
    columns: list[Expression] = list(builders.columns(plan))
    places: list[int] = []
    names = list(plan.schema.names)
    for each in expressions:
        if isinstance(each, InputReference):
            places.append(each.index)
            continue
        places.append(len(columns))
        names.append(f"$f{len(columns)}")
        columns.append(each)
    return (Project(plan, tuple(columns), tuple(names)) if len(columns) > len(plan.schema) else plan), places
