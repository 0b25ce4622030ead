"""Aggregates: how calls are recognised and typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scurry.errors import ValidationError
from scurry.sql.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql.functions.aggregate.definition import AggregateFunction, AggregateSite
from scurry.sql.functions.catalogue import lookup
from scurry.sql.functions.definition import Argument, SignatureError
from scurry.sql.functions.forms import takes_number
from scurry.sql.functions.null_literals import ILLEGAL
from scurry.sql.functions.table_types import in_tables
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan import calls
from scurry.sql.plan.expressions import AggregateCall, Expression, Literal
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span
from scurry.sql.types import MapType, MultisetType, RowType, SymbolType
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.functions.user_functions import called_function, converted_arguments, ordered_arguments

if TYPE_CHECKING:
    from scurry.sql.validator.expressions import ExpressionValidator


def is_aggregate(node: nodes.FunctionCall, environment: Environment) -> bool:
    if isinstance(node, nodes.Call):
        user = called_function(node.name, environment)
        if user is not None:
            return user.kind == "aggregate"
    return _function(node) is not None


def is_ranking(node: nodes.FunctionCall) -> bool:
    """Return whether a call is one whose value depends on the place of the row, so that it takes no frame."""
    function = _function(node)
    return function is not None and function.is_ranking


def is_distinct_free(node: nodes.FunctionCall) -> bool:
    """Return whether DISTINCT changes nothing for a call."""
    function = _function(node)
    return function is not None and function.properties.distinct_free


def needs_order(node: nodes.FunctionCall) -> bool:
    function = _function(node)
    return function is not None and function.needs_order


def aggregate_call(
    node: nodes.FunctionCall, validator: ExpressionValidator, grouped: bool, over: bool, bounded: bool = False
) -> AggregateCall:
    """Return a call of an aggregate, with typed arguments.

    Args:
        validator: Validates the arguments.
        grouped: Whether every group has a row.
        over: Whether it is over a window.
        bounded: Whether its rows end even in STREAMING, as those of a match do.

    Raises:
        ValidationError: It is no aggregate, or does not take these arguments.
    """
    user = called_function(node.name, validator.environment) if isinstance(node, nodes.Call) else None
    if user is not None and user.kind == "aggregate":
        return _user_aggregate(user, node, validator, over)
    function = _function(node)
    if function is None:
        if isinstance(node, nodes.Call) and lookup(str(node.name)) is None:
            arguments = [validator.convert(each) for each in node.arguments]
            raise calls.no_match(str(node.name), arguments, _call_span(node))
        raise invalid(_call_span(node), "OVER must be applied to aggregate function")
    if function.make is None and not over and takes_number(function.name, len(_arguments(node))):
        raise invalid(node.span, "OVER clause is necessary for window functions")
    if node.null_treatment is not None and not function.takes_null_treatment:
        raise invalid(node.span, f"Cannot specify IGNORE NULLS or RESPECT NULLS following '{function.name}'")
    _check_order(node, validator)
    session = validator.environment.session
    arguments = [_argument(each, validator) for each in _arguments(node)]
    _check_nulls(function, arguments)
    if function.name == "COUNT" and len(arguments) > 1:
        arguments = _counted(arguments, node)
    if session.is_streaming and _is_distinct(node):
        _check_distinct(arguments)
    known = replace(session, is_streaming=False) if bounded else session
    # FILTER may leave out all rows of a group.
    has_row = grouped and node.filter is None
    site = AggregateSite(function.name, tuple(map(_known, arguments)), known, is_grouped=has_row, is_over=over)
    try:
        signature = function.infer(site)
    except SignatureError as error:
        name = str(node.name).upper() if isinstance(node, nodes.Call) else function.name
        raise calls.wrong_call(name, arguments, _call_span(node), error) from error
    if session.is_of_tables:
        signature = in_tables(function.name, site, signature)
    bound = tuple(
        calls.converted(each, type, session) for each, type in zip(arguments, signature.argument_types, strict=True)
    )
    return AggregateCall(
        function.name,
        bound,
        signature.result_type,
        _is_distinct(node),
        None if node.filter is None else _filter(node.filter, validator),
        span=node.span,
    )


def _filter(condition: nodes.Expression, validator: ExpressionValidator) -> Expression:
    if isinstance(condition, nodes.NullLiteral):
        raise invalid(condition.span, ILLEGAL)
    return validator.condition(condition, "FILTER")


def _counted(arguments: Sequence[Expression], node: nodes.FunctionCall) -> list[Expression]:
    """Return the arguments of COUNT that may be NULL: the others change nothing."""
    nullable = [each for each in arguments if each.type.is_nullable]
    if len(nullable) > 1 or _is_distinct(node):
        raise ValidationError("We now only support the count of one field.")
    return nullable


def _check_distinct(arguments: Sequence[Expression]) -> None:
    for each in arguments:
        if isinstance(each.type, RowType | MapType | MultisetType):
            raise ValidationError(
                f"Distinct aggregate function does not support type: {each.type.type_name()}.\n"
                "Please re-check the data type."
            )


def _is_distinct(node: nodes.FunctionCall) -> bool:
    return isinstance(node, nodes.Call) and node.quantifier == "DISTINCT"


def _check_nulls(function: AggregateFunction, arguments: Sequence[Expression]) -> None:
    for place, each in enumerate(arguments):
        if calls.is_written_null(each) and place not in function.null_arguments:
            raise calls.refused(each.span, ILLEGAL)


def _user_aggregate(
    function: UserFunction, node: nodes.FunctionCall, validator: ExpressionValidator, over: bool
) -> AggregateCall:
    assert isinstance(node, nodes.Call)
    # Tables refuse those that the program gives a window: windows of a number of rows become OVER, and take all.
    if over and not validator.environment.session.is_of_tables:
        function.refuse_over()
    span = _call_span(node)
    given = ordered_arguments(function, str(node.name), node.arguments, span)
    arguments = [validator.convert(each) for each in given if isinstance(each, nodes.Expression)]
    return AggregateCall(
        function,
        converted_arguments(function, node.name.last, arguments, validator.environment.session, span),
        function.result_type,
        node.quantifier == "DISTINCT",
        None if node.filter is None else _filter(node.filter, validator),
        span=node.span,
    )


def _function(node: nodes.FunctionCall) -> AggregateFunction | None:
    if isinstance(node, nodes.JsonObjectAggregate):
        return lookup_aggregate("JSON_OBJECTAGG")
    if isinstance(node, nodes.JsonArrayAggregate):
        return lookup_aggregate("JSON_ARRAYAGG")
    if isinstance(node, nodes.Call) and node.name.is_simple:
        found = lookup_aggregate(node.name.last)
        # A name that both kinds have is an aggregate only where it cannot be the other.
        return found if found is not None and lookup(node.name.last) is None else None
    return None


def _arguments(node: nodes.FunctionCall) -> Sequence[nodes.Expression | Expression]:
    if isinstance(node, nodes.JsonObjectAggregate):
        return [node.entry.key, node.entry.value, _symbol(_on_null(node)), *_format(node.entry.value)]
    if isinstance(node, nodes.JsonArrayAggregate):
        return [node.value, _symbol(_on_null(node)), *_format(node.value)]
    assert isinstance(node, nodes.Call)
    if node.name.last.upper() == "COUNT":
        if not node.arguments:
            raise invalid(node.span, "Invalid number of arguments to function 'COUNT'. Was expecting 1 arguments")
        return [each for each in node.arguments if not isinstance(each, nodes.Star)]
    for each in node.arguments:
        if isinstance(each, nodes.Star):
            raise invalid(each.span, "Unknown identifier '*'")
    return node.arguments


def _argument(argument: nodes.Expression | Expression, validator: ExpressionValidator) -> Expression:
    return argument if isinstance(argument, Expression) else validator.convert(argument)


def _on_null(node: nodes.JsonObjectAggregate | nodes.JsonArrayAggregate) -> str:
    return "ABSENT ON NULL" if node.absent_on_null else "NULL ON NULL"


def _format(value: nodes.Expression) -> list[Literal]:
    """Return the argument that says whether a value is JSON already."""
    return [_symbol("JSON")] if isinstance(value, nodes.JsonObject | nodes.JsonArray | nodes.JsonQuery) else []


def _symbol(text: str) -> Literal:
    return Literal(text, SymbolType())


def _check_order(node: nodes.FunctionCall, validator: ExpressionValidator) -> None:
    """Check an order of the rows of a group, which Flink accepts without effect."""
    if node.within_group and isinstance(node, nodes.Call):
        message = f"Aggregate expression '{node.name.last}' must not contain a WITHIN GROUP clause"
        raise invalid(_call_span(node), message)
    for item in node.within_group or (node.order_by if isinstance(node, nodes.Call) else ()):
        validator.convert(item.expression)


def _call_span(node: nodes.FunctionCall) -> Span:
    return node.call_span if node.call_span.text else node.span


def _known(expression: Expression) -> Argument:
    if isinstance(expression, Literal):
        return Argument(expression.type, True, expression.value)
    return Argument(expression.type)
