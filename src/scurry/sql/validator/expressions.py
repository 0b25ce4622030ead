"""Expressions: names and operators become typed expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from scurry.errors import ValidationError
from scurry.sql.functions import forms
from scurry.sql.functions.catalogue import is_syntax, lookup
from scurry.sql.functions.operators.comparison import comparable_types
from scurry.sql.functions.signatures import standard_name
from scurry.sql.plan import builders, calls
from scurry.sql.plan.expressions import AggregateCall, Expression
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.subqueries import Exists, QuantifiedSubquery, ScalarSubquery
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import Span
from scurry.sql.syntax.unparse import unparse
from scurry.sql.types import BooleanType, CharType, DataType, NullType, RowType, VarCharType
from scurry.sql.types.common_type import least_restrictive
from scurry.sql.types.families import BINARY, INTERVAL, NUMERIC
from scurry.sql.validator.aggregates import aggregate_call, is_aggregate
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.functions.user_functions import called_function, ordered_arguments, user_call
from scurry.sql.validator.intervals import operands_with_digits
from scurry.sql.validator.literals import literal
from scurry.sql.validator.scope import Scope
from scurry.sql.validator.special_forms import SPECIAL_FORMS
from scurry.sql.validator.types import data_type

#: Longer chains of AND and OR are converted as a whole.
_LONG_CHAIN = 20
# Functions that GROUP BY TUMBLE(...) and the like make known; elsewhere they do not exist.
_GROUP_WINDOW_PROPERTIES = {
    f"{kind}_{what}" for kind in ("TUMBLE", "HOP", "SESSION") for what in ("START", "END", "ROWTIME", "PROCTIME")
}

# Functions that MATCH_RECOGNIZE makes known.
_MATCH_FUNCTIONS = {"CLASSIFIER", "FIRST", "LAST", "MATCH_PROCTIME", "MATCH_ROWTIME", "NEXT", "PREV"}

Interceptor = Callable[[nodes.Expression, "ExpressionValidator"], Expression | None]


class Resolved(nodes.Expression):
    """A column that a star stands for."""

    column: Expression
    name: str


class ExpressionValidator:
    """Validates the expressions of one place of a query.

    Attributes:
        scope: What names mean there.
        environment: What else is known there.
        interceptors: Asked first for each part of an expression, as aggregates have a meaning of their own.
    """

    def __init__(self, scope: Scope, environment: Environment, interceptors: tuple[Interceptor, ...] = ()) -> None:
        self.scope = scope
        self.environment = environment
        self.interceptors = interceptors

    def convert(self, node: nodes.Expression) -> Expression:
        """Return the typed expression of a node.

        Raises:
            ValidationError: A name is not known, or a function does not take these arguments.
        """
        for intercept in self.interceptors:
            found = intercept(node, self)
            if found is not None:
                return found
        if isinstance(node, nodes.Literal):
            return literal(node)
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            return handler(self, node)
        form = SPECIAL_FORMS.get(type(node))
        if form is None:
            raise invalid(node.span, f"{type(node).__name__} is not supported here")
        name, arguments, target = form(node)
        converted = [self._argument(each) for each in arguments]
        return self.call(name, converted, node.span, None if target is None else data_type(target))

    def condition(self, node: nodes.Expression, clause: str) -> Expression:
        """Return the typed expression of a condition.

        Args:
            clause: The clause it stands in, for the message.

        Raises:
            ValidationError: It is wrong, or its type is not BOOLEAN.
        """
        expression = self.convert(node)
        if isinstance(expression.type, NullType):
            return self.as_type(expression, BooleanType())
        if not isinstance(expression.type, BooleanType):
            raise invalid(node.span, f"{clause} clause must be a condition")
        return expression

    def call(
        self, name: str, arguments: Sequence[Expression], span: Span, target: DataType | None = None
    ) -> Expression:
        """Return a call of a function.

        Raises:
            ValidationError: There is no such function, or it does not take these arguments.
        """
        return calls.call(name, arguments, self.environment.session, span, target)

    def as_type(self, expression: Expression, type: DataType) -> Expression:
        """Return an expression converted to a type, as far as nullability is not concerned."""
        return calls.converted(expression, type, self.environment.session)

    def all_of(self, conditions: Sequence[Expression]) -> Expression | None:
        """Return the conjunction of conditions, or None without conditions."""
        return calls.all_of(conditions, self.environment.session)

    def aggregate(self, node: nodes.FunctionCall, grouped: bool, over: bool = False) -> AggregateCall:
        """Return an aggregate whose arguments are validated here.

        Args:
            grouped: Whether every group has a row.
            over: Whether it is over a window.
        """
        return aggregate_call(node, self, grouped, over)

    def fields(self, row: Expression, span: Span) -> list[tuple[Expression, str]]:
        """Return the fields of a row with their names, as `r.*` has them."""
        if not isinstance(row.type, RowType):
            raise invalid(span, "Illegal use of '*': it is not a row")
        return [(self._field_of(row, name), name) for name in row.type.names]

    def identifier(self, node: nodes.Identifier) -> Expression:
        """Return the column, or the field of a column, that a name means."""
        if node.names == ("PI",) and not any(node.quoted) and self.scope.find(node) is None:
            return self.call("PI", [], node.span)
        found = self.scope.resolve(node)
        expression = found.expression
        for place in range(found.parts, len(node.names)):
            name = node.names[place]
            if not isinstance(expression.type, RowType) or name not in expression.type.names:
                raise self.scope.no_field(node, found, isinstance(expression.type, RowType))
            expression = self._field_of(expression, name)
        return expression

    def subquery(self, query: nodes.Query) -> tuple[Plan, int]:
        """Return the plan of a query inside an expression, and the number by which it names this row."""
        return self.environment.inside(self.scope).plan(query), self.scope.correlation

    def _field_of(self, row: Expression, name: str) -> Expression:
        return calls.field(row, name)

    def _argument(self, argument: Any) -> Expression:
        return argument if isinstance(argument, Expression) else self.convert(argument)

    def _resolved(self, node: Resolved) -> Expression:
        return node.column

    def _call(self, node: nodes.Call) -> Expression:
        name = node.name.last
        if node.over is not None:
            raise invalid(node.span, "OVER is not allowed here")
        if is_aggregate(node, self.environment):
            raise invalid(node.span, f"Aggregate expression {name.upper()} is illegal here")
        user = called_function(node.name, self.environment)
        if node.filter is not None:
            end = node.span.text.rfind(")", node.span.start, node.filter.span.start) + 1
            called = Span(node.span.text, node.span.start, end)
            raise invalid(called, "FILTER must be applied to aggregate function")
        if user is None and any(isinstance(each, nodes.NamedArgument) for each in node.arguments):
            raise self.no_named_arguments(node)
        given = node.arguments if user is None else ordered_arguments(user, str(node.name), node.arguments, node.span)
        arguments = [self._argument(each) for each in given if isinstance(each, nodes.Expression)]
        if user is not None and user.is_scalar:
            return user_call(user, name, arguments, self.environment, node.span)
        if user is not None:
            hint = "; use group_by(...).flat_aggregate(...)" if user.kind == "table aggregate" else ""
            raise ValidationError(f"SQL validation failed. Cannot call {user.kind} function here: '{name}'{hint}")
        if name.upper() in _GROUP_WINDOW_PROPERTIES:
            shown = ", ".join(each.type.as_summary_string().replace(" *ROWTIME*", "") for each in arguments)
            raise ValidationError(f"Unsupported call: {name.upper()}({shown})")
        if node.name.is_simple and name.upper() in _MATCH_FUNCTIONS:
            shown = unparse(node).replace(f"`{name}`(", f"{name.upper()}(", 1)
            raise invalid(node.span, f"Function '{shown}' can only be used in MATCH_RECOGNIZE")
        if node.name.part_spans and is_syntax(name) and lookup(name) is not None:
            if name.upper() in ("CAST", "TRY_CAST"):
                raise calls.refused(None, "This should never be called")
            raise calls.no_match(name.upper(), arguments, node.span)
        return self.call(str(node.name), arguments, node.span)

    def no_named_arguments(self, node: nodes.Call) -> ValidationError:
        """Return the error for a call with names of arguments, which only user-defined functions have."""
        if lookup(str(node.name)) is not None:
            message = "Unsupported function signature. Function must not be overloaded or use varargs."
            return calls.refused(None, message)
        shown = []
        for each in node.arguments:
            value = each.value if isinstance(each, nodes.NamedArgument) else each
            family = forms.family(self._argument(value).type)
            shown.append(f"{each.name.last} => <{family}>" if isinstance(each, nodes.NamedArgument) else f"<{family}>")
        return invalid(node.span, f"No match found for function signature {node.name}({', '.join(shown)})")

    def _unary(self, node: nodes.UnaryOperation) -> Expression:
        if node.operator in "+-" and isinstance(node.operand, nodes.NumericLiteral):
            return literal(node.operand, negative=node.operator == "-")
        name = {"-": "NEGATE", "+": "PLUS"}.get(node.operator, node.operator)
        operand = self.convert(node.operand)
        return self.call(name, [operand], node.span)

    def _binary(self, node: nodes.BinaryOperation) -> Expression:
        # A long chain nests to the left; each level would be a level of Python's stack.
        chain = [node]
        while isinstance(left := chain[-1].left, nodes.BinaryOperation) and left.operator == node.operator:
            chain.append(left)
        is_long = len(chain) >= _LONG_CHAIN and node.operator in ("AND", "OR")
        if self.interceptors and not is_long:
            del chain[1:]
        operands = [self.convert(chain[-1].left), *(self.convert(each.right) for each in reversed(chain))]
        if is_long and all(isinstance(each.type, BooleanType) for each in operands):
            return calls.combined(node.operator, operands, self.environment.session, node.span)
        result = operands[0]
        for each, operand in zip(reversed(chain), operands[1:], strict=True):
            moved = operands_with_digits(each, result, operand, self.environment.session)
            result = self.call(each.operator, moved, each.span)
        return result

    def _between(self, node: nodes.Between) -> Expression:
        operand, low, high = (self.convert(each) for each in (node.operand, node.low, node.high))
        found = self._within(operand, low, high, node.span)
        if node.symmetric:
            found = self.call("OR", [found, self._within(operand, high, low, node.span)], node.span)
        return self.call("NOT", [found], node.span) if node.negated else found

    def _within(self, operand: Expression, low: Expression, high: Expression, span: Span) -> Expression:
        if comparable_types(low.type, high.type) is None:
            types = [f"<{standard_name(each.type)}>" for each in (operand, low, high)]
            shown = "{} BETWEEN ASYMMETRIC {} AND {}".format(*types)
            raise invalid(
                span,
                f"Cannot apply 'BETWEEN ASYMMETRIC' to arguments of type '{shown}'. "
                "Supported form(s): '<COMPARABLE_TYPE> BETWEEN <COMPARABLE_TYPE> AND <COMPARABLE_TYPE>'",
            )
        above, below = self.call(">=", [operand, low], span), self.call("<=", [operand, high], span)
        return self.call("AND", [above, below], span)

    def _in(self, node: nodes.In) -> Expression:
        if isinstance(node.values, nodes.Query):
            found = self._quantified(node.operand, "=", node.values, node.operand.span.to(node.values.span))
        else:
            found = self._in_list(node, node.values)
        return self.call("NOT", [found], node.span) if node.negated else found

    def _in_list(self, node: nodes.In, written: Sequence[nodes.Expression]) -> Expression:
        left, span = self.convert(node.operand), node.span
        values = [self.convert(each) for each in written]
        if least_restrictive([each.type for each in values]) is None or self._mixes_null(left, values):
            start = span.text.find("(", node.operand.span.end)
            place = Span(span.text, start, span.end) if start >= 0 else span
            raise invalid(place, "Values in expression list must have compatible types")
        return calls.combined(
            "OR", [self._equals(left, value, span) for value in values], self.environment.session, span
        )

    def _mixes_null(self, operand: Expression, values: Sequence[Expression]) -> bool:
        """Return whether NULL stands beside values of another kind than the operand's."""
        has_null = any(isinstance(each.type, NullType) for each in values)
        return has_null and not all(
            _is_kind_of(each.type, operand.type) or isinstance(each.type, NUMERIC) == isinstance(operand.type, NUMERIC)
            for each in values
            if not isinstance(each.type, NullType)
        )

    def _equals(self, operand: Expression, value: Expression, span: Span) -> Expression:
        """Return whether the operand of IN equals a value, which gets its type, as in Calcite, if the kinds differ."""
        if isinstance(operand.type, RowType) and isinstance(value.type, RowType):
            if len(operand.type) != len(value.type):
                raise invalid(span, "Values passed to IN operator must have compatible types")
            names = zip(operand.type.names, value.type.names, strict=True)
            fields = [(self._field_of(operand, one), self._field_of(value, other)) for one, other in names]
            return reduce(
                lambda left, right: self.call("AND", [left, right], span),
                [self._equals(*field, span) for field in fields],
            )
        is_text = isinstance(operand.type, CharType | VarCharType)
        accepted = comparable_types(operand.type, value.type) is not None or (
            is_text and isinstance(value.type, INTERVAL)
        )
        if not accepted or (is_text and isinstance(value.type, BINARY)):
            raise invalid(span, "Values passed to IN operator must have compatible types")
        is_kept = _is_kind_of(value.type, operand.type) or isinstance(operand.type, NullType)
        return self.call("=", [operand, value if is_kept else self.as_type(value, operand.type)], span)

    def _quantified_comparison(self, node: nodes.QuantifiedComparison) -> Expression:
        if not isinstance(node.values, nodes.Query):
            operand = self.convert(node.left)
            each = [self.call(node.operator, [operand, self.convert(value)], node.span) for value in node.values]
            joined = each[0]
            for other in each[1:]:
                joined = self.call("AND" if node.quantifier == "ALL" else "OR", [joined, other], node.span)
            return joined
        if node.quantifier == "ALL":
            opposite = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}[node.operator]
            return self.call("NOT", [self._quantified(node.left, opposite, node.values, node.span)], node.span)
        return self._quantified(node.left, node.operator, node.values, node.span)

    def _quantified(self, operand: nodes.Expression, operator: str, query: nodes.Query, span: Span) -> Expression:
        plan, correlation = self.subquery(query)
        values = operand.values if isinstance(operand, nodes.RowConstructor) else (operand,)
        operands = [self.convert(each) for each in values]
        if len(operands) != len(plan.schema):
            raise invalid(span, "Values passed to IN operator must have compatible types")
        session = self.environment.session
        types = self._compared_types(operands, plan, span)
        operands = [calls.converted(each, type, session) for each, type in zip(operands, types, strict=True)]
        columns = zip(builders.columns(plan), types, strict=True)
        plan = builders.project(
            plan, [calls.converted(each, type, session) for each, type in columns], plan.schema.names
        )
        nullable = any(each.type.is_nullable for each in operands) or any(
            each.is_nullable for each in plan.schema.types
        )
        return QuantifiedSubquery(BooleanType(nullable), plan, correlation, tuple(operands), operator, span=span)

    def _compared_types(self, operands: Sequence[Expression], plan: Plan, span: Span) -> list[DataType]:
        found = []
        for one, other in zip(operands, plan.schema.types, strict=True):
            common = least_restrictive([one.type, other])
            if common is None:
                raise invalid(span, "Values passed to IN operator must have compatible types")
            found.append(common)
        return found

    def _subquery(self, node: nodes.Subquery) -> Expression:
        plan, correlation = self.subquery(node.query)
        if len(plan.schema) != 1:
            shown = ", ".join(f"{standard_name(each.type)} {each.name}".upper() for each in plan.schema)
            raise invalid(
                node.query.span,
                f"Cannot apply '$SCALAR_QUERY' to arguments of type '$SCALAR_QUERY(<RECORDTYPE({shown})>)'. "
                "Supported form(s): '$SCALAR_QUERY(<RECORDTYPE(SINGLE FIELD)>)'",
            )
        return ScalarSubquery(plan.schema[0].type.nullable(), plan, correlation, span=node.span)

    def _exists(self, node: nodes.Exists) -> Expression:
        plan, correlation = self.subquery(node.query)
        return Exists(BooleanType(False), plan, correlation, span=node.span)

    def _case(self, node: nodes.Case) -> Expression:
        arguments = []
        for branch in node.branches:
            arguments += [self.condition(branch.condition, "WHEN"), self.convert(branch.result)]
        arguments.append(self.convert(node.default))
        results = [*arguments[1::2], arguments[-1]]
        if all(isinstance(each.type, NullType) for each in results):
            raise invalid(node.span, "ELSE clause or at least one THEN clause must be non-NULL")
        return self.call("CASE", arguments, node.span)

    def _cast(self, node: nodes.Cast) -> Expression:
        operand = self.convert(node.operand)
        return calls.cast(operand, data_type(node.type), self.environment.session, node.span, is_try=node.is_try)

    def _item(self, node: nodes.ItemAccess) -> Expression:
        return self.call("ITEM", [self.convert(node.collection), self.convert(node.index)], node.span)

    def _field_access(self, node: nodes.FieldAccess) -> Expression:
        operand = self.convert(node.operand)
        if isinstance(node.field, nodes.Identifier):
            for name in node.field.names:
                if not isinstance(operand.type, RowType) or name not in operand.type.names:
                    raise invalid(node.field.span, f"Column '{name}' not found in any table")
                operand = self._field_of(operand, name)
            return operand
        raise invalid(node.span, "Illegal use of dot operator")

    def _collection_query(self, node: nodes.CollectionFromQuery) -> Expression:
        raise invalid(node.span, f"{node.kind}(query) is not supported")


def _is_kind_of(data_type: DataType, other: DataType) -> bool:
    """Return whether a type is of the kind of another one, where lengths and precisions do not count."""
    return type(data_type) in (type(other), NullType) or (
        isinstance(other, VarCharType) and isinstance(data_type, CharType)
    )


_HANDLERS: dict[type, Callable[[ExpressionValidator, Any], Expression]] = {
    Resolved: ExpressionValidator._resolved,
    nodes.Identifier: ExpressionValidator.identifier,
    nodes.Call: ExpressionValidator._call,
    nodes.UnaryOperation: ExpressionValidator._unary,
    nodes.BinaryOperation: ExpressionValidator._binary,
    nodes.Between: ExpressionValidator._between,
    nodes.In: ExpressionValidator._in,
    nodes.QuantifiedComparison: ExpressionValidator._quantified_comparison,
    nodes.Subquery: ExpressionValidator._subquery,
    nodes.Exists: ExpressionValidator._exists,
    nodes.Case: ExpressionValidator._case,
    nodes.Cast: ExpressionValidator._cast,
    nodes.ItemAccess: ExpressionValidator._item,
    nodes.FieldAccess: ExpressionValidator._field_access,
    nodes.CollectionFromQuery: ExpressionValidator._collection_query,
}
