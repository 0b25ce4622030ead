"""Conversion of SQL types to Arrow types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from scurry.errors import ArgumentTypeError, UnsupportedError
from scurry.sql.types.atomic_types import (
    MAX_LENGTH,
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
    ZonedTimestampType,
)
from scurry.sql.types.intervals import DayTimeIntervalType, YearMonthIntervalType
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType, MapType, MultisetType, RowField, RowType
from scurry.sql.types.special_types import BitmapType, RawType, StructuredType, SymbolType, VariantType

if TYPE_CHECKING:
    import pyarrow

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
        hint = "; use TIMESTAMP_LTZ" if isinstance(data_type, ZonedTimestampType) else ""
        raise UnsupportedError(f"{data_type.as_summary_string()} has no columns{hint}")
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


_PRECISIONS: Final = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def sql_type(kind: pyarrow.DataType, nullable: bool = True, zones: bool = True) -> DataType:
    """Return the SQL type of an Arrow type.

    Args:
        kind: The Arrow type.
        nullable: Whether values may be NULL.
        zones: Whether timestamps with a zone are points of time; otherwise zones are dropped.

    Raises:
        ArgumentTypeError: There is no such SQL type.
    """
    found = _sql_type(kind, zones)
    return found if isinstance(found, NullType) else found.with_nullability(nullable)


def _sql_type(kind: pyarrow.DataType, zones: bool) -> DataType:
    import pyarrow as pa

    is_ = pa.types
    for check, made in _OF_ARROW:
        if getattr(is_, check)(kind):
            return made
    if is_.is_decimal(kind):
        return DecimalType(kind.precision, kind.scale)
    if is_.is_fixed_size_binary(kind):
        return BinaryType(kind.byte_width)
    if is_.is_time(kind):
        return TimeType(_PRECISIONS[kind.unit])
    if is_.is_timestamp(kind):
        local = kind.tz is None or not zones
        return (TimestampType if local else LocalZonedTimestampType)(_PRECISIONS[kind.unit])
    if is_.is_dictionary(kind):
        return _sql_type(kind.value_type, zones)
    if is_.is_map(kind):
        return MapType(_sql_type(kind.key_type, zones), _sql_type(kind.item_type, zones))
    if is_.is_list(kind) or is_.is_large_list(kind) or is_.is_fixed_size_list(kind) or is_.is_list_view(kind):
        return ArrayType(_sql_type(kind.value_type, zones))
    if is_.is_struct(kind):
        return RowType([RowField(field.name, sql_type(field.type, field.nullable, zones)) for field in kind])
    raise ArgumentTypeError(f"Unsupported data type to convert to Arrow: {kind}")


#: Names of pyarrow's checks of types without arguments.
_OF_ARROW: Final[list[tuple[str, DataType]]] = [
    ("is_boolean", BooleanType()),
    ("is_int8", TinyIntType()),
    ("is_int16", SmallIntType()),
    ("is_int32", IntType()),
    ("is_int64", BigIntType()),
    ("is_uint8", SmallIntType()),
    ("is_uint16", IntType()),
    ("is_uint32", BigIntType()),
    ("is_uint64", DecimalType(20, 0)),
    ("is_float16", FloatType()),
    ("is_float32", FloatType()),
    ("is_float64", DoubleType()),
    ("is_string", VarCharType(MAX_LENGTH)),
    ("is_large_string", VarCharType(MAX_LENGTH)),
    ("is_string_view", VarCharType(MAX_LENGTH)),
    ("is_binary", VarBinaryType(MAX_LENGTH)),
    ("is_large_binary", VarBinaryType(MAX_LENGTH)),
    ("is_binary_view", VarBinaryType(MAX_LENGTH)),
    ("is_date", DateType()),
    ("is_null", NullType()),
]


def as_array(column: Any) -> pyarrow.Array:
    """Return a column as one array, which Arrow's functions may have returned in chunks."""
    import pyarrow as pa

    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
