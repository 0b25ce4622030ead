"""Builders of plans, which the SQL validator and the methods of tables call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from scurry.sql.plan.expressions import AggregateCall, Expression, InputReference, Literal
from scurry.sql.plan.nodes import (
    Aggregate,
    Filter,
    Join,
    Limit,
    Over,
    Plan,
    Project,
    SetOperation,
    Sort,
    SortKey,
    TableAggregate,
    Values,
)
from scurry.sql.plan.rewriting import with_parts
from scurry.sql.plan.schema import Schema
from scurry.sql.plan.windows import OrderKey, WindowCall
from scurry.sql.types import DataType


def one_row() -> Plan:
    """Return a plan of one row without columns, the input of a query without FROM."""
    return Values(Schema(), ((),))


def column(plan: Plan, index: int) -> InputReference:
    return InputReference(index, plan.schema[index].type)


def columns(plan: Plan) -> tuple[InputReference, ...]:
    return tuple(column(plan, index) for index in range(len(plan.schema)))


def project(plan: Plan, expressions: Sequence[Expression], names: Sequence[str]) -> Plan:
    """Compute columns; a projection that changes nothing is left out."""
    if tuple(names) == plan.schema.names and _is_identity(plan, expressions):
        return plan
    return Project(plan, tuple(expressions), tuple(names))


def filtered(plan: Plan, condition: Expression) -> Plan:
    """Keep the rows for which a condition is TRUE."""
    return Filter(plan, condition)


def join(left: Plan, right: Plan, kind: str, condition: Expression | None) -> Join:
    """Join two plans; the condition is over the columns of both, the left ones first."""
    return Join(left, right, kind, condition)


def aggregate(
    plan: Plan,
    keys: Sequence[Expression],
    calls: Sequence[AggregateCall],
    names: Sequence[str],
    grouping_sets: Sequence[Sequence[int]] | None = None,
    grouping_id: DataType | None = None,
) -> Aggregate:
    """Group by expressions.

    Args:
        keys: What they are grouped by.
        calls: The aggregates, whose arguments are expressions over the rows.
        names: Names of the columns: those of the keys, then those of the aggregates.
        grouping_sets: Places of the keys of each grouping set; None for a single set of all keys.
        grouping_id: Type of a column with the number of the grouping set, or None.

    Returns:
        The aggregation, with a projection below it that computes what is not a column.
    """
    computed = _Computed(plan)
    places = tuple(computed.place(key, name) for key, name in zip(keys, names, strict=False))
    bound = tuple(computed.bind(call) for call in calls)
    sets = tuple(map(tuple, grouping_sets)) if grouping_sets is not None else (tuple(range(len(keys))),)
    return Aggregate(computed.plan(), places, bound, tuple(names[len(keys) :]), sets, grouping_id)


def table_aggregate(plan: Plan, keys: Sequence[Expression], call: AggregateCall, function_schema: Schema) -> Plan:
    """Make rows of groups.

    Args:
        keys: What they are grouped by.
        call: The call of a table aggregate function, whose arguments are expressions over the rows.
    """
    computed = _Computed(plan)
    places = tuple(computed.place(key) for key in keys)
    arguments = tuple(InputReference(computed.place(each), each.type) for each in call.arguments)
    return TableAggregate(computed.plan(), places, replace(call, arguments=arguments), function_schema)


def distinct(plan: Plan) -> Aggregate:
    """Keep one of each set of equal rows."""
    keys = tuple(range(len(plan.schema)))
    return Aggregate(plan, keys, (), (), (keys,))


def over(plan: Plan, calls: Sequence[WindowCall], names: Sequence[str]) -> Plan:
    """Append aggregates over windows to the columns of a plan."""
    computed = _Computed(plan, keep=True)
    bound = tuple(computed.bind(call) for call in calls)
    below = computed.plan()
    result: Plan = Over(below, bound, tuple(names))
    width, added = len(plan.schema), len(below.schema) - len(plan.schema)
    if not added:
        return result
    kept = [*range(width), *range(width + added, width + added + len(calls))]
    return Project(
        result, tuple(column(result, index) for index in kept), tuple(result.schema.names[index] for index in kept)
    )


def sort(plan: Plan, keys: Sequence[OrderKey]) -> Plan:
    """Sort by expressions over the columns of a plan."""
    computed = _Computed(plan, keep=True)
    places = [computed.place(key.expression, "$sort") for key in keys]
    below = computed.plan()
    result: Plan = Sort(
        below, tuple(SortKey(place, key.descending, key.nulls_first) for place, key in zip(places, keys, strict=True))
    )
    if len(below.schema) == len(plan.schema):
        return result
    return Project(result, columns(plan), plan.schema.names)


def limit(plan: Plan, offset: int, fetch: int | None) -> Plan:
    """Keep some of the rows, in the order they have."""
    return Limit(plan, offset, fetch)


def set_operation(kind: str, all: bool, branches: Sequence[Plan], schema: Schema) -> Plan:
    """Combine plans whose columns have the same types."""
    return SetOperation(kind, all, tuple(branches), schema)


def _is_identity(plan: Plan, expressions: Sequence[Expression]) -> bool:
    return len(expressions) == len(plan.schema) and all(
        isinstance(each, InputReference) and each.index == index for index, each in enumerate(expressions)
    )


_Call = TypeVar("_Call", AggregateCall, WindowCall)


class _Computed:
    """A projection that grows on request, with each expression once."""

    def __init__(self, plan: Plan, keep: bool = False) -> None:
        self._input = plan
        self._expressions: list[Expression] = list(columns(plan)) if keep else []
        self._names: list[str] = list(plan.schema.names) if keep else []
        self._places: dict[Expression, int] = {each: index for index, each in enumerate(self._expressions)}

    def place(self, expression: Expression, name: str = "$f") -> int:
        """Return the position of an expression's column."""
        if expression not in self._places:
            self._places[expression] = len(self._expressions)
            if isinstance(expression, InputReference):
                name = self._input.schema[expression.index].name
            elif name.startswith("$"):
                name = f"{name}{len(self._expressions)}"
            self._expressions.append(expression)
            self._names.append(name)
        return self._places[expression]

    def bind(self, call: _Call) -> _Call:
        """Return a call whose arguments are columns of the projection; literals stay where they are."""

        def bound(expression: Expression) -> Expression:
            if isinstance(expression, Literal):
                return expression
            if isinstance(expression, AggregateCall):
                return with_parts(expression, bound)
            return InputReference(self.place(expression), expression.type)

        return with_parts(call, bound)

    def plan(self) -> Plan:
        return project(self._input, self._expressions, self._names)
