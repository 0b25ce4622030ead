"""Declared types of streams as SQL types, and SQL types as declared types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scurry.common.typeinfo import (
    BasicArrayTypeInfo,
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
    MAX_LENGTH,
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

#: type of a stream -> its values as a column
_COLUMNS: dict[TypeInformation, DataType] = {
    Types.STRING(): VarCharType(MAX_LENGTH),
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


def represented(type_info: TypeInformation | None) -> TypeInformation | None:
    """Return the type of the values that a type of another API stands for."""
    return type_info.represented if isinstance(type_info, ExternalTypeInfo) else type_info


def own_value_type(type_info: TypeInformation | None) -> DataType:
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
    type_info = represented(type_info)
    if type_info is None or type_info == Types.PICKLED_BYTE_ARRAY():
        return RawType("[B")
    known = _COLUMNS.get(type_info)
    if known is not None:
        return known
    if isinstance(type_info, LocalTimeTypeInfo):
        return value_type(type_info.represented)
    if isinstance(type_info, PrimitiveArrayTypeInfo):
        if type_info.elem_type == Types.BYTE():
            return VarBinaryType(MAX_LENGTH)
        return ArrayType(value_type(type_info.elem_type).not_null())
    if isinstance(type_info, ListTypeInfo):  # Java has arrays of primitive values for lists of them
        return ArrayType(own_value_type(type_info.elem_type))
    if isinstance(type_info, BasicArrayTypeInfo | ObjectArrayTypeInfo):
        return ArrayType(value_type(type_info.elem_type))
    if isinstance(type_info, MapTypeInfo):
        return MapType(value_type(type_info.key_type), value_type(type_info.value_type))
    if isinstance(type_info, RowTypeInfo):
        pairs = zip(type_info.get_field_names(), type_info.get_field_types(), strict=True)
        return RowType([RowField(name, value_type(each)) for name, each in pairs])
    if isinstance(type_info, TupleTypeInfo):
        fields = enumerate(type_info.get_field_types())
        parts = [RowField(f"f{place}", own_value_type(each)) for place, each in fields]
        return StructuredType(f"{TUPLE_CLASS}{len(parts)}", parts)
    raise no_columns(type_info)


def no_columns(type_info: TypeInformation | None) -> ValidationError:
    """Return the error for a stream whose records have no values that are known."""
    return ValidationError(
        f"a stream of type {type_info or 'PickledByteArrayTypeInfo'} has no columns: declare the type of its records, "
        "as in from_collection(..., type_info=Types.ROW_NAMED(...)) or map(..., output_type=Types.ROW_NAMED(...))"
    )


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
    return ExternalTypeInfo(Types.ROW_NAMED(list(names), list(map(to_type_info, types))))


def to_type_info(data_type: DataType) -> TypeInformation:
    """Return the declared type of the values of a SQL type in a stream.

    Raises:
        ArgumentTypeError: It is RAW, whose values have no type.
    """
    if isinstance(data_type, RawType):
        raise ArgumentTypeError(
            "The java type info: GenericType<byte[]> is not supported in PyFlink currently. The values have no type: "
            "declare the type of the stream that the table was made of, as in map(..., output_type=Types.ROW(...))"
        )
    if isinstance(data_type, StructuredType) and data_type.is_tuple:
        return Types.TUPLE(list(map(to_type_info, data_type.field_types())))
    if isinstance(data_type, RowType):
        return Types.ROW_NAMED(data_type.field_names(), list(map(to_type_info, data_type.field_types())))
    if isinstance(data_type, ArrayType):
        return Types.OBJECT_ARRAY(to_type_info(data_type.element_type))
    if isinstance(data_type, MapType):
        return Types.MAP(to_type_info(data_type.key_type), to_type_info(data_type.value_type))
    if isinstance(data_type, MultisetType):
        return Types.MAP(to_type_info(data_type.element_type), Types.INT())
    make = _ATOMIC.get(type(data_type))
    return Types.PICKLED_BYTE_ARRAY() if make is None else make()
