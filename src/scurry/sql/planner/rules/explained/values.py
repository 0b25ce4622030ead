"""Rows written in the query."""

from __future__ import annotations

from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Plan, Project, SetOperation, Values
from scurry.sql.plan.rewriting import all_substituted
from scurry.sql.plan.schema import Schema


def named_values(plan: Plan, session: EvaluationContext) -> Plan:
    """Give rows that are written the names that a query gives their columns; compute rows that are no constants."""
    plan = plan.with_inputs(tuple(named_values(each, session) for each in plan.inputs))
    if isinstance(plan, Project) and isinstance(plan.input, Values):
        values = plan.input
        if values.rows and values.schema.columns and _only_names(plan):
            return replace(values, row_schema=Schema.of(plan.names, values.schema.types))
        if values.schema.columns and len(values.rows) > 1 and not all(map(is_written, values.rows)):
            return _union(plan, values)
    return plan


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


def _union(plan: Project, values: Values) -> Plan:
    """Return a query of each row: Flink computes them apart."""
    one = Values(Schema(()), ((),))
    branches = tuple(Project(one, tuple(all_substituted(plan.expressions, row)), plan.names) for row in values.rows)
    return SetOperation("UNION", True, branches, plan.schema)
