"""The interval of a column's values, derived from the conditions of a plan."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

from scurry._dataclasses import dataclass
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.expressions import FLIPPED, Call, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical import joins, ranks
from scurry.sql.types import BigIntType, DecimalType


@dataclass(frozen=True)
class Interval:
    """The numbers between two bounds; a bound that is None is infinite."""

    lower: Decimal | None = None
    upper: Decimal | None = None

    def joined(self, other: Interval) -> Interval:
        """Return the smallest interval that contains both."""
        lower = None if self.lower is None or other.lower is None else min(self.lower, other.lower)
        upper = None if self.upper is None or other.upper is None else max(self.upper, other.upper)
        return Interval(lower, upper)

    def common(self, other: Interval) -> Interval:
        """Return the interval of the numbers in both."""
        lowers = [each for each in (self.lower, other.lower) if each is not None]
        uppers = [each for each in (self.upper, other.upper) if each is not None]
        return Interval(max(lowers, default=None), min(uppers, default=None))

    def negated(self) -> Interval:
        """Return the interval of the negative numbers."""
        return Interval(None if self.upper is None else -self.upper, None if self.lower is None else -self.lower)


_ANY = Interval()


def column_interval(plan: Plan, column: int) -> Interval:
    """Return the interval of the values of a column that are not NULL."""
    handler = _HANDLERS.get(type(plan))
    return _ANY if handler is None else handler(plan, column)


def interval_where(condition: Expression, operand: Expression) -> Interval:
    """Return the interval of the values of an operand of a condition in the rows for which it is TRUE."""
    return _passing(condition, operand, _ANY)


def _values(plan: nodes.Values, column: int) -> Interval:
    cells = [row[column] for row in plan.rows]
    found = [_of_expression(each, plan) for each in cells if not isinstance(each, Literal) or each.value is not None]
    return reduce(Interval.joined, found) if found else _ANY


def _number(value: Any) -> Decimal | None:
    is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and value == value
    return Decimal(value) if is_number else None


def _project(plan: nodes.Project, column: int) -> Interval:
    return _of_expression(plan.expressions[column], plan.input)


def _of_expression(expression: Expression, plan: Plan) -> Interval:
    if isinstance(expression, InputReference):
        return column_interval(plan, expression.index)
    if isinstance(expression, Literal):
        number = _number(expression.value)
        return Interval(number, number)
    if not isinstance(expression, Call):
        return _ANY
    if expression.function == "CASE":
        operands = expression.arguments
        results = [each for place, each in enumerate(operands) if place % 2 or place == len(operands) - 1]
        return reduce(Interval.joined, (_of_expression(each, plan) for each in results))
    if expression.function in ("+", "-", "*") and len(expression.arguments) == 2:
        left, right = (_of_expression(each, plan) for each in expression.arguments)
        if expression.function == "*":
            return _product(left, right)
        return _sum(left, right if expression.function == "+" else right.negated())
    return _ANY


def _sum(left: Interval, right: Interval) -> Interval:
    lower = None if left.lower is None or right.lower is None else left.lower + right.lower
    upper = None if left.upper is None or right.upper is None else left.upper + right.upper
    return Interval(lower, upper)


def _product(left: Interval, right: Interval) -> Interval:
    bounds = left.lower, left.upper, right.lower, right.upper
    if any(each is None for each in bounds):
        return _ANY
    products = [one * other for one in bounds[:2] for other in bounds[2:] if one is not None and other is not None]
    return Interval(min(products), max(products))


def _filter(plan: nodes.Filter, column: int) -> Interval:
    return _passing(plan.condition, _reference(plan, column), column_interval(plan.input, column))


def _reference(plan: Plan, column: int) -> InputReference:
    return InputReference(column, plan.schema[column].type)


#: Types to which numbers are cast without a change.
_WIDE_TYPES = (BigIntType, DecimalType)
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _passing(condition: Expression, operand: Expression, interval: Interval, negated: bool = False) -> Interval:
    """Return the interval of the values of an operand in the rows that pass a condition, or that do not."""
    if not isinstance(condition, Call):
        return interval
    function, arguments = condition.function, condition.arguments
    if function == "NOT":
        return _passing(arguments[0], operand, interval, not negated)
    if function in ("AND", "OR"):
        combine = Interval.common if (function == "AND") != negated else Interval.joined
        return reduce(combine, (_passing(each, operand, interval, negated) for each in arguments))
    if function not in FLIPPED or len(arguments) != 2:
        return interval
    left, right = arguments
    number = _constant(right)
    if number is None:
        left, number, function = right, _constant(left), FLIPPED[function]
    if number is None or not _is_same(left, operand):
        return interval
    if negated:
        function = _OPPOSITE.get(function, "<>")
    if function == "<>":
        return interval
    lower = number if function in (">", ">=", "=") else None
    upper = number if function in ("<", "<=", "=") else None
    return interval.common(Interval(lower, upper))


def _constant(expression: Expression) -> Decimal | None:
    """Return a number that is written in the statement, also where it is compared with values of a wider type."""
    if isinstance(expression, Call) and expression.function == "CAST" and isinstance(expression.type, _WIDE_TYPES):
        (expression,) = expression.arguments
    return _number(expression.value) if isinstance(expression, Literal) else None


def _is_same(one: Expression, other: Expression) -> bool:
    if isinstance(one, InputReference) and isinstance(other, InputReference):
        return one.index == other.index
    return one == other


def _aggregate(plan: nodes.Aggregate, column: int) -> Interval:
    if column < len(plan.keys):
        return column_interval(plan.input, plan.keys[column])
    place = column - len(plan.keys)
    if not plan.is_simple or place >= len(plan.calls):
        return _ANY
    call = plan.calls[place]
    if call.function == "COUNT":
        return Interval(lower=Decimal(0))
    if call.function != "SUM":
        return _ANY
    added = _of_expression(call.arguments[0], plan.input)
    if added.lower is not None and added.lower >= 0:
        return Interval(lower=added.lower)
    if added.upper is not None and added.upper <= 0:
        return Interval(upper=added.upper)
    return _ANY


def _rank(plan: ranks.Rank, column: int) -> Interval:
    if column < len(plan.input.schema):
        return column_interval(plan.input, column)
    return Interval(Decimal(plan.start), Decimal(plan.end)) if plan.end_column is None else _ANY


def _join(plan: nodes.Join | joins.StreamingJoin, column: int) -> Interval:
    width = len(plan.left.schema)
    found = column_interval(plan.left, column) if column < width else column_interval(plan.right, column - width)
    rest = plan.condition if isinstance(plan, nodes.Join) else plan.rest
    return found if rest is None else _passing(rest, _reference(plan, column), found)


def _set_operation(plan: nodes.SetOperation, column: int) -> Interval:
    return reduce(Interval.joined, (column_interval(each, column) for each in plan.branches))


def _input(plan: Any, column: int) -> Interval:
    return column_interval(plan.input, column) if column < len(plan.input.schema) else _ANY


_HANDLERS: dict[type[Plan], Callable[[Any, int], Interval]] = {
    nodes.Values: _values,
    nodes.Project: _project,
    nodes.Filter: _filter,
    nodes.Aggregate: _aggregate,
    nodes.Join: _join,
    nodes.SetOperation: _set_operation,
    nodes.Sort: _input,
    nodes.Limit: _input,
    nodes.Over: _input,
    ranks.Rank: _rank,
    ranks.Deduplicate: _input,
    ranks.TemporalSort: _input,
    joins.RegularJoin: _join,
    joins.IntervalJoin: _join,
}
