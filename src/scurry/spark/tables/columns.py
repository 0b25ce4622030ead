"""Expressions as Spark columns, where Spark computes exactly what Flink does.

`spark_column` returns None for everything else: other functions, and types for which Spark's answers differ (NaN in
comparisons, divisions by zero, texts of numbers, ...). Such expressions run in Python.
The session has `spark.sql.ansi.enabled=false`: whole numbers wrap and decimals that do not fit are NULL, as in Flink.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any, Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from scurry.errors import EvaluationError
from scurry.functions.catalogue import scalar_function
from scurry.functions.definition import Session
from scurry.logical_types import (
    BigIntType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    SmallIntType,
    TimestampType,
    TinyIntType,
    VarCharType,
)
from scurry.logical_types.values import to_value
from scurry.relational.expressions import Call, Expression, InputReference, Literal
from scurry.relational.schema import Schema
from scurry.runtime.tables.batch.batches import single_row
from scurry.runtime.tables.expressions import compile_expressions
from scurry.spark.tables.types import column_name, spark_schema
from scurry.spark.workers.instances import mark

__all__ = ["comparable", "spark_column", "typed"]

_INTEGERS: Final = (TinyIntType, SmallIntType, IntType, BigIntType)
_WIDTHS: Final[dict[type[DataType], int]] = {TinyIntType: 3, SmallIntType: 5, IntType: 10, BigIntType: 19}
_TEXT: Final = (CharType, VarCharType)
_MICROSECONDS: Final = 6

Builder = Callable[[Call, list[Column]], Column | None]


def spark_column(expression: Expression, session: Session) -> Column | None:
    """Return the column that computes an expression, None if Spark computes it differently or not at all.

    Args:
        expression: The expression; its references are positions in the DataFrame.
        session: The session of the statement.
    """
    if isinstance(expression, InputReference):
        return F.col(column_name(expression.index))
    if isinstance(expression, Literal):
        return _literal(expression.value, expression.type)
    if not isinstance(expression, Call):
        return None
    if _is_constant(expression):
        return _constant(expression, session)
    builder = _BUILDERS.get(expression.function)
    if builder is None:
        return None
    arguments = [spark_column(each, session) for each in expression.arguments]
    found = [each for each in arguments if each is not None]
    if len(found) < len(arguments):
        return None
    return builder(expression, found)


def typed(column: Column, data_type: DataType) -> Column:
    """Return a column converted to the type that a SQL type has in Spark."""
    return column.cast(spark_schema(Schema.of(["c"], [data_type])).fields[0].dataType)


def comparable(data_type: DataType) -> bool:
    """Return whether Spark orders values of a type as Flink does."""
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        return data_type.precision <= _MICROSECONDS
    return isinstance(data_type, (*_INTEGERS, *_TEXT, DecimalType, DateType, BooleanType))


def _is_constant(expression: Expression) -> bool:
    if isinstance(expression, Call):
        return scalar_function(expression.function).is_deterministic and all(map(_is_constant, expression.arguments))
    return isinstance(expression, Literal)


def _constant(expression: Call, session: Session) -> Column | None:
    try:
        column = compile_expressions([expression], session)(single_row())[0]
    except EvaluationError:
        return None  # it fails only if a row needs it
    return _literal(to_value(column[0]), expression.type)


def _literal(value: Any, data_type: DataType) -> Column | None:
    if value is None:
        return typed(F.lit(None), data_type)
    if isinstance(data_type, DateType):
        return F.date_from_unix_date(F.lit(value))
    if isinstance(data_type, (*_INTEGERS, *_TEXT, DecimalType, BooleanType, DoubleType)):
        return typed(F.lit(value), data_type)
    return None


# ------------------------------------------------------------------ operators


def _compare(operator: Callable[[Column, Column], Column]) -> Builder:
    def build(call: Call, arguments: list[Column]) -> Column | None:
        left, right = (each.type for each in call.arguments)
        same = type(left) is type(right) or (isinstance(left, _TEXT) and isinstance(right, _TEXT))
        if not (same and comparable(left) and comparable(right)):
            return None
        return operator(*arguments)

    return build


def _arithmetic(operator: Callable[[Column, Column], Column]) -> Builder:
    def build(call: Call, arguments: list[Column]) -> Column | None:
        types = [each.type for each in call.arguments]
        if isinstance(call.type, DecimalType):
            decimals = _as_decimals(types, arguments)
            return None if decimals is None else typed(operator(*decimals), call.type)
        if isinstance(call.type, _INTEGERS) and all(isinstance(each, _INTEGERS) for each in types):
            return typed(operator(*arguments), call.type)
        if isinstance(call.type, DoubleType) and all(isinstance(each, DoubleType) for each in types):
            return operator(*arguments)
        return None

    return build


def _divide(call: Call, arguments: list[Column]) -> Column | None:
    if not isinstance(call.type, DecimalType):
        return None
    decimals = _as_decimals([each.type for each in call.arguments], arguments)
    if decimals is None:
        return None
    left, right = decimals
    failure = F.raise_error(F.lit(mark(EvaluationError("Division by zero"))))
    divided = typed(left / right, call.type)
    return (
        F.when(right != F.lit(Decimal(0)), divided).when(right.isNull(), divided).otherwise(typed(failure, call.type))
    )


def _as_decimals(types: list[DataType], arguments: list[Column]) -> list[Column] | None:
    decimals = []
    for data_type, argument in zip(types, arguments, strict=True):
        width = _WIDTHS.get(type(data_type))
        if isinstance(data_type, DecimalType):
            decimals.append(argument)
        elif width is not None:
            decimals.append(typed(argument, DecimalType(width, 0)))
        else:
            return None
    return decimals


def _case(call: Call, arguments: list[Column]) -> Column | None:
    *branches, otherwise = arguments
    pairs = list(zip(branches[::2], branches[1::2], strict=True))
    first, *rest = pairs
    found = reduce(lambda column, pair: column.when(*pair), rest, F.when(*first))
    return typed(found.otherwise(otherwise), call.type)


def _cast(call: Call, arguments: list[Column]) -> Column | None:
    source, target = call.arguments[0].type, call.type
    if source.not_null() == target.not_null():
        return arguments[0]
    if isinstance(target, DecimalType) and isinstance(source, (*_INTEGERS, DecimalType)):
        return typed(arguments[0], target)
    if isinstance(target, _INTEGERS) and isinstance(source, _INTEGERS):
        return typed(arguments[0], target)
    if isinstance(target, DoubleType) and isinstance(source, (*_INTEGERS, FloatType)):
        return typed(arguments[0], target)
    if isinstance(target, VarCharType) and isinstance(source, _TEXT) and target.length >= source.length:
        return arguments[0]
    return None


def _like(call: Call, arguments: list[Column]) -> Column | None:
    pattern = call.arguments[1]
    if len(call.arguments) != 2 or not isinstance(pattern, Literal) or pattern.value is None or "\\" in pattern.value:
        return None
    return arguments[0].like(pattern.value)


def _substring(call: Call, arguments: list[Column]) -> Column | None:
    limits = [each.value for each in call.arguments[1:] if isinstance(each, Literal) and each.value is not None]
    if len(limits) < len(call.arguments) - 1 or limits[0] < 1 or min(limits) < 0:
        return None
    length = F.lit(limits[1]) if len(limits) > 1 else F.char_length(arguments[0])
    return F.substring(arguments[0], F.lit(limits[0]), length)


def _extract(call: Call, arguments: list[Column]) -> Column | None:
    unit, source = call.arguments
    part = _PARTS.get(unit.value) if isinstance(unit, Literal) else None
    if part is None or not isinstance(source.type, DateType):
        return None
    return typed(part(arguments[1]), call.type)


_PARTS: Final[dict[Any, Callable[[Column], Column]]] = {"YEAR": F.year, "MONTH": F.month, "DAY": F.dayofmonth}

_BUILDERS: Final[dict[str, Builder]] = {
    "=": _compare(lambda left, right: left == right),
    "<>": _compare(lambda left, right: left != right),
    "<": _compare(lambda left, right: left < right),
    "<=": _compare(lambda left, right: left <= right),
    ">": _compare(lambda left, right: left > right),
    ">=": _compare(lambda left, right: left >= right),
    "IS NOT DISTINCT FROM": _compare(lambda left, right: left.eqNullSafe(right)),
    "IS DISTINCT FROM": _compare(lambda left, right: ~left.eqNullSafe(right)),
    "AND": lambda call, arguments: reduce(Column.__and__, arguments),
    "OR": lambda call, arguments: reduce(Column.__or__, arguments),
    "NOT": lambda call, arguments: ~arguments[0],
    "IS NULL": lambda call, arguments: arguments[0].isNull(),
    "IS NOT NULL": lambda call, arguments: arguments[0].isNotNull(),
    "IS TRUE": lambda call, arguments: arguments[0].eqNullSafe(F.lit(True)),
    "IS NOT TRUE": lambda call, arguments: ~arguments[0].eqNullSafe(F.lit(True)),
    "IS FALSE": lambda call, arguments: arguments[0].eqNullSafe(F.lit(False)),
    "IS NOT FALSE": lambda call, arguments: ~arguments[0].eqNullSafe(F.lit(False)),
    "+": _arithmetic(lambda left, right: left + right),
    "-": _arithmetic(lambda left, right: left - right),
    "*": _arithmetic(lambda left, right: left * right),
    "/": _divide,
    "CASE": _case,
    "COALESCE": lambda call, arguments: typed(F.coalesce(*arguments), call.type),
    "CAST": _cast,
    "LIKE": _like,
    "SUBSTRING": _substring,
    "EXTRACT": _extract,
}
