"""Arguments of aggregates: constants, which Flink computes as columns of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import AggregateCall, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Aggregate, Plan, Project
from scurry.sql.plan.rewriting import remapped
from scurry.sql.types import SymbolType


def columns_of_constants(plan: Plan, session: EvaluationContext) -> Plan:
    """Give aggregates that are called with constants columns of them; symbols are part of the function."""
    plan = plan.with_inputs(tuple(columns_of_constants(each, session) for each in plan.inputs))
    if not isinstance(plan, Aggregate):
        return plan
    if not any(_is_column(each) for call in plan.calls for each in call.arguments):
        return plan
    below = plan.input
    rows = below if isinstance(below, Project) else Project(below, builders.columns(below), below.schema.names)
    used: list[Expression] = [InputReference(key, rows.schema.types[key]) for key in plan.keys]
    for call in plan.calls:
        used += [
            part for part in (*call.arguments, call.filter) if isinstance(part, InputReference) or _is_column(part)
        ]
    columns: list[Expression] = list(dict.fromkeys([*used, *builders.columns(rows)]))
    places: dict[Expression, InputReference] = {
        each: InputReference(place, each.type) for place, each in enumerate(columns)
    }
    moved = {each.index: place for place, each in enumerate(columns) if isinstance(each, InputReference)}

    def called(call: AggregateCall) -> AggregateCall:
        arguments = tuple(places[each] if _is_column(each) else remapped(each, moved) for each in call.arguments)
        return replace(call, arguments=arguments, filter=None if call.filter is None else remapped(call.filter, moved))

    shown = replace(
        rows,
        expressions=tuple(
            rows.expressions[each.index] if isinstance(each, InputReference) else each for each in columns
        ),
        names=tuple(_name(rows, each, place) for place, each in enumerate(columns)),
    )
    return replace(plan, input=shown, keys=tuple(moved[key] for key in plan.keys), calls=tuple(map(called, plan.calls)))


def _name(rows: Project, column: Expression, place: int) -> str:
    name = rows.names[column.index] if isinstance(column, InputReference) else "$f"
    return f"$f{place}" if name.startswith("$f") else name


def _is_column(expression: Expression | None) -> TypeGuard[Expression]:
    return isinstance(expression, Literal) and not isinstance(expression.type, SymbolType)
