"""Functions of the place of a row in its window: ROW_NUMBER, RANK, LAG and the like."""

from __future__ import annotations

from scurry.sql.functions.aggregate.definition import AggregateFunction, AggregateSite
from scurry.sql.functions.definition import Signature, SignatureError
from scurry.sql.functions.signatures import refuse, refuse_call
from scurry.sql.types import BigIntType, DataType, DoubleType, IntegralType, LocalZonedTimestampType, NumericType


def _number(site: AggregateSite) -> Signature:
    if site.arguments:
        raise refuse_call(site)
    return Signature([], BigIntType(False))


def _fraction(site: AggregateSite) -> Signature:
    if site.arguments:
        raise refuse_call(site)
    return Signature([], DoubleType(False))


def _tile(site: AggregateSite) -> Signature:
    if len(site.arguments) != 1 or not isinstance(site.types[0], IntegralType):
        raise refuse_call(site)
    return Signature(site.types, BigIntType(False))


def _offset(site: AggregateSite) -> Signature:
    if not 1 <= len(site.arguments) <= 3:
        raise refuse_call(site)
    if len(site.arguments) > 1 and not isinstance(site.types[1], NumericType):
        raise refuse(site, f"'{site.name}(<ANY>)'\n'{site.name}(<ANY>, <NUMERIC>)'")
    types: list[DataType] = list(site.types)
    if isinstance(types[0], LocalZonedTimestampType):
        raise SignatureError("LeadLag aggregate function does not support type: ''TIMESTAMP_WITH_LOCAL_TIME_ZONE''.")
    result = types[0].nullable()
    if len(types) == 3:
        types[2] = types[0].with_nullability(types[2].is_nullable)
        # Flink calls it NOT NULL if the default is, and then shows NULLs as -1 or ''.
        result = types[0].with_nullability(types[0].is_nullable or types[2].is_nullable)
    return Signature(types, result)


FUNCTIONS = (
    AggregateFunction("ROW_NUMBER", _number, None),
    AggregateFunction("RANK", _number, None, needs_order=True),
    AggregateFunction("DENSE_RANK", _number, None, needs_order=True),
    AggregateFunction("CUME_DIST", _fraction, None, needs_order=True),
    AggregateFunction("PERCENT_RANK", _fraction, None, needs_order=True),
    AggregateFunction("NTILE", _tile, None),
    AggregateFunction("LAG", _offset, None),
    AggregateFunction("LEAD", _offset, None),
)
