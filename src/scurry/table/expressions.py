"""The functions of which expressions are made: `col`, `lit` and others."""

from __future__ import annotations

from typing import Any, NoReturn

from scurry.errors import ArgumentTypeError, UnsupportedError, ValidationError
from scurry.logical_types import DataType
from scurry.sql import nodes
from scurry.table._expression.syntax import here, parsed, parsed_alone
from scurry.table.expression import Expression, JsonOnNull, TimePointUnit, call_of, expression_of

__all__ = [
    "CURRENT_RANGE",
    "CURRENT_ROW",
    "UNBOUNDED_RANGE",
    "UNBOUNDED_ROW",
    "and_",
    "array",
    "atan2",
    "call",
    "call_sql",
    "coalesce",
    "col",
    "concat",
    "concat_ws",
    "convert_tz",
    "current_database",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_watermark",
    "date_format",
    "descriptor",
    "e",
    "from_unixtime",
    "if_then_else",
    "json",
    "json_array",
    "json_array_agg",
    "json_object",
    "json_object_agg",
    "json_string",
    "lag",
    "lead",
    "lit",
    "local_time",
    "local_timestamp",
    "log",
    "map_",
    "map_from_arrays",
    "negative",
    "not_",
    "null_of",
    "object_of",
    "or_",
    "pi",
    "rand",
    "rand_integer",
    "range_",
    "row",
    "row_interval",
    "source_watermark",
    "temporal_overlaps",
    "timestamp_diff",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "unix_timestamp",
    "uuid",
    "with_all_columns",
    "with_columns",
    "without_columns",
]


#: Bounds of the windows of `Over`.
UNBOUNDED_ROW = Expression(nodes.Identifier(("UNBOUNDED_ROW",)))
UNBOUNDED_RANGE = Expression(nodes.Identifier(("UNBOUNDED_RANGE",)))
CURRENT_ROW = Expression(nodes.Identifier(("CURRENT_ROW",)))
CURRENT_RANGE = Expression(nodes.Identifier(("CURRENT_RANGE",)))


def col(name: str) -> Expression:
    """Return a column.

    Args:
        name: Its name; `*` stands for all columns.
    """
    if name == "*":
        return with_all_columns()
    return Expression(nodes.Identifier((name,), span=here()))


# ------------------------------------------------------------------ several columns


def with_all_columns() -> Expression:
    """Return what stands for all columns."""
    return Expression(nodes.Star(span=here()))


def with_columns(head: Any, *tails: Any) -> Expression:
    """Return what stands for some columns.

    Args:
        head: The first: a column, its place from 1, or a range of `range_`.
        *tails: The others.

    Example:
        ```python
        table.select(with_columns(range_(1, 3), col("z")))
        ```
    """
    return call_of("WITH_COLUMNS", head, *tails)


def without_columns(head: Any, *tails: Any) -> Expression:
    """Return what stands for all columns but some.

    Args:
        head: The first that is left out: a column, its place from 1, or a range of `range_`.
        *tails: The others.
    """
    return call_of("WITHOUT_COLUMNS", head, *tails)


def range_(start: str | int, end: str | int) -> Expression:
    """Return the columns from one to another, for `with_columns` and `without_columns`.

    Args:
        start: The first: its name, or its place from 1.
        end: The last.
    """
    first, last = (col(each) if isinstance(each, str) else expression_of(each) for each in (start, end))
    return call_of("RANGE_TO", first, last)


def descriptor(*column_names: str) -> Expression:
    """Return names of columns, as an argument of a function.

    Args:
        *column_names: The names.
    """
    return Expression(nodes.Descriptor(tuple(nodes.Identifier((name,)) for name in column_names), span=here()))


# ------------------------------------------------------------------ values and calls


def lit(v: Any, data_type: DataType | None = None) -> Expression:
    """Return a value.

    Args:
        v: The value.
        data_type: Its type, which is NOT NULL unless the value is None; None for that of the Python value.

    Raises:
        ValidationError: There is no type for None, or the type is nullable.
    """
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
    return expression_of(v).cast(data_type.nullable())


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
    return found._with(functions={**found._functions, name: function})


def call_sql(sql_expression: str) -> Expression:
    """Return the expression of a text of SQL. As a column, it has a name only if it gets an alias.

    Args:
        sql_expression: The text.

    Raises:
        SqlParserError: It is no expression.
    """
    return Expression(parsed_alone(sql_expression), is_text=True)


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


def current_date() -> Expression:
    """Return the date of today."""
    return Expression(nodes.replace(parsed("CURRENT_DATE"), span=here()))


def current_time() -> Expression:
    """Return the time of day."""
    return Expression(nodes.replace(parsed("CURRENT_TIME"), span=here()))


def current_timestamp() -> Expression:
    """Return the point of time."""
    return Expression(nodes.replace(parsed("CURRENT_TIMESTAMP"), span=here()))


def local_time() -> Expression:
    """Return the time of day on the session's wall clock."""
    return Expression(nodes.replace(parsed("LOCALTIME"), span=here()))


def local_timestamp() -> Expression:
    """Return date and time on the session's wall clock."""
    return Expression(nodes.replace(parsed("LOCALTIMESTAMP"), span=here()))


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


def row_interval(rows: int) -> Expression:
    """Return a number of rows, as the size of a window.

    Args:
        rows: How many.
    """
    return call_of("ROW_INTERVAL", rows)


def lag(expr: Any, offset: Any = 1, default: Any = None) -> Expression:
    """Return the value of an earlier row of a window of `Over`.

    Args:
        expr: The value.
        offset: How many rows earlier.
        default: The answer where there is no such row; None for NULL.
    """
    return _optional("LAG", expr, offset, default)


def lead(expr: Any, offset: Any = 1, default: Any = None) -> Expression:
    """Return the value of a later row of a window of `Over`.

    Args:
        expr: The value.
        offset: How many rows later.
        default: The answer where there is no such row; None for NULL.
    """
    return _optional("LEAD", expr, offset, default)


# ------------------------------------------------------------------ JSON


def json(value: Any) -> Expression:
    """Put a JSON text into `json_object` or `json_array` as it is.

    Args:
        value: The text.
    """
    return call_of("JSON", value)


def json_string(value: Any) -> Expression:
    """Return a value as JSON.

    Args:
        value: The value.
    """
    return call_of("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: Any) -> Expression:
    """Return a JSON object.

    Args:
        on_null: Whether keys without a value are in it.
        *args: Keys, each followed by its value.

    Raises:
        ArgumentTypeError: The last key has no value.
    """
    if len(args) % 2:
        raise ArgumentTypeError("json_object takes keys, each followed by its value")
    parts = {f"p{place}": each for place, each in enumerate(args)}
    entries = ", ".join(f"KEY p{place} VALUE p{place + 1}" for place in range(0, len(args), 2))
    return Expression._sql(f"JSON_OBJECT({entries} {on_null.name} ON NULL)", **parts)


def json_object_agg(on_null: JsonOnNull, key_expr: Any, value_expr: Any) -> Expression:
    """Return the keys and values of a group as a JSON object.

    Args:
        on_null: Whether keys without a value are in it.
        key_expr: The key of a row.
        value_expr: Its value.
    """
    template = f"JSON_OBJECTAGG(KEY k VALUE v {on_null.name} ON NULL)"
    return Expression._sql(template, k=key_expr, v=value_expr)


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: Any) -> Expression:
    """Return a JSON array.

    Args:
        on_null: Whether NULL is in it.
        *args: The elements.
    """
    parts = {f"p{place}": each for place, each in enumerate(args)}
    return Expression._sql(f"JSON_ARRAY({', '.join(parts)} {on_null.name} ON NULL)", **parts)


def json_array_agg(on_null: JsonOnNull, item_expr: Any) -> Expression:
    """Return the values of a group as a JSON array.

    Args:
        on_null: Whether NULL is in it.
        item_expr: The value of a row.
    """
    return Expression._sql(f"JSON_ARRAYAGG(v {on_null.name} ON NULL)", v=item_expr)


# ------------------------------------------------------------------ time


def current_watermark(rowtimeAttribute: Any) -> Expression:
    """Return how far event time has come where the row is; NULL before the first watermark.

    Args:
        rowtimeAttribute: The column of the event time.
    """
    return call_of("CURRENT_WATERMARK", rowtimeAttribute)


def source_watermark() -> Expression:
    """Return the watermark of the source, for `Schema.Builder.watermark`."""
    return call_of("SOURCE_WATERMARK")


def convert_tz(date_str: Any, tz_from: Any, tz_to: Any) -> Expression:
    """Return the text of a time in another time zone.

    Args:
        date_str: The time, as `yyyy-MM-dd HH:mm:ss`.
        tz_from: Its time zone.
        tz_to: The other one.
    """
    return call_of("CONVERT_TZ", date_str, tz_from, tz_to)


def temporal_overlaps(
    left_time_point: Any, left_temporal: Any, right_time_point: Any, right_temporal: Any
) -> Expression:
    """Say whether two stretches of time overlap.

    Args:
        left_time_point: When the first begins.
        left_temporal: When it ends, or how long it is.
        right_time_point: When the second begins.
        right_temporal: When it ends, or how long it is.
    """
    return Expression._sql(
        "(a, b) OVERLAPS (c, d)", a=left_time_point, b=left_temporal, c=right_time_point, d=right_temporal
    )


def timestamp_diff(time_point_unit: TimePointUnit, time_point1: Any, time_point2: Any) -> Expression:
    """Return how many units one point in time is after another.

    Args:
        time_point_unit: The unit.
        time_point1: The one from which is counted.
        time_point2: The other.
    """
    return Expression._sql(f"TIMESTAMPDIFF({time_point_unit.name}, a, b)", a=time_point1, b=time_point2)


def uuid() -> Expression:
    """Return a random UUID."""
    return call_of("UUID")


def _optional(function: str, *arguments: Any) -> Expression:
    return call_of(function, *(each for each in arguments if each is not None))
