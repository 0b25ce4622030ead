"""Expressions as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry.sql.plan.expressions import (
    AggregateCall,
    Call,
    CorrelatedReference,
    Expression,
    InputReference,
    Literal,
    UserFunctionCall,
)
from scurry.sql.plan.subqueries import Subquery
from scurry.sql.plan.windows import FrameBound, WindowCall
from scurry.sql.planner.explain.literals import literal_text
from scurry.sql.planner.explain.sargs import points_text, ranges_text, without_negation
from scurry.sql.planner.explain.types import type_text
from scurry.sql.types import CharType, DecimalType, RowType, SymbolType, VarCharType

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
_OPERATORS = (*_COMPARISONS, "+", "-", "*", "/", "%", "AND", "OR", "||")
_POSTFIX = ("NULL", "NOT NULL", "TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN")
_POSTFIXES = tuple(f"IS {each}" for each in _POSTFIX)
#: Functions that Flink has as EXTRACT, with what they extract.
_UNITS = {
    **{unit: unit for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "HOUR", "MINUTE", "SECOND")},
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
}
_WITHOUT_PARENTHESES = (
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "CURRENT_DATABASE",
    "PI",
    "E",
)


class PrefixText:
    """Expressions with operators before their operands, as the optimized physical plan has them."""

    #: Functions whose constants have no type but their own.
    untyped: tuple[str, ...] = ()
    #: True if constants are shown with types.
    has_types = True
    #: True in the execution plan.
    is_executed = False

    def __call__(self, expression: Expression, names: Sequence[str] | None = None) -> str:
        """Return an expression as text.

        Args:
            names: Names of the columns it is over; None for columns by position, as `*($1, 2)`.
        """
        if isinstance(expression, InputReference):
            return f"${expression.index}" if names is None else names[expression.index]
        if isinstance(expression, CorrelatedReference):
            return self.correlated(expression)
        if isinstance(expression, Literal):
            return self.literal(expression)
        if isinstance(expression, AggregateCall):
            return self._aggregate(expression, names)
        if isinstance(expression, WindowCall):
            return self._window(expression, names)
        if isinstance(expression, Subquery):
            return self.subquery(expression, names)
        if isinstance(expression, Call):
            return self._call(expression, names)
        if isinstance(expression, UserFunctionCall):
            return f"{expression.name}({self.texts(expression.arguments, names)})"
        return str(expression)

    def texts(self, expressions: Sequence[Expression], names: Sequence[str] | None = None) -> str:
        """Return expressions as text, with commas."""
        return ", ".join(self(each, names) for each in expressions)

    def literal(self, literal: Literal) -> str:
        """Return a constant as text."""
        return literal_text(literal)

    def search_literal(self, literal: Literal) -> str:
        """Return a constant of a search, which has a character set in all texts."""
        return literal_text(literal)

    def correlated(self, reference: CorrelatedReference) -> str:
        """Return a column of the row around a query as text."""
        return f"$cor{reference.correlation}.${reference.index}"

    def subquery(self, subquery: Subquery, names: Sequence[str] | None) -> str:
        """Return a query in an expression as text."""
        return str(subquery)

    def cast(self, call: Call, names: Sequence[str] | None) -> str:
        """Return a conversion as text."""
        kind = type_text(call.type)
        operand = call.arguments[0]
        if names is not None and isinstance(operand, Literal) and isinstance(operand.type, CharType):
            if isinstance(call.type, VarCharType) and operand.value is not None:
                operand = Literal(operand.value, call.type.not_null())
                return f"{call.function}({self(operand, names)} AS {kind})"
        if names is not None:
            return f"{call.function}({self(call.arguments[0], names)} AS {kind})"
        if call.function == "TRY_CAST":
            return f"TRY_CAST({self(operand)})"
        suffix = "" if call.type.is_nullable else " NOT NULL"
        return f"{call.function}({self(call.arguments[0], names)}):{kind}{suffix}"

    def operation(self, function: str, operands: Sequence[str]) -> str:
        """Return an operator with its operands as text."""
        return f"{function}({', '.join(operands)})"

    def _call(self, call: Call, names: Sequence[str] | None) -> str:
        if names is not None and call.function == "NOT":
            opposite = without_negation(call)
            if opposite is not call:
                return self(opposite, names)
        function = call.function
        if function in ("NOT LIKE", "NOT SIMILAR TO"):
            positive = Call(function.removeprefix("NOT "), call.arguments, call.type)
            return self.operation("NOT", [self(positive, names)])
        if function == "NULLIF":
            value, other = call.arguments
            equal = Call("=", (value, other), call.type)
            return self(Call("CASE", (equal, Literal(None, call.type.nullable()), value), call.type), names)
        if function in ("CAST", "TRY_CAST"):
            operand = call.arguments[0]
            if isinstance(operand, Literal) and operand.value is None and function == "CAST":
                return self.literal(Literal(None, call.type))
            return self.cast(call, names)
        if function == "NEGATE":
            return f"-({self(call.arguments[0], names)})"
        if function in _UNITS:
            unit = Literal(_UNITS[function], SymbolType())
            return self._call(Call("EXTRACT", (unit, *call.arguments), call.type), names)
        if function == "FIELD" and isinstance(call.arguments[0].type, RowType):
            operand, place = call.arguments
            assert isinstance(place, Literal)
            return f"{self(operand, names)}.{operand.type[place.value].name}"  # type: ignore[index]
        arguments = list(_operands(call)) if function in ("AND", "OR") else call.arguments
        if function == "OR" and names is not None:
            points = points_text(arguments, lambda each: self(each, names), self.search_literal, self.has_types)
            if points is not None:
                return points
            ranges = ranges_text(arguments, lambda each: self(each, names))
            if ranges is not None:
                return ranges[0] if len(ranges) == 1 else self.operation(function, ranges)
        shown = [self._argument(each, function, names) for each in arguments]
        if not shown and names is None and function in _WITHOUT_PARENTHESES:
            return function
        return self.operation(function, shown)

    def _argument(self, argument: Expression, function: str, names: Sequence[str] | None) -> str:
        """Return an argument as text: a constant that is converted for its function is a constant of another type."""
        if not (isinstance(argument, Call) and argument.function == "CAST"):
            return self(argument, names)
        operand = argument.arguments[0]
        if (
            function in _COMPARISONS
            and isinstance(operand.type, DecimalType)
            and isinstance(argument.type, DecimalType)
        ):
            return self(operand, names)
        if not isinstance(operand, Literal) or operand.value is None:
            return self(argument, names)
        if isinstance(operand.type, CharType) and isinstance(argument.type, VarCharType):
            keeps = function in self.untyped or function not in (*_COMPARISONS, "CASE", "IFNULL")
            return self.literal(operand if keeps else Literal(operand.value, argument.type.not_null()))
        return self(operand if function in _OPERATORS else argument, names)

    def _aggregate(self, call: AggregateCall, names: Sequence[str] | None) -> str:
        distinct = "DISTINCT " if call.distinct else ""
        shown = f"{call.function}({distinct}{self.texts(call.arguments, names)})"
        return shown if call.filter is None else f"{shown} FILTER {self(call.filter, names)}"

    def _window(self, call: WindowCall, names: Sequence[str] | None) -> str:
        parts = []
        if call.partition_by:
            parts.append(f"PARTITION BY {self.texts(call.partition_by, names)}")
        if call.order_by:
            keys = (f"{self(key.expression, names)}{_direction(key)}" for key in call.order_by)
            parts.append(f"ORDER BY {', '.join(keys)}")
        frame = call.frame
        if frame.upper.kind != "CURRENT ROW":
            parts.append(f"{frame.units} BETWEEN {self._bound(frame.lower)} AND {self._bound(frame.upper)}")
        elif call.call.function != "ROW_NUMBER" and (frame.units, frame.lower.kind) != ("RANGE", "UNBOUNDED PRECEDING"):
            parts.append(f"{frame.units} {self._bound(frame.lower)}")
        return f"{self._aggregate(call.call, names)} OVER ({' '.join(parts)})"

    def _bound(self, bound: FrameBound) -> str:
        return bound.kind if bound.distance is None else f"{self(bound.distance)} {bound.kind}"


class PlainText(PrefixText):
    """Expressions whose constants have no types, as the optimized physical plan of BATCH has them."""

    has_types = False

    def literal(self, literal: Literal) -> str:
        """Return a constant without its type."""
        return literal_text(literal, with_type=False)

    def cast(self, call: Call, names: Sequence[str] | None) -> str:
        """Return a conversion, whose type has no character set."""
        return f"{call.function}({self(call.arguments[0], names)} AS {type_text(call.type, False)})"


class InfixText(PlainText):
    """Expressions with operators between their operands, as the optimized execution plan has them."""

    is_executed = True

    def operation(self, function: str, operands: Sequence[str]) -> str:
        """Return an operator between or behind its operands."""
        if function in _POSTFIXES and len(operands) == 1:
            return f"{operands[0]} {function}"
        if function in _OPERATORS and function != "IS NOT DISTINCT FROM" and len(operands) > 1:
            return f"({f' {function} '.join(operands)})"
        return super().operation(function, operands)


expression_text = PrefixText()
PLAIN = PlainText()
INFIX = InfixText()


def all_of_text(conditions: Sequence[str], text: PrefixText = expression_text) -> str:
    """Return the text of a condition that is TRUE if some are."""
    return text.operation("AND", conditions) if len(conditions) > 1 else "".join(conditions) or "true"


def _operands(call: Call) -> Iterator[Expression]:
    """Iterate over the operands of AND or OR, also in operands that are the same operator."""
    for each in call.arguments:
        if isinstance(each, Call) and each.function == call.function:
            yield from _operands(each)
        else:
            yield each


def _direction(key: Any) -> str:
    nulls = "FIRST" if key.nulls_first else "LAST"
    return f"{' DESC' if key.descending else ''} NULLS {nulls}"
