"""udaf: aggregate functions in Python."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.dataframe._functions.adapters import LazyCall, inconsistent
from scurry.dataframe._functions.targets import Target, checked_declaration, target_of
from scurry.dataframe.datatype import DataType, declared_type
from scurry.dataframe.udf import inferred_result
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types import DataType as TableType
from scurry.sql.types import MapType
from scurry.table.expression import Expression
from scurry.table.udf import AggregateFunction, ImperativeAggregateFunction
from scurry.table.udf import udaf as table_udaf

__all__ = ["udaf"]


@dataclass(frozen=True)
class _DataFrameUDAF:
    """An aggregate function with its types; a call of it with columns is an aggregate.

    Attributes:
        return_dtype: The type of the results.
        accumulator_type: The type of the accumulators; None of functions of columns.
    """

    return_dtype: DataType
    accumulator_type: DataType | None
    _function: Any = field(repr=False)

    def __call__(self, *args: Any) -> Expression:
        """Return a call of the function.

        Args:
            *args: The arguments: expressions, or values.
        """
        called: Expression = self._function(*args)
        return called

    def _user_function(self) -> Any:
        """Return the function as catalogs and plans have it."""
        return self._function._user_function()


def udaf(
    func: Any = None,
    *,
    return_dtype: Any = None,
    accumulator_type: Any = None,
    func_type: str = "general",
    deterministic: bool = True,
    name: str | None = None,
) -> Any:
    """Declare an aggregate function; also a decorator.

    Args:
        func: An `AggregateFunction` or its class; with func_type `pandas` also a function of Series, an object that can
            be called, or a class of such objects.
        return_dtype: The type of the results: a DataType, a Python type, or a type of SQL as text; None for the one of
            `get_result_type`, or of the return annotation of `get_value` or the function.
        accumulator_type: The type of the accumulators; None for the one of `get_accumulator_type`.
        func_type: `general`: rows are accumulated; `pandas`: all rows of a group are Series.
        deterministic: Whether equal rows give equal results.
        name: Its name in messages and plans; None for its own.

    Raises:
        TypeError: It is no such function, or has no type.
        ValueError: The func_type is not known.
    """
    if func is None:
        return lambda given: udaf(
            given,
            return_dtype=return_dtype,
            accumulator_type=accumulator_type,
            func_type=func_type,
            deterministic=deterministic,
            name=name,
        )
    checked_declaration(deterministic, name)
    if func_type not in ("general", "pandas"):
        raise ArgumentError("func_type must be 'general' or 'pandas'.")
    if isinstance(func, type) and issubclass(func, AggregateFunction):
        target_of(func, AggregateFunction, "an aggregate UDF", "accumulate")  # its checks
        func = func()
    is_function = isinstance(func, AggregateFunction)
    if func_type == "general" and not is_function:
        raise ArgumentTypeError("General UDAFs require an AggregateFunction instance or class.")
    method = "get_value" if is_function else "eval"
    target = target_of(func, AggregateFunction, "an aggregate UDF", method)
    if target.is_async:
        raise ArgumentTypeError("UDAFs must be synchronous; async functions are not supported.")
    if is_function and func.is_deterministic() != deterministic:
        raise inconsistent(deterministic)
    result = _result(func, target, return_dtype)
    if func_type == "pandas" and isinstance(result, MapType):
        raise ArgumentTypeError("Pandas UDAFs do not support MAP results.")
    accumulator = _accumulator(func, accumulator_type) if func_type == "general" else None
    made = table_udaf(
        LazyCall(target) if target.is_class else func,
        result_type=result,
        accumulator_type=accumulator,
        deterministic=deterministic,
        name=name or target.name,
        func_type=func_type,
    )
    return _DataFrameUDAF(DataType(result), None if accumulator is None else DataType(accumulator), made)


def _told(func: Any, method: str) -> TableType | None:
    """Return the type that a method of a function returns; None if it has no such method of its own."""
    own = getattr(type(func), method, None)
    if own in (None, getattr(ImperativeAggregateFunction, method)):
        return None
    found = getattr(func, method)()
    if isinstance(found, str):
        return DataType._from_sql(found)._to_table_data_type()
    told: TableType = found._to_table_data_type() if isinstance(found, DataType) else found
    return told


def _result(func: Any, target: Target, return_dtype: Any) -> TableType:
    if return_dtype is not None:
        return declared_type("return_dtype", return_dtype)
    told = _told(func, "get_result_type") if isinstance(func, AggregateFunction) else None
    if told is not None:
        return told
    found: TableType = inferred_result(target, target.annotation("return"))
    return found


def _accumulator(func: Any, accumulator_type: Any) -> TableType:
    if accumulator_type is not None:
        return declared_type("accumulator_type", accumulator_type)
    told = _told(func, "get_accumulator_type")
    if told is None:
        raise ArgumentTypeError("Specify accumulator_type or implement get_accumulator_type().")
    return told
