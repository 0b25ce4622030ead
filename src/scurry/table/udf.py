"""Functions of users: the classes that programs derive from, and the functions that declare their types."""

from __future__ import annotations

import functools
import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from scurry.errors import ArgumentError, ArgumentTypeError, ScurryError, UnsupportedError
from scurry.functions.user.context import FunctionContext
from scurry.functions.user.definition import UserFunction
from scurry.graph.nodes import Origin
from scurry.logical_types import DataType, MapType, RowField, RowType

if TYPE_CHECKING:
    from scurry.table.expression import Expression

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ImperativeAggregateFunction",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "UserDefinedFunction",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
]

T = TypeVar("T")
ACC = TypeVar("ACC")
Types: TypeAlias = Sequence[DataType] | Sequence[str] | DataType | str


class UserDefinedFunction:
    """What all functions of users have."""

    def open(self, function_context: FunctionContext) -> None:
        """Prepare for calls; called once per task.

        Args:
            function_context: What the function may know of the task.
        """

    def close(self) -> None:
        """Release what `open` acquired; called when the task ends."""

    def is_deterministic(self) -> bool:
        """Return whether equal arguments give equal results; override it for functions of randomness or time."""
        return True


class ScalarFunction(UserDefinedFunction):
    """A function that makes a value of the values of a row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the value.

        Args:
            *args: The arguments of the call.
        """


class AsyncScalarFunction(UserDefinedFunction):
    """A scalar function whose `eval` is a coroutine: those of several rows run at the same time."""

    @abstractmethod
    async def eval(self, *args: Any) -> Any:
        """Return the value.

        Args:
            *args: The arguments of the call.
        """


class TableFunction(UserDefinedFunction):
    """A function that makes rows of the values of a row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the rows: a list, range or generator of tuples, rows or single values; None for no rows.

        Args:
            *args: The arguments of the call.
        """


class ImperativeAggregateFunction(UserDefinedFunction, Generic[T, ACC]):
    """What functions of the rows of a group have."""

    @abstractmethod
    def create_accumulator(self) -> ACC:
        """Return the accumulator of a group without rows."""

    @abstractmethod
    def accumulate(self, accumulator: ACC, *args: Any) -> None:
        """Add a row to an accumulator.

        Args:
            accumulator: The accumulator, which is changed.
            *args: The arguments of the call.
        """

    def retract(self, accumulator: ACC, *args: Any) -> None:
        """Take a row back from an accumulator.

        Args:
            accumulator: The accumulator, which is changed.
            *args: The arguments of the call.
        """
        raise RuntimeError("Method retract is not implemented")

    def merge(self, accumulator: ACC, accumulators: Iterable[ACC]) -> None:
        """Add other accumulators to one.

        Args:
            accumulator: The accumulator, which is changed.
            accumulators: The others.
        """
        raise RuntimeError("Method merge is not implemented")

    def get_result_type(self) -> DataType | str:
        """Return the type of the results, unless `udaf` is told."""
        raise RuntimeError("Method get_result_type is not implemented")

    def get_accumulator_type(self) -> DataType | str:
        """Return the type of the accumulators, unless `udaf` is told."""
        raise RuntimeError("Method get_accumulator_type is not implemented")


class AggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """A function that makes a value of the rows of a group."""

    @abstractmethod
    def get_value(self, accumulator: ACC) -> T:
        """Return the value of a group.

        Args:
            accumulator: The group's accumulator.
        """


class TableAggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """A function that makes rows of the rows of a group."""

    @abstractmethod
    def emit_value(self, accumulator: ACC) -> Iterable[T]:
        """Return the rows of a group.

        Args:
            accumulator: The group's accumulator.
        """


class _Delegating(UserDefinedFunction):
    """A plain function as an object with `eval`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.eval = function


class _DelegatingAggregate(AggregateFunction[Any, Any]):
    """A plain function of Series as an aggregate function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def create_accumulator(self) -> list[Any]:
        return []

    def accumulate(self, accumulator: list[Any], *args: Any) -> None:
        accumulator.append(self._function(*args))

    def get_value(self, accumulator: list[Any]) -> Any:
        return accumulator[0]


class _DeclaredFunction:
    """A function with its types: what `udf`, `udtf` and `udaf` return, and catalogs and expressions take."""

    def __init__(
        self,
        kind: str,
        function: Any,
        input_types: Types | None,
        result_type: Any,
        accumulator_type: DataType | str | None,
        func_type: str,
        deterministic: bool | None,
        name: str | None,
    ) -> None:
        if inspect.isclass(function) or not (isinstance(function, UserDefinedFunction) or callable(function)):
            raise ArgumentTypeError(
                f"Invalid function: not a function or callable (__call__ is not defined): {type(function)}"
            )
        own = function.is_deterministic() if isinstance(function, UserDefinedFunction) else None
        if deterministic is not None and own is not None and deterministic != own:
            raise ArgumentError(f"Inconsistent deterministic: {deterministic} and {own}")
        self._kind = kind
        self._func = function
        self._input_types = _input_types(input_types)
        self._result_type = result_type
        self._accumulator_type = accumulator_type
        self._func_type = func_type
        self._deterministic = deterministic if deterministic is not None else own is not False
        self._name = name or getattr(function, "__name__", None) or type(function).__name__
        self._origin = _place_of(function)
        self._made: UserFunction | None = None
        self.__name__ = self._name
        self.__doc__ = getattr(function, "__doc__", None)

    def __call__(self, *args: Any) -> Expression:
        """Return a call of the function, as an expression of tables.

        Args:
            *args: The arguments: expressions, or values.
        """
        from scurry.table.expressions import call

        return call(self, *args)

    def _user_function(self) -> UserFunction:
        """Return the function as plans have it."""
        if self._made is None:
            self._made = UserFunction(
                self._kind,
                self._name,
                self._object(),
                _resolved(self._result_type),
                None if self._input_types is None else tuple(map(_resolved, self._input_types)),
                None if self._accumulator_type is None else _resolved(self._accumulator_type),
                self._func_type == "pandas",
                self._deterministic,
                str(self._origin),
            )
        return self._made

    def _object(self) -> Any:
        if isinstance(self._func, UserDefinedFunction):
            return self._func
        return _DelegatingAggregate(self._func) if self._kind == "aggregate" else _Delegating(self._func)


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
        result_type: The type of the results.
        deterministic: Whether equal arguments give equal results.
        name: Its name in messages.
        func_type: `general`: it takes values; `pandas`: it takes Series of pandas and returns one.

    Raises:
        ArgumentError: The func_type is not known.
        ArgumentTypeError: It is no function, or a type is none.
    """
    _check_func_type(func_type, ("general", "pandas"))
    if f is None:
        return functools.partial(
            udf, input_types=input_types, result_type=result_type, deterministic=deterministic, name=name,
            func_type=func_type,
        )  # fmt: skip
    is_async = isinstance(f, AsyncScalarFunction) or inspect.iscoroutinefunction(f)
    if is_async and func_type == "pandas":
        raise ArgumentError(
            "Async scalar functions do not support pandas func_type. Please use func_type='general' (default) for "
            "async functions."
        )
    kind = "async scalar" if is_async else "scalar"
    _check_type("returnType", "returnType", result_type)
    return _DeclaredFunction(kind, f, input_types, result_type, None, func_type, deterministic, name)


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
        result_types: The types of the columns, or a row of them.
        deterministic: Whether equal arguments give equal results.
        name: Its name in messages.

    Raises:
        ArgumentTypeError: It is no function, or a type is none.
    """
    if f is None:
        return functools.partial(
            udtf, input_types=input_types, result_types=result_types, deterministic=deterministic, name=name
        )
    if not isinstance(result_types, str | RowType):
        columns = [result_types] if isinstance(result_types, DataType) else list(result_types or [None])
        for each in columns:
            if not isinstance(each, DataType | str):
                raise ArgumentTypeError(
                    f"Invalid result_type: result_type should be DataType or str but contains {each}"
                )
        result_types = columns  # type: ignore[assignment]
    return _DeclaredFunction("table", f, input_types, result_types, None, "general", deterministic, name)


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
        f: An `AggregateFunction`; with func_type `pandas` also a function of Series.
        input_types: The types that arguments are converted to; None to take what the query has.
        result_type: The type of the results; None for what the function's `get_result_type` says.
        accumulator_type: The type of accumulators; None for what the function's `get_accumulator_type` says.
        deterministic: Whether equal arguments give equal results.
        name: Its name in messages.
        func_type: `general`: it takes values; `pandas`: it takes the rows of a group as Series of pandas.

    Raises:
        ArgumentError: The func_type is not known.
        ArgumentTypeError: It is no function, or a type is none.
    """
    _check_func_type(func_type, ("general", "pandas"))
    if f is None:
        return functools.partial(
            udaf, input_types=input_types, result_type=result_type, accumulator_type=accumulator_type,
            deterministic=deterministic, name=name, func_type=func_type,
        )  # fmt: skip
    if func_type == "general" and not isinstance(f, ImperativeAggregateFunction):
        raise ArgumentTypeError(f"an aggregate function of func_type 'general' is an AggregateFunction, got {f!r}")
    if accumulator_type is None and func_type == "general":
        accumulator_type = f.get_accumulator_type()
    if result_type is None and isinstance(f, ImperativeAggregateFunction):
        result_type = f.get_result_type()
    _check_type("returnType", "returnType", result_type)
    if func_type == "pandas" and isinstance(result_type, MapType):
        raise ArgumentTypeError(
            f"Invalid returnType: Pandas UDAF doesn't support DataType type {result_type} currently"
        )
    if accumulator_type is not None:
        _check_type("accumulator_type", "accumulator_type", accumulator_type)
    return _DeclaredFunction("aggregate", f, input_types, result_type, accumulator_type, func_type, deterministic, name)


def udtaf(
    f: Any = None,
    input_types: Types | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Declare a table aggregate function, which scurry does not run yet.

    Raises:
        UnsupportedError: Always.
    """
    raise UnsupportedError("table aggregate functions (udtaf) are not available in this version of scurry")


def _check_func_type(func_type: str, known: tuple[str, ...]) -> None:
    if func_type not in known:
        raise ArgumentError(f"The func_type must be one of '{', '.join(known)}', got {func_type}.")


def _check_type(title: str, argument: str, given: Any) -> None:
    if not isinstance(given, DataType | str):
        raise ArgumentTypeError(f"Invalid {title}: {argument} should be DataType or str but is {given}")


def _input_types(given: Types | None) -> list[DataType | str] | None:
    if given is None:
        return None
    if isinstance(given, RowType):
        return list(given.field_types())
    types: list[DataType | str] = [given] if isinstance(given, DataType | str) else list(given)
    for each in types:
        if not isinstance(each, DataType | str):
            raise ArgumentTypeError(f"Invalid input_type: input_type should be DataType or str but contains {each}")
    return types


def _resolved(given: Any) -> DataType:
    """Return the type of a declaration: a type, its text, or the types of a table function's columns."""
    if isinstance(given, DataType):
        return given
    if isinstance(given, str):
        from scurry.statements.text import parse_type

        try:
            return parse_type(given)
        except ScurryError as error:
            raise ArgumentError(f"{given!r} is no SQL type: {error}") from error
    return RowType([RowField(f"f{place}", _resolved(each)) for place, each in enumerate(given)])


def _place_of(function: Any) -> Origin:
    """Return where a function is defined; that of an object is where it is declared."""
    code = getattr(function, "__code__", None)
    return Origin.of_caller() if code is None else Origin(code.co_filename, code.co_firstlineno)
