"""Conversion of SQL types to Arrow types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from scurry.errors import UnsupportedError
from scurry.sql.types.atomic_types import (
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    NullType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.intervals import DayTimeIntervalType, YearMonthIntervalType
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType, MapType, MultisetType, RowType
from scurry.sql.types.special_types import BitmapType, RawType, StructuredType, SymbolType, VariantType

if TYPE_CHECKING:
    import pyarrow

__all__ = ["arrow_type", "timestamp_unit", "units_per_second"]

_UNITS: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}

#: Names of pyarrow's functions without arguments.
_SIMPLE: Final[dict[type[DataType], str]] = {
    BooleanType: "bool_",
    TinyIntType: "int8",
    SmallIntType: "int16",
    IntType: "int32",
    BigIntType: "int64",
    FloatType: "float32",
    DoubleType: "float64",
    CharType: "string",
    VarCharType: "string",
    SymbolType: "string",
    VariantType: "string",
    BinaryType: "binary",
    VarBinaryType: "binary",
    BitmapType: "binary",
    RawType: "binary",
    DateType: "date32",
    YearMonthIntervalType: "int32",
    DayTimeIntervalType: "int64",
    NullType: "null",
}


def timestamp_unit(precision: int) -> str:
    """Return Arrow's unit for points of time with so many digits after the second: ms, us or ns."""
    return "ms" if precision <= 3 else "us" if precision <= 6 else "ns"


def units_per_second(data_type: TimestampType | LocalZonedTimestampType) -> int:
    """Return how many units of its column a second of a type has."""
    return _UNITS[timestamp_unit(data_type.precision)]


def arrow_type(data_type: DataType) -> pyarrow.DataType:
    """Return the Arrow type of a SQL type's columns.

    Raises:
        UnsupportedError: The type has no columns.
    """
    import pyarrow as pa

    simple = _SIMPLE.get(type(data_type))
    if simple is not None:
        return getattr(pa, simple)()
    make = _MAKERS.get(type(data_type))
    if make is None:
        raise UnsupportedError(f"{data_type.as_summary_string()} has no columns")
    return make(pa, data_type)


def _fields(pa: Any, data_type: RowType) -> pyarrow.DataType:
    return pa.struct([pa.field(field.name, arrow_type(field.data_type)) for field in data_type.fields])


def _timestamp(pa: Any, data_type: Any) -> pyarrow.DataType:
    return pa.timestamp(timestamp_unit(data_type.precision))


_MAKERS: Final[dict[type[DataType], Callable[[Any, Any], Any]]] = {
    DecimalType: lambda pa, each: pa.decimal128(each.precision, each.scale),
    TimeType: lambda pa, each: pa.time32("ms"),
    TimestampType: _timestamp,
    LocalZonedTimestampType: _timestamp,
    ArrayType: lambda pa, each: pa.list_(arrow_type(each.element_type)),
    MapType: lambda pa, each: pa.map_(arrow_type(each.key_type), arrow_type(each.value_type)),
    MultisetType: lambda pa, each: pa.map_(arrow_type(each.element_type), pa.int32()),
    RowType: _fields,
    StructuredType: _fields,
}
