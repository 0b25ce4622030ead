"""Rows that are written to tables, with the names that Flink has them under."""

from __future__ import annotations

from dataclasses import replace

from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Plan, Project, Sink, Values
from scurry.sql.plan.rewriting import all_substituted


def named_by_query(plan: Plan) -> Plan:
    """Return the plan of a sink whose columns have the names of the query, unless something is converted."""
    if not isinstance(plan, Sink) or not isinstance(plan.input, Project):
        return plan
    rows, query = plan.input, plan.input.input
    names = rows.names
    if all(map(_is_taken, rows.expressions)):
        names = tuple(
            query.schema.names[each.index] if isinstance(each, InputReference) else f"EXPR${place}"
            for place, each in enumerate(rows.expressions)
        )
    expressions = [_nullable(each) for each in rows.expressions]
    if isinstance(query, Project) and not isinstance(query.input, Values):
        merged = tuple(all_substituted(expressions, query.expressions))
        return replace(plan, input=Project(query.input, merged, names))
    places = [getattr(each, "index", None) for each in expressions]
    if names == query.schema.names and places == list(range(len(query.schema))):
        return replace(plan, input=query)
    return replace(plan, input=Project(query, tuple(expressions), names))


def _is_taken(expression: Expression) -> bool:
    return isinstance(expression, InputReference) or (isinstance(expression, Literal) and expression.value is None)


def _nullable(expression: Expression) -> Expression:
    if isinstance(expression, Call) and expression.function == "CAST":
        return replace(expression, type=expression.type.nullable())
    return expression
