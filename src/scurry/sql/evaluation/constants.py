"""Values of expressions that depend on no row."""

from __future__ import annotations

from scurry.errors import EvaluationError
from scurry.sql.functions.catalogue import scalar_function
from scurry.sql.functions.definition import Argument, CallSite, EvaluationContext
from scurry.sql.plan.expressions import Call, Expression, Literal
from scurry.sql.types import CharType, VarCharType
from scurry.sql.types.values import from_value, to_value


def constant(expression: Expression, session: EvaluationContext) -> Literal | None:
    """Return the value of an expression as a literal; None if it depends on a row, or has none."""
    import pyarrow as pa

    if isinstance(expression, Literal):
        return expression
    if not isinstance(expression, Call):
        return None
    arguments = [constant(each, session) for each in expression.arguments]
    known = [each for each in arguments if each is not None]
    function = scalar_function(expression.function)
    if len(known) < len(arguments) or not function.is_deterministic or function.bind is None:
        return None
    site = CallSite(
        expression.function,
        tuple(Argument(each.type, True, each.value) for each in known),
        session,
        expression.type,
    )
    try:
        column = function.bind(site, expression.type)([from_value(each.value, each.type) for each in known], 1)
    except EvaluationError:
        return None
    value = to_value(column if isinstance(column, pa.Scalar) else column[0])
    return Literal(value, expression.type, span=expression.span)


def only_result(expression: Expression) -> Expression:
    """Return the result of a CASE that has the same in all branches that can be taken; else the expression itself."""
    if not isinstance(expression, Call) or expression.function != "CASE":
        return expression
    results = []
    for condition, result in zip(expression.arguments[:-1:2], expression.arguments[1::2], strict=True):
        holds = _holds(condition)
        if holds is not False:
            results.append(only_result(result))
        if holds:
            break
    else:
        results.append(only_result(expression.arguments[-1]))
    return results[0] if all(each == results[0] for each in results) else expression


def is_written_constant(expression: Expression) -> bool:
    """Return whether Flink's planner takes an expression for a literal before it computes constants."""
    result = only_result(expression)
    expression = result if result.type == expression.type else expression
    while isinstance(expression, Call) and expression.function == "CAST" and _is_cast_at_once(expression):
        expression = expression.arguments[0]
    return isinstance(expression, Literal) or _holds(expression) is not None


def _is_cast_at_once(cast: Call) -> bool:
    given = cast.arguments[0]
    return not isinstance(given.type, CharType | VarCharType) or isinstance(cast.type, CharType | VarCharType)


def _holds(condition: Expression) -> bool | None:
    """Return the value of a condition, NULL as False, as far as literals decide it."""
    if isinstance(condition, Call) and condition.function == "CAST":
        condition = condition.arguments[0]
    if isinstance(condition, Literal):
        return bool(condition.value)
    if not isinstance(condition, Call):
        return None
    parts = condition.arguments
    if condition.function == "=" and all(isinstance(each, Literal) for each in parts):
        return True if parts[0] == parts[1] else None
    if condition.function not in ("AND", "OR"):
        return None
    values, decisive = list(map(_holds, parts)), condition.function == "OR"
    if decisive in values:
        return decisive
    return None if None in values else not decisive
