"""Convert SQL types to the declared types of streams."""

from __future__ import annotations

from collections.abc import Callable

from scurry.common.typeinfo import TypeInformation, Types
from scurry.errors import UnsupportedError
from scurry.sql.types import atomic_types as atomic
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType, MapType, MultisetType, RowType

__all__ = ["to_type_info"]

_ATOMIC: dict[type[DataType], Callable[[], TypeInformation]] = {
    atomic.CharType: Types.STRING,
    atomic.VarCharType: Types.STRING,
    atomic.BinaryType: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    atomic.VarBinaryType: lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    atomic.BooleanType: Types.BOOLEAN,
    atomic.TinyIntType: Types.BYTE,
    atomic.SmallIntType: Types.SHORT,
    atomic.IntType: Types.INT,
    atomic.BigIntType: Types.LONG,
    atomic.FloatType: Types.FLOAT,
    atomic.DoubleType: Types.DOUBLE,
    atomic.DecimalType: Types.BIG_DEC,
    atomic.DateType: Types.SQL_DATE,
    atomic.TimeType: Types.SQL_TIME,
    atomic.TimestampType: Types.SQL_TIMESTAMP,
    atomic.LocalZonedTimestampType: Types.INSTANT,
}


def to_type_info(data_type: DataType) -> TypeInformation:
    """Return the declared type that a SQL type's values have in a stream.

    Raises:
        UnsupportedError: Streams have no such type.
    """
    if isinstance(data_type, RowType):
        return Types.ROW_NAMED(data_type.field_names(), list(map(to_type_info, data_type.field_types())))
    if isinstance(data_type, ArrayType):
        return Types.LIST(to_type_info(data_type.element_type))
    if isinstance(data_type, MapType):
        return Types.MAP(to_type_info(data_type.key_type), to_type_info(data_type.value_type))
    if isinstance(data_type, MultisetType):
        return Types.MAP(to_type_info(data_type.element_type), Types.INT())
    make = _ATOMIC.get(type(data_type))
    if make is None:
        raise UnsupportedError(f"{data_type!r} has no type information; use it in tables only")
    return make()
