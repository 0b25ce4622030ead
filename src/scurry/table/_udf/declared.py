"""DeclaredFunction: a function with its types, as `udf`, `udtf`, `udaf` and `udtaf` return it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from scurry.errors import ArgumentError, ArgumentTypeError, ScurryError
from scurry.graph.capture import captured
from scurry.graph.nodes import Origin
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.types import DataType, RowField, RowType, without_user_types
from scurry.sql.values.hints import argument_maker, hinted_arguments, hinted_result, hinted_rows, type_of_hint
from scurry.table._udf.classes import AggregateFunction, UserDefinedFunction

if TYPE_CHECKING:
    from scurry.table.expression import Expression

Types: TypeAlias = Sequence[DataType] | Sequence[str] | DataType | str

#: The method whose parameters are the arguments of calls, and how many others it has, by kind.
_CALLED = {"aggregate": ("accumulate", 1), "table aggregate": ("accumulate", 1)}


class _Delegating(UserDefinedFunction):
    """A plain function as an object with `eval`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.eval = function


class _DelegatingAggregate(AggregateFunction[Any, Any]):
    """A plain function of columns as an aggregate function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def create_accumulator(self) -> list[Any]:
        return []

    def accumulate(self, accumulator: list[Any], *args: Any) -> None:
        accumulator.append(self._function(*args))

    def get_value(self, accumulator: list[Any]) -> Any:
        return accumulator[0]


class DeclaredFunction:
    """A function with its types, as catalogs, expressions and row-based operations of tables accept it."""

    def __init__(
        self,
        kind: str,
        function: Any,
        input_types: Sequence[DataType | str] | None,
        result_type: Any,
        accumulator_type: DataType | str | None,
        func_type: str,
        deterministic: bool,
        name: str | None,
    ) -> None:
        self._kind = kind
        self._func = function
        self._input_types = input_types
        self._result_type = result_type
        self._accumulator_type = accumulator_type
        self._func_type = func_type
        self._deterministic = deterministic
        self._name = name or getattr(function, "__name__", None) or type(function).__name__
        self._origin = place_of(function)
        self._argument_classes = self._hinted_classes()
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

    def alias(self, *alias_names: str) -> Aliased:
        """Return the function with names for the columns of its results, for row-based operations of tables.

        Args:
            *alias_names: The names.
        """
        return Aliased(self, alias_names)

    def _user_function(self) -> UserFunction:
        """Return the function as plans have it: as it was at the first use, whatever the program changes later."""
        if self._made is None:
            made = self._object()
            self._made = UserFunction(
                self._kind,
                self._name,
                made,
                resolved(self._result_type),
                None if self._input_types is None else tuple(map(resolved, self._input_types)),
                None if self._accumulator_type is None else resolved(self._accumulator_type),
                self._func_type,
                self._deterministic,
                str(self._origin),
                self._argument_classes,
                self._parameters(),
                captured=captured(made, f"function {self._name} ({self._origin})"),
            )
        return self._made

    def _of_rows(self) -> DeclaredFunction:
        """Return the function for calls on all columns of a table."""
        made = copy(self)
        made._made = replace(self._user_function(), takes_row=True)
        return made

    def _object(self) -> Any:
        if isinstance(self._func, UserDefinedFunction):
            return self._func
        return _DelegatingAggregate(self._func) if self._kind == "aggregate" else _Delegating(self._func)

    def _hinted_classes(self) -> tuple[Any, ...]:
        """Return the functions that make instances of the arguments' classes; use type hints for undeclared types."""
        if self._func_type != "general":
            return ()
        method, skipped = _called(self._kind, self._func)
        hints = hinted_arguments(method, skipped)
        makers = () if hints is None else tuple(map(argument_maker, hints))
        if hints is not None and self._input_types is None and any(makers):
            types = [type_of_hint(each) for each in hints]
            if None not in types:
                self._input_types = types  # type: ignore[assignment]
        return makers if any(makers) else ()

    def _parameters(self) -> tuple[str, ...]:
        method, skipped = _called(self._kind, self._func)
        try:
            parameters = list(inspect.signature(method).parameters.values())[skipped:]
        except (TypeError, ValueError):
            return ()
        return tuple(each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD)


class Aliased:
    """A function with names for the columns of its results."""

    def __init__(self, function: DeclaredFunction, names: tuple[str, ...]) -> None:
        self._function = function
        self._alias_names = names


def declared(
    kind: str,
    function: Any,
    input_types: Types | None,
    result_type: Any,
    accumulator_type: DataType | str | None,
    func_type: str,
    deterministic: bool | None,
    name: str | None,
) -> DeclaredFunction:
    """Return a function with its types, which are checked.

    Args:
        kind: What it is, as in `UserFunction`.
        function: The function or object.
        input_types: The types that arguments are converted to; None to take what the query has.
        result_type: The type of its results; None for what its type hints say.
        accumulator_type: The type of an aggregate's accumulators, if one is declared.
        func_type: `general`, `pandas` or `arrow`.
        deterministic: Whether equal arguments give equal results.
        name: Its name in messages.

    Raises:
        ArgumentError: Declarations contradict each other.
        ArgumentTypeError: It is no function, or a type is none.
    """
    if inspect.isclass(function) or not (isinstance(function, UserDefinedFunction) or callable(function)):
        raise ArgumentTypeError(
            f"Invalid function: not a function or callable (__call__ is not defined): {type(function)}"
        )
    own = function.is_deterministic() if isinstance(function, UserDefinedFunction) else None
    if deterministic is not None and own is not None and deterministic != own:
        raise ArgumentError(f"Inconsistent deterministic: {deterministic} and {own}")
    types = _input_types(input_types)
    if result_type is None and func_type == "general":
        result_type, hinted = _hinted(kind, function)
        types = hinted if types is None and result_type is not None else types
    _check_type("returnType", "returnType", result_type, kind == "table")
    if accumulator_type is not None:
        _check_type("accumulator_type", "accumulator_type", accumulator_type)
    chosen = deterministic if deterministic is not None else own is not False
    return DeclaredFunction(kind, function, types, result_type, accumulator_type, func_type, chosen, name)


def column_types(given: Types | None) -> Any:
    """Return the types of the columns of a table function.

    Raises:
        ArgumentTypeError: One is no type.
    """
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, RowType):
        return given.field_types()  # without their names, as in PyFlink: the columns are f0, f1 ...
    columns = [given] if isinstance(given, DataType) else list(given)
    for each in columns:
        if not isinstance(each, DataType | str):
            raise ArgumentTypeError(f"Invalid result_type: result_type should be DataType or str but contains {each}")
    return columns


def _called(kind: str, function: Any) -> tuple[Any, int]:
    """Return the function that has the arguments of calls as parameters, and how many others it has before them."""
    name, skipped = _CALLED.get(kind, ("eval", 0))
    method = getattr(function, name, None) if isinstance(function, UserDefinedFunction) else None
    return (function, 0) if method is None else (method, skipped)


def _hinted(kind: str, function: Any) -> tuple[DataType | None, list[DataType | str] | None]:
    """Return the types of results and arguments from type hints; None without a hint."""
    method, skipped = _called(kind, function)
    if kind == "table aggregate":
        result = hinted_rows(function.emit_value)
    elif kind == "aggregate":
        result = hinted_result(function.get_value)
    else:
        result = hinted_rows(method) if kind == "table" else hinted_result(method)
    types = [type_of_hint(each) for each in hinted_arguments(method, skipped) or [None]]
    return result, None if None in types else types  # type: ignore[return-value]


def _check_type(title: str, argument: str, given: Any, several: bool = False) -> None:
    if not isinstance(given, DataType | str) and not (several and isinstance(given, list)):
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


def resolved(given: Any) -> DataType:
    """Return the type of a declaration: a type, its text, or the types of a table function's columns."""
    if isinstance(given, DataType):
        return without_user_types(given)
    if isinstance(given, str):
        from scurry.sql.statements.text import parse_type

        try:
            return parse_type(given)
        except ScurryError as error:
            raise ArgumentError(f"{given!r} is no SQL type: {error}") from error
    return RowType([RowField(f"f{place}", resolved(each)) for place, each in enumerate(given)])


def place_of(function: Any) -> Origin:
    """Return where a function is defined; that of an object is where it is declared."""
    code = getattr(function, "__code__", None)
    return Origin.of_caller() if code is None else Origin(code.co_filename, code.co_firstlineno)
