"""Columns added, replaced, renamed and dropped."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.errors import ValidationError
from scurry.sql.plan.nodes import Plan
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_operations.failures import placed
from scurry.sql.syntax import nodes
from scurry.table._operations.fields import items, operation, project
from scurry.table.expression import Expression
from scurry.table.expressions import col


def aliased(session: TableSession, plan: Plan, names: Sequence[str]) -> Plan:
    """Return a plan with other names for its first columns.

    Raises:
        ValidationError: There are too many names, or one is given twice.
    """
    own = plan.schema.names
    if "*" in names:
        raise ValidationError("Alias can not accept '*' as name.")
    if len(names) > len(own):
        raise ValidationError(f"Aliasing more fields than we actually have: {len(names)} names for {len(own)} columns.")
    new = [*names, *own[len(names) :]]
    return project(session, plan, [col(old).alias(name) for old, name in zip(own, new, strict=True)])


def added(session: TableSession, plan: Plan, fields: Sequence[Expression], replace: bool) -> Plan:
    """Return a plan with further columns.

    Args:
        session: The session.
        plan: The rows.
        fields: The columns.
        replace: Whether they replace those of their names.

    Raises:
        ValidationError: A name is taken, or a column is an aggregate.
    """
    made = operation(session, fields)
    found = items(made, [*map(col, plan.schema.names), *fields], plan.schema) if not replace else ()
    for each in fields:
        if made.has_aggregates(each._node):
            raise ValidationError(
                f"The added field expression cannot be an aggregation, found: {each}.{placed(each._node)}"
            )
    if not replace:
        return made.planned(nodes.Select(found, made.table(plan)))
    given: dict[str, Expression] = {}
    unnamed = []
    for each in fields:
        name = each._names[0] if each._names else None
        if name is None and isinstance(each._node, nodes.Identifier) and not each._is_text:
            name = each._node.last
        if name is None:
            unnamed.append(each)
        else:
            given[name] = each
    kept = [given.pop(name, col(name)) for name in plan.schema.names]
    return project(session, plan, [*kept, *given.values(), *unnamed])


def renamed(session: TableSession, plan: Plan, fields: Sequence[Expression]) -> Plan:
    """Return a plan with other names for some columns.

    Args:
        session: The session.
        plan: The rows.
        fields: Columns with an alias.

    Raises:
        ValidationError: One is no column, or has no alias.
    """
    names: dict[str, str] = {}
    made = operation(session, fields)
    for each in fields:
        node = made.column(each._node, plan.schema)
        if not isinstance(node, nodes.Identifier) or not each._names:
            raise ValidationError(
                "Invalid alias for a renaming column operation. Renaming must add an alias to an existing field. "
                f"E.g.: 'a as a1'. But was: {each}{placed(each._node)}"
            )
        names[node.last] = each._names[0]
    return project(session, plan, [col(name).alias(names.get(name, name)) for name in plan.schema.names])


def dropped(session: TableSession, plan: Plan, fields: Sequence[Expression]) -> Plan:
    """Return a plan without some columns.

    Args:
        session: The session.
        plan: The rows.
        fields: The columns.

    Raises:
        ValidationError: One is no column.
    """
    made = operation(session, fields)
    out = set()
    for each in fields:
        if isinstance(each._node, nodes.Identifier) and each._node.last not in plan.schema.names:
            raise ValidationError(f"Field {each._node.last} does not exist in source table{placed(each._node)}")
        for node in made.columns(each._node, plan.schema):
            if not isinstance(node, nodes.Identifier):
                raise ValidationError(f"Unexpected drop column expression: {each}{placed(each._node)}")
            out.add(node.last)
    return project(session, plan, [col(name) for name in plan.schema.names if name not in out])
