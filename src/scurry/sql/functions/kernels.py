"""Builders of kernels from functions of columns and from functions of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import pyarrow as pa

from scurry.errors import EvaluationError
from scurry.sql.functions.definition import CallSite, Column, Kernel
from scurry.sql.types import BigIntType, DataType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_value, from_values, to_value, to_values

Bind = Callable[[CallSite, DataType], Kernel]


def by_column(function: Callable[..., Column]) -> Bind:
    """Return the kernel of a function of columns, one of `pyarrow.compute` as a rule.

    Args:
        function: Takes arrays and scalars, propagates null, and returns a column of the result's type or one that
            `cast` makes it.
    """

    def bind(site: CallSite, result_type: DataType) -> Kernel:
        kind = arrow_type(result_type)

        def kernel(columns: Sequence[Column], rows: int) -> Column:
            result = function(*columns)
            return result if result.type == kind else result.cast(kind)

        return kernel

    return bind


def by_value(function: Callable[..., Any], nulls: bool = False) -> Bind:
    """Return the kernel of a function of values, for functions that no kernel of Arrow computes as Flink does.

    Args:
        function: Takes Python values as `scurry.sql.types.values` describes them, and returns one or None.
        nulls: Whether it is called with None, too; otherwise the result is null if an argument is.
    """

    def bind(site: CallSite, result_type: DataType) -> Kernel:
        return value_kernel(function, result_type, nulls)

    return bind


def value_kernel(function: Callable[..., Any], result_type: DataType, nulls: bool = False) -> Kernel:
    kind = arrow_type(result_type)

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        if not nulls and any(is_null_scalar(column) for column in columns):
            return pa.scalar(None, kind)
        if columns and all(isinstance(column, pa.Scalar) for column in columns):
            return from_value(function(*map(to_value, columns)), kind)
        if not columns:
            return from_values([function() for _ in range(rows)], kind)
        arguments = [repeat(to_value(each)) if isinstance(each, pa.Scalar) else to_values(each) for each in columns]
        if nulls:
            return from_values(list(map(function, *arguments)), kind)
        if len(arguments) == 1:
            return from_values([None if value is None else function(value) for value in arguments[0]], kind)
        return from_values([None if None in values else function(*values) for values in _rows(arguments)], kind)

    return kernel


def on_values(function: Callable[[Any], Any], result_type: DataType) -> Callable[[Column], Column]:
    """Return the function of a column that applies a function to each value that is not null."""
    kernel = value_kernel(function, result_type)
    return lambda column: kernel([column], 1 if isinstance(column, pa.Scalar) else len(column))


def _rows(arguments: list[Any]) -> Any:
    return zip(*arguments, strict=False)


def is_null_scalar(column: Column) -> bool:
    """Return whether a column is null in all rows, and known to be."""
    return isinstance(column, pa.Scalar) and not column.is_valid


def null_column(data_type: DataType) -> Column:
    """Return NULL for all rows."""
    return pa.scalar(None, arrow_type(data_type))


def refuse_bigint(site: CallSite, first: int = 0) -> None:
    """Refuse a BIGINT from an argument on, which Flink's planner accepts here, but its code does not compile for."""
    if any(isinstance(each, BigIntType) for each in site.types[first:]):
        raise EvaluationError("No applicable constructor/method found for actual parameters of type BIGINT")
