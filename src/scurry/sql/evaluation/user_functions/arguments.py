"""Arguments of user-defined functions: the objects that tasks open, and the values of columns."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa

from scurry.common._copies import IMMUTABLE, copy_of
from scurry.sql.evaluation.user_functions.failures import function_error, misfit_error
from scurry.sql.evaluation.user_functions.opened import OpenFunctions, Pieces
from scurry.sql.functions.definition import Column, EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.types import DataType
from scurry.sql.values.arguments import python_values
from scurry.sql.values.results import ResultColumn

_Row = TypeVar("_Row")

#: Returns a row by its position, for messages.
Describe: TypeAlias = Callable[[int], Any]


def opened(function: UserFunction, session: EvaluationContext) -> Any:
    """Return the object of a function, opened for the task.

    Raises:
        OperatorError: Its `open` failed.
    """
    functions = session.functions if session.functions is not None else OpenFunctions()
    try:
        return functions.opened(function)
    except Exception as error:
        raise function_error(function, error) from error


def check_of(session: EvaluationContext) -> Callable[[], None] | None:
    """Return the function to call between rows, which ends a cancelled task; None if tasks cannot be cancelled."""
    return None if session.functions is None else session.functions.check


def checked(rows: Iterable[_Row], session: EvaluationContext) -> Iterable[_Row]:
    """Return rows, before each of which a task can be ended."""
    check = check_of(session)
    if check is None:
        yield from rows
        return
    for row in rows:
        check()
        yield row


def pieces(session: EvaluationContext, least: int = 1) -> Pieces:
    """Return the cutter of a function's rows into pieces between which the task can be ended."""
    return Pieces(check_of(session), least)


def argument_values(
    function: UserFunction, columns: Sequence[Column], types: Sequence[DataType], rows: int, time_zone: str
) -> list[Iterable[Any]]:
    found: list[Iterable[Any]] = [
        _repeated(python_values(pa.repeat(column, 1), each, time_zone)[0], rows)
        if isinstance(column, pa.Scalar)
        else python_values(column, each, time_zone)
        for column, each in zip(columns, types, strict=True)
    ]
    for place, make in enumerate(function.argument_makers[: len(found)]):
        if make is not None:
            found[place] = [None if value is None else make(value) for value in found[place]]
    return found


def _repeated(constant: Any, rows: int) -> Iterable[Any]:
    if type(constant) in IMMUTABLE:
        return itertools.repeat(constant, rows)
    return [copy_of(constant) for _ in range(rows)]


def result_column(function: UserFunction, to_column: ResultColumn, results: list[Any], describe: Describe) -> pa.Array:
    """Return the column of the results of a function.

    Raises:
        OperatorError: One is no value of the declared type.
    """
    try:
        return to_column(results)
    except Exception as error:
        place, reason = to_column.misfit(results) or (0, error)
        raise misfit_error(function, results[place], reason, describe(place)) from error
