"""The functions of which expressions are made: `col`, `lit` and others."""

from __future__ import annotations

from typing import Any

from scurry.errors import ArgumentTypeError
from scurry.logical_types import DataType
from scurry.sql import nodes
from scurry.table.expression import Expression, call_of, expression_of, parsed

__all__ = [
    "and_",
    "array",
    "atan2",
    "call",
    "call_sql",
    "coalesce",
    "col",
    "concat",
    "concat_ws",
    "current_database",
    "current_date",
    "current_time",
    "current_timestamp",
    "date_format",
    "e",
    "from_unixtime",
    "if_then_else",
    "lit",
    "local_time",
    "local_timestamp",
    "log",
    "map_",
    "map_from_arrays",
    "negative",
    "not_",
    "null_of",
    "or_",
    "pi",
    "rand",
    "rand_integer",
    "row",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "unix_timestamp",
    "uuid",
    "with_all_columns",
]


def col(name: str) -> Expression:
    """Return a column.

    Args:
        name: Its name; `*` stands for all columns.
    """
    if name == "*":
        return with_all_columns()
    return Expression(nodes.Identifier((name,), span=parsed("NULL").span))


def with_all_columns() -> Expression:
    """Return what stands for all columns."""
    return Expression(nodes.Star())


def lit(v: Any, data_type: DataType | None = None) -> Expression:
    """Return a value.

    Args:
        v: The value.
        data_type: Its type; None for that of the Python value.
    """
    found = expression_of(v)
    return found if data_type is None else found.cast(data_type)


def null_of(data_type: DataType) -> Expression:
    """Return NULL of a type.

    Args:
        data_type: The type.
    """
    return expression_of(None).cast(data_type)


def call(f: Any, *args: Any) -> Expression:
    """Return a call of a function.

    Args:
        f: The name of a function of SQL, or what `udf`, `udtf` or `udaf` returned.
        *args: The arguments.
    """
    if isinstance(f, str):
        return call_of(f, *args)
    make = getattr(f, "_user_function", None)
    if make is None:
        raise ArgumentTypeError(f"expected the name of a function, or what udf() returns, got {f!r}")
    function = make()
    name = f"*{function.name}*{id(function)}"
    found = call_of(name, *args)
    return Expression(found._node, {**found._functions, name: function})


def call_sql(sql_expression: str) -> Expression:
    """Return the expression of a text of SQL.

    Args:
        sql_expression: The text.
    """
    return Expression(parsed(sql_expression))


def if_then_else(condition: Any, if_true: Any, if_false: Any) -> Expression:
    """Return one value where a condition is TRUE, else another."""
    return call_of("CASE", condition, if_true, if_false)


def and_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression:
    """Return whether all conditions are TRUE."""
    found = call_of("AND", predicate0, predicate1)
    for each in predicates:
        found = call_of("AND", found, each)
    return found


def or_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression:
    """Return whether a condition is TRUE."""
    found = call_of("OR", predicate0, predicate1)
    for each in predicates:
        found = call_of("OR", found, each)
    return found


def not_(expression: Any) -> Expression:
    """Return whether a condition is FALSE."""
    return call_of("NOT", expression)


def negative(v: Any) -> Expression:
    """Return the negative of a number."""
    return call_of("NEGATE", v)


def concat(first: Any, *others: Any) -> Expression:
    """Return texts one after the other."""
    return call_of("CONCAT", first, *others)


def concat_ws(separator: Any, first: Any, *others: Any) -> Expression:
    """Return texts one after the other, with another one between them."""
    return call_of("CONCAT_WS", separator, first, *others)


def coalesce(*args: Any) -> Expression:
    """Return the first value that is not NULL."""
    return call_of("COALESCE", *args)


def array(head: Any, *tail: Any) -> Expression:
    """Return an array of values."""
    return call_of("ARRAY", head, *tail)


def row(head: Any, *tail: Any) -> Expression:
    """Return a row of values."""
    return call_of("ROW", head, *tail)


def map_(key: Any, value: Any, *tail: Any) -> Expression:
    """Return a map of keys and values."""
    return call_of("MAP", key, value, *tail)


def map_from_arrays(key: Any, value: Any) -> Expression:
    """Return a map of an array of keys and an array of values."""
    return call_of("MAP_FROM_ARRAYS", key, value)


def current_database() -> Expression:
    """Return the name of the current database."""
    return call_of("CURRENT_DATABASE")


def current_date() -> Expression:
    """Return the date of today."""
    return Expression(parsed("CURRENT_DATE"))


def current_time() -> Expression:
    """Return the time of day."""
    return Expression(parsed("CURRENT_TIME"))


def current_timestamp() -> Expression:
    """Return the point of time."""
    return Expression(parsed("CURRENT_TIMESTAMP"))


def local_time() -> Expression:
    """Return the time of day on the session's wall clock."""
    return Expression(parsed("LOCALTIME"))


def local_timestamp() -> Expression:
    """Return date and time on the session's wall clock."""
    return Expression(parsed("LOCALTIMESTAMP"))


def to_date(date_str: Any, format: Any = None) -> Expression:
    """Return the date of a text."""
    return _optional("TO_DATE", date_str, format)


def to_timestamp(timestamp_str: Any, format: Any = None) -> Expression:
    """Return the timestamp of a text."""
    return _optional("TO_TIMESTAMP", timestamp_str, format)


def to_timestamp_ltz(*args: Any) -> Expression:
    """Return the point of time of a number or text."""
    return call_of("TO_TIMESTAMP_LTZ", *args)


def date_format(timestamp: Any, format: Any) -> Expression:
    """Return the text of a timestamp."""
    return call_of("DATE_FORMAT", timestamp, format)


def from_unixtime(unixtime: Any, format: Any = None) -> Expression:
    """Return the text of a number of seconds."""
    return _optional("FROM_UNIXTIME", unixtime, format)


def unix_timestamp(date_str: Any = None, format: Any = None) -> Expression:
    """Return the seconds since 1970, of now or of a text."""
    return _optional("UNIX_TIMESTAMP", date_str, format)


def pi() -> Expression:
    """Return pi."""
    return call_of("PI")


def e() -> Expression:
    """Return Euler's number."""
    return call_of("E")


def rand(seed: Any = None) -> Expression:
    """Return a random number between 0 and 1."""
    return _optional("RAND", seed)


def rand_integer(bound: Any, seed: Any = None) -> Expression:
    """Return a random whole number below a bound."""
    return call_of("RAND_INTEGER", bound) if seed is None else call_of("RAND_INTEGER", seed, bound)


def atan2(y: Any, x: Any) -> Expression:
    """Return the arc tangent of a point."""
    return call_of("ATAN2", y, x)


def log(v: Any, base: Any = None) -> Expression:
    """Return the logarithm."""
    return call_of("LOG", v) if base is None else call_of("LOG", base, v)


def uuid() -> Expression:
    """Return a random UUID."""
    return call_of("UUID")


def _optional(function: str, *arguments: Any) -> Expression:
    return call_of(function, *(each for each in arguments if each is not None))
