"""sql: DataFrames of queries over the DataFrames and functions of a program."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from scurry.dataframe.context import get_or_create_table_environment
from scurry.dataframe.dataframe import DataFrame
from scurry.dataframe.udaf import _DataFrameUDAF
from scurry.dataframe.udf import _DataFrameUDF
from scurry.dataframe.udtf import _DataFrameUDTF
from scurry.errors import ArgumentError, ArgumentTypeError, ScurryError
from scurry.table.table_environment import TableEnvironment

__all__ = ["sql"]

_FUNCTIONS = (_DataFrameUDF, _DataFrameUDTF, _DataFrameUDAF)
_NO_IDENTIFIER = "it is not a valid SQL identifier"


def sql(query: str, *, auto_bind: bool = True, **bindings: Any) -> DataFrame:
    """Return the DataFrame of a query of SQL.

    Args:
        query: The query: SELECT, VALUES and the like.
        auto_bind: Whether DataFrames and functions that are variables of the caller are tables and functions of the
            query, by the names of the variables; they hide no table or function that there is.
        **bindings: DataFrames and functions by the names that the query has for them; they hide tables and functions.

    Raises:
        TypeError: The query is no text, or a binding is something else.
        ValueError: It is another statement, it is wrong, or a name cannot be bound.

    Example:
        ```python
        orders = pf.from_dict({"item": ["pen", "ink"], "price": [2, 9]})
        pf.sql("SELECT item FROM orders WHERE price > 5")
        ```
    """
    if not isinstance(query, str):
        raise ArgumentTypeError("query must be a string")
    for name, value in bindings.items():
        if not isinstance(value, (DataFrame, *_FUNCTIONS)):
            raise ArgumentTypeError(
                f"sql() binding '{name}' must be a DataFrame or a UDF created with pyflink.dataframe.udf, "
                f"pyflink.dataframe.udtf, or pyflink.dataframe.udaf, got {type(value).__name__}"
            )
    found = _variables(sys._getframe(1), bindings) if auto_bind else {}
    environment = _environment(bindings, found)
    statement = _parsed(query)
    with ExitStack() as bound:
        for name, value in bindings.items():
            _bind_strictly(environment, name, value, bound)
        for name, value in found.items():
            reason = _bind_if_free(environment, name, value, bound)
            if reason is not None:
                warnings.warn(f"sql() auto-bind skipped '{name}': {reason}.", UserWarning, stacklevel=2)
        return DataFrame(environment.sql_query(statement))


def _parsed(query: str) -> str:
    """Return a text that is one query.

    Raises:
        ValueError: It is none.
    """
    from scurry.sql.syntax import nodes
    from scurry.sql.syntax.parser import parse

    if not isinstance(parse(query), nodes.Query):
        raise ArgumentError(
            "sql() only supports queries that return a result, such as SELECT or VALUES (no INSERT / DDL); use "
            "execute_sql() of the table environment for other statements"
        )
    return query


def _variables(frame: Any, bindings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the DataFrames and functions that are variables of a frame, but for those that are bound already."""
    both = {**frame.f_globals, **frame.f_locals}
    found = {}
    for name, value in both.items():
        # Names such as `.0` and `@x` are of the interpreter and of tools.
        if name not in bindings and name[:1].isidentifier() and isinstance(value, (DataFrame, *_FUNCTIONS)):
            found[name] = value
    return found


def _environment(bindings: Mapping[str, Any], found: Mapping[str, Any]) -> TableEnvironment:
    """Return the environment of a query: that of its DataFrames, or the one of all.

    Raises:
        ValueError: Its DataFrames belong to several.
    """
    for values, which in ((bindings, "explicit bindings"), (found, "auto-bound DataFrames")):
        environments = {
            id(each._table._environment): each._table._environment
            for name, each in values.items()
            if isinstance(each, DataFrame) and _is_identifier(name)
        }
        if len(environments) > 1:
            raise ArgumentError(
                f"sql() {which} belong to different TableEnvironments; make all of them in one, or bind those of the "
                "query with auto_bind=False"
            )
        if environments:
            (environment,) = environments.values()
            made: TableEnvironment = environment
            return made
    return get_or_create_table_environment()


def _is_identifier(name: str) -> bool:
    return name.isidentifier()


def _bind_strictly(environment: TableEnvironment, name: str, value: Any, bound: ExitStack) -> None:
    if not _is_identifier(name):
        raise ArgumentError(f"cannot bind '{name}': {_NO_IDENTIFIER}")
    if isinstance(value, DataFrame):
        if name in environment.list_temporary_tables():
            raise ArgumentError(f"cannot bind '{name}': a temporary table or view with this name already exists")
    elif environment._session.catalogs.functions.find_system(name) is not None:
        raise ArgumentError(f"cannot bind '{name}': a temporary function with this name already exists")
    bound.enter_context(_bound(environment, name, value))


def _bind_if_free(environment: TableEnvironment, name: str, value: Any, bound: ExitStack) -> str | None:
    """Bind a variable; return the reason why not, None if it is bound."""
    if not _is_identifier(name):
        return _NO_IDENTIFIER
    if isinstance(value, DataFrame):
        if value._table._environment is not environment:
            return "it belongs to a different TableEnvironment"
        if environment._session.catalogs.find_table(environment._session.catalogs.qualify([name])) is not None:
            return "a table or view with this name already exists"
    elif name.lower() in (each.lower() for each in environment.list_functions()):
        return "a function with this name already exists"
    try:
        bound.enter_context(_bound(environment, name, value))
    except ScurryError as error:
        return f"registration failed: {error}"
    return None


@contextmanager
def _bound(environment: TableEnvironment, name: str, value: Any) -> Iterator[None]:
    """Let a name stand for a DataFrame or a function."""
    from scurry.dataframe._frame.base import quoted

    if isinstance(value, DataFrame):
        path = quoted(name)
        environment.create_temporary_view(path, value._table)
        try:
            yield
        finally:
            environment.drop_temporary_view(path)
    else:
        environment.create_temporary_system_function(name, value)
        try:
            yield
        finally:
            environment.drop_temporary_system_function(name)
