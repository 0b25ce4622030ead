"""User-defined functions: the classes that programs derive from, and the functions that declare their types."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.functions.user.context import FunctionContext
from scurry.sql.functions.user.process import ArgumentTrait
from scurry.sql.functions.user.process_context import Context, OnTimerContext, TableSemantics, TimeContext
from scurry.sql.types import DataType, MapType
from scurry.table._udf.classes import (
    AggregateFunction,
    AsyncScalarFunction,
    ImperativeAggregateFunction,
    RetractableCollector,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    UserDefinedFunction,
)
from scurry.table._udf.declared import Types, column_types, declared
from scurry.table._udf.process import ArgumentHint, ProcessTableFunction, StateHint, declared_process

__all__ = [
    "AggregateFunction",
    "ArgumentHint",
    "ArgumentTrait",
    "AsyncScalarFunction",
    "Context",
    "FunctionContext",
    "ImperativeAggregateFunction",
    "OnTimerContext",
    "ProcessTableFunction",
    "RetractableCollector",
    "ScalarFunction",
    "StateHint",
    "TableAggregateFunction",
    "TableFunction",
    "TableSemantics",
    "TimeContext",
    "UserDefinedFunction",
    "udaf",
    "udf",
    "udptf",
    "udtaf",
    "udtf",
]

_P = ParamSpec("_P")
_FUNC_TYPES = ("general", "pandas", "arrow")


def _also_decorator(declare: Callable[_P, Any]) -> Callable[_P, Any]:
    """Let a function that declares functions be called without one: as a decorator with arguments."""

    @functools.wraps(declare)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> Any:
        is_given = bool(args and args[0] is not None) or kwargs.get("f") is not None
        return declare(*args, **kwargs) if is_given else lambda f: declare(*(f, *args[1:]), **kwargs)

    return call


@_also_decorator
def udf(
    f: Any = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Declare a scalar function; also a decorator.

    Args:
        f: A function, a coroutine function, a `ScalarFunction` or an `AsyncScalarFunction`.
        input_types: The types that arguments are converted to; None to take what the query has.
        result_type: The type of the results; None to take all types from the function's type hints.
        deterministic: Whether equal arguments give equal results.
        name: Its name in messages.
        func_type: `general`: it takes values; `pandas`: it takes Series of pandas and returns one; `arrow`: it takes
            arrays of pyarrow and returns one.

    Raises:
        ArgumentError: The func_type is not known.
        ArgumentTypeError: It is no function, or a type is none.
    """
    _check_func_type(func_type, _FUNC_TYPES)
    is_async = isinstance(f, AsyncScalarFunction) or inspect.iscoroutinefunction(f)
    if is_async and func_type != "general":
        raise ArgumentError(
            f"Async scalar functions do not support {func_type} func_type. Please use func_type='general' (default) "
            "for async functions."
        )
    kind = "async scalar" if is_async else "scalar"
    return declared(kind, f, input_types, result_type, None, func_type, deterministic, name)


@_also_decorator
def udtf(
    f: Any = None,
    input_types: Types | None = None,
    result_types: Types | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """Declare a table function; also a decorator.

    Args:
        f: A function or a `TableFunction`.
        input_types: The types that arguments are converted to; None to take what the query has.
        result_types: The types of the columns, or a row of them; None to take all types from the type hints.
        deterministic: Whether equal arguments give equal results.
        name: Its name in messages.

    Raises:
        ArgumentTypeError: It is no function, or a type is none.
    """
    return declared("table", f, input_types, column_types(result_types), None, "general", deterministic, name)


@_also_decorator
def udaf(
    f: Any = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Declare an aggregate function; also a decorator.

    Args:
        f: An `AggregateFunction`; with func_type `pandas` or `arrow` also a function of columns.
        input_types: The types that arguments are converted to; None to take what the query has.
        result_type: The type of the results; None for what the function's `get_result_type` or type hints say.
        accumulator_type: The type of accumulators; None for what the function's `get_accumulator_type` says, if it has
            that method. scurry keeps accumulators as they are.
        deterministic: Whether equal arguments give equal results.
        name: Its name in messages.
        func_type: `general`: it takes values; `pandas`: it takes the rows of a group as Series of pandas; `arrow`: as
            arrays of pyarrow.

    Raises:
        ArgumentError: The func_type is not known.
        ArgumentTypeError: It is no function, or a type is none.
    """
    _check_func_type(func_type, _FUNC_TYPES)
    if func_type == "general" and not isinstance(f, ImperativeAggregateFunction):
        raise ArgumentTypeError(f"an aggregate function of func_type 'general' is an AggregateFunction, got {f!r}")
    if func_type == "pandas" and isinstance(result_type, MapType):
        raise ArgumentTypeError(
            f"Invalid returnType: Pandas UDAF doesn't support DataType type {result_type} currently"
        )
    kind = "table aggregate" if isinstance(f, TableAggregateFunction) else "aggregate"
    return _aggregate(kind, f, input_types, result_type, accumulator_type, func_type, deterministic, name)


@_also_decorator
def udtaf(
    f: Any = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Declare a table aggregate function; also a decorator. See `udaf` for the arguments.

    Raises:
        ArgumentError: The func_type is not `general`.
        ArgumentTypeError: It is no `TableAggregateFunction`, or a type is none.
    """
    if func_type != "general":
        raise ArgumentError(f"The func_type must be 'general', got {func_type}.")
    if not isinstance(f, TableAggregateFunction):
        raise ArgumentTypeError(f"udtaf takes a TableAggregateFunction, got {f!r}")
    return _aggregate("table aggregate", f, input_types, result_type, accumulator_type, func_type, deterministic, name)


@_also_decorator
def udptf(
    f: Any = None,
    result_type: Types | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """Declare a process table function. PyFlink has none: the semantics are those of Flink's `ProcessTableFunction`.

    Args:
        f: An instance of a `ProcessTableFunction`, whose `eval` is annotated with what its parameters are.
        result_type: The type of its rows: of the columns, a row of them, or of a single column; None for what `eval`
            is annotated to return.
        deterministic: Whether equal tables give equal rows.
        name: Its name in messages.

    Raises:
        ArgumentError: A declaration makes no sense.
        ArgumentTypeError: It is no process table function, or a parameter or the result has no type.
    """
    return declared_process(f, result_type, deterministic, name)


def _aggregate(
    kind: str, function: Any, input_types: Any, result_type: Any, accumulator_type: Any, func_type: str, *others: Any
) -> Any:
    """Declare an aggregate, whose own methods may tell its types."""
    if accumulator_type is None and func_type == "general":
        accumulator_type = _told(function, "get_accumulator_type")
    if result_type is None:
        result_type = _told(function, "get_result_type")
    return declared(kind, function, input_types, result_type, accumulator_type, func_type, *others)


def _told(function: Any, method: str) -> Any:
    """Return the type that a method of a function returns; None if it has no such method of its own."""
    own = getattr(type(function), method, None)
    return None if own in (None, getattr(ImperativeAggregateFunction, method)) else getattr(function, method)()


def _check_func_type(func_type: str, known: tuple[str, ...]) -> None:
    if func_type not in known:
        raise ArgumentError(f"The func_type must be one of '{', '.join(known)}', got {func_type}.")
