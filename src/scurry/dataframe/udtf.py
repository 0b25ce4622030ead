"""udtf: table functions in Python."""

from __future__ import annotations

import collections.abc
import typing
from typing import Any, NoReturn

from scurry.dataframe._functions.adapters import TableAdapter, inconsistent
from scurry.dataframe._functions.hints import fields_of, without_annotated
from scurry.dataframe._functions.targets import Target, checked_declaration, target_of
from scurry.dataframe.datatype import DataType, declared_type
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types import DataType as TableType
from scurry.sql.types import RowField, RowType
from scurry.table.expression import Expression
from scurry.table.udf import TableFunction
from scurry.table.udf import udtf as table_udtf

__all__ = ["udtf"]

_SEVERAL = (
    list,
    collections.abc.Iterator,
    collections.abc.Iterable,
    collections.abc.Generator,
)


class Rows:
    """The columns of a table function.

    Attributes:
        kind: Their names and types.
        is_scalar: Whether the declared type is that of the only column.
        is_named: Whether the declaration names them.
    """

    def __init__(self, kind: RowType, is_scalar: bool, is_named: bool) -> None:
        self.kind, self.is_scalar, self.is_named = kind, is_scalar, is_named

    @staticmethod
    def of(declared: TableType, is_named: bool = True) -> Rows:
        """Return the columns of a declared type: the fields of a ROW, or the only column."""
        if isinstance(declared, RowType):
            if not declared.fields:
                raise ArgumentError("A UDTF must declare at least one output field.")
            return Rows(declared, False, is_named)
        return Rows(RowType([RowField("f0", declared)]), True, False)


class _TableFunctionCall:
    """A call of a table function, for `join_lateral`.

    Attributes:
        expression: The call, as the Table API takes it.
        return_dtype: The type of its rows.
    """

    def __init__(self, expression: Expression, return_dtype: DataType, rows: Rows, names: tuple[str, ...] = ()) -> None:
        self.expression = expression
        self.return_dtype = return_dtype
        self._rows = rows
        self._names = names or (tuple(rows.kind.field_names()) if rows.is_named else ())

    def alias(self, *names: str) -> _TableFunctionCall:
        """Return the call with names for its columns.

        Args:
            *names: The names, one for each column.

        Raises:
            TypeError: One is no text.
            ValueError: They are not as many as columns, or not unique.
        """
        if not all(isinstance(each, str) for each in names):
            raise ArgumentTypeError("UDTF output aliases must be strings.")
        if len(names) != len(self._rows.kind.fields) or not all(names) or len(set(names)) != len(names):
            raise ArgumentError("UDTF output aliases must be non-empty, unique, and match output arity.")
        return _TableFunctionCall(self.expression, self.return_dtype, self._rows, names)


class _DataFrameUDTF:
    """A table function with its types; a call of it is given to `join_lateral`, the function to `flat_map`."""

    return_dtype: DataType
    _function: Any
    _target: Target
    _rows: Rows
    _settings: tuple[bool, str | None]

    def __init__(self, target: Target, dtype: DataType, rows: Rows, settings: tuple[bool, str | None]) -> None:
        values = {
            "return_dtype": dtype,
            "_target": target,
            "_rows": rows,
            "_settings": settings,
            "_function": declared_table_function(target, rows, settings),
            "__name__": target.name,
            "__doc__": getattr(target.given, "__doc__", None),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("DataFrame UDTF declarations are immutable.")

    def __call__(self, *args: Any) -> _TableFunctionCall:
        """Return a call of the function.

        Args:
            *args: The arguments: expressions, or values.
        """
        return _TableFunctionCall(self._function(*args), self.return_dtype, self._rows)

    def _user_function(self) -> Any:
        """Return the function as catalogs and plans have it."""
        return self._function._user_function()


def declared_table_function(
    target: Target, rows: Rows, settings: tuple[bool, str | None], names: list[str] | None = None
) -> Any:
    """Return a function as the Table API declares it.

    Args:
        target: The function.
        rows: Its columns.
        settings: Whether it is deterministic, and its name.
        names: The columns of the dict that it gets instead of arguments; None for arguments.
    """
    deterministic, name = settings
    return table_udtf(
        TableAdapter(target, rows.kind, rows.is_scalar, deterministic, names),
        result_types=rows.kind.field_types(),
        deterministic=deterministic,
        name=name or target.name,
    )


def udtf(func: Any = None, *, return_dtype: Any = None, deterministic: bool = True, name: str | None = None) -> Any:
    """Declare a table function: it makes any number of rows of each call. Also a decorator.

    Args:
        func: A function, an object that can be called, a class of such objects, or a `TableFunction`. It returns an
            iterable of rows, or one row; None for no row.
        return_dtype: The type of the rows: of a struct each field is a column. A DataType, a Python type, or a type of
            SQL as text; None for that of the return annotation, as `Iterator[tuple[int, str]]`.
        deterministic: Whether equal arguments give equal rows.
        name: Its name in messages and plans; None or empty for its own.

    Raises:
        TypeError: It is no such function, or has no type.
        ValueError: It declares no column.
    """
    if func is None:
        return lambda given: udtf(given, return_dtype=return_dtype, deterministic=deterministic, name=name)
    checked_declaration(deterministic, name)
    target, rows, dtype = described(func, return_dtype)
    return _DataFrameUDTF(target, dtype, rows, (deterministic, name))


def described(func: Any, return_dtype: Any, deterministic: bool = True) -> tuple[Target, Rows, DataType]:
    """Return a table function of a program, its columns, and their declared type.

    Raises:
        TypeError: It is no such function, or has no type.
    """
    if isinstance(func, type) and issubclass(func, TableFunction):
        target_of(func, TableFunction, "a table UDF")  # its checks
        func = func()
    target = target_of(func, TableFunction, "a table UDF")
    if target.is_async:
        raise ArgumentTypeError("DataFrame UDTFs must be synchronous; async functions are not supported.")
    if isinstance(func, TableFunction) and func.is_deterministic() != deterministic:
        raise inconsistent(deterministic)
    if return_dtype is not None:
        declared, is_named = declared_type("return_dtype", return_dtype), True
    else:
        declared, is_named = _inferred(target.annotation("return"))
    return target, Rows.of(declared, is_named), DataType(declared)


def _inferred(hint: Any) -> tuple[TableType, bool]:
    """Return the type of the rows of an annotation, and whether it names the columns."""
    hint = without_annotated(hint)
    if typing.get_origin(hint) in _SEVERAL and typing.get_args(hint):
        hint = typing.get_args(hint)[0]
    if hint is None or hint is type(None):
        raise ArgumentTypeError("Cannot infer UDTF return type; specify return_dtype explicitly.")
    if hint is tuple or (typing.get_origin(hint) is tuple and Ellipsis in typing.get_args(hint)):
        raise ArgumentTypeError("UDTF tuple outputs must have a fixed number of fields.")
    try:
        found = DataType._from_type_hint(hint)._to_table_data_type()
    except ArgumentTypeError as error:
        raise ArgumentTypeError("Cannot infer UDTF return type; specify return_dtype explicitly.") from error
    if isinstance(found, RowType) and fields_of(hint) is None:  # a tuple: its columns are f0, f1 ...
        fields = [RowField(f"f{place}", each.data_type) for place, each in enumerate(found.fields)]
        return RowType(fields, found.is_nullable), False
    return found, True
