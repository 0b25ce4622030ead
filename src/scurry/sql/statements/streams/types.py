"""The types of streams as columns, and rows as types of streams."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, get_type_hints

from scurry.common.time import Instant
from scurry.common.typeinfo import (
    BasicArrayTypeInfo,
    DataclassTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from scurry.errors import ArgumentTypeError, ValidationError
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RawType,
    RowField,
    RowType,
    SmallIntType,
    StructuredType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)
from scurry.sql.types.special_types import TUPLE_CLASS

__all__ = ["StreamType", "no_columns", "record_type", "stream_type", "value_type"]

_LONGEST = 0x7FFFFFFF

#: type of a stream -> its values as a column
_COLUMNS: dict[TypeInformation, DataType] = {
    Types.STRING(): VarCharType(_LONGEST),
    Types.BOOLEAN(): BooleanType(),
    Types.BYTE(): TinyIntType(),
    Types.SHORT(): SmallIntType(),
    Types.INT(): IntType(),
    Types.LONG(): BigIntType(),
    Types.FLOAT(): FloatType(),
    Types.DOUBLE(): DoubleType(),
    Types.CHAR(): CharType(1),
    Types.BIG_INT(): DecimalType(38, 0),
    Types.BIG_DEC(): DecimalType(38, 18),
    Types.INSTANT(): LocalZonedTimestampType(9),
    Types.SQL_DATE(): DateType(),
    Types.SQL_TIME(): TimeType(0),
    Types.SQL_TIMESTAMP(): TimestampType(9),
}
_LOCAL = LocalTimeTypeInfo.TimeType
#: Java's types that have no null as values of their own: in a tuple, and as the only value of records
_NOT_NULL = (BooleanType, TinyIntType, SmallIntType, IntType, BigIntType, FloatType, DoubleType)
_HINTS: dict[Any, DataType] = {
    str: VarCharType(_LONGEST),
    bool: BooleanType(),
    int: BigIntType(),
    float: DoubleType(),
    bytes: VarBinaryType(_LONGEST),
    decimal.Decimal: DecimalType(38, 18),
    datetime.date: DateType(),
    datetime.time: TimeType(0),
    datetime.datetime: TimestampType(6),
    Instant: LocalZonedTimestampType(9),
}


class StreamType(NamedTuple):
    """The records of a stream as rows.

    Attributes:
        names: Names of the columns.
        types: Their types.
        is_composite: Whether the columns are parts of the records; otherwise the record itself is the only column.
        is_row: Whether the records are Rows, which have kinds of changes.
        attributes: Names of the attributes that are the columns, for dataclasses; None for rows and tuples.
    """

    names: tuple[str, ...]
    types: tuple[DataType, ...]
    is_composite: bool
    is_row: bool = False
    attributes: tuple[str, ...] | None = None


def stream_type(type_info: TypeInformation | None) -> StreamType:
    """Return the columns that the records of a stream have, as Flink derives them.

    Args:
        type_info: The declared type of the stream; None if it has none.

    Raises:
        ValidationError: The type says nothing of the values.
    """
    type_info = _represented(type_info)
    if isinstance(type_info, RowTypeInfo):
        types = tuple(map(value_type, type_info.get_field_types()))
        return StreamType(tuple(type_info.get_field_names()), types, True, is_row=True)
    if isinstance(type_info, TupleTypeInfo):
        types = tuple(_own_value(each) for each in type_info.get_field_types())
        return StreamType(tuple(f"f{place}" for place in range(len(types))), types, True)
    if isinstance(type_info, DataclassTypeInfo):
        return _dataclass(type_info.cls)
    return StreamType(("f0",), (_own_value(type_info),), False)


def _represented(type_info: TypeInformation | None) -> TypeInformation | None:
    return type_info.represented if isinstance(type_info, ExternalTypeInfo) else type_info


def _own_value(type_info: TypeInformation | None) -> DataType:
    """Return the type of values that are the record, or fields of a tuple."""
    found = value_type(type_info)
    never = isinstance(found, _NOT_NULL) or isinstance(found, ArrayType | MapType | VarBinaryType | StructuredType)
    return found.not_null() if never else found


def value_type(type_info: TypeInformation | None) -> DataType:
    """Return the SQL type of the values of a declared type, which may be NULL.

    Values without a type are pickled: Flink knows only their bytes.

    Raises:
        ValidationError: Values of the type are no values of columns.
    """
    type_info = _represented(type_info)
    if type_info is None or type_info == Types.PICKLED_BYTE_ARRAY():
        return RawType("[B")
    known = _COLUMNS.get(type_info)
    if known is not None:
        return known
    if isinstance(type_info, LocalTimeTypeInfo):
        return value_type(type_info.represented)
    if isinstance(type_info, PrimitiveArrayTypeInfo):
        if type_info.elem_type == Types.BYTE():
            return VarBinaryType(_LONGEST)
        return ArrayType(value_type(type_info.elem_type).not_null())
    if isinstance(type_info, ListTypeInfo):  # Java has arrays of primitive values for lists of them
        return ArrayType(_own_value(type_info.elem_type))
    if isinstance(type_info, BasicArrayTypeInfo | ObjectArrayTypeInfo):
        return ArrayType(value_type(type_info.elem_type))
    if isinstance(type_info, MapTypeInfo):
        return MapType(value_type(type_info.key_type), value_type(type_info.value_type))
    if isinstance(type_info, RowTypeInfo):
        pairs = zip(type_info.get_field_names(), type_info.get_field_types(), strict=True)
        return RowType([RowField(name, value_type(each)) for name, each in pairs])
    if isinstance(type_info, TupleTypeInfo):
        fields = enumerate(type_info.get_field_types())
        parts = [RowField(f"f{place}", _own_value(each)) for place, each in fields]
        return StructuredType(f"{TUPLE_CLASS}{len(parts)}", parts)
    raise no_columns(type_info)


def no_columns(type_info: TypeInformation | None) -> ValidationError:
    """Return the error for a stream whose records have no values that are known."""
    return ValidationError(
        f"a stream of type {type_info or 'PickledByteArrayTypeInfo'} has no columns: declare the type of its records, "
        "as in from_collection(..., type_info=Types.ROW_NAMED(...)) or map(..., output_type=Types.ROW_NAMED(...))"
    )


def _dataclass(cls: type) -> StreamType:
    hints = get_type_hints(cls)
    names = tuple(field.name for field in dataclasses.fields(cls))
    return StreamType(names, tuple(_hinted(cls, name, hints[name]) for name in names), True, attributes=names)


def _hinted(cls: type, name: str, hint: Any) -> DataType:
    options = [each for each in getattr(hint, "__args__", ()) if each is not type(None)]
    if hint not in _HINTS and len(options) == 1:
        return _hinted(cls, name, options[0])
    found = _HINTS.get(hint)
    if found is None:
        raise ValidationError(
            f"attribute {name!r} of {cls.__qualname__} has the type {hint!r}, which is no type of a column: map the "
            "stream to Rows with a declared type"
        )
    return found


_ATOMIC: dict[type[DataType], Callable[[], TypeInformation]] = {
    CharType: Types.STRING,
    VarCharType: Types.STRING,
    BinaryType: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    VarBinaryType: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    BooleanType: Types.BOOLEAN,
    TinyIntType: Types.BYTE,
    SmallIntType: Types.SHORT,
    IntType: Types.INT,
    BigIntType: Types.LONG,
    FloatType: Types.FLOAT,
    DoubleType: Types.DOUBLE,
    DecimalType: Types.BIG_DEC,
    DateType: lambda: LocalTimeTypeInfo(_LOCAL.LOCAL_DATE),
    TimeType: lambda: LocalTimeTypeInfo(_LOCAL.LOCAL_TIME),
    TimestampType: lambda: LocalTimeTypeInfo(_LOCAL.LOCAL_DATE_TIME),
    LocalZonedTimestampType: Types.INSTANT,
    YearMonthIntervalType: Types.INT,
    DayTimeIntervalType: Types.PICKLED_BYTE_ARRAY,
}


def record_type(names: Sequence[str], types: Sequence[DataType]) -> TypeInformation:
    """Return the declared type of a stream of rows."""
    return ExternalTypeInfo(Types.ROW_NAMED(list(names), list(map(_type_info, types))))


def _type_info(data_type: DataType) -> TypeInformation:
    if isinstance(data_type, RawType):
        raise ArgumentTypeError(
            "The java type info: GenericType<byte[]> is not supported in PyFlink currently. The values have no type: "
            "declare the type of the stream that the table was made of, as in map(..., output_type=Types.ROW(...))"
        )
    if isinstance(data_type, StructuredType) and data_type.is_tuple:
        return Types.TUPLE(list(map(_type_info, data_type.field_types())))
    if isinstance(data_type, RowType):
        return Types.ROW_NAMED(data_type.field_names(), list(map(_type_info, data_type.field_types())))
    if isinstance(data_type, ArrayType):
        return Types.OBJECT_ARRAY(_type_info(data_type.element_type))
    if isinstance(data_type, MapType):
        return Types.MAP(_type_info(data_type.key_type), _type_info(data_type.value_type))
    if isinstance(data_type, MultisetType):
        return Types.MAP(_type_info(data_type.element_type), Types.INT())
    make = _ATOMIC.get(type(data_type))
    return Types.PICKLED_BYTE_ARRAY() if make is None else make()
