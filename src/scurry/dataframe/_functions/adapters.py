"""Functions of programs as the Table API takes them: made and opened on workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry.dataframe._functions.results import Convert, emitted
from scurry.dataframe._functions.targets import Target
from scurry.errors import ArgumentError, TopologyError
from scurry.sql.types import RowType
from scurry.table.udf import AsyncScalarFunction, FunctionContext, ScalarFunction, TableFunction, UserDefinedFunction


class _Opened:
    """Makes and opens a function where it is called."""

    def __init__(self, target: Target, method: str, deterministic: bool) -> None:
        self._given, self._is_class, self._method = target.given, target.is_class, method
        self._deterministic = deterministic
        self._made: Any = None
        self._call: Any = None

    def open(self, context: FunctionContext) -> None:
        self._made = self._given() if self._is_class else self._given
        if isinstance(self._made, UserDefinedFunction):
            if self._made.is_deterministic() != self._deterministic:
                raise inconsistent(self._deterministic)
            self._made.open(context)
            self._call = getattr(self._made, self._method)
        else:
            self._call = self._made

    def close(self) -> None:
        made, self._made, self._call = self._made, None, None
        if isinstance(made, UserDefinedFunction):
            made.close()

    @property
    def call(self) -> Any:
        if self._call is None:
            raise TopologyError("DataFrame UDF was invoked before open().")
        return self._call


def inconsistent(deterministic: bool) -> ArgumentError:
    """Return the error about a function that says another thing than its declaration."""
    return ArgumentError(f"Inconsistent deterministic: {deterministic} and {not deterministic}.")


class _Adapter:
    """The function of an adapter, from its opening to its closing."""

    def __init__(self, target: Target, deterministic: bool) -> None:
        self._opened = _Opened(target, "eval", deterministic)
        self._deterministic = deterministic

    def open(self, function_context: FunctionContext) -> None:
        """Make and open the function."""
        self._opened.open(function_context)

    def close(self) -> None:
        """Close the function."""
        self._opened.close()

    def is_deterministic(self) -> bool:
        """Return the declaration's word for it."""
        return self._deterministic


class ScalarAdapter(_Adapter, ScalarFunction):
    """A scalar function of a program, with results as the declared type has them."""

    def __init__(self, target: Target, convert: Convert | None, deterministic: bool) -> None:
        super().__init__(target, deterministic)
        self._convert = convert

    def eval(self, *args: Any) -> Any:
        """Return the result of the function."""
        found = self._opened.call(*args)
        return found if self._convert is None else self._convert(found)


class AsyncScalarAdapter(_Adapter, AsyncScalarFunction):
    """A coroutine function of a program, with results as the declared type has them."""

    def __init__(self, target: Target, convert: Convert | None, deterministic: bool) -> None:
        super().__init__(target, deterministic)
        self._convert = convert

    async def eval(self, *args: Any) -> Any:
        """Return the result of the function."""
        found = await self._opened.call(*args)
        return found if self._convert is None else self._convert(found)


class TableAdapter(_Adapter, TableFunction):
    """A table function of a program, with rows as the declared type has them.

    Args:
        target: The function.
        kind: The columns.
        is_scalar: Whether the declared type is that of the only column.
        deterministic: Whether equal arguments give equal rows.
        names: The columns of the dict that it gets instead of arguments; None for arguments.
    """

    def __init__(
        self, target: Target, kind: RowType, is_scalar: bool, deterministic: bool, names: Sequence[str] | None = None
    ) -> None:
        super().__init__(target, deterministic)
        self._kind, self._is_scalar, self._names = kind, is_scalar, names

    def eval(self, *args: Any) -> Iterator[Any]:
        """Return the rows of the function."""
        call, names = self._opened.call, self._names
        found = call(*args) if names is None else call(dict(zip(names, args, strict=True)))
        return emitted(found, self._kind, self._is_scalar)


class LazyCall:
    """An instance of a class that is made at its first call, hence on a worker."""

    def __init__(self, target: Target) -> None:
        self._given = target.given
        self._made: Any = None
        self.__name__ = target.name

    def __call__(self, *args: Any) -> Any:
        """Call the instance."""
        if self._made is None:
            self._made = self._given()
        return self._made(*args)
