"""Rewrite subqueries in expressions as joins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scurry.errors import UnsupportedError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.calls import all_of, call, combined
from scurry.sql.plan.expressions import AggregateCall, Call, CorrelatedReference, Expression, InputReference, Literal
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.nodes import Aggregate, Correlate, Filter, Join, Limit, Plan, Project, Values
from scurry.sql.plan.rewriting import (
    correlated,
    correlations_of,
    expressions_of,
    input_references,
    rewritten,
    shifted,
    walk_expression,
    with_expressions,
)
from scurry.sql.plan.subqueries import Exists, QuantifiedSubquery, ScalarSubquery, Subquery
from scurry.sql.planner.rules.decorrelation import dependent_join
from scurry.sql.types import BigIntType, BooleanType


def subqueries_to_joins(plan: Plan, session: EvaluationContext) -> Plan:
    """Replace EXISTS, IN and scalar subqueries, and LATERAL references, by joins.

    Conditions of WHERE become semi and anti joins. Anything else becomes a column, which a join with an aggregation of
    the query computes.
    """
    return _Rewriting(session).plan(plan)


class _Rewriting:
    def __init__(self, session: EvaluationContext) -> None:
        self._session = session

    def plan(self, plan: Plan) -> Plan:
        plan = plan.with_inputs(tuple(self.plan(each) for each in plan.inputs))
        if isinstance(plan, Correlate):
            return dependent_join(plan.left, plan.right, plan.correlation, plan.kind, None, self._session)
        if not any(_has_subquery(each) for each in expressions_of(plan)):
            return plan
        if isinstance(plan, Filter):
            return self._filter(plan)
        if isinstance(plan, Join) and plan.kind == "INNER":
            assert plan.condition is not None
            return self._filter(Filter(replace(plan, condition=None), plan.condition))
        if isinstance(plan, Join):
            return self._outer_join(plan)
        if isinstance(plan, Values):
            return self._values(plan)
        return self._columns(plan)

    def _filter(self, plan: Filter) -> Plan:
        source, rest = plan.input, []
        width = len(source.schema)
        conditions = list(_conjuncts(plan.condition, self._session))
        plain = all_of([each for each in conditions if not _has_subquery(each)], self._session)
        if plain is not None:
            source = Filter(source, plain)
        for condition in filter(_has_subquery, conditions):
            negated = isinstance(condition, Call) and condition.function == "NOT"
            subquery = condition.arguments[0] if negated and isinstance(condition, Call) else condition
            if isinstance(subquery, Exists | QuantifiedSubquery):
                source, subquery = self._with_plain_operands(source, subquery)
                source = self._semi_join(source, subquery, "ANTI" if negated else "SEMI")
            else:
                rest.append(condition)
        for condition in rest:
            source, found = self._expression(source, condition)
            source = Filter(source, found)
        if len(source.schema) == width:
            return source
        return builders.project(source, builders.columns(source)[:width], plan.schema.names)

    def _with_plain_operands(
        self, source: Plan, subquery: Exists | QuantifiedSubquery
    ) -> tuple[Plan, Exists | QuantifiedSubquery]:
        """Compute the subqueries in the left operand of a subquery's comparison as columns."""
        if not isinstance(subquery, QuantifiedSubquery):
            return source, subquery
        operands = []
        for each in subquery.operands:
            source, operand = self._expression(source, each)
            operands.append(operand)
        return source, replace(subquery, operands=tuple(operands))

    def _semi_join(self, source: Plan, subquery: Exists | QuantifiedSubquery, kind: str) -> Plan:
        inner = self.plan(subquery.plan)
        condition = None
        if isinstance(subquery, QuantifiedSubquery):
            condition = self._comparison(subquery.operands, inner, subquery.operator, len(source.schema))
            if kind == "ANTI" and condition.type.is_nullable:
                condition = self._may_be_equal(condition)
        elif self._session.is_streaming and subquery.correlation not in correlations_of(inner):
            inner = self._any_row(inner)
        return dependent_join(source, inner, subquery.correlation, kind, condition, self._session)

    def _may_be_equal(self, condition: Expression) -> Expression:
        """Return a condition that is TRUE where another is not FALSE; EXPLAIN asks for NULL, as Flink does."""
        if not self._session.is_explained or not isinstance(condition, Call) or condition.function != "=":
            return call("IS NOT FALSE", [condition], self._session)
        nulls = [call("IS NULL", [each], self._session) for each in condition.arguments if each.type.is_nullable]
        return combined("OR", [*nulls, condition], self._session)

    def _any_row(self, inner: Plan) -> Plan:
        """Return a row if a query has any: STREAMING keeps that instead of all its rows."""
        found = AggregateCall("MIN", (InputReference(0, BooleanType(False)),), BooleanType())
        rows = builders.project(inner, [Literal(True, BooleanType(False))], ["i"])
        smallest = builders.aggregate(rows, [], [found], ["m"])
        return Filter(smallest, call("IS NOT NULL", [builders.column(smallest, 0)], self._session))

    def _comparison(self, operands: Sequence[Expression], inner: Plan, operator: str, offset: int) -> Expression:
        result: Expression | None = None
        for operand, column in zip(operands, builders.columns(inner), strict=True):
            each = call(operator, [operand, shifted(column, offset)], self._session)
            result = each if result is None else call("AND", [result, each], self._session)
        assert result is not None
        return result

    def _outer_join(self, plan: Join) -> Plan:
        """Compute the subqueries in the condition of an outer join as columns of the side that they depend on."""
        assert plan.condition is not None
        width, total = len(plan.left.schema), len(plan.schema)
        sides, columns = [plan.left, plan.right], list[tuple[int, Expression]]()

        def found(node: Expression) -> Expression:
            if not isinstance(node, Subquery):
                return node
            side = _side_of(node, width, total)
            if side and isinstance(node, QuantifiedSubquery):
                node = replace(node, operands=tuple(shifted(each, -width) for each in node.operands))
            sides[side], column = self._column(sides[side], node)
            columns.append((side, column))
            return InputReference(total + len(columns) - 1, column.type)

        condition = rewritten(plan.condition, found)
        left_width = len(sides[0].schema)

        def moved(node: Expression) -> Expression:
            if not isinstance(node, InputReference) or node.index < width:
                return node
            if node.index < total:
                return shifted(node, left_width - width)
            side, column = columns[node.index - total]
            return shifted(column, left_width) if side else column

        joined = builders.join(sides[0], sides[1], plan.kind, rewritten(condition, moved))
        kept = [*range(width), *range(left_width, left_width + total - width)]
        return builders.project(joined, [builders.column(joined, each) for each in kept], plan.schema.names)

    def _values(self, plan: Values) -> Plan:
        rows = [self._columns(Project(builders.one_row(), row, plan.schema.names)) for row in plan.rows]
        return rows[0] if len(rows) == 1 else builders.set_operation("UNION", True, rows, plan.schema)

    def _columns(self, plan: Plan) -> Plan:
        """Compute the subqueries of a node's expressions as columns of its input."""
        assert len(plan.inputs) == 1, f"{type(plan).__name__} does not take subqueries"
        source = plan.inputs[0]
        found: list[Expression] = []
        for each in expressions_of(plan):
            source, expression = self._expression(source, each)
            found.append(expression)
        replacements = iter(found)
        changed = with_expressions(plan, lambda each: next(replacements))
        return changed.with_inputs((source,))

    def _expression(self, source: Plan, expression: Expression) -> tuple[Plan, Expression]:
        """Return an expression without subqueries, over a plan with a column for each appended."""
        state = [source]

        def replaced(node: Expression) -> Expression:
            if not isinstance(node, Subquery):
                return node
            state[0], column = self._column(state[0], node)
            return column

        found = rewritten(expression, replaced)
        return state[0], found

    def _column(self, source: Plan, subquery: Subquery) -> tuple[Plan, Expression]:
        inner = self.plan(subquery.plan)
        if isinstance(subquery, Exists):
            inner = self._exists(inner)
        elif isinstance(subquery, QuantifiedSubquery):
            inner = self._quantified(inner, subquery)
        else:
            assert isinstance(subquery, ScalarSubquery)
            if not _has_one_row(inner):
                single = AggregateCall("SINGLE_VALUE", (builders.column(inner, 0),), inner.schema[0].type.nullable())
                inner = builders.aggregate(inner, [], [single], inner.schema.names)
        joined = dependent_join(source, inner, subquery.correlation, "LEFT", None, self._session)
        column: Expression = InputReference(len(source.schema), joined.schema[len(source.schema)].type)
        if isinstance(subquery, Exists):
            # in STREAMING a count of no rows is no row
            column = call("COALESCE", [column, Literal(False, BooleanType(False))], self._session)
        return joined, column

    def _exists(self, inner: Plan) -> Plan:
        count = builders.aggregate(inner, [], [AggregateCall("COUNT", (), BigIntType(False))], ["n"])
        found = call(">", [builders.column(count, 0), Literal(0, BigIntType(False))], self._session)
        return builders.project(count, [found], ["found"])

    def _quantified(self, inner: Plan, subquery: QuantifiedSubquery) -> Plan:
        """Count for how many rows a comparison is TRUE, and for how many it is not known."""
        operands = [correlated(each, subquery.correlation) for each in subquery.operands]
        comparison = self._comparison(operands, inner, subquery.operator, 0)
        compared = builders.project(inner, [comparison], ["comparison"])
        outcome = builders.column(compared, 0)
        unknown = call("IS NULL", [outcome], self._session)
        calls = [AggregateCall("COUNT", (), BigIntType(False), filter=each) for each in (outcome, unknown)]
        counted = builders.aggregate(compared, [], calls, ["true", "unknown"])
        some = [call(">", [each, Literal(0, BigIntType(False))], self._session) for each in builders.columns(counted)]
        yes, no, perhaps = (Literal(value, BooleanType(value is None)) for value in (True, False, None))
        answer = call("CASE", [some[0], yes, some[1], perhaps, no], self._session)
        return builders.project(counted, [answer], ["found"])


def _side_of(subquery: Subquery, width: int, total: int) -> int:
    """Return the side of a join that a subquery in its condition depends on: 0 for the left one, 1 for the right one.

    Raises:
        UnsupportedError: It depends on both, or refers to the right one.
    """
    used = set().union(*map(input_references, getattr(subquery, "operands", ())))
    outer = set(_correlated_columns(subquery.plan, subquery.correlation))
    if all(each < width for each in used | outer):
        return 0
    if not outer and all(width <= each < total for each in used):
        return 1
    raise UnsupportedError(
        "a subquery in the condition of an outer join that refers to its right table, or to both: select the value "
        "with the columns of that table, and join what is selected"
    )


def _correlated_columns(plan: Plan, correlation: int) -> Iterator[int]:
    """Iterate over the columns of an outer row that a plan refers to, its subqueries included."""
    for expression in expressions_of(plan):
        for part in walk_expression(expression):
            if isinstance(part, CorrelatedReference) and part.correlation == correlation:
                yield part.index
            inner = getattr(part, "plan", None)
            if isinstance(inner, Plan):
                yield from _correlated_columns(inner, correlation)
    for each in plan.inputs:
        yield from _correlated_columns(each, correlation)


def _has_subquery(expression: Expression) -> bool:
    return any(isinstance(each, Subquery) for each in walk_expression(expression))


def _conjuncts(condition: Expression, session: EvaluationContext) -> Iterator[Expression]:
    """Iterate over conditions that are all TRUE where one with subqueries is; a NOT stands at the subquery."""
    for each in conjuncts(condition):
        found = _simplified(each, session) if _has_subquery(each) else None
        if found is None:
            yield each
        else:
            yield from _conjuncts(found, session)


def _simplified(condition: Expression, session: EvaluationContext) -> Expression | None:
    """Return a simpler condition that is TRUE for the same rows, or None."""
    if not isinstance(condition, Call) or condition.function not in ("NOT", "IS TRUE", "IS FALSE"):
        return None
    (operand,) = condition.arguments
    if condition.function != "NOT":
        return operand if condition.function == "IS TRUE" else call("NOT", [operand], session)
    if not isinstance(operand, Call):
        return None
    if operand.function == "NOT":
        return operand.arguments[0]
    if operand.function == "OR":
        return all_of([call("NOT", [each], session) for each in operand.arguments], session)
    return None


def _has_one_row(plan: Plan) -> bool:
    """Return whether a plan is known to have at most one row."""
    if isinstance(plan, Project | Filter):
        return _has_one_row(plan.input)
    if isinstance(plan, Aggregate):
        return not plan.keys and len(plan.grouping_sets) == 1
    if isinstance(plan, Values):
        return len(plan.rows) == 1
    return isinstance(plan, Limit) and plan.fetch is not None and plan.fetch <= 1
