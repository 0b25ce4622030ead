"""Aggregates as Spark columns, where Spark computes exactly what Flink does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from scurry.functions.definition import Session
from scurry.logical_types import BigIntType, DataType, DecimalType, DoubleType, IntType, SmallIntType, TinyIntType
from scurry.relational.expressions import AggregateCall
from scurry.spark.tables.columns import comparable, spark_column, typed

__all__ = ["spark_aggregate"]

_INTEGERS: Final = (TinyIntType, SmallIntType, IntType, BigIntType)
_AVERAGE_SCALE: Final = 6
_MAX_PRECISION: Final = 38


def spark_aggregate(call: AggregateCall, session: Session) -> Column | None:
    """Return the column that computes an aggregate, None if Spark computes it differently or not at all."""
    build = _BUILDERS.get(call.function)
    if build is None or call.order_by or len(call.arguments) > 1:
        return None
    argument = spark_column(call.arguments[0], session) if call.arguments else F.lit(1)
    condition = None if call.filter is None else spark_column(call.filter, session)
    if argument is None or (condition is None) != (call.filter is None):
        return None
    if condition is not None:
        argument = F.when(condition, argument)
    data_type = call.arguments[0].type if call.arguments else IntType(False)
    found = build(argument, data_type, call)
    return None if found is None else typed(found, call.type)


def _count(argument: Column, data_type: DataType, call: AggregateCall) -> Column | None:
    return F.count_distinct(argument) if call.distinct else F.count(argument)


def _sum(argument: Column, data_type: DataType, call: AggregateCall) -> Column | None:
    if not isinstance(data_type, (*_INTEGERS, DecimalType, DoubleType)):
        return None
    return F.sum_distinct(argument) if call.distinct else F.sum(argument)


def _sum_or_zero(argument: Column, data_type: DataType, call: AggregateCall) -> Column | None:
    found = _sum(argument, data_type, call)
    return None if found is None else F.coalesce(typed(found, call.type), typed(F.lit(0), call.type))


def _average(argument: Column, data_type: DataType, call: AggregateCall) -> Column | None:
    total = _sum(argument, data_type, call)
    if total is None:
        return None
    number = F.count_distinct(argument) if call.distinct else F.count(argument)
    if isinstance(data_type, DecimalType):
        if data_type.scale > _AVERAGE_SCALE:
            return None
        # DECIMAL(38, s) / DECIMAL(20, 0) is DECIMAL(38, 6) in Spark, too: one rounding, half up
        return typed(total, DecimalType(_MAX_PRECISION, data_type.scale)) / typed(number, DecimalType(20, 0))
    if isinstance(data_type, DoubleType):
        return total / number
    return F.call_function("div", total, number)


def _extreme(function: Callable[[Column], Column]) -> Callable[[Column, DataType, AggregateCall], Column | None]:
    def build(argument: Column, data_type: DataType, call: AggregateCall) -> Column | None:
        return function(argument) if comparable(data_type) else None

    return build


_BUILDERS: Final[dict[object, Callable[[Column, DataType, AggregateCall], Column | None]]] = {
    "COUNT": _count,
    "SUM": _sum,
    "$SUM0": _sum_or_zero,
    "AVG": _average,
    "MIN": _extreme(F.min),
    "MAX": _extreme(F.max),
}
