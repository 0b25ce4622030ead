"""Table user-defined functions: the rows they return for each row."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from scurry.common._copies import copy_of
from scurry.common.types import Row
from scurry.errors import TypeMismatchError
from scurry.sql.evaluation.user_functions.arguments import Describe, argument_values, opened, result_column
from scurry.sql.evaluation.user_functions.failures import function_error
from scurry.sql.functions.definition import Column, EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan.expressions import UserFunctionCall
from scurry.sql.values.results import ResultColumn

#: From arguments to the position of each result's row, and the results' columns.
TableKernel: TypeAlias = Callable[[Sequence[Column], int, Describe], tuple[Any, list[pa.Array]]]


def table_kernel(call: UserFunctionCall, outer: bool, session: EvaluationContext) -> TableKernel:
    """Return the kernel of a table function's call, which is created once per task.

    Args:
        outer: Whether a row without results is kept, with NULLs.
    """
    function: UserFunction = call.function
    evaluate = opened(function, session).eval
    types = [each.type for each in call.arguments]
    converters = [ResultColumn(each) for _, each in function.columns]
    width = len(converters)
    missing = (None,) * width

    def rows_of(result: Any) -> list[Sequence[Any]]:
        rows = list(as_returned(converters, map(fields_of, results_of(result))))
        for each in rows:
            if len(each) != width:
                raise TypeMismatchError(
                    function.result_type.as_summary_string(), each, f"{width} columns are declared, got {len(each)}"
                )
        return rows or [missing] if outer else rows

    def kernel(columns: Sequence[Column], rows: int, describe: Describe) -> tuple[Any, list[pa.Array]]:
        values = argument_values(function, columns, types, rows, session.time_zone)
        counts: list[int] = []
        found: list[Sequence[Any]] = []
        try:
            for arguments in zip(*values, strict=True) if values else [()] * rows:
                results = rows_of(evaluate(*arguments))
                counts.append(len(results))
                found += results
        except Exception as error:
            raise function_error(function, error, describe(len(counts))) from error
        positions = np.repeat(np.arange(rows), counts)
        parts = [[each[place] for each in found] for place in range(width)]
        return positions, [
            result_column(function, converter, part, lambda place: describe(int(positions[place])))
            for converter, part in zip(converters, parts, strict=True)
        ]

    return kernel


def as_returned(converters: Sequence[ResultColumn], rows: Iterable[Sequence[Any]]) -> Iterable[Sequence[Any]]:
    """Return rows of these columns as they are when they come, whatever the function does with them afterwards."""
    return map(copy_of, rows) if any(each.changeable for each in converters) else rows


def results_of(result: Any) -> Iterable[Any]:
    """Return the rows of a result as PyFlink tells them apart: lists, ranges and generators have several."""
    if result is None:
        return ()
    return result if isinstance(result, list | range | Generator) or hasattr(result, "__next__") else (result,)


def fields_of(value: Any) -> Sequence[Any]:
    """Return the columns of a row that a function returns: a tuple, Row or dataclass; any other value is one."""
    if isinstance(value, tuple):
        return value
    if dataclasses.is_dataclass(value):
        return [getattr(value, each.name) for each in dataclasses.fields(value) if each.init]
    return list(value) if isinstance(value, Row) else (value,)
