"""Methods that call table functions for each row."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from typing import Any, Self

from scurry.dataframe._frame.base import FrameBase, unused
from scurry.dataframe._functions.hints import without_annotated
from scurry.dataframe._functions.targets import Target
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.table.expression import Expression
from scurry.table.expressions import col
from scurry.table.udf import TableFunction

_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_ANYTHING = (None, Any, object, inspect.Parameter.empty)


class LateralMethods(FrameBase, check_arguments=False):
    """Methods that call table functions for each row."""

    def join_lateral(self, table_function_call: Any, *, how: str = "inner") -> Self:
        """Return each row with the rows that a table function returns for it.

        Args:
            table_function_call: The call of a `udtf`, or an expression of tables with an alias.
            how: `inner`, or `left` to keep rows for which the function returns none, with NULL.

        Raises:
            TypeError: It is no such call.
            ValueError: The columns of the function have no names, or those of others.

        Example:
            ```python
            df.join_lateral(words(pf.col("text")).alias("word"))
            ```
        """
        from scurry.dataframe.udtf import _TableFunctionCall

        if not isinstance(how, str):
            raise ArgumentTypeError("how must be a string")
        if how not in ("inner", "left"):
            raise ArgumentError('how must be one of "inner" or "left"')
        if isinstance(table_function_call, _TableFunctionCall):
            expression, names = table_function_call.expression, table_function_call._names
            if not names:
                raise ArgumentError(
                    "UDTF calls passed to join_lateral require output names; use alias, a TypedDict, or a named struct "
                    "return_dtype."
                )
        elif isinstance(table_function_call, Expression):
            expression, names = table_function_call, table_function_call._names
            if not names:
                raise ArgumentError("Expression arguments passed to join_lateral require alias.")
        else:
            raise ArgumentTypeError(
                "table_function_call must be a DataFrame UDTF call or Expression, got "
                f"{type(table_function_call).__name__}"
            )
        if not all(names) or len(set(names)) != len(names):
            raise ArgumentError("join_lateral output names must be non-empty and unique.")
        known = self._names
        conflicts = [name for name in names if name in known]
        if conflicts:
            raise ArgumentError(f"join_lateral output names conflict with input columns: {conflicts}")
        join = self._table.join_lateral if how == "inner" else self._table.left_outer_join_lateral
        return self._of(join(expression.alias(*names)))

    def flat_map(self, func: Any, *, return_dtype: Any = None) -> Self:
        """Return the rows that a function makes of each row.

        Args:
            func: A function, an object that can be called, a class of such objects, or the declaration of a `udtf`. It
                gets each row as a dict of its own, and returns an iterable of rows, or one row; None for no row.
            return_dtype: The type of the rows: a DataType, a Python type, or a type of SQL as text; None for that of
                the return annotation.

        Raises:
            TypeError: It is no such function, or has no type.
            ValueError: The columns have no names, or the function takes no dict.

        Example:
            ```python
            class Word(TypedDict):
                word: str


            def words(row: dict[str, Any]) -> Iterator[Word]:
                for each in row["text"].split():
                    yield {"word": each}


            df.flat_map(words)
            ```
        """
        from scurry.dataframe.udtf import _DataFrameUDTF, declared_table_function, described

        settings: tuple[bool, str | None] = (True, None)
        if isinstance(func, _DataFrameUDTF):
            if return_dtype is not None:
                raise ArgumentError("return_dtype must not be specified for a DataFrame UDTF declaration.")
            target, rows, settings = func._target, func._rows, func._settings
        else:
            if isinstance(func, TableFunction) or (isinstance(func, type) and issubclass(func, TableFunction)):
                raise ArgumentTypeError("flat_map accepts Python callables or a pf.udtf declaration.")
            target, rows, _ = described(func, return_dtype)
        require_row_argument(target)
        names = rows.kind.field_names()
        if not rows.is_named and len(names) > 1:
            raise ArgumentError("flat_map requires named output fields; use TypedDict or a named struct.")
        known = self._names
        places = [unused(f"__pf_out_{place}", known) for place in range(len(names))]
        call = declared_table_function(target, rows, settings, known)(*map(col, known)).alias(*places)
        joined = self._table.join_lateral(call)
        return self._of(joined.select(*(col(place).alias(name) for place, name in zip(places, names, strict=True))))


def require_row_argument(target: Target, method: str = "flat_map") -> None:
    """Refuse a function that cannot be called with a dict alone.

    Raises:
        ValueError: It cannot.
    """
    parameters = target.parameters()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [each for each in parameters if each.kind in kinds]
    others = [each for each in parameters if each.kind is each.KEYWORD_ONLY and each.default is inspect.Parameter.empty]
    required = [each for each in positional if each.default is inspect.Parameter.empty]
    variadic = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    if others or len(required) > 1 or not (positional or variadic):
        raise ArgumentError(f"{method} requires a function accepting one row argument.")
    if positional:
        hint = target.annotation(positional[0].name)
        if not _is_dict_like(hint):
            raise ArgumentError(f"{method} receives one dict row argument, got annotation {hint!r}.")


def _is_dict_like(hint: Any) -> bool:
    hint = without_annotated(hint)
    if hint in _ANYTHING or typing.is_typeddict(hint):
        return True
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(_is_dict_like(each) for each in typing.get_args(hint) if each is not type(None))
    return hint in _DICTS or typing.get_origin(hint) in _DICTS
