"""Adds the values of an outer row to a plan as columns, so that the plan no longer refers to the row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import singledispatchmethod

from scurry.errors import UnsupportedError
from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.calls import all_of, call
from scurry.sql.plan.expressions import AggregateCall, Call, CorrelatedReference, Expression, InputReference, Literal
from scurry.sql.plan.join_keys import conjuncts
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
    TableFunctionScan,
    Unnest,
    Values,
    WindowTable,
)
from scurry.sql.plan.rewriting import correlations_of, remapped, rewritten, shifted, walk_expression
from scurry.sql.plan.schema import Schema
from scurry.sql.plan.windows import Frame, FrameBound, OrderKey, WindowCall
from scurry.sql.types import BigIntType
from scurry.sql.types.families import same_type

# Calls that are NULL if an argument is.
_STRICT = {"+", "-", "*", "/", "NEGATE", "CAST"}


class OuterValues:
    """Adds the values of the outer row as last columns to plans."""

    def __init__(self, left: Plan, columns: Sequence[int], correlation: int, session: EvaluationContext) -> None:
        self._left = left
        self._columns = columns
        self._correlation = correlation
        self._session = session
        self._replaced_all = True

    @property
    def domain(self) -> Plan:
        """The distinct values of the outer rows."""
        names = [f"$outer{column}" for column in self._columns]
        values = [builders.column(self._left, column) for column in self._columns]
        self._replaced_all = False
        return builders.distinct(Project(self._left, tuple(values), tuple(names)))

    @property
    def may_be_null(self) -> bool:
        """Return whether the right side may have rows for an outer value that is NULL."""
        return not self._replaced_all

    def pull_top(self, plan: Plan, kind: str) -> Plan:
        """Return the right side of a join with the outer values, where missing rows may count as rows of NULLs."""
        if kind == "LEFT" and _is_null_without_rows(plan):
            return self._strict_aggregate(plan)
        return self.pull(plan)

    def _strict_aggregate(self, plan: Plan) -> Plan:
        if isinstance(plan, Project):
            below = self._strict_aggregate(plan.input)
            return self._project(plan, below)
        assert isinstance(plan, Aggregate)
        return self._grouped(plan, self.pull(plan.input))

    def pull(self, plan: Plan) -> Plan:
        """Return a plan with the outer values for which it has a row appended to the row."""
        if self._correlation not in correlations_of(plan):
            return Join(plan, self.domain, "INNER", None)
        return self._pull(plan)

    @singledispatchmethod
    def _pull(self, plan: Plan) -> Plan:
        raise UnsupportedError(f"a correlated query with {type(plan).__name__} is not supported")

    @_pull.register
    def _pull_filter(self, plan: Filter) -> Plan:
        if self._correlation not in correlations_of(plan.input):
            replaced = self._by_equal_columns(plan)
            if replaced is not None:
                return replaced
        below = self.pull(plan.input)
        return Filter(below, self._bound(plan.condition, len(plan.input.schema)))

    def _by_equal_columns(self, plan: Filter) -> Plan | None:
        """Replace the outer values by the columns that the condition compares with them."""
        values: dict[int, Expression] = {}
        rest = []
        for condition in conjuncts(plan.condition):
            found = self._equal_to_outer(condition)
            if found is not None and found[0] not in values:
                values[found[0]] = found[1]
            else:
                rest.append(condition)
        if any(column not in values for column in self._columns):
            return None
        width = len(plan.input.schema)
        added = [values[column] for column in self._columns]
        below: Plan = Project(
            plan.input,
            (*builders.columns(plan.input), *added),
            (*plan.schema.names, *(f"$outer{column}" for column in self._columns)),
        )
        conditions = [self._bound(each, width) for each in rest]
        conditions += [
            call("IS NOT NULL", [builders.column(below, width + place)], self._session)
            for place, each in enumerate(added)
            if each.type.is_nullable
        ]
        left_over = all_of(conditions, self._session)
        return below if left_over is None else Filter(below, left_over)

    def _equal_to_outer(self, condition: Expression) -> tuple[int, Expression] | None:
        if not isinstance(condition, Call) or condition.function != "=":
            return None
        for one, other in (condition.arguments, condition.arguments[::-1]):
            if (
                isinstance(one, CorrelatedReference)
                and one.correlation == self._correlation
                and not any(isinstance(each, CorrelatedReference) for each in walk_expression(other))
                and same_type(one.type, other.type)
            ):
                return one.index, other
        return None

    @_pull.register
    def _pull_project(self, plan: Project) -> Plan:
        return self._project(plan, self.pull(plan.input))

    def _project(self, plan: Project, below: Plan) -> Plan:
        width = len(plan.input.schema)
        expressions = [self._bound(each, width) for each in plan.expressions]
        return Project(below, (*expressions, *self._last(below)), (*plan.names, *self._last_names(below)))

    @_pull.register
    def _pull_join(self, plan: Join) -> Plan:
        in_left, in_right = (self._correlation in correlations_of(each) for each in (plan.left, plan.right))
        needs_left = in_left or plan.kind != "INNER" or not in_right
        needs_right = in_right or plan.kind in ("RIGHT", "FULL")
        left = self.pull(plan.left) if needs_left else plan.left
        right = self.pull(plan.right) if needs_right else plan.right
        left_width, right_width, added = len(plan.left.schema), len(plan.right.schema), len(self._columns)
        offset = len(left.schema)
        outer = left_width if needs_left else offset + right_width
        places = [*range(left_width), *range(offset, offset + right_width)]
        conditions = []
        if plan.condition is not None:
            moved = remapped(plan.condition, places)
            conditions.append(self._bound(moved, outer))
        both = Schema((*left.schema.columns, *right.schema.columns))
        if needs_left and needs_right:
            conditions += [
                call(
                    "IS NOT DISTINCT FROM",
                    [
                        InputReference(left_width + place, both[left_width + place].type),
                        InputReference(offset + right_width + place, both[offset + right_width + place].type),
                    ],
                    self._session,
                )
                for place in range(added)
            ]
        joined = Join(left, right, plan.kind, all_of(conditions, self._session))
        if plan.kind in ("SEMI", "ANTI"):
            return joined
        if plan.kind in ("RIGHT", "FULL"):
            outer = offset + right_width
        kept = [*places, *range(outer, outer + added)]
        if plan.kind == "FULL":
            pairs = [
                call(
                    "COALESCE",
                    [builders.column(joined, left_width + place), builders.column(joined, outer + place)],
                    self._session,
                )
                for place in range(added)
            ]
            values = [*(builders.column(joined, place) for place in places), *pairs]
            return Project(joined, tuple(values), tuple(joined.schema.names[place] for place in kept))
        return _selected(joined, kept)

    @_pull.register
    def _pull_aggregate(self, plan: Aggregate) -> Plan:
        grouped = self._grouped(plan, self.pull(plan.input))
        if () not in plan.grouping_sets:
            return grouped
        # A group of all rows has a row for every outer value, even if there are no rows.
        domain, width = self.domain, len(plan.schema)
        added = len(self._columns)
        equal = [
            call(
                "IS NOT DISTINCT FROM",
                [builders.column(domain, place), shifted(builders.column(grouped, width + place), added)],
                self._session,
            )
            for place in range(added)
        ]
        joined = Join(domain, grouped, "LEFT", all_of(equal, self._session))
        values = [self.or_of_nothing(joined, added + place, plan, place) for place in range(width)]
        outer = [builders.column(joined, place) for place in range(added)]
        return Project(joined, (*values, *outer), (*plan.schema.names, *domain.schema.names))

    def or_of_nothing(self, joined: Plan, index: int, plan: Aggregate, place: int) -> Expression:
        """Return a column of a join with groups, or the aggregate of no rows for missing groups."""
        first = len(plan.schema) - len(plan.calls)
        value = properties_of(plan.calls[place - first].function).value_of_nothing if place >= first else None
        column = builders.column(joined, index)
        if value != 0:  # Calcite repairs counts only: other aggregates are NULL for missing groups
            return column
        return call("COALESCE", [column, Literal(value, column.type.not_null())], self._session)

    def grouped(self, plan: Aggregate) -> Plan:
        """Return the groups of an aggregate, without those that have no rows, with the outer values."""
        return self._grouped(plan, self.pull(plan.input))

    def _grouped(self, plan: Aggregate, below: Plan) -> Plan:
        """Group by the outer values, too; they come last in the result."""
        width, keys, added = len(plan.input.schema), len(plan.keys), len(self._columns)
        outer = tuple(range(width, width + added))
        sets = tuple((*each, *range(keys, keys + added)) for each in plan.grouping_sets)
        grouped = replace(plan, input=below, keys=(*plan.keys, *outer), grouping_sets=sets)
        total = len(grouped.schema)
        order = [*range(keys), *range(keys + added, total), *range(keys, keys + added)]
        return _selected(grouped, order)

    @_pull.register
    def _pull_sort(self, plan: Sort) -> Plan:
        return replace(plan, input=self.pull(plan.input))

    @_pull.register
    def _pull_limit(self, plan: Limit) -> Plan:
        keys = plan.input.keys if isinstance(plan.input, Sort) else ()
        below = self.pull(plan.input.input if isinstance(plan.input, Sort) else plan.input)
        order = tuple(OrderKey(builders.column(below, key.index), key.descending, key.nulls_first) for key in keys)
        frame = Frame("ROWS", FrameBound("UNBOUNDED PRECEDING"), FrameBound("CURRENT ROW"))
        number = AggregateCall("ROW_NUMBER", (), BigIntType(False))
        counted = builders.over(
            below, [WindowCall(number, tuple(self._last(below)), order, frame, BigIntType(False))], ["$row"]
        )
        place = builders.column(counted, len(below.schema))
        conditions: list[Expression] = [call(">", [place, _number(plan.offset)], self._session)]
        if plan.fetch is not None:
            conditions.append(call("<=", [place, _number(plan.offset + plan.fetch)], self._session))
        bounds = all_of(conditions, self._session)
        assert bounds is not None
        return _selected(Filter(counted, bounds), range(len(below.schema)))

    @_pull.register
    def _pull_set_operation(self, plan: SetOperation) -> Plan:
        branches = tuple(self.pull(each) for each in plan.branches)
        outer = branches[0].schema.columns[len(plan.schema) :]
        return replace(plan, branches=branches, row_schema=Schema((*plan.row_schema.columns, *outer)))

    @_pull.register
    def _pull_over(self, plan: Over) -> Plan:
        below = self.pull(plan.input)
        outer = tuple(self._last(below))
        calls = tuple(replace(each, partition_by=(*each.partition_by, *outer)) for each in plan.calls)
        return self._outer_last(replace(plan, input=below, calls=calls), len(plan.input.schema))

    @_pull.register
    def _pull_unnest(self, plan: Unnest) -> Plan:
        width = len(plan.input.schema)
        below = self.pull(plan.input)
        changed = replace(plan, input=below, collection=self._bound(plan.collection, width))
        if plan.condition is not None:
            added = len(below.schema) - width
            moved = {place: place + added * (place >= width) for place in range(len(plan.schema))}
            changed = replace(changed, condition=self._bound(remapped(plan.condition, moved), width))
        return self._outer_last(changed, width)

    @_pull.register
    def _pull_function(self, plan: TableFunctionScan) -> Plan:
        width = len(plan.input.schema)
        changed = replace(plan, input=self.pull(plan.input), call=self._bound(plan.call, width))
        return self._outer_last(changed, width)

    @_pull.register
    def _pull_window_table(self, plan: WindowTable) -> Plan:
        return self._outer_last(replace(plan, input=self.pull(plan.input)), len(plan.input.schema))

    @_pull.register
    def _pull_values(self, plan: Values) -> Plan:
        rows = [self.pull(Project(builders.one_row(), row, plan.schema.names)) for row in plan.rows]
        return rows[0] if len(rows) == 1 else builders.set_operation("UNION", True, rows, rows[0].schema)

    def _outer_last(self, plan: Plan, width: int) -> Plan:
        """Move the outer values, which follow the columns of the input, behind those that the node adds."""
        added = len(self._columns)
        return _selected(plan, [*range(width), *range(width + added, len(plan.schema)), *range(width, width + added)])

    def _bound(self, expression: Expression, offset: int) -> Expression:
        """Return an expression that refers to the outer values as columns from a position on."""
        return bound(expression, self._correlation, lambda column: offset + self._columns.index(column))

    def _last(self, plan: Plan) -> Sequence[InputReference]:
        return builders.columns(plan)[len(plan.schema) - len(self._columns) :]

    def _last_names(self, plan: Plan) -> Sequence[str]:
        return plan.schema.names[len(plan.schema) - len(self._columns) :]


def bound(expression: Expression, correlation: int, position_of: Callable[[int], int]) -> Expression:
    """Replace references to the outer row by references to columns."""

    def replaced(node: Expression) -> Expression:
        if isinstance(node, CorrelatedReference) and node.correlation == correlation:
            return InputReference(position_of(node.index), node.type)
        return node

    return rewritten(expression, replaced)


def _selected(plan: Plan, indices: Sequence[int]) -> Plan:
    columns = tuple(builders.column(plan, index) for index in indices)
    return builders.project(plan, columns, [plan.schema.names[index] for index in indices])


def _number(value: int) -> Literal:
    return Literal(value, BigIntType(False))


def _is_null_without_rows(plan: Plan) -> bool:
    """Return whether an aggregation without keys, and the expressions over it, are NULL without rows."""
    if isinstance(plan, Project):
        return _is_null_without_rows(plan.input) and all(map(_is_strict, plan.expressions))
    return (
        isinstance(plan, Aggregate)
        and plan.grouping_sets == ((),)
        and all(properties_of(each.function).value_of_nothing is None for each in plan.calls)
    )


def _is_strict(expression: Expression) -> bool:
    if isinstance(expression, Call):
        return expression.function in _STRICT and any(map(_is_strict, expression.arguments))
    return isinstance(expression, InputReference)
