"""Reorder inner joins of BATCH so that an equality joins each table, instead of a cross join."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.calls import all_of
from scurry.sql.plan.expressions import Call, Expression
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.nodes import Join, Plan
from scurry.sql.plan.rewriting import input_references, remapped, shifted


def order_joins(plan: Plan, session: EvaluationContext) -> Plan:
    """Join tables in the order of FROM, but each only when an equality connects it with those before it.

    `FROM a, b, c WHERE a.x = c.x AND b.y = c.y` joins a with c, then with b: there is no product of a and b.
    In STREAMING the order of FROM stays: it decides in which steps a result changes.
    """
    if session.is_streaming:
        return plan
    if not (isinstance(plan, Join) and plan.kind == "INNER"):
        return plan.with_inputs(tuple(order_joins(each, session) for each in plan.inputs))
    inputs, conditions = _flattened(plan)
    inputs = [order_joins(each, session) for each in inputs]
    owners = [place for place, each in enumerate(inputs) for _ in each.schema]
    order = _order(len(inputs), [_tables(each, owners) for each in conditions if _is_equality(each)])
    joined, places = _joined(inputs, conditions, owners, order, session)
    columns = [builders.column(joined, places[index]) for index in range(len(owners))]
    return builders.project(joined, columns, plan.schema.names)


def _flattened(plan: Plan) -> tuple[list[Plan], list[Expression]]:
    """Return the inputs of inner joins of inner joins, and the conditions over the columns of all of them."""
    if not (isinstance(plan, Join) and plan.kind == "INNER"):
        return [plan], []
    left, left_conditions = _flattened(plan.left)
    right, right_conditions = _flattened(plan.right)
    width = len(plan.left.schema)
    moved = [shifted(each, width) for each in right_conditions]
    return [*left, *right], [*left_conditions, *moved, *conjuncts(plan.condition)]


def _is_equality(condition: Expression) -> bool:
    return isinstance(condition, Call) and condition.function in ("=", "IS NOT DISTINCT FROM")


def _tables(condition: Expression, owners: Sequence[int]) -> set[int]:
    return {owners[index] for index in input_references(condition)}


def _order(count: int, equalities: Sequence[set[int]]) -> list[int]:
    order = [0]
    while len(order) < count:
        rest = [each for each in range(count) if each not in order]
        connected = (each for each in rest if any(each in tables and tables & {*order} for tables in equalities))
        order.append(next(connected, rest[0]))
    return order


def _joined(
    inputs: Sequence[Plan],
    conditions: Sequence[Expression],
    owners: Sequence[int],
    order: Sequence[int],
    session: EvaluationContext,
) -> tuple[Plan, dict[int, int]]:
    """Return the joins in an order, and where the columns of the inputs are in the result."""
    joined = inputs[order[0]]
    places = {index: place for place, index in enumerate(_columns(order[0], owners))}
    waiting = list(conditions)
    for table in order[1:]:
        width = len(joined.schema)
        places.update({index: width + place for place, index in enumerate(_columns(table, owners))})
        ready = [each for each in waiting if input_references(each) <= places.keys()]
        waiting = [each for each in waiting if each not in ready]
        condition = all_of([remapped(each, places) for each in ready], session)
        joined = Join(joined, inputs[table], "INNER", condition)
    return joined, places


def _columns(table: int, owners: Sequence[int]) -> list[int]:
    return [index for index, owner in enumerate(owners) if owner == table]
