"""Expressions as columns of a SELECT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry.errors import ValidationError
from scurry.sql import nodes
from scurry.statements.session import TableSession
from scurry.statements.table_operations import Names, Operation
from scurry.statements.table_operations.failures import placed
from scurry.table.expression import Expression, expression_of
from scurry.table.expressions import col

if TYPE_CHECKING:
    from scurry.relational.plan import Plan
    from scurry.relational.schema import Schema

__all__ = ["WINDOW_PROPERTIES", "aggregate", "expression", "items", "operation", "project"]

#: The functions that `start`, `end`, `rowtime` and `proctime` of a window's alias call.
WINDOW_PROPERTIES = ("START", "END", "ROWTIME", "PROCTIME")


def expression(value: Any) -> Expression:
    """Return an expression as it is, a text as the column of that name, another value as a literal."""
    if isinstance(value, str):
        return col(value)
    return value if isinstance(value, Expression) else expression_of(value)


def operation(session: TableSession, expressions: Sequence[Expression]) -> Operation:
    """Return an operation with some expressions."""
    functions = {name: function for each in expressions for name, function in each._functions.items()}
    tables = {name: plan for each in expressions for name, plan in each._tables.items()}
    return Operation(session, functions, tables)


def items(made: Operation, chosen: Sequence[Expression], schema: Schema) -> tuple[nodes.SelectItem, ...]:
    """Return the items of a SELECT, named as the Table API names them.

    Raises:
        ValidationError: One names what is not there, or a name is given twice.
    """
    names = Names(made.is_aggregate)
    found = []
    for each in chosen:
        refuse_window_properties(each._node)
        columns = made.columns(each._node, schema)
        aliases = [*each._names, *[None] * len(columns)] if len(each._names) in (0, 1, len(columns)) else []
        if len(columns) > 1 and len(each._names) == 1:
            aliases = [None] * len(columns)
        for node, alias in zip(columns, aliases or [None] * len(columns), strict=False):
            found += _fields(made, node, alias, schema, names)
    taken = [item.alias.last for item in found if item.alias is not None]
    for place, name in enumerate(taken):
        if name in taken[:place]:
            raise ValidationError(f"Ambiguous column name: {name}")
    return tuple(found)


def _fields(
    made: Operation, node: nodes.Expression, alias: str | None, schema: Schema, names: Names
) -> list[nodes.SelectItem]:
    """Return an expression as an item; a flattened row as one for each of its fields."""
    if not (isinstance(node, nodes.FieldAccess) and isinstance(node.field, nodes.Star)):
        return [nodes.SelectItem(node, nodes.Identifier((names.name(node, alias),)))]
    fields = made.fields(node.operand, schema)
    if fields is None:
        return [nodes.SelectItem(node.operand, nodes.Identifier((names.name(node.operand, alias),)))]
    parts = [nodes.FieldAccess(node.operand, nodes.Identifier((field,)), span=node.span) for field in fields]
    return [nodes.SelectItem(each, nodes.Identifier((names.name(each, None),))) for each in parts]


def project(session: TableSession, plan: Plan, chosen: Sequence[Expression], **clauses: Any) -> Plan:
    """Return the plan of a SELECT of some columns.

    Args:
        session: The session.
        plan: The rows.
        chosen: The columns.
        **clauses: Further clauses of the SELECT.
    """
    made = operation(session, chosen)
    return made.planned(nodes.Select(items(made, chosen, plan.schema), made.table(plan), **clauses))


def aggregate(session: TableSession, plan: Plan, keys: Sequence[Expression], chosen: Sequence[Expression]) -> Plan:
    """Return the plan of a SELECT of keys and aggregates.

    Args:
        session: The session.
        plan: The rows.
        keys: The keys; with an alias, they are columns of that name.
        chosen: The columns.
    """
    named = [each for each in keys if each._names]
    if named:
        plan = project(session, plan, [*map(col, plan.schema.names), *named])
    plain = [col(each._names[0]) if each._names else each for each in keys]
    made = operation(session, [*plain, *chosen])
    grouping = tuple(node for each in plain for node in made.columns(each._node, plan.schema))
    selected = items(made, chosen, plan.schema)
    group_by = nodes.GroupBy(grouping or (nodes.RowConstructor(()),))
    return made.planned(nodes.Select(selected, made.table(plan), group_by=group_by))


def refuse_window_properties(node: nodes.Node) -> None:
    """Raise an error for what only tables with windows have: the start of a window, an aggregate over one.

    Raises:
        ValidationError: There is one.
    """
    if isinstance(node, nodes.Query):
        return
    if isinstance(node, nodes.Call) and node.name.names[0] in WINDOW_PROPERTIES and len(node.arguments) == 1:
        raise ValidationError(f"Window properties can only be used on windowed tables.{placed(node)}")
    if isinstance(node, nodes.FunctionCall) and isinstance(node.over, nodes.Identifier) and not node.over.span.text:
        raise ValidationError(f"Could not resolve over call.{placed(node)}")
    for child in nodes.children(node):
        refuse_window_properties(child)
