"""Rows written in the query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Plan, Project, SetOperation, Values
from scurry.sql.plan.rewriting import all_substituted
from scurry.sql.plan.schema import Schema
from scurry.sql.types import DataType


def named_values(plan: Plan, session: EvaluationContext) -> Plan:
    """Give rows that are written the names that a query gives their columns; compute rows that are no constants."""
    if isinstance(plan, Project) and isinstance(plan.input, Values):
        values = plan.input
        if _is_computed(values):
            return _numbered(values) if _only_names(plan) else _union(values, plan.expressions, plan.names)
        if values.rows and values.schema.columns and _only_names(plan):
            return replace(values, row_schema=Schema.of(plan.names, values.schema.types))
        return plan
    if isinstance(plan, Values) and _is_computed(plan):
        return _numbered(plan)
    return plan.with_inputs(tuple(named_values(each, session) for each in plan.inputs))


def _is_computed(plan: Values) -> bool:
    return bool(plan.schema.columns) and len(plan.rows) > 1 and not all(map(is_written, plan.rows))


def named_columns_of_values(plan: Plan, session: EvaluationContext) -> Plan:
    """Give rows that are written the names that a query gives their columns; the query itself selects them, too."""
    if isinstance(plan, Project) and isinstance(plan.input, Values):
        named = _named(plan)
        return named if named is plan else replace(plan, input=named)
    return plan.with_inputs(tuple(map(_named_below, plan.inputs)))


def _named_below(plan: Plan) -> Plan:
    return _named(plan.with_inputs(tuple(map(_named_below, plan.inputs))))


def _named(plan: Plan) -> Plan:
    if isinstance(plan, Project) and isinstance(plan.input, Values) and all(map(is_written, plan.input.rows)):
        if plan.input.schema.columns and _only_names(plan):
            return replace(plan.input, row_schema=Schema.of(plan.names, plan.input.schema.types))
    return plan


def is_written(row: tuple[Expression, ...]) -> bool:
    """Return whether a row has constants only, none of which is NULL."""
    return all(_constant(each) for each in row)


def _constant(expression: Expression) -> bool:
    if isinstance(expression, Call) and expression.function == "CAST":
        return _constant(expression.arguments[0])
    return isinstance(expression, Literal) and expression.value is not None


def _only_names(plan: Project) -> bool:
    places = [each.index if isinstance(each, InputReference) else None for each in plan.expressions]
    return places == list(range(len(plan.input.schema)))


def _numbered(plan: Values) -> Plan:
    """Return a query of each row, whose columns have no names and one type in all rows."""
    types = plan.schema.types
    rows = tuple(tuple(map(_converted, row, types)) for row in plan.rows)
    names = [f"EXPR${place}" for place in range(len(types))]
    return _union(replace(plan, rows=rows), builders.columns(plan), names)


def _converted(expression: Expression, kind: DataType) -> Expression:
    is_less = isinstance(expression, Literal) and expression.value is not None and kind.is_nullable
    return Call("CAST", (expression,), kind) if is_less else expression


def _union(values: Values, expressions: Sequence[Expression], names: Sequence[str]) -> Plan:
    """Return a query of each row: Flink computes them apart."""
    one = Values(Schema(()), ((),))
    branches = tuple(Project(one, tuple(all_substituted(expressions, row)), tuple(names)) for row in values.rows)
    types = [each.type for each in expressions]
    return SetOperation("UNION", True, branches, Schema.of(tuple(names), tuple(types)))
