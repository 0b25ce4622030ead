"""Types of the elements of `from_elements`, as PyFlink infers them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types import ArrayType, DataType, MapType, MultisetType, NullType, RowField, RowType
from scurry.sql.values.hints import row_type_of_value


def inferred_row_type(elements: Sequence[Any], names: Sequence[str] | None) -> RowType:
    """Return the type that all elements have in common.

    Args:
        elements: Tuples, lists, rows or dicts.
        names: Names of the columns; None for their own, or `_1`, `_2` ...

    Raises:
        ArgumentError: There are no elements, or a column has only None.
        ArgumentTypeError: A value has no SQL type, or values of a column have none in common.
    """
    if not elements:
        raise ArgumentError("can not infer schema from empty data set; pass DataTypes.ROW([...]) as the schema")
    twice = [name for place, name in enumerate(names or ()) if name in (names or ())[:place]]
    if twice:
        raise ArgumentError(f"Field names must be unique. Found duplicates: [{', '.join(map(str, twice))}]")
    merged = reduce(_common, (row_type_of_value(element, names) for element in elements))
    unknown = [field.name for field in merged.fields if _is_unknown(field.data_type)]
    if unknown:
        raise ArgumentError(
            f"Some column types cannot be determined after inferring: {', '.join(unknown)}; pass DataTypes.ROW([...])"
        )
    return merged


def _common(left: RowType, right: RowType) -> RowType:
    names = [field.name for field in left.fields]
    rights = {field.name: field.data_type for field in right.fields}
    fields = [RowField(f.name, _merged(f.data_type, rights.get(f.name, NullType()), f.name)) for f in left.fields]
    return RowType(fields + [field for field in right.fields if field.name not in names])


def _merged(left: DataType, right: DataType, name: str) -> DataType:
    if isinstance(left, NullType):
        return right
    if isinstance(right, NullType) or left == right:
        return left
    if isinstance(left, RowType) and isinstance(right, RowType):
        return _common(left, right)
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        return ArrayType(_merged(left.element_type, right.element_type, name))
    if isinstance(left, MapType) and isinstance(right, MapType):
        return MapType(
            _merged(left.key_type, right.key_type, name).not_null(), _merged(left.value_type, right.value_type, name)
        )
    raise ArgumentTypeError(
        f"field {name}: Can not merge type {left.as_summary_string()} and {right.as_summary_string()}; pass "
        "DataTypes.ROW([...]) as the schema"
    )


def _is_unknown(data_type: DataType) -> bool:
    if isinstance(data_type, RowType):
        return any(_is_unknown(field.data_type) for field in data_type.fields)
    if isinstance(data_type, ArrayType | MultisetType):
        return _is_unknown(data_type.element_type)
    if isinstance(data_type, MapType):
        return _is_unknown(data_type.key_type) or _is_unknown(data_type.value_type)
    return isinstance(data_type, NullType)
