"""Values of expressions that depend on no row."""

from __future__ import annotations

from scurry.errors import EvaluationError
from scurry.functions.catalogue import scalar_function
from scurry.functions.definition import Argument, CallSite, Session
from scurry.logical_types.values import from_value, to_value
from scurry.relational.expressions import Call, Expression, Literal

__all__ = ["constant"]


def constant(expression: Expression, session: Session) -> Literal | None:
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
