"""Recognise lookup joins: FOR SYSTEM_TIME AS OF processing time."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.functions.definition import Session
from scurry.sql.plan import builders
from scurry.sql.plan.calls import all_of
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.nodes import Filter, Plan, Project, Scan, TemporalJoin
from scurry.sql.plan.physical.joins import JoinKey, LookupJoin
from scurry.sql.plan.rewriting import substituted

__all__ = ["lookup_join"]


def lookup_join(plan: TemporalJoin, keys: Sequence[JoinKey], rest: Expression | None) -> LookupJoin | None:
    """Return a join that asks the table of the right side by key; None if the right side is not of one table.

    Whether the table can be asked is known when its source is made.
    """
    found = _over_table(plan.right)
    if found is None:
        return None
    table, columns, conditions = found
    asked = []
    for key in keys:
        column = columns[key.right]
        if not isinstance(column, InputReference) or key.null_equals_null:
            return None
        asked.append((key.left, column.index))
    condition = all_of(conditions, Session())
    schema = plan.right.schema
    return LookupJoin(plan.left, plan.kind, table, tuple(asked), condition, tuple(columns), schema, rest, plan.retry)


def _over_table(plan: Plan) -> tuple[Scan, list[Expression], list[Expression]] | None:
    """Return the table of a plan, and the columns and conditions of the plan over the table's columns."""
    if isinstance(plan, Scan):
        return plan, list(builders.columns(plan)), []
    if not isinstance(plan, Project | Filter):
        return None
    found = _over_table(plan.input)
    if found is None:
        return None
    table, columns, conditions = found
    if isinstance(plan, Project):
        return table, [substituted(each, columns) for each in plan.expressions], conditions
    return table, columns, [*conditions, substituted(plan.condition, columns)]
