"""udf: scalar functions in Python."""

from __future__ import annotations

import inspect
import typing
from typing import Any, NoReturn

from scurry.dataframe._functions.adapters import AsyncScalarAdapter, ScalarAdapter, inconsistent
from scurry.dataframe._functions.results import normalizer
from scurry.dataframe._functions.targets import Target, checked_declaration, target_of
from scurry.dataframe.datatype import DataType, declared_type
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.table.expression import Expression
from scurry.table.udf import AsyncScalarFunction, ScalarFunction, UserDefinedFunction
from scurry.table.udf import udf as table_udf

__all__ = ["udf"]

_FUNC_TYPES = ("general", "pandas", "arrow")


class _DataFrameUDF:
    """A scalar function with its types; a call of it with columns or values is an expression."""

    return_dtype: DataType
    _func_type: str
    _function: Any

    def __init__(self, target: Target, return_dtype: DataType, func_type: str, function: Any) -> None:
        given = target.method if target.bound else target.given
        values = {
            "return_dtype": return_dtype,
            "_func_type": func_type,
            "_function": function,
            "__name__": target.name,
            "__qualname__": getattr(target.given, "__qualname__", target.name),
            "__module__": getattr(given, "__module__", __name__),
            "__doc__": getattr(target.given, "__doc__", None),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("DataFrame UDF declarations are immutable.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("DataFrame UDF declarations are immutable.")

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


def udf(
    func: Any = None,
    *,
    return_dtype: Any = None,
    deterministic: bool = True,
    name: str | None = None,
    func_type: str | None = None,
) -> Any:
    """Declare a scalar function; also a decorator.

    Args:
        func: A function, also a coroutine function, a partial, a bound method, an object that can be called, a class of
            such objects, or a `ScalarFunction`. Workers make the instances of classes.
        return_dtype: The type of the results: a DataType, a Python type, or a type of SQL as text; None for that of the
            return annotation, NOT NULL unless it allows None.
        deterministic: Whether equal arguments give equal results.
        name: Its name in messages and plans; None for its own.
        func_type: `general` for values, `pandas` for Series, `arrow` for arrays of pyarrow; None to see from the
            annotations.

    Raises:
        TypeError: It is no such function, or has no type.
        ValueError: The func_type is not known, or does not fit.

    Example:
        ```python
        @pf.udf
        def shout(text: str) -> str:
            return text.upper()

        df.with_column("loud", shout(pf.col("name")))
        ```
    """
    if func is None:
        return lambda given: udf(
            given, return_dtype=return_dtype, deterministic=deterministic, name=name, func_type=func_type
        )
    checked_declaration(deterministic, name)
    if name == "":
        raise ArgumentTypeError("name must not be empty.")
    target = target_of(func, (ScalarFunction, AsyncScalarFunction), "a scalar UDF")
    if isinstance(func, UserDefinedFunction) and func.is_deterministic() != deterministic:
        raise inconsistent(deterministic)
    mode = _mode(target, func_type)
    if target.is_async and mode != "general":
        raise ArgumentError(f"Async scalar functions do not support {mode} func_type. Use func_type='general'.")
    dtype = DataType(_result_type(target, return_dtype, mode))
    adapter = AsyncScalarAdapter if target.is_async else ScalarAdapter
    convert = normalizer(dtype._to_table_data_type()) if mode == "general" else None
    made = table_udf(
        adapter(target, convert, deterministic),
        result_type=dtype._to_table_data_type(),
        deterministic=deterministic,
        name=name or target.name,
        func_type=mode,
    )
    return _DataFrameUDF(target, dtype, mode, made)


def _mode(target: Target, func_type: Any) -> str:
    if func_type is not None:
        if func_type not in _FUNC_TYPES:
            raise ArgumentError(f"The func_type must be one of 'general, pandas', got {func_type}.")
        return str(func_type)
    found = {kind for each in (*(p.name for p in target.parameters()), "return") for kind in _vector(target, each)}
    if len(found) > 1:
        raise ArgumentError("The annotations mix pandas and Arrow; choose func_type='pandas' or func_type='arrow'.")
    return found.pop() if found else "general"


def _vector(target: Target, name: str) -> list[str]:
    """Return `pandas` or `arrow` if a parameter is annotated with a column of these."""
    annotation = getattr(target.method, "__annotations__", {}).get(name)
    text = annotation if isinstance(annotation, str) else ""
    if not text and not inspect.isclass(annotation) and typing.get_origin(annotation) is None:
        return []
    names = _modules(text)
    hint = target.annotation(name, names) if text else annotation
    module, called = getattr(hint, "__module__", ""), getattr(hint, "__name__", "")
    if module.partition(".")[0] == "pandas" and called in ("Series", "DataFrame"):
        return ["pandas"]
    if module.partition(".")[0] == "pyarrow" and (called.endswith("Array") or called == "Array"):
        return ["arrow"]
    return []


def _modules(text: str) -> dict[str, Any]:
    """Return the modules that a text of an annotation may name though the program has not imported them so."""
    import importlib

    known = {"pd": "pandas", "pandas": "pandas", "pa": "pyarrow", "pyarrow": "pyarrow"}
    return {name: importlib.import_module(module) for name, module in known.items() if f"{name}." in text}


def _result_type(target: Target, return_dtype: Any, mode: str) -> Any:
    if return_dtype is not None:
        return declared_type("return_dtype", return_dtype)
    if mode != "general":
        raise ArgumentTypeError(
            f"return_dtype is required for {mode} UDFs because their annotations do not say the type of the elements."
        )
    return inferred_result(target, target.annotation("return"))


def inferred_result(target: Target, hint: Any) -> Any:
    """Return the type of the return annotation of a function.

    Raises:
        TypeError: It has none, or it has no SQL type.
    """
    if "return" not in getattr(target.method, "__annotations__", {}):
        raise ArgumentTypeError(
            f"Cannot infer return_dtype for '{target.name}': add a return annotation or specify return_dtype "
            "explicitly."
        )
    if hint is None or hint is type(None):
        raise _cannot(target)
    try:
        return DataType._from_type_hint(hint)._to_table_data_type()
    except ArgumentTypeError as error:
        raise _cannot(target) from error


def _cannot(target: Target) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"Cannot infer return_dtype for '{target.name}' from its return annotation.\nSpecify return_dtype explicitly."
    )
