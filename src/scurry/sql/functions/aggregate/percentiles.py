"""PERCENTILE."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from scurry.errors import EvaluationError
from scurry.sql.functions.aggregate.collections import LISTS
from scurry.sql.functions.aggregate.definition import (
    Accumulator,
    AggregateFunction,
    AggregateSite,
    BatchState,
    Column,
    Groups,
)
from scurry.sql.functions.aggregate.grouped import listed, merged_lists, valid_rows
from scurry.sql.functions.casts.numbers import doubles_of
from scurry.sql.functions.definition import Signature, SignatureError
from scurry.sql.types import ArrayType, DataType, DoubleType, IntegralType, NullType, NumericType


class Percentile(Accumulator):
    """Keeps all values, how often each counts, and the percentages asked for."""

    def __init__(self, result_type: DataType) -> None:
        self._many = isinstance(result_type, ArrayType)

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        value = doubles_of(columns[0])
        weight = columns[2].cast(pa.int64()) if len(columns) > 2 else pa.repeat(pa.scalar(1, pa.int64()), len(value))
        percentage = columns[1] if self._many else doubles_of(columns[1])
        kept, groups = valid_rows([value, weight, percentage], groups)
        return [listed(each, groups, count) for each in kept]

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return [merged_lists(each, groups, count) for each in states]

    def result(self, states: Sequence[Column]) -> Column:
        found = [self._of_group(*each) for each in zip(*(state.to_pylist() for state in states), strict=True)]
        return pa.array(found, pa.list_(pa.float64()) if self._many else pa.float64())

    def _of_group(self, values: list[float], weights: list[int], percentages: list[Any]) -> Any:
        pairs = [(value, weight) for value, weight in zip(values, weights, strict=True) if weight > 0]
        if not pairs:
            return None
        ordered = sorted(pairs)
        wanted = percentages[-1]
        return [_percentile(ordered, float(each)) for each in wanted] if self._many else _percentile(ordered, wanted)


def _percentile(ordered: list[tuple[float, int]], percentage: float) -> float:
    if not 0 <= percentage <= 1:
        raise EvaluationError(f"Percentage of PERCENTILE should be between [0.0, 1.0], but was '{percentage}'.")
    total = sum(weight for _, weight in ordered)
    # Places count from 1, as in Flink: it decides what the last digit is.
    position = percentage * (total - 1) + 1.0
    low, high = math.floor(position), math.ceil(position)
    lower, upper = _at(ordered, low - 1), _at(ordered, high - 1)
    return lower if low == high or lower == upper else (high - position) * lower + (position - low) * upper


def _at(ordered: list[tuple[float, int]], rank: int) -> float:
    passed = 0
    for value, weight in ordered:
        passed += weight
        if passed > rank:
            return value
    return ordered[-1][0]


def _infer(site: AggregateSite) -> Signature:
    if not 2 <= len(site.arguments) <= 3 or not isinstance(site.types[0], NumericType | NullType):
        raise SignatureError("Invalid input arguments.")
    percentage = site.arguments[1]
    many = isinstance(percentage.type, ArrayType)
    element = percentage.type.element_type if isinstance(percentage.type, ArrayType) else percentage.type
    if not isinstance(element, NumericType):
        raise SignatureError("Invalid input arguments.")
    if percentage.is_literal and not many and not 0 <= float(percentage.value) <= 1:
        raise SignatureError("Invalid input arguments.")
    if len(site.arguments) == 3 and not isinstance(site.types[2], IntegralType):
        raise SignatureError("Invalid input arguments.")
    return Signature(site.types, ArrayType(DoubleType()) if many else DoubleType())


FUNCTIONS = (
    AggregateFunction(
        "PERCENTILE",
        _infer,
        lambda site, result_type: Percentile(result_type),
        replace(LISTS, order_free=True),
        batch_state=BatchState.WHOLE,
        null_arguments=frozenset({0}),
    ),
)
