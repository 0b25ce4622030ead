"""Expressions computed for one row, without columns: the usual comparisons of conditions that look at rows before."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from scurry.sql import types
from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.types.families import same_type

#: Returns the value of an expression for the values of a row's columns; None is NULL.
Scalar: TypeAlias = Callable[[Sequence[Any]], Any]

_COMPARISONS: Final = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Final = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def scalar_function(expression: Expression) -> Scalar | None:
    """Return the function that computes an expression of one row; None if it needs columns."""
    if isinstance(expression, InputReference):
        return operator.itemgetter(expression.index)
    if isinstance(expression, Literal):
        value = expression.value
        return lambda row: value
    if not isinstance(expression, Call):
        return None
    arguments = [scalar_function(each) for each in expression.arguments]
    known = [each for each in arguments if each is not None]
    if len(known) < len(arguments):
        return None
    make = _FORMS.get(expression.function)
    return None if make is None else make(expression, known)


def _comparison(call: Call, arguments: Sequence[Scalar]) -> Scalar | None:
    left, right = arguments
    if not _are_comparable(*(each.type for each in call.arguments)):
        return None
    compare = _COMPARISONS[call.function]

    def compared(row: Sequence[Any]) -> Any:
        one, other = left(row), right(row)
        return None if one is None or other is None else compare(one, other)

    return compared


def _are_comparable(one: types.DataType, other: types.DataType) -> bool:
    if isinstance(one, types.IntegralType) and isinstance(other, types.IntegralType):
        return True
    if isinstance(one, types.CharType | types.VarCharType) and isinstance(other, types.CharType | types.VarCharType):
        return True
    kinds = types.BooleanType | types.DateType | types.DoubleType | types.TimestampType | types.LocalZonedTimestampType
    return isinstance(one, kinds) and same_type(one, other)


def _arithmetic(call: Call, arguments: Sequence[Scalar]) -> Scalar | None:
    left, right = arguments
    compute = _ARITHMETIC[call.function]
    kinds = {type(call.type), *(type(each.type) for each in call.arguments)}
    if len(kinds) > 1 or not kinds <= {types.IntType, types.BigIntType, types.DoubleType}:
        return None
    whole = call.type if isinstance(call.type, types.IntegralType) else None

    def computed(row: Sequence[Any]) -> Any:
        one, other = left(row), right(row)
        if one is None or other is None:
            return None
        found = compute(one, other)
        return found if whole is None else whole.wrapped(found)

    return computed


def _and(call: Call, arguments: Sequence[Scalar]) -> Scalar:
    def computed(row: Sequence[Any]) -> Any:
        found: Any = True
        for each in arguments:
            value = each(row)
            if value is False:
                return False
            if value is None:
                found = None
        return found

    return computed


def _or(call: Call, arguments: Sequence[Scalar]) -> Scalar:
    def computed(row: Sequence[Any]) -> Any:
        found: Any = False
        for each in arguments:
            value = each(row)
            if value is True:
                return True
            if value is None:
                found = None
        return found

    return computed


def _not(call: Call, arguments: Sequence[Scalar]) -> Scalar:
    (operand,) = arguments

    def computed(row: Sequence[Any]) -> Any:
        value = operand(row)
        return None if value is None else not value

    return computed


def _cast(call: Call, arguments: Sequence[Scalar]) -> Scalar | None:
    """Return the widening of an integer: the value stays the same."""
    given, wanted = call.arguments[0].type, call.type
    if same_type(given, wanted) or (isinstance(given, types.IntType) and isinstance(wanted, types.BigIntType)):
        return arguments[0]
    if not isinstance(given, types.IntegralType) or not isinstance(wanted, types.DoubleType):
        return None
    (operand,) = arguments

    def computed(row: Sequence[Any]) -> Any:
        value = operand(row)
        return None if value is None else float(value)

    return computed


_FORMS: Final[dict[str, Callable[[Call, Sequence[Scalar]], Scalar | None]]] = {
    **dict.fromkeys(_COMPARISONS, _comparison),
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    "AND": _and,
    "OR": _or,
    "NOT": _not,
    "CAST": _cast,
    "IS NULL": lambda call, arguments: lambda row: arguments[0](row) is None,
    "IS NOT NULL": lambda call, arguments: lambda row: arguments[0](row) is not None,
}
