"""Plans in the form that Flink's abstract syntax tree has, where those of scurry differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from typing import TypeAlias

from scurry._dataclasses import dataclass
from scurry.sql.plan import nodes
from scurry.sql.plan.expressions import Call, CorrelatedReference, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Plan, Project, Scan
from scurry.sql.plan.rewriting import input_references, rewritten, substituted
from scurry.sql.plan.windows import WindowCall
from scurry.sql.planner.explain.expressions import expression_text
from scurry.sql.planner.explain.literals import value_text
from scurry.sql.types import BigIntType, BooleanType, DataType, DecimalType, IntType

#: Returns the columns of a table's time and watermark over all its columns; None if it has no watermark.
Watermark: TypeAlias = Callable[[Scan], Plan | None]


@dataclass(frozen=True)
class Line:
    """A line of the tree that no node of the plan stands for.

    Attributes:
        text: Its text.
        inputs: What is below it.
    """

    text: str
    inputs: tuple[Plan | Line, ...] = ()


@dataclass(frozen=True)
class Correlated:
    """The columns of a left row that a right side refers to.

    Attributes:
        correlation: The number by which it names the row.
        width: How many columns the row has.
    """

    correlation: int
    width: int

    def of_right(self, expression: Expression) -> Expression:
        """Return an expression over both sides as one over the right side."""

        def replaced(node: Expression) -> Expression:
            if not isinstance(node, InputReference):
                return node
            if node.index < self.width:
                return CorrelatedReference(self.correlation, node.index, node.type)
            return replace(node, index=node.index - self.width)

        return rewritten(expression, replaced)

    def required(self, expressions: Sequence[Expression]) -> str:
        """Return the columns of the left row in expressions over both sides as text."""
        places = {place for each in expressions for place in input_references(each) if place < self.width}
        return "{" + ", ".join(map(str, sorted(places))) + "}"


def is_identity(plan: Plan) -> bool:
    """Return whether a node projects all columns as they are, under the same names or others."""
    return isinstance(plan, Project) and [getattr(each, "index", None) for each in plan.expressions] == list(
        range(len(plan.input.schema))
    )


def is_whole_table(plan: Project) -> bool:
    """Return whether a projection computes all columns of a table, some of them by their declaration."""
    scan = plan.input
    if not isinstance(scan, Scan) or all(isinstance(each, InputReference) for each in plan.expressions):
        return False
    schema = getattr(getattr(scan.table, "table", None), "schema", None)
    return schema is not None and tuple(schema.get_column_names()) == plan.names


def over_calls(plan: Project) -> Project:
    """Return a projection with the calls of an OVER below it among its expressions."""
    below = plan.input
    if not isinstance(below, nodes.Over):
        return plan
    columns: list[Expression] = [InputReference(place, each) for place, each in enumerate(below.input.schema.types)]
    columns += (value_of_sums(call, lambda part: part, IntType(False)) for call in below.calls)
    return replace(plan, input=below.input, expressions=tuple(substituted(each, columns) for each in plan.expressions))


def value_of_sums(call: WindowCall, part: Callable[[WindowCall], Expression], zero: DataType) -> Expression:
    """Return a sum or average as Flink computes it: by a count, because the sum of no rows is NULL.

    Args:
        part: Returns the value of an aggregate that is no sum of this kind.
        zero: The type of the zero that the count is compared with, which Flink changes between its plans.
    """
    if call.call.function not in ("SUM", "AVG"):
        return part(call)
    count_type = BigIntType(False)
    count = part(replace(call, call=replace(call.call, function="COUNT", type=count_type), type=count_type))
    total = part(replace(call, call=replace(call.call, function="$SUM0")))
    is_there = Call(">", (count, Literal(0, zero)), BooleanType(False))
    found = Call("CASE", (is_there, total, Literal(None, call.type.nullable())), call.type)
    return found if call.call.function == "SUM" else Call("/", (found, count), call.type)


def target_text(plan: nodes.Sink) -> str:
    """Return the columns that INSERT INTO names as text; empty if it names none."""
    if not plan.target_columns:
        return ""
    return f"targetColumns=[{','.join(f'[{column}]' for column in plan.target_columns)}], "


def value_rows(plan: nodes.Values) -> list[tuple[Expression, ...]]:
    """Return rows as they are written, without the conversions to their common types."""
    return [
        tuple(_of_type(_written(each), kind) for each, kind in zip(row, plan.schema.types, strict=True))
        for row in plan.rows
    ]


def values_text(row: Sequence[Expression]) -> str:
    """Return a row that is written in the query as text."""
    return ", ".join(value_text(each) if isinstance(each, Literal) else expression_text(each) for each in row)


def _of_type(expression: Expression, kind: DataType) -> Expression:
    """Return a number as one with the digits that its column has."""
    if not isinstance(kind, DecimalType) or not isinstance(expression, Literal) or expression.value is None:
        return expression
    context = Context(prec=kind.precision)
    value = Decimal(expression.value).quantize(Decimal(1).scaleb(-kind.scale), context=context)
    return replace(expression, value=value, type=kind)


def _written(expression: Expression) -> Expression:
    if isinstance(expression, Call) and expression.function == "CAST":
        operand = expression.arguments[0]
        if isinstance(operand, Literal):
            return operand if operand.value is not None else Literal(None, expression.type)
    return expression
