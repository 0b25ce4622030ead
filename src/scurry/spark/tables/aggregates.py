"""Aggregates as texts of Spark's SQL, if Spark gives exactly Flink's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scurry.spark.tables.columns import comparable, is_negative_zero, spark_expression, typed
from scurry.sql import types
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.expressions import AggregateCall

_INTEGERS: Final = (types.TinyIntType, types.SmallIntType, types.IntType, types.BigIntType)
_AVERAGE_SCALE: Final = 6
_MAX_PRECISION: Final = 38


def spark_aggregate(call: AggregateCall, session: EvaluationContext) -> str | None:
    """Return the text that computes an aggregate, None if Spark computes it differently or not at all."""
    build = _BUILDERS.get(call.function)
    if build is None or len(call.arguments) > 1:
        return None
    argument = spark_expression(call.arguments[0], session) if call.arguments else "1"
    condition = None if call.filter is None else spark_expression(call.filter, session)
    if argument is None or (condition is None) != (call.filter is None):
        return None
    data_type = call.arguments[0].type if call.arguments else types.IntType(False)
    if call.distinct and isinstance(data_type, types.FloatType | types.DoubleType):
        if call.function != "COUNT":
            return None
        argument = f"{argument}, {is_negative_zero(argument)}"
    over = f"({'DISTINCT ' if call.distinct else ''}{argument})"
    found = build(over + (f" FILTER (WHERE {condition})" if condition else ""), data_type, call)
    return None if found is None else typed(found, call.type)


def _count(over: str, data_type: types.DataType, call: AggregateCall) -> str:
    return f"count{over}"


def _sum(over: str, data_type: types.DataType, call: AggregateCall) -> str | None:
    return f"sum{over}" if isinstance(data_type, (*_INTEGERS, types.DecimalType, types.DoubleType)) else None


def _sum_or_zero(over: str, data_type: types.DataType, call: AggregateCall) -> str | None:
    found = _sum(over, data_type, call)
    return None if found is None else f"coalesce({typed(found, call.type)}, {typed('0', call.type)})"


def _average(over: str, data_type: types.DataType, call: AggregateCall) -> str | None:
    total = _sum(over, data_type, call)
    if total is None:
        return None
    if isinstance(data_type, types.DecimalType):
        if data_type.scale > _AVERAGE_SCALE:
            return None
        # DECIMAL(38, s) / DECIMAL(20, 0) is DECIMAL(38, 6) in Spark, too: one rounding, half up
        exact = typed(total, types.DecimalType(_MAX_PRECISION, data_type.scale))
        return f"{exact} / {typed(f'count{over}', types.DecimalType(20, 0))}"
    return f"{total} {'/' if isinstance(data_type, types.DoubleType) else 'DIV'} count{over}"


def _extreme(function: str) -> Callable[[str, types.DataType, AggregateCall], str | None]:
    def build(over: str, data_type: types.DataType, call: AggregateCall) -> str | None:
        return f"{function}{over}" if comparable(data_type) else None

    return build


_BUILDERS: Final[dict[object, Callable[[str, types.DataType, AggregateCall], str | None]]] = {
    "COUNT": _count,
    "SUM": _sum,
    "$SUM0": _sum_or_zero,
    "AVG": _average,
    "MIN": _extreme("min"),
    "MAX": _extreme("max"),
}
