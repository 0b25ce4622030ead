"""Filters, orders and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.errors import ValidationError
from scurry.sql.plan import builders
from scurry.sql.plan.nodes import Limit, Plan
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.table._operations.fields import operation
from scurry.table.expression import Expression


def filtered(session: TableSession, plan: Plan, predicate: Expression) -> Plan:
    """Return the plan of the rows for which a condition is TRUE.

    Raises:
        ValidationError: It is no condition over the columns.
    """
    made = operation(session, [predicate])
    if made.has_aggregates(predicate._node):
        raise ValidationError(f"A filter has no aggregates; select them before. Unknown call expression: {predicate}")
    where = made.condition(predicate._node, plan.schema, "Filter")
    return made.planned(replace_where(made.rows(plan), where))


def replace_where(query: nodes.Select, where: nodes.Expression) -> nodes.Select:
    """Return a SELECT with a condition."""
    return nodes.replace(query, where=where)


def distinct(session: TableSession, plan: Plan) -> Plan:
    """Return the plan of one of each set of equal rows."""
    made = operation(session, [])
    return made.planned(nodes.replace(made.rows(plan), quantifier="DISTINCT"))


def sorted_by(session: TableSession, plan: Plan, fields: Sequence[Expression]) -> Plan:
    """Return the plan of the rows in an order.

    Raises:
        ValidationError: A field names what is not there.
    """
    made = operation(session, fields)
    keys = tuple(  # unlike in SQL, NULL is greater than any value
        nodes.OrderItem(node, bool(each._descending), "FIRST" if each._descending else "LAST")
        for each in fields
        for node in made.columns(each._node, plan.schema)
    )
    return made.planned(nodes.OrderBy(made.rows(plan), keys))


def skipped(plan: Plan, offset: int) -> Plan:
    """Return the plan of the rows after the first ones.

    Raises:
        ValidationError: The number is negative, or rows were limited before.
    """
    if offset < 0:
        raise ValidationError("Offset should be greater or equal 0")
    if isinstance(plan, Limit):
        if plan.fetch is not None:
            raise ValidationError("FETCH is already defined.")
        raise ValidationError("OFFSET already defined")
    return builders.limit(plan, offset, None)


def fetched(plan: Plan, fetch: int) -> Plan:
    """Return the plan of the first rows.

    Raises:
        ValidationError: The number is negative, or rows were limited before.
    """
    if fetch < 0:
        raise ValidationError("FETCH count must be equal or larger than 0.")
    if isinstance(plan, Limit):
        if plan.fetch is not None:
            raise ValidationError("FETCH is already defined.")
        return replace(plan, fetch=fetch)
    return builders.limit(plan, 0, fetch)
