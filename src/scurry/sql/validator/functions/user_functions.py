"""User-defined functions: which function a name means, and its calls."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from scurry.errors import ValidationError
from scurry.sql.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql.functions.catalogue import is_syntax, lookup
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan import calls
from scurry.sql.plan.expressions import Call, Expression, Literal, UserFunctionCall
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span
from scurry.sql.types import DataType, DecimalType, IntegralType
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.failures import invalid


def called_function(name: nodes.Identifier, environment: Environment) -> UserFunction | None:
    """Return the function of a user that a name means, None if it means a built-in one or nothing.

    In this order: temporary system functions, built-in functions, temporary functions of the database, its own.
    """
    if name.is_simple:
        found = environment.catalog.find_system_function(name.last)
        if found is not None:
            return found
        if is_built_in(name.last):
            return None
    return environment.catalog.find_function(name.names)


def is_built_in(name: str) -> bool:
    """Return whether a name of one part means a built-in function, unless a temporary system function hides it."""
    return (lookup(name) is not None and not is_syntax(name)) or lookup_aggregate(name) is not None


def ordered_arguments(
    function: UserFunction, name: str, arguments: Sequence[nodes.Node], span: Span
) -> Sequence[nodes.Node]:
    """Return the arguments of a call in the order of the function's parameters: `f(b => 1, a => 2)`.

    Raises:
        ValidationError: Some have names and others not, a name is none of a parameter, or a parameter has no argument.
    """
    if not any(isinstance(each, nodes.NamedArgument) for each in arguments):
        return arguments
    given = {each.name.last: each.value for each in arguments if isinstance(each, nodes.NamedArgument)}
    if len(given) < len(arguments):
        raise invalid(span, f"Arguments of function '{name}' have names: all of them, each another one, or none")
    known = ", ".join(function.parameters)
    for each in given:
        if each not in function.parameters:
            raise invalid(span, f"Function '{name}' has no argument '{each}'; its arguments are: {known}")
    missing = [each for each in function.parameters if each not in given]
    if missing:
        raise invalid(span, f"Function '{name}' needs an argument '{missing[0]}'; its arguments are: {known}")
    return [given[each] for each in function.parameters]


def user_call(
    function: UserFunction, name: str, arguments: Sequence[Expression], environment: Environment, span: Span
) -> UserFunctionCall:
    """Return a call of a scalar or table function.

    Raises:
        ValidationError: It does not take these arguments.
    """
    taken = converted_arguments(function, name, tuple(map(_with_all_digits, arguments)), environment.session, span)
    return UserFunctionCall(function, name, taken, function.result_type, span=span)


def _with_all_digits(argument: Expression) -> Expression:
    """Return a number in place of `CAST(number AS DECIMAL(p, s))`: Calcite has the digits that `s` would cut off.

    Flink's own functions round when they read such a literal; user-defined functions in Python get it as it is.
    """
    number, types = argument, []
    while isinstance(number, Call) and number.function == "CAST" and isinstance(number.type, DecimalType):
        types.append(number.type)
        number = number.arguments[0]
    if not types or not isinstance(number, Literal) or number.value is None:
        return argument
    if not isinstance(number.type, IntegralType | DecimalType):
        return argument
    value = Decimal(number.value)
    places = max(0, value.adjusted() + 1)
    if any(places > each.precision - each.scale for each in types):
        return argument
    scale = max(0, -int(value.as_tuple().exponent))
    return Literal(value, DecimalType(max(1, places + scale), scale, False), span=argument.span)


def converted_arguments(
    function: UserFunction, name: str, arguments: Sequence[Expression], session: EvaluationContext, span: Span
) -> tuple[Expression, ...]:
    """Return arguments as a function takes them.

    Raises:
        ValidationError: It does not take so many, or not of such types.
    """
    wanted = function.argument_types
    if wanted is None:
        return tuple(arguments)
    if name.startswith("*"):  # called without being registered
        name = function.name
    if len(wanted) != len(arguments):
        raise _wrong_number(name, arguments, wanted, span)
    for each, data_type in zip(arguments, wanted, strict=True):
        if not supports_implicit_cast(each.type, data_type):
            raise _wrong_type(name, arguments, wanted)
    return tuple(calls.converted(each, data_type, session) for each, data_type in zip(arguments, wanted, strict=True))


def _wrong_number(name: str, arguments: Sequence[Expression], wanted: Sequence[DataType], span: Span) -> Exception:
    message = str(calls.no_match(name, arguments, span))
    return ValidationError(f"{message}.\nSupported signatures are:\n{_signature(name, wanted)}")


def _wrong_type(name: str, arguments: Sequence[Expression], wanted: Sequence[DataType]) -> Exception:
    given = [each.type.as_summary_string() for each in arguments]
    place = next(
        place
        for place, (one, other) in enumerate(zip(arguments, wanted, strict=True))
        if not supports_implicit_cast(one.type, other)
    )
    return ValidationError(
        f"SQL validation failed. Invalid function call:\n{name}({', '.join(given)})\nInvalid input arguments. Expected "
        f"signatures are:\n{_signature(name, wanted)}\nInvalid argument type at position {place}. Data type "
        f"{wanted[place].as_summary_string()} expected but {given[place]} passed."
    )


def _signature(name: str, wanted: Sequence[DataType]) -> str:
    shown = (f"arg{place} => {each.as_summary_string()}" for place, each in enumerate(wanted))
    return f"{name}({', '.join(shown)})"
