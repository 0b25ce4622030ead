"""Scalar user-defined functions over columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

import pyarrow as pa

from scurry.sql.evaluation.user_functions.arguments import Describe, argument_values, opened, pieces, result_column
from scurry.sql.evaluation.user_functions.failures import ended_error, function_error
from scurry.sql.functions.definition import Column, EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan.expressions import UserFunctionCall
from scurry.sql.types import DataType
from scurry.sql.values.results import ResultColumn

__all__ = ["Describe", "UserKernel", "user_kernel"]

UserKernel: TypeAlias = Callable[[Sequence[Column], int, Describe], pa.Array]


def user_kernel(call: UserFunctionCall, session: EvaluationContext) -> UserKernel:
    """Return the kernel of a call, which is created once per task.

    Args:
        call: The call of a scalar function.
    """
    function: UserFunction = call.function
    instance = opened(function, session)
    types = [each.type for each in call.arguments]
    if function.is_vectorized:
        from scurry.sql.evaluation.user_functions.vectorized import on_columns

        return on_columns(function, instance, types, session)
    if function.kind == "async scalar":
        from scurry.sql.evaluation.user_functions.asynchronous import concurrently

        return concurrently(function, instance, types, session)
    return _row_by_row(function, instance, types, session)


def _row_by_row(
    function: UserFunction, instance: Any, types: Sequence[DataType], session: EvaluationContext
) -> UserKernel:
    evaluate = instance.eval
    to_column, cut = ResultColumn(function.result_type), pieces(session)

    def kernel(columns: Sequence[Column], rows: int, describe: Describe) -> pa.Array:
        values = argument_values(function, columns, types, rows, session.time_zone)
        calls: Iterator[Any] = map(evaluate, *values) if values else (evaluate() for _ in range(rows))
        returned = iter(to_column.as_returned(calls))
        results: list[Any] = []
        for first, count in cut.of(rows):
            try:
                results.extend(islice(returned, count))
            except Exception as error:
                raise function_error(function, error, describe(len(results))) from error
            if len(results) < first + count:
                raise ended_error(function, describe(len(results)))
        return result_column(function, to_column, results, describe)

    return kernel
