"""Values of `from_elements(..., verify_schema=False)`: those that do not fit their type are converted, or are NULL."""

from __future__ import annotations

import array
import decimal
from typing import Any

from scurry.common._java_numbers import double_text
from scurry.common._types import java_text
from scurry.common.types import Row
from scurry.errors import TypeMismatchError
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    MapType,
    RowType,
    SmallIntType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from scurry.table._elements import attributes_of, internal_value

__all__ = ["unverified_value"]

_BITS: dict[type[DataType], int] = {TinyIntType: 8, SmallIntType: 16, IntType: 32, BigIntType: 64}


def unverified_value(data_type: DataType, value: Any) -> Any:
    """Return a Python value as columns of a type have it, without checks, as PyFlink converts it.

    Whole numbers lose their upper bits, texts are made of anything, and what is of another kind is NULL.

    Raises:
        TypeMismatchError: A row has not as many values as columns, or a date or time is none.
    """
    if value is None:
        return None
    if type(data_type) in _BITS:
        return _wrapped(value, _BITS[type(data_type)])
    if isinstance(data_type, CharType | VarCharType):
        return _text(value)
    if isinstance(data_type, BinaryType | VarBinaryType):
        return value.encode() if isinstance(value, str) else bytes(value) if _is_bytes(value) else None
    if isinstance(data_type, ArrayType):
        if not isinstance(value, list | tuple | array.array):
            return None
        return [unverified_value(data_type.element_type, each) for each in value]
    if isinstance(data_type, MapType):
        return _pairs(data_type, value) if isinstance(value, dict) else None
    if isinstance(data_type, RowType):
        return _fields(data_type, value)
    wanted = _KINDS.get(type(data_type))
    return internal_value(data_type, value) if wanted is None or isinstance(value, wanted) else None


_KINDS: dict[type[DataType], type] = {
    BooleanType: bool,
    FloatType: float,
    DoubleType: float,
    DecimalType: decimal.Decimal,
}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return java_text.boolean(value)
    return double_text(value) if isinstance(value, float) else str(value)


def _is_bytes(value: Any) -> bool:
    return isinstance(value, bytes | bytearray)


def _wrapped(value: Any, bits: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    half = 1 << (bits - 1)
    return (value + half) % (half << 1) - half


def _pairs(data_type: MapType, value: dict[Any, Any]) -> list[tuple[Any, Any]]:
    return [
        (unverified_value(data_type.key_type, key), unverified_value(data_type.value_type, each))
        for key, each in value.items()
    ]


def _fields(data_type: RowType, value: Any) -> tuple[Any, ...]:
    names = data_type.field_names()
    named = value if isinstance(value, dict) else attributes_of(value)
    if named is not None:
        value = [named.get(name) for name in names]
    elif not isinstance(value, Row | tuple | list):
        raise TypeMismatchError(data_type.as_summary_string(), value, "expected a row")
    values = list(value)
    if len(values) != len(names):
        raise TypeMismatchError(
            data_type.as_summary_string(),
            value,
            "Input row doesn't have expected number of values required by the schema. "
            f"{len(names)} fields are required while {len(values)} values are provided.",
        )
    return tuple(unverified_value(field.data_type, each) for field, each in zip(data_type.fields, values, strict=True))
