"""Asynchronous user-defined scalar functions: the calls of the rows of a batch overlap."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scurry.common._config import tables
from scurry.sql.evaluation.overlapping import overlapping, timed
from scurry.sql.evaluation.user_functions.arguments import Describe, argument_values, check_of, result_column
from scurry.sql.evaluation.user_functions.failures import function_error
from scurry.sql.evaluation.user_functions.opened import OpenFunctions
from scurry.sql.functions.definition import Column, EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.types import DataType
from scurry.sql.values.results import ResultColumn

if TYPE_CHECKING:
    from scurry.sql.evaluation.user_functions.scalar import UserKernel


def concurrently(
    function: UserFunction, instance: Any, types: Sequence[DataType], session: EvaluationContext
) -> UserKernel:
    """Return a kernel that calls an asynchronous function for all rows of a batch, many at a time.

    Args:
        instance: Its object, opened.
        session: The session; its options say how many calls run at a time, how long one may take, and how often it is
            repeated.
    """
    to_column = ResultColumn(function.result_type)
    calls = _Calls(function, instance, session)
    loop, check = (session.functions or OpenFunctions()).event_loop, check_of(session)

    def kernel(columns: Sequence[Column], rows: int, describe: Describe) -> pa.Array:
        values = argument_values(function, columns, types, rows, session.time_zone)
        arguments = list(zip(*values, strict=True)) if values else [()] * rows
        results = loop.run(calls.all_of(arguments, to_column, describe), check)
        return result_column(function, to_column, results, describe)

    return kernel


class _Calls:
    """Calls of an asynchronous function as the options of the session want them."""

    def __init__(self, function: UserFunction, instance: Any, session: EvaluationContext) -> None:
        self._function = function
        self._instance = instance
        self._limit = session.get(tables.ASYNC_SCALAR_MAX_CONCURRENT_OPERATIONS)
        self._timeout = session.get(tables.ASYNC_SCALAR_TIMEOUT) / 1000
        repeats = session.get(tables.ASYNC_SCALAR_RETRY_STRATEGY) == "FIXED_DELAY"
        self._attempts = session.get(tables.ASYNC_SCALAR_MAX_ATTEMPTS) if repeats else 1
        self._delay = session.get(tables.ASYNC_SCALAR_RETRY_DELAY) / 1000

    async def all_of(self, arguments: list[tuple[Any, ...]], to_column: ResultColumn, describe: Describe) -> list[Any]:
        """Return the results, in the order of the rows."""

        async def one(position: int, values: tuple[Any, ...]) -> Any:
            try:
                (result,) = to_column.as_returned((await timed(self._repeated(values), self._timeout or None, values),))
                return result
            except Exception as error:
                raise function_error(self._function, error, describe(position)) from error

        calls = (one(position, values) for position, values in enumerate(arguments))
        places = asyncio.Semaphore(self._limit)
        return await overlapping(calls, places)

    async def _repeated(self, values: tuple[Any, ...]) -> Any:
        for attempt in range(1, self._attempts + 1):
            try:
                return await self._instance.eval(*values)
            except Exception:
                if attempt == self._attempts:
                    raise
            await asyncio.sleep(self._delay)
        raise AssertionError("an attempt returns or raises")
