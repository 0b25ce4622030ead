"""Expressions as texts of Spark's SQL, if Spark gives exactly Flink's results.

`spark_expression` returns None for everything else: other functions, and types for which Spark's answers differ (NaN in
comparisons, divisions by zero, texts of numbers, ...). Such expressions run in Python.
The session has `spark.sql.ansi.enabled=false`: whole numbers wrap and decimals that do not fit are NULL, as in Flink.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from scurry.errors import EvaluationError
from scurry.spark.tables.types import column_name, spark_type
from scurry.spark.workers.instances import mark
from scurry.sql.evaluation.batch.batches import single_row
from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.calls import is_constant
from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.plan.join_keys import EqualColumns
from scurry.sql.types import (
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
    SymbolType,
    TimestampType,
    TinyIntType,
    VarCharType,
)
from scurry.sql.types.values import to_value

_INTEGERS: Final = (TinyIntType, SmallIntType, IntType, BigIntType)
_WIDTHS: Final[dict[type[DataType], int]] = {TinyIntType: 3, SmallIntType: 5, IntType: 10, BigIntType: 19}
_TEXT: Final = (CharType, VarCharType)
_MICROSECONDS: Final = 6
#: Characters that Spark reads literally in quotes, with any setting of escapes and variables.
_PLAIN: Final = re.compile(r"[^'\\$\x00-\x1f]*")

#: Gives the name of the column at a position.
Names = Callable[[int], str]
Builder = Callable[[Call, list[str]], str | None]


def spark_expression(expression: Expression, session: EvaluationContext, names: Names = column_name) -> str | None:
    """Return the text that computes an expression, None if Spark computes it differently or not at all.

    Args:
        names: Names what the expression refers to.
    """
    if isinstance(expression, InputReference):
        return names(expression.index)
    if isinstance(expression, Literal):
        return _literal(expression.value, expression.type)
    if not isinstance(expression, Call):
        return None
    if is_constant(expression):
        return _constant(expression, session)
    builder = _BUILDERS.get(expression.function)
    if builder is None:
        return None
    call = _flat(expression)
    arguments = [spark_expression(each, session, names) for each in call.arguments]
    found = [each for each in arguments if each is not None]
    if len(found) < len(arguments):
        return None
    if call.function == "OR" and _is_membership(call):
        tests = [each.arguments for each in call.arguments if isinstance(each, Call)]
        values = [spark_expression(value, session) for _, value in tests]
        return f"({spark_expression(tests[0][0], session, names)} IN ({', '.join(map(str, values))}))"
    return builder(call, found)


def typed(text: str, data_type: DataType) -> str:
    """Return an expression converted to the type that a SQL type has in Spark."""
    return f"CAST({text} AS {spark_type(data_type).simpleString()})"


def comparable(data_type: DataType) -> bool:
    """Return whether Spark orders values of a type as Flink does."""
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        return data_type.precision <= _MICROSECONDS
    return isinstance(data_type, (*_INTEGERS, *_TEXT, DecimalType, DateType, BooleanType))


def is_negative_zero(text: str) -> str:
    """Return the text that computes whether a DOUBLE or FLOAT is -0.0, which Spark groups with 0.0."""
    return f"CASE WHEN {text} = 0D THEN pow({text}, -1D) < 0D ELSE FALSE END"


def with_sign_of_zero(text: str, data_type: DataType, sign: str = "") -> str:
    """Return the text of a grouping key, with the zero that it is: Spark keeps one of both for all.

    Args:
        sign: What computes whether it is -0.0; by default the expression of `is_negative_zero`, which is a key, too.
    """
    if not isinstance(data_type, FloatType | DoubleType):
        return text
    positive, negative = typed("'0.0'", data_type), typed("'-0.0'", data_type)
    return (
        f"CASE WHEN {sign or is_negative_zero(text)} THEN {negative} WHEN {text} = 0D THEN {positive} ELSE {text} END"
    )


def _constant(expression: Call, session: EvaluationContext) -> str | None:
    try:
        column = compile_expressions([expression], session)(single_row())[0]
    except EvaluationError:
        return None  # it fails only if a row needs it
    return _literal(to_value(column[0]), expression.type)


def _literal(value: Any, data_type: DataType) -> str | None:
    if value is None:
        return typed("NULL", data_type)
    if isinstance(data_type, DateType):
        return f"date_from_unix_date({value})"
    if isinstance(data_type, (*_TEXT, SymbolType)):
        return _quoted(value)
    if isinstance(data_type, DecimalType):
        return typed(f"'{value:f}'", data_type)
    if isinstance(data_type, DoubleType):
        return typed(f"'{value!r}'", data_type)
    if isinstance(data_type, BooleanType):
        return str(value).upper()
    return typed(str(value), data_type) if isinstance(data_type, _INTEGERS) else None


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return f"'{value}'"
    return f"CAST(X'{value.encode().hex()}' AS STRING)"


def _flat(call: Call) -> Call:
    """Return a chain of AND or OR as one call of all its conditions."""
    if call.function not in ("AND", "OR"):
        return call
    return Call(call.function, tuple(_conditions(call, call.function)), call.type)


def _conditions(expression: Expression, function: str) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function == function:
        for argument in expression.arguments:
            yield from _conditions(argument, function)
    else:
        yield expression


# ------------------------------------------------------------------ operators


def _compare(operator: str) -> Builder:
    def build(call: Call, arguments: list[str]) -> str | None:
        left, right = (each.type for each in call.arguments)
        same = type(left) is type(right) or (isinstance(left, _TEXT) and isinstance(right, _TEXT))
        if not (same and comparable(left) and comparable(right)):
            return None
        return f"({arguments[0]} {operator} {arguments[1]})"

    return build


def _is_distinct(call: Call, arguments: list[str]) -> str | None:
    same = _compare("<=>")(call, arguments)
    return None if same is None else f"(NOT {same})"


def _is_membership(call: Call) -> bool:
    """Return whether a chain of OR compares one expression with constants: `x = 1 OR x = 2`."""
    tests = [each for each in call.arguments if isinstance(each, Call) and each.function == "="]
    operands = {each.arguments[0] for each in tests}
    return (
        len(tests) == len(call.arguments)
        and len(operands) == 1
        and all(is_constant(each.arguments[1]) for each in tests)
    )


def _arithmetic(operator: str) -> Builder:
    def build(call: Call, arguments: list[str]) -> str | None:
        types = [each.type for each in call.arguments]
        if isinstance(call.type, DecimalType):
            decimals = _as_decimals(types, arguments)
            return None if decimals is None else typed(f"({decimals[0]} {operator} {decimals[1]})", call.type)
        if isinstance(call.type, _INTEGERS) and all(isinstance(each, _INTEGERS) for each in types):
            return typed(f"({arguments[0]} {operator} {arguments[1]})", call.type)
        if isinstance(call.type, DoubleType) and all(isinstance(each, DoubleType) for each in types):
            return f"({arguments[0]} {operator} {arguments[1]})"
        return None

    return build


def _divide(call: Call, arguments: list[str]) -> str | None:
    if not isinstance(call.type, DecimalType):
        return None
    decimals = _as_decimals([each.type for each in call.arguments], arguments)
    if decimals is None:
        return None
    left, right = decimals
    divided = typed(f"({left} / {right})", call.type)
    divisor = call.arguments[1]
    if isinstance(divisor, Literal) and divisor.value:
        return divided
    failure = typed(f"raise_error({_quoted(mark(EvaluationError('Division by zero')))})", call.type)
    return f"(CASE WHEN {right} <> 0 OR {right} IS NULL THEN {divided} ELSE {failure} END)"


def _as_decimals(types: list[DataType], arguments: list[str]) -> list[str] | None:
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


def _case(call: Call, arguments: list[str]) -> str:
    *branches, otherwise = arguments
    pairs = zip(branches[::2], branches[1::2], strict=True)
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    return typed(f"CASE {whens} ELSE {otherwise} END", call.type)


def _cast(call: Call, arguments: list[str]) -> str | None:
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


def _like(template: str) -> Builder:
    def build(call: Call, arguments: list[str]) -> str | None:
        pattern = call.arguments[1]
        if len(call.arguments) != 2 or not isinstance(pattern, Literal) or pattern.value is None:
            return None
        if "\\" in pattern.value:
            return None
        return template.format(*arguments)

    return build


def _substring(call: Call, arguments: list[str]) -> str | None:
    limits = [each.value for each in call.arguments[1:] if isinstance(each, Literal) and each.value is not None]
    if len(limits) < len(call.arguments) - 1 or limits[0] < 1 or min(limits) < 0:
        return None
    return f"substring({', '.join([arguments[0], *map(str, limits)])})"


def _extract(call: Call, arguments: list[str]) -> str | None:
    unit, source = call.arguments
    part = _PARTS.get(unit.value) if isinstance(unit, Literal) else None
    if part is None or not isinstance(source.type, DateType):
        return None
    return typed(f"{part}({arguments[1]})", call.type)


def _part(function: str) -> Builder:
    def build(call: Call, arguments: list[str]) -> str | None:
        is_date = isinstance(call.arguments[0].type, DateType)
        return typed(f"{function}({arguments[0]})", call.type) if is_date else None

    return build


_PARTS: Final[dict[Any, str]] = {"YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "DAY": "dayofmonth"}

_BUILDERS: Final[dict[str, Builder]] = {
    "=": _compare("="),
    "<>": _compare("<>"),
    "<": _compare("<"),
    "<=": _compare("<="),
    ">": _compare(">"),
    ">=": _compare(">="),
    "IS NOT DISTINCT FROM": _compare("<=>"),
    "IS DISTINCT FROM": _is_distinct,
    "AND": lambda call, arguments: f"({' AND '.join(arguments)})",
    "OR": lambda call, arguments: f"({' OR '.join(arguments)})",
    "NOT": lambda call, arguments: f"(NOT {arguments[0]})",
    "IS NULL": lambda call, arguments: f"({arguments[0]} IS NULL)",
    "IS NOT NULL": lambda call, arguments: f"({arguments[0]} IS NOT NULL)",
    "IS TRUE": lambda call, arguments: f"({arguments[0]} <=> TRUE)",
    "IS NOT TRUE": lambda call, arguments: f"(NOT ({arguments[0]} <=> TRUE))",
    "IS FALSE": lambda call, arguments: f"({arguments[0]} <=> FALSE)",
    # as it stands in Spark's own NOT IN: it then joins by a hash table that minds NULL
    "IS NOT FALSE": lambda call, arguments: f"({arguments[0]} OR ({arguments[0]} IS NULL))",
    "+": _arithmetic("+"),
    "-": _arithmetic("-"),
    "*": _arithmetic("*"),
    "/": _divide,
    "CASE": _case,
    "COALESCE": lambda call, arguments: typed(f"coalesce({', '.join(arguments)})", call.type),
    "CAST": _cast,
    "LIKE": _like("({0} LIKE {1})"),
    "NOT LIKE": _like("(NOT ({0} LIKE {1}))"),
    "SUBSTRING": _substring,
    "EXTRACT": _extract,
    "YEAR": _part("year"),
    "QUARTER": _part("quarter"),
    "MONTH": _part("month"),
    "DAYOFMONTH": _part("dayofmonth"),
}


FLOATS: Final = (FloatType, DoubleType)
#: Spark's tables have at least one column.
NO_COLUMN = "CAST(NULL AS BOOLEAN) AS `rows`"


def equal_keys(one: str, other: str, keys: EqualColumns) -> str:
    """Return the condition of a join by keys; NaN, which Spark takes for equal to itself, equals nothing."""
    is_floating = isinstance(keys.left.type, FLOATS)
    if keys.null_equals_null:
        return f"{one} <=> {other} AND NOT isnan({one})" if is_floating else f"{one} <=> {other}"
    return f"{f'CASE WHEN isnan({one}) THEN NULL ELSE {one} END' if is_floating else one} = {other}"


def named(texts: Sequence[str]) -> str:
    """Return the list of a SELECT: texts named by position."""
    return ", ".join(f"{text} AS {column_name(index)}" for index, text in enumerate(texts)) or NO_COLUMN


def names_of_sides(width: int) -> Names:
    """Return names of the columns of a join whose left side has a width."""
    return lambda index: f"l.{column_name(index)}" if index < width else f"r.{column_name(index - width)}"


def order(key: nodes.SortKey) -> str:
    direction, nulls = "DESC" if key.descending else "ASC", "FIRST" if key.nulls_first else "LAST"
    return f"{column_name(key.index)} {direction} NULLS {nulls}"
