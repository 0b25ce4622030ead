"""Values, calls, conditions and functions of values."""

from __future__ import annotations

import datetime
from typing import Any, NoReturn

from scurry.errors import ArgumentTypeError, TypeMismatchError, UnsupportedError, ValidationError
from scurry.sql import types
from scurry.sql.values.elements import internal_value
from scurry.table._expression.syntax import parsed_alone
from scurry.table.expression import Expression, call_of, expression_of


def lit(v: Any, data_type: types.DataType | None = None) -> Expression:
    """Return a value.

    Args:
        v: The value. A datetime with a time zone is a point of time: a TIMESTAMP_LTZ.
        data_type: Its type, which is NOT NULL unless the value is None; None for that of the Python value.

    Raises:
        ValidationError: There is no type for None, the type is nullable, or the value is none of the type.
        ArgumentTypeError: The type is no DataType.
    """
    if data_type is not None and not isinstance(data_type, types.DataType):
        raise ArgumentTypeError(f"expected a type such as DataTypes.INT(), got {data_type!r}")
    if data_type is None:
        if v is None:
            raise ValidationError(
                "Cannot derive a data type for value 'null'. The data type must be specified explicitly: "
                "lit(None, data_type) or null_of(data_type)"
            )
        return expression_of(v)
    if v is None and not data_type._nullable:
        raise ValidationError(f"Data type '{data_type.as_summary_string()}' does not support null values.")
    if v is not None and data_type._nullable:
        raise ValidationError(
            "Literals that have a non-null value must not have a nullable data type. "
            f"{data_type.as_summary_string()} has to be {data_type.as_summary_string()} NOT NULL, call .not_null()"
        )
    if v is not None and not _is_of(v, data_type):
        raise ValidationError(
            f"Data type '{data_type.as_summary_string()}' does not support a value literal of class "
            f"'{type(v).__name__}': {v!r}. Call lit(value).cast(data_type) to convert a value."
        )
    return expression_of(v).cast(data_type.nullable())


def _is_of(value: Any, data_type: types.DataType) -> bool:
    """Return whether a type has a Python value, as it is."""
    if isinstance(value, str) or isinstance(data_type, types.CharType | types.VarCharType):
        return isinstance(value, str) and isinstance(data_type, types.CharType | types.VarCharType)
    if isinstance(value, bytes | bytearray) or isinstance(data_type, types.BinaryType | types.VarBinaryType):
        return isinstance(value, bytes | bytearray) and isinstance(data_type, types.BinaryType | types.VarBinaryType)
    if isinstance(value, bool) != isinstance(data_type, types.BooleanType):
        return False
    if isinstance(value, datetime.datetime) and (
        isinstance(data_type, types.DateType)
        or (value.tzinfo is not None and isinstance(data_type, types.TimestampType))
    ):
        return False
    try:
        internal_value(data_type)(value)
    except TypeMismatchError:
        return False
    return True


def null_of(data_type: types.DataType) -> Expression:
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
    return found._with(functions={**found._functions, name: function})


def call_sql(sql_expression: str) -> Expression:
    """Return the expression of a text of SQL. As a column, it has a name only if it gets an alias.

    Args:
        sql_expression: The text.

    Raises:
        SqlParserError: It is no expression.
    """
    return Expression(parsed_alone(sql_expression), text=sql_expression)


def call_with(function: str, *arguments: Any) -> Expression:
    """Return a call of a function, with those arguments that are given."""
    return call_of(function, *(each for each in arguments if each is not None))


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


def object_of(class_name: str, *args: Any) -> NoReturn:
    """Refuse: structured types are classes of Java.

    Raises:
        UnsupportedError: Always.
    """
    raise UnsupportedError(f"object_of('{class_name}'): structured types are classes of Java; use row(...)")


def map_(key: Any, value: Any, *tail: Any) -> Expression:
    """Return a map of keys and values."""
    return call_of("MAP", key, value, *tail)


def map_from_arrays(key: Any, value: Any) -> Expression:
    """Return a map of an array of keys and an array of values."""
    return call_of("MAP_FROM_ARRAYS", key, value)


def current_database() -> Expression:
    """Return the name of the current database."""
    return call_of("CURRENT_DATABASE")


def pi() -> Expression:
    """Return pi."""
    return call_of("PI")


def e() -> Expression:
    """Return Euler's number."""
    return call_of("E")


def rand(seed: Any = None) -> Expression:
    """Return a random number between 0 and 1."""
    return call_with("RAND", seed)


def rand_integer(bound: Any, seed: Any = None) -> Expression:
    """Return a random whole number below a bound."""
    return call_of("RAND_INTEGER", bound) if seed is None else call_of("RAND_INTEGER", seed, bound)


def atan2(y: Any, x: Any) -> Expression:
    """Return the arc tangent of a point."""
    return call_of("ATAN2", y, x)


def log(v: Any, base: Any = None) -> Expression:
    """Return the logarithm."""
    return call_of("LOG", v) if base is None else call_of("LOG", base, v)


def lag(expr: Any, offset: Any = 1, default: Any = None) -> Expression:
    """Return the value of an earlier row of a window of `Over`.

    Args:
        expr: The value.
        offset: How many rows earlier.
        default: The answer where there is no such row; None for NULL.
    """
    return call_with("LAG", expr, offset, default)


def lead(expr: Any, offset: Any = 1, default: Any = None) -> Expression:
    """Return the value of a later row of a window of `Over`.

    Args:
        expr: The value.
        offset: How many rows later.
        default: The answer where there is no such row; None for NULL.
    """
    return call_with("LEAD", expr, offset, default)


def uuid() -> Expression:
    """Return a random UUID."""
    return call_of("UUID")
