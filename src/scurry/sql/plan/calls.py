"""Builders of typed calls: they look up the function, check and convert the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from scurry.errors import ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.functions import forms
from scurry.sql.functions.catalogue import callable_functions, lookup, scalar_function
from scurry.sql.functions.definition import Argument, CallSite, EvaluationContext, ScalarFunction, SignatureError
from scurry.sql.functions.forms import no_signature, takes_number
from scurry.sql.functions.null_literals import null_refusal
from scurry.sql.functions.signatures import standard_name
from scurry.sql.functions.table_types import in_tables
from scurry.sql.plan.expressions import Call, Expression, Literal
from scurry.sql.types import DataType, DecimalType, IntegralType, IntType, NullType, RowType
from scurry.sql.types.families import INTERVAL, planner_interval, same_type
from scurry.sql.types.intervals import interval_unit, spans_units


def is_constant(expression: Expression) -> bool:
    """Return whether an expression has the same value for every row."""
    if isinstance(expression, Call):
        return scalar_function(expression.function).is_deterministic and all(map(is_constant, expression.arguments))
    return isinstance(expression, Literal)


def refused(span: Any, message: str) -> ValidationError:
    """Return the error for an expression that Flink refuses, with its place in the statement if that is known."""
    place = span.describe() if span is not None else ""
    text = f"{place}: {message}" if place and not message.startswith("Invalid function call") else message
    error = ValidationError(f"SQL validation failed. {text}")
    error.span = span
    return error


def call(
    name: str,
    arguments: Sequence[Expression],
    session: EvaluationContext,
    span: Any = None,
    target: DataType | None = None,
) -> Call:
    """Return a call of a built-in function or operator.

    Args:
        arguments: The arguments, of any types.
        span: Where the call stands in the statement.
        target: The type after AS or RETURNING, for functions that have one.

    Returns:
        The call, its arguments converted to what the function takes.

    Raises:
        ValidationError: There is no such function, or it does not take such arguments.
    """
    function = lookup(name)
    if function is None:
        raise no_match(name, arguments, span)
    arguments = [_nested(function, each) for each in arguments]
    site = CallSite(name.upper(), tuple(map(_known, arguments)), session, target)
    _check_nulls(site, arguments, span)
    try:
        signature = function.infer(site)
    except SignatureError as error:
        raise wrong_call(site.name, arguments, span, error) from error
    if function.name in _COMPARISONS and any(each.is_constant_null for each in site.arguments):
        # Flink's planner knows the answer without converting the other operand.
        return Call("CAST", (Literal(None, NullType()),), signature.result_type, span=span)
    taken = tuple(
        converted(each, wanted, session) for each, wanted in zip(arguments, signature.argument_types, strict=True)
    )
    found = Call(function.name, taken, signature.result_type, span=span)
    if not session.is_of_tables:
        return found
    result_type = in_tables(function.name, site, signature).result_type
    if same_type(result_type, found.type):
        return replace(found, type=result_type)
    return call("CAST", [found], session, span, result_type)


def wrong_call(name: str, arguments: Sequence[Expression], span: Any, error: SignatureError) -> ValidationError:
    """Return the error for a call that a function refuses: its message as Flink has it, and the replacement."""
    types = [each.type for each in arguments]
    if error.wrong_number and takes_number(name, len(types)):
        return no_match(name, arguments, span)
    message, hint = forms.wrong_call(name, types, error)
    if not hint and takes_number(name, len(types)):
        hint = forms.cure(name, types, _texts(span, len(types)))
    return refused(span, message).with_hint(hint)


def _check_nulls(site: CallSite, arguments: Sequence[Expression], span: Any) -> None:
    """Refuse the literal NULL of a statement where Calcite does; the Table API has it everywhere."""
    nulls = [place for place, each in enumerate(arguments) if is_written_null(each)]
    refusal = null_refusal(site, nulls) if nulls else None
    if refusal is not None:
        place, message = refusal
        raise refused(span if place is None else arguments[place].span, message)


def is_written_null(expression: Expression) -> bool:
    """Return whether an expression is the literal NULL of a statement."""
    is_null = isinstance(expression, Literal) and isinstance(expression.type, NullType)
    return is_null and expression.span is not None and bool(expression.span.text)


#: Lists of more conditions than this become balanced trees.
_LONG_LIST: Final = 20

_COMPARISONS: Final = frozenset({"=", "<>", "<", "<=", ">", ">="})


def _nested(function: ScalarFunction, argument: Expression) -> Expression:
    if not isinstance(argument, Call) or argument.function not in function.nested:
        return argument
    return replace(argument, function=function.nested[argument.function])


def _texts(span: Any, number: int) -> list[str]:
    """Return the arguments of a call as the statement has them, as far as its text tells them apart."""
    inner = "" if span is None else span.text[span.start : span.end].partition("(")[2].removesuffix(")")
    texts = [each.strip() for each in inner.split(",")]
    return texts if len(texts) == number else ["..."] * number


def no_match(name: str, arguments: Sequence[Expression], span: Any) -> ValidationError:
    """Return the error for a function that does not exist."""
    hint = "" if lookup(name) else did_you_mean(name, callable_functions())
    return refused(span, no_signature(name, [each.type for each in arguments])).with_hint(hint)


def _known(expression: Expression) -> Argument:
    if isinstance(expression, Literal):
        return Argument(expression.type, True, expression.value)
    if not isinstance(expression, Call):
        return Argument(expression.type)
    return Argument(expression.type, function=expression.function, is_constant_null=_is_cast_null(expression))


def _is_cast_null(expression: Expression) -> bool:
    """Return whether an expression is NULL, cast to a type."""
    while isinstance(expression, Call) and expression.function in ("CAST", "TRY_CAST"):
        expression = expression.arguments[0]
    return isinstance(expression, Literal) and expression.value is None


def converted(expression: Expression, data_type: DataType, session: EvaluationContext) -> Expression:
    """Return an expression converted to a type, as far as nullability and time attributes are not concerned."""
    if same_type(expression.type, data_type):
        return expression
    return call("CAST", [expression], session, expression.span, data_type)


def cast(
    expression: Expression, data_type: DataType, session: EvaluationContext, span: Any = None, is_try: bool = False
) -> Expression:
    """Return `CAST(expression AS data_type)`, or TRY_CAST.

    Raises:
        ValidationError: There is no such cast.
    """
    if isinstance(data_type, INTERVAL):
        if isinstance(expression.type, IntegralType | DecimalType):
            if spans_units(data_type):
                shown = " to type ".join(standard_name(each) for each in (expression.type, data_type))
                raise refused(span, f"Cast function cannot convert value of type {shown}")
            if isinstance(expression, Literal) and expression.value is not None:
                # Days of a literal are days; those of a column are milliseconds, as in Flink.
                value = int(expression.value * interval_unit(data_type))
                return Literal(value, planner_interval(data_type).with_nullability(is_try), span=span)
        data_type = planner_interval(data_type)
    if is_try and expression.type == data_type.nullable():
        return expression
    return call("TRY_CAST" if is_try else "CAST", [expression], session, span, data_type)


def field(row: Expression, name: str) -> Call:
    """Return a field of a row, which is null where the row is."""
    assert isinstance(row.type, RowType)
    index = row.type.names.index(name)
    data_type = row.type.fields[index].data_type
    nullable = data_type.is_nullable or row.type.is_nullable
    position = Literal(index, IntType(False))
    return Call(scalar_function("FIELD").name, (row, position), data_type.with_nullability(nullable), span=row.span)


def all_of(conditions: Sequence[Expression], session: EvaluationContext) -> Expression | None:
    """Return the conjunction of conditions, or None without conditions."""
    return combined("AND", conditions, session) if conditions else None


def combined(name: str, conditions: Sequence[Expression], session: EvaluationContext, span: Any = None) -> Expression:
    """Join conditions by AND or OR; those of long lists as a balanced tree, so that none is thousands of calls deep."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2 if len(conditions) > _LONG_LIST else len(conditions) - 1
    left, right = combined(name, conditions[:middle], session, span), combined(name, conditions[middle:], session, span)
    return call(name, [left, right], session, span)
