"""Queries: set operations, VALUES, WITH, ORDER BY and LIMIT around a SELECT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression, Literal
from scurry.sql.plan.nodes import Plan, Values
from scurry.sql.plan.schema import Schema
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span
from scurry.sql.types import DataType, DateType, LocalZonedTimestampType, TimestampType
from scurry.sql.types.common_type import least_restrictive
from scurry.sql.validator.catalog import CatalogReader
from scurry.sql.validator.environment import CommonTable, Environment
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.over import order_key, ordinal
from scurry.sql.validator.scope import Relation, Scope, unique_names
from scurry.sql.validator.select import SelectValidator


def validate_query(query: nodes.Query, catalog: CatalogReader, session: EvaluationContext) -> Plan:
    """Make the plan of a query.

    Args:
        query: The syntax tree.
        catalog: Where tables are looked up.

    Returns:
        The plan; queries inside expressions are still there.

    Raises:
        ValidationError: The query is wrong.
    """
    environment = Environment(catalog, session, _validated)
    plan = _validated(query, environment)
    return builders.project(plan, builders.columns(plan), unique_names(plan.schema.names))


def validate_expression(
    expression: nodes.Expression, schema: Schema, catalog: CatalogReader, session: EvaluationContext
) -> Expression:
    """Make a typed expression over the columns of a table: a computed column, a watermark.

    Args:
        expression: The syntax tree.
        schema: The columns it may refer to.
        catalog: Where tables are looked up.

    Raises:
        ValidationError: The expression is wrong.
    """
    scope = Scope(schema, (Relation(None, (), 0, len(schema)),))
    return ExpressionValidator(scope, Environment(catalog, session, _validated)).convert(expression)


def _validated(query: nodes.Query, environment: Environment) -> Plan:
    handler = _HANDLERS.get(type(query))
    if handler is None:
        raise invalid(query.span, f"{type(query).__name__} is not supported as a query")
    return handler(query, environment)


def _select(query: nodes.Select, environment: Environment) -> Plan:
    return SelectValidator(environment).plan(query, None)


def _order_by(query: nodes.OrderBy, environment: Environment) -> Plan:
    inner = query.query
    if isinstance(inner, nodes.With):
        # ORDER BY belongs to the query after the tables of WITH, and may refer to what that one selects from.
        return _with(nodes.replace(inner, query=nodes.replace(query, query=inner.query)), environment)
    if isinstance(inner, nodes.Select):
        plan = SelectValidator(environment).plan(inner, query)
    else:
        plan = environment.plan(inner)
        plan = _sorted(plan, query.items, environment)
    offset = _count(query.offset, environment) or 0
    fetch = _count(query.fetch, environment)
    return plan if not offset and fetch is None else builders.limit(plan, offset, fetch)


def _sorted(plan: Plan, items: Sequence[nodes.OrderItem], environment: Environment) -> Plan:
    if not items:
        return plan
    scope = Scope(plan.schema, (Relation(None, (), 0, len(plan.schema)),), outer=environment.outer)
    validator = ExpressionValidator(scope, environment)
    keys = []
    for item in items:
        place = ordinal(item.expression, len(plan.schema))
        expression = validator.convert(item.expression) if place is None else builders.column(plan, place)
        keys.append(order_key(item, expression))
    return builders.sort(plan, keys)


def _count(expression: nodes.Expression | None, environment: Environment) -> int | None:
    if expression is None:
        return None
    value = ExpressionValidator(Scope(Schema(), ()), environment).convert(expression)
    if not isinstance(value, Literal) or not isinstance(value.value, int):
        raise invalid(expression.span, "LIMIT, OFFSET and FETCH take a number that is written in the query")
    return value.value


def _with(query: nodes.With, environment: Environment) -> Plan:
    for table in query.tables:
        name = table.name.last
        environment = environment.with_table(name, CommonTable(table, environment))
        environment.plan(table.query)
    return environment.plan(query.query)


def _values(query: nodes.Values, environment: Environment) -> Plan:
    validator = ExpressionValidator(Scope(Schema(), (), outer=environment.outer), environment)
    rows = [
        [validator.convert(value) for value in (row.values if isinstance(row, nodes.RowConstructor) else (row,))]
        for row in query.rows
    ]
    for row in query.rows:
        for value in row.values if isinstance(row, nodes.RowConstructor) else (row,):
            if isinstance(value, nodes.NullLiteral):
                raise invalid(value.span, "Illegal use of 'NULL'")
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise invalid(query.span, "Values passed to VALUES operator must have compatible types")
    types = []
    for place in range(width):
        found = least_restrictive([row[place].type for row in rows])
        if found is None:
            raise invalid(query.span, "Values passed to VALUES operator must have compatible types")
        types.append(found)
    schema = Schema.of((f"EXPR${place}" for place in range(width)), types)
    converted = tuple(
        tuple(validator.as_type(value, type) for value, type in zip(row, types, strict=True)) for row in rows
    )
    return Values(schema, converted)


def _explicit_table(query: nodes.ExplicitTable, environment: Environment) -> Plan:
    star = nodes.SelectItem(nodes.Star(span=query.span), span=query.span)
    table = nodes.TableReference(query.name, span=query.name.span)
    return environment.plan(nodes.Select((star,), table, span=query.span))


def _set_operation(query: nodes.SetOperation, environment: Environment) -> Plan:
    branches = _branches(query, query.operator, query.all)
    plans = [environment.plan(branch) for branch in branches]
    operator = query.operator + (" ALL" if query.all else "")
    first = plans[0].schema
    for branch, plan in zip(branches, plans, strict=True):
        if len(plan.schema) != len(first):
            raise invalid(_items_span(branch), f"Column count mismatch in {operator}")
    types = []
    for place in range(len(first)):
        found = least_restrictive([plan.schema[place].type for plan in plans])
        days = {isinstance(plan.schema[place].type, DateType) for plan in plans}
        if found is None or (days == {True, False} and isinstance(found, TimestampType | LocalZonedTimestampType)):
            span = _item_span(branches[0], place)
            raise invalid(span, f"Type mismatch in column {place + 1} of {operator}")
        types.append(found)
    schema = Schema.of(first.names, types)
    cast = [_as_types(plan, types, environment) for plan in plans]
    return builders.set_operation(query.operator, query.all, cast, schema)


def _branches(query: nodes.Query, operator: str, all: bool) -> list[nodes.Query]:
    """Return the queries of a chain of the same operation, which UNION may combine at once."""
    if isinstance(query, nodes.SetOperation) and (query.operator, query.all) == (operator, all):
        if operator == "UNION":
            return [*_branches(query.left, operator, all), *_branches(query.right, operator, all)]
        return [query.left, query.right]
    return [query]


def _as_types(plan: Plan, types: Sequence[DataType], environment: Environment) -> Plan:
    validator = ExpressionValidator(Scope(plan.schema, ()), environment)
    pairs = zip(builders.columns(plan), types, strict=True)
    return builders.project(plan, [validator.as_type(column, type) for column, type in pairs], plan.schema.names)


def _items_span(query: nodes.Query) -> Span:
    if isinstance(query, nodes.Select):
        return query.items[0].span.to(query.items[-1].span)
    return query.span


def _item_span(query: nodes.Query, place: int) -> Span:
    if isinstance(query, nodes.Select) and place < len(query.items):
        return query.items[place].expression.span
    return query.span


_HANDLERS: dict[type, Callable[[Any, Environment], Plan]] = {
    nodes.Select: _select,
    nodes.OrderBy: _order_by,
    nodes.With: _with,
    nodes.Values: _values,
    nodes.ExplicitTable: _explicit_table,
    nodes.SetOperation: _set_operation,
}
