"""Scalar functions of users over columns."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from scurry.errors import TypeMismatchError
from scurry.functions.definition import Column, Session
from scurry.functions.user.definition import UserFunction
from scurry.logical_types import DataType
from scurry.logical_types.arrow import arrow_type
from scurry.python_values.arguments import python_values
from scurry.python_values.results import ResultColumn
from scurry.relational.expressions import UserFunctionCall
from scurry.runtime.tables.user_functions.failures import function_error, misfit_error
from scurry.runtime.tables.user_functions.opened import OpenFunctions
from scurry.runtime.tables.user_functions.series import column_of_series, series_of

__all__ = ["Describe", "UserKernel", "argument_values", "opened", "user_kernel"]

#: Returns a row by its position, for messages.
Describe: TypeAlias = Callable[[int], Any]
UserKernel: TypeAlias = Callable[[Sequence[Column], int, Describe], pa.Array]

_CONCURRENT = "table.exec.async-scalar.max-concurrent-operations"


def user_kernel(call: UserFunctionCall, session: Session) -> UserKernel:
    """Return what computes the column of a call, once per task.

    Args:
        call: The call of a scalar function.
        session: The session.
    """
    function: UserFunction = call.function
    instance = opened(function, session)
    types = [each.type for each in call.arguments]
    if function.is_vectorized:
        return _on_series(function, instance, types, session)
    if function.kind == "async scalar":
        limit = int(dict(session.options).get(_CONCURRENT, "10"))
        return _concurrently(function, instance, types, session, limit)
    return _row_by_row(function, instance, types, session)


def opened(function: UserFunction, session: Session) -> Any:
    """Return the object of a function, opened for the task.

    Raises:
        OperatorError: Its `open` failed.
    """
    functions = session.functions if session.functions is not None else OpenFunctions()
    try:
        return functions.opened(function)
    except Exception as error:
        raise function_error(function, error) from error


def argument_values(
    columns: Sequence[Column], types: Sequence[DataType], rows: int, time_zone: str
) -> list[Iterable[Any]]:
    """Return the Python values of arguments, an iterable for each."""
    return [
        itertools.repeat(python_values(pa.repeat(column, 1), each, time_zone)[0], rows)
        if isinstance(column, pa.Scalar)
        else python_values(column, each, time_zone)
        for column, each in zip(columns, types, strict=True)
    ]


def _row_by_row(function: UserFunction, instance: Any, types: Sequence[DataType], session: Session) -> UserKernel:
    evaluate = instance.eval
    to_column = ResultColumn(function.result_type)

    def kernel(columns: Sequence[Column], rows: int, describe: Describe) -> pa.Array:
        values = argument_values(columns, types, rows, session.time_zone)
        calls: Iterator[Any] = map(evaluate, *values) if values else (evaluate() for _ in range(rows))
        results: list[Any] = []
        try:
            results.extend(calls)
        except Exception as error:
            raise function_error(function, error, describe(len(results))) from error
        return _column(function, to_column, results, describe)

    return kernel


def _concurrently(
    function: UserFunction, instance: Any, types: Sequence[DataType], session: Session, limit: int
) -> UserKernel:
    to_column = ResultColumn(function.result_type)

    async def all_of(arguments: list[tuple[Any, ...]], describe: Describe) -> list[Any]:
        places = asyncio.Semaphore(limit)

        async def one(position: int, values: tuple[Any, ...]) -> Any:
            async with places:
                try:
                    return await instance.eval(*values)
                except Exception as error:
                    raise function_error(function, error, describe(position)) from error

        return await asyncio.gather(*(one(position, values) for position, values in enumerate(arguments)))

    def kernel(columns: Sequence[Column], rows: int, describe: Describe) -> pa.Array:
        values = argument_values(columns, types, rows, session.time_zone)
        arguments = list(zip(*values, strict=True)) if values else [()] * rows
        return _column(function, to_column, asyncio.run(all_of(arguments, describe)), describe)

    return kernel


def _column(function: UserFunction, to_column: ResultColumn, results: list[Any], describe: Describe) -> pa.Array:
    try:
        return to_column(results)
    except Exception as error:
        place, reason = to_column.misfit(results) or (0, error)
        raise misfit_error(function, results[place], reason, describe(place)) from error


def _on_series(function: UserFunction, instance: Any, types: Sequence[DataType], session: Session) -> UserKernel:
    import pandas as pd

    kind = arrow_type(function.result_type)

    def checked(result: Any, rows: int) -> Any:
        if type(result) is not pd.Series and type(result) is not pd.DataFrame:
            raise TypeMismatchError(
                "pandas.Series or pandas.DataFrame", result, f"the result of Pandas UDF '{function.name}'"
            )
        if len(result) != rows:
            raise ValueError(
                f"The result length '{len(result)}' of Pandas UDF '{function.name}' is not equal to the input length "
                f"'{rows}'"
            )
        return column_of_series(result, function.result_type, kind, session.time_zone)

    def kernel(columns: Sequence[Column], rows: int, describe: Describe) -> pa.Array:
        try:
            arguments = [
                python_values(pa.repeat(column, 1), each, session.time_zone)[0]
                if isinstance(column, pa.Scalar)  # a constant is handed over as a value
                else series_of(column, each, session.time_zone)
                for column, each in zip(columns, types, strict=True)
            ]
            return checked(instance.eval(*arguments), rows)
        except Exception as error:
            raise function_error(function, error) from error

    return kernel
