"""Values of Python as expressions of a type."""

from __future__ import annotations

import array as arrays
from collections.abc import Mapping
from typing import Any

from scurry.errors import ArgumentError, TypeMismatchError
from scurry.sql.types import ArrayType, DataType, MapType, NullType, RowType
from scurry.sql.values.elements import internal_value
from scurry.sql.values.hints import type_of_value
from scurry.table.expression import Expression, expression_of
from scurry.table.expressions import array, lit, map_, null_of, row


def literal_of(value: Any, data_type: DataType | None) -> Expression:
    """Return a value as an expression.

    Args:
        value: The value.
        data_type: Its type; None for that of the value.

    Raises:
        ValueError: The value is none of the type, or has no type.
    """
    if data_type is None:
        if isinstance(value, list | tuple | arrays.array):
            return _array_without_type(value)
        return lit(value)
    if value is None:
        return expression_of(None) if isinstance(data_type, NullType) else null_of(data_type.nullable())
    if not isinstance(data_type, ArrayType | MapType | RowType):
        return lit(value, data_type.not_null())
    try:
        internal_value(data_type)(value)
    except TypeMismatchError as error:
        raise ArgumentError(f"{value!r} is no value of the type {data_type.as_summary_string()}: {error}") from error
    return _nested(value, data_type)


def _array_without_type(value: Any) -> Expression:
    if isinstance(value, arrays.array):
        return literal_of(list(value), type_of_value(value))
    if not value:
        raise ArgumentError("an empty list has no type: pass data_type, such as DataType.list(DataType.int64())")
    return array(*(literal_of(each, None) if isinstance(each, list | tuple) else each for each in value))


def _nested(value: Any, kind: DataType) -> Expression:
    if value is None:
        return null_of(kind.nullable())
    if isinstance(kind, ArrayType):
        found = array(*(_nested(each, kind.element_type) for each in value)) if len(value) else null_of(kind)
    elif isinstance(kind, MapType):
        parts = [
            _nested(*pair) for key, each in value.items() for pair in ((key, kind.key_type), (each, kind.value_type))
        ]
        found = map_(*parts) if parts else null_of(kind)
    elif isinstance(kind, RowType):
        fields = [value.get(each.name) for each in kind.fields] if isinstance(value, Mapping) else list(value)
        found = row(*(_nested(each, field.data_type) for each, field in zip(fields, kind.fields, strict=True)))
    else:
        return lit(value, kind.not_null())
    return found.cast(kind.nullable())
