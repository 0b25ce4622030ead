"""Expressions of MEASURES and DEFINE: columns of rows that variables of a pattern have taken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scurry.errors import ValidationError
from scurry.sql.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql.functions.aggregate.definition import PlaceFunction
from scurry.sql.functions.catalogue import lookup
from scurry.sql.functions.signatures import standard_name
from scurry.sql.plan.expressions import AggregateCall, Call, Expression, InputReference, Literal, UserFunctionCall
from scurry.sql.plan.matching import ALL_VARIABLES, MatchTime, PatternAggregate, PatternReference, RefusedCall
from scurry.sql.plan.rewriting import rewritten
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span
from scurry.sql.syntax.unparse import unparse
from scurry.sql.types import DataType, LocalZonedTimestampType, TimestampType, VarCharType
from scurry.sql.types.atomic_types import TimeAttribute
from scurry.sql.types.families import is_rowtime
from scurry.sql.validator.aggregates import aggregate_call, is_aggregate
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.patterns.averages import expanded
from scurry.sql.validator.patterns.operands import merged, operands_of, rebuilt, walk

if TYPE_CHECKING:
    from scurry.sql.validator.patterns.match_recognize import MatchScope

_LOGICAL: Final = frozenset({"FIRST", "LAST"})
_PHYSICAL: Final = frozenset({"PREV", "NEXT"})
_TIMES: Final = {
    "MATCH_ROWTIME": TimestampType(3, False).as_time_attribute(TimeAttribute.ROWTIME),
    "MATCH_PROCTIME": LocalZonedTimestampType(3, False).as_time_attribute(TimeAttribute.PROCTIME),
}
_QUOTED_CALL: Final = re.compile(r"`(\w+)`\(")
_MAX_OFFSET: Final = (1 << 31) - 1
_NO_CALL: Final = (
    "\nIf you think this function should be supported, you can create an issue and start a discussion for it."
)


class MatchExpressions:
    """Validates an expression of MEASURES or DEFINE.

    Flink looks at names first, then at navigation and aggregates as they are written, then at types.
    """

    def __init__(self, scope: MatchScope, environment: Environment, defined: str | None = None) -> None:
        self._scope = scope
        self._environment = environment
        self._defined = defined
        self._validator = ExpressionValidator(scope, environment, (self._intercept,))

    def measure(self, node: nodes.Expression) -> Expression:
        """Return the typed expression of a measure.

        Raises:
            ValidationError: Flink refuses it.
        """
        return self._converted(node)

    def condition(self, node: nodes.Expression) -> Expression:
        """Return the typed expression of a condition of DEFINE.

        Raises:
            ValidationError: Flink refuses it.
        """
        return self._converted(node)

    def _converted(self, node: nodes.Expression) -> Expression:
        if isinstance(node, nodes.NullLiteral):
            raise invalid(node.span, "Illegal use of 'NULL'")
        qualified = self._qualified(node)
        _PatternCheck(self._environment, self._defined is None).variables(qualified)
        self._refuse_quantifiers(qualified)
        return self._validator.convert(merged(node))

    def _qualified(self, node: nodes.Expression) -> nodes.Expression:
        """Return an expression with the variables of all columns, as Flink shows it."""
        if isinstance(node, nodes.Identifier):
            if node.names == ("PI",) and self._scope.find(node) is None:
                return node
            found = self._scope.resolve(node)
            return node if found.parts > 1 else nodes.Identifier((ALL_VARIABLES, *node.names), span=node.span)
        if isinstance(node, nodes.Star) and node.qualifier is not None:
            star = Span(node.span.text, node.span.end - 1, node.span.end)
            raise invalid(star, "Unknown field '*'")
        for each in nodes.children(node):
            if isinstance(each, nodes.Query):
                raise ValidationError(f"SQL validation failed. no SELECT scope for {unparse(each)}")
        return rebuilt(node, self._qualified)

    def _refuse_quantifiers(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Call) and node.quantifier == "DISTINCT":
            raise invalid(node.span, f"DISTINCT/ALL not allowed with {_shown(node)} function")
        for each in operands_of(node):
            self._refuse_quantifiers(each)

    # ------------------------------------------------------------------ what has a meaning of its own

    def _intercept(self, node: nodes.Expression, validator: ExpressionValidator) -> Expression | None:
        if isinstance(node, nodes.UnaryOperation) and node.operator in ("FINAL", "RUNNING"):
            operand = validator.convert(node.operand)
            # All measures are final: there is one row per match.
            return operand if node.operator == "FINAL" else _refused("RUNNING", [operand])
        if isinstance(node, nodes.FunctionCall) and is_aggregate(node, self._environment):
            return self._aggregate(node)
        if isinstance(node, nodes.Call) and node.name.is_simple:
            return self._function(node, node.name.last.upper())
        return None

    def _function(self, node: nodes.Call, name: str) -> Expression | None:
        if name in _LOGICAL:
            value, offset = self._validator.convert(node.arguments[0]), _offset(node)
            if offset < 0:
                return RefusedCall(f"Index {offset} out of bounds: {name} counts from 0", value.type)
            if offset > _MAX_OFFSET:
                return RefusedCall(f"Cannot downcast long value {offset} to integer.", value.type)
            return _at(value, name == "FIRST", offset)
        if name in _PHYSICAL:
            return self._physical(node, name)
        if name == "CLASSIFIER":
            return RefusedCall(f"Unsupported call: CLASSIFIER() {_NO_CALL}", VarCharType(2000, False))
        if name == "MATCH_NUMBER":
            message = (
                "No match found for function signature MATCH_NUMBER().\nSupported signatures are:\n'MATCH_NUMBER()'"
            )
            raise invalid(node.span, message)
        return self._time(node, name) if name in _TIMES else None

    def _physical(self, node: nodes.Call, name: str) -> Expression:
        """Return the expression of PREV or NEXT: the rows of other variables are counted from their last one."""
        written, offset = node.arguments[0], _offset(node)
        value = self._validator.convert(written)
        leaves = [written] if isinstance(written, nodes.Identifier) else list(operands_of(written))
        others = all(isinstance(each, nodes.Identifier) and self._variable(each) != self._defined for each in leaves)
        if name == "PREV" and leaves and others and offset >= 0:
            return _at(value, False, offset)
        if offset:
            return RefusedCall("Flink does not support physical offsets within partition.", value.type)
        return value

    def _variable(self, column: nodes.Identifier) -> str:
        return column.names[0] if self._scope.resolve(column).parts > 1 else ALL_VARIABLES

    def _time(self, node: nodes.Call, name: str) -> Expression:
        count, kind = len(node.arguments), _TIMES[name]
        if count > (name == "MATCH_ROWTIME"):
            raise invalid(node.span, f"Invalid number of arguments to function '{name}'. Was expecting 0 arguments")
        if not count:
            return MatchTime(kind)
        if self._defined is not None or not isinstance(node.arguments[0], nodes.Identifier):
            raise ValidationError(
                f"SQL validation failed. The function {name} requires a field reference as argument, but actual "
                "argument is not a simple field reference."
            )
        given = self._validator.convert(node.arguments[0]).type
        if not is_rowtime(given):
            raise ValidationError(
                f"SQL validation failed. The function {name} requires argument to be a row time attribute type, but is "
                f"'{_type_name(given)}'."
            )
        return MatchTime(given)

    def _aggregate(self, node: nodes.FunctionCall) -> Expression:
        inner = [each for each in walk(node) if each is not node and _is_aggregate(each, self._environment)]
        if inner:
            raise invalid(node.span, "Aggregate expressions cannot be nested")
        if isinstance(node, nodes.Call) and node.name.last.upper() == "COUNT" and len(node.arguments) > 1:
            raise invalid(node.span, "Invalid number of parameters to COUNT method")
        name = _function_name(node)
        if name == "LAG" and isinstance(node, nodes.Call) and len(node.arguments) == 1:
            return _at(self._validator.convert(node.arguments[0]), False, 1)
        call = aggregate_call(node, self._validator, grouped=False, over=_is_of_place(name), bounded=True)
        if call.filter is not None:
            return _refused("FILTER", [call, call.filter])
        variable = _aggregated_variable(call)
        # For these classes of aggregates Flink can generate no code here.
        if isinstance(node, nodes.JsonArrayAggregate | nodes.JsonObjectAggregate) and variable is not None:
            return _refused_json(call)
        arguments = tuple(_of_row(each) for each in call.arguments)
        found = PatternAggregate(variable, replace(call, arguments=arguments), call.type, span=node.span)
        return found if variable is None else expanded(found, self._environment.session)


class _PatternCheck:
    """Checks navigation and aggregates as they are written: Calcite's `PatternValidator`."""

    def __init__(self, environment: Environment, is_measure: bool, navigations: int = 0, aggregates: int = 0) -> None:
        self._environment = environment
        self._is_measure = is_measure
        self._navigations = navigations
        self._logical = 0
        self._aggregates = aggregates

    def variables(self, node: nodes.Node, is_last: bool = False) -> set[str]:
        """Return the variables of the columns inside navigation and aggregates.

        Args:
            is_last: Whether it is the last of several operands: a literal there is no variable.

        Raises:
            ValidationError: Navigation or aggregates stand where they must not, or are of several variables.
        """
        if isinstance(node, nodes.Identifier):
            inside = self._navigations or self._aggregates
            return {node.names[0]} if inside and len(node.names) > 1 else set()
        if isinstance(node, nodes.Literal):
            # As in Calcite, a constant counts as a variable of its own unless it is the last operand.
            counts = self._navigations and not is_last and not isinstance(node, nodes.NullLiteral)
            return {f"'{_shown(node)}'"} if counts else set()
        name = _function_name(node)
        if name in _LOGICAL | _PHYSICAL:
            inner = self._navigated(node, name)
        elif _is_aggregate(node, self._environment):
            inner = self._aggregated(node, name)
        else:
            if (
                isinstance(node, nodes.UnaryOperation)
                and node.operator in ("FINAL", "RUNNING")
                and not self._is_measure
            ):
                raise invalid(node.span, f"Cannot use RUNNING/FINAL in DEFINE '{_shown(node)}'")
            return self._inside(node, self)
        found = self._inside(node, inner)
        if name == "COUNT" and len(found) > 1:
            raise invalid(node.span, "Invalid number of parameters to COUNT method")
        if _is_of_place(name):
            return found
        classifier = any(_function_name(each) == "CLASSIFIER" for each in list(operands_of(node))[:1])
        if name != "COUNT" and not classifier:
            if not found:
                raise invalid(node.span, f"Null parameters in '{_shown(node)}'")
            if len(found) != 1:
                raise invalid(node.span, f"Multiple pattern variables in '{_shown(node)}'")
        return found

    def _inside(self, node: nodes.Node, check: _PatternCheck) -> set[str]:
        operands = list(operands_of(node))
        last = len(operands) - 1 if len(operands) > 1 else None
        return set().union(*(check.variables(each, place == last) for place, each in enumerate(operands)))

    def _navigated(self, node: nodes.Node, name: str) -> _PatternCheck:
        shown = _shown(node)
        if name in _PHYSICAL and self._is_measure:
            raise invalid(node.span, f"Cannot use PREV/NEXT in MEASURE '{shown}'")
        if self._logical:
            raise invalid(node.span, f"Cannot nest PREV/NEXT under LAST/FIRST '{shown}'")
        inner = _PatternCheck(self._environment, self._is_measure, self._navigations + 1, self._aggregates)
        inner._logical = int(name in _LOGICAL)
        return inner

    def _aggregated(self, node: nodes.Node, name: str) -> _PatternCheck:
        if self._navigations:
            raise invalid(node.span, f"Cannot use aggregation in navigation '{_shown(node)}'")
        if name == "COUNT" and len(list(operands_of(node))) > 1:
            raise invalid(node.span, "Invalid number of parameters to COUNT method")
        if isinstance(node, nodes.FunctionCall) and node.over is not None:
            raise ValidationError("SQL validation failed. node.accept(PatternValidator) for node ")
        inner = _PatternCheck(self._environment, self._is_measure, self._navigations, self._aggregates + 1)
        inner._logical = self._logical
        return inner


def _is_of_place(name: str) -> bool:
    """Return whether a function numbers or divides rows, which Flink computes here without a window, of all rows."""
    function = lookup_aggregate(name)
    return function is not None and function.place in (PlaceFunction.NUMBER, PlaceFunction.TILE)


def _function_name(node: nodes.Node) -> str:
    return node.name.last.upper() if isinstance(node, nodes.Call) and node.name.is_simple else ""


def _is_aggregate(node: nodes.Node, environment: Environment) -> bool:
    """Return whether Calcite knows a call as an aggregate."""
    if isinstance(node, nodes.JsonObjectAggregate | nodes.JsonArrayAggregate):
        return False
    return isinstance(node, nodes.FunctionCall) and is_aggregate(node, environment)


def _shown(node: nodes.Node) -> str:
    """Return a node as Calcite shows it once it knows the functions, whose names it quotes before."""

    def unquoted(call: re.Match[str]) -> str:
        name = call[1].upper()
        return f"{name}(" if name in _TIMES or lookup(name) or lookup_aggregate(name) else call[0]

    return _QUOTED_CALL.sub(unquoted, unparse(node))


def _offset(node: nodes.Call) -> int:
    written = node.arguments[1]
    if isinstance(written, nodes.UnaryOperation):
        assert isinstance(written.operand, nodes.NumericLiteral)
        return int(written.operand.value) * (-1 if written.operator == "-" else 1)
    assert isinstance(written, nodes.NumericLiteral)
    return int(written.value)


def _at(value: Expression, first: bool, offset: int) -> Expression:
    """Return an expression over other rows of its variable."""

    def replaced(node: Expression) -> Expression:
        return (
            replace(node, first=first, offset=offset, is_navigated=True) if isinstance(node, PatternReference) else node
        )

    return rewritten(value, replaced)


def _of_row(expression: Expression) -> Expression:
    """Return the argument of an aggregate as an expression over each of its rows."""

    def replaced(node: Expression) -> Expression:
        return InputReference(node.index, node.type) if isinstance(node, PatternReference) else node

    return rewritten(expression, replaced)


def _aggregated_variable(call: AggregateCall) -> str | None:
    """Return the variable whose rows an aggregate reads, as Flink finds it, or None."""
    found = [_variable_of(each) for each in call.arguments] if call.arguments else [ALL_VARIABLES]
    return _only(found, call)


def _variable_of(expression: Expression) -> str | None:
    if isinstance(expression, PatternReference):
        return expression.variable
    if isinstance(expression, Call | UserFunctionCall):
        # A function without arguments counts as one over all rows.
        return _only([_variable_of(each) for each in expression.arguments] or [ALL_VARIABLES], expression)
    return None


def _only(variables: Sequence[str | None], expression: Expression) -> str | None:
    found = {each for each in variables if each is not None}
    if len(found) > 1:
        raise ValidationError(
            "Aggregation must be applied to a single pattern variable. Malformed expression: "
            f"{getattr(expression, 'function', '')}"
        )
    return next(iter(found), None)


def _type_name(kind: DataType) -> str:
    """Return a type as Calcite shows it."""
    shown = standard_name(kind)
    if isinstance(kind, LocalZonedTimestampType):
        return f"TIMESTAMP_WITH_LOCAL_TIME_ZONE({kind.precision})"
    return shown


def _refused_json(call: AggregateCall) -> RefusedCall:
    """Return the error of Flink's planner for a JSON aggregate."""
    symbols = [str(each.value) for each in call.arguments if isinstance(each, Literal)]
    on_null = next(each for each in symbols if each.endswith("ON NULL")).replace(" ", "_")
    arguments = ", ".join(each.type.as_summary_string() for each in call.arguments if not isinstance(each, Literal))
    return RefusedCall(
        f"Could not find an implementation method 'accumulate' for function "
        f"'{call.function}_{on_null}' that matches the following signature:\nvoid accumulate({arguments})",
        call.type,
    )


def _refused(function: str, arguments: Sequence[Expression]) -> RefusedCall:
    shown = ", ".join(each.type.nullable().as_summary_string() for each in arguments)
    return RefusedCall(f"Unsupported call: {function}({shown}) {_NO_CALL}", arguments[0].type)
