"""Functions that make JSON."""

from __future__ import annotations

from typing import Any

from scurry.errors import ArgumentTypeError
from scurry.table.expression import Expression, JsonOnNull, call_of


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
