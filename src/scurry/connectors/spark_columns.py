"""Conversion of records to columns of Spark: names and Spark SQL types of declared types, values for Arrow."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Callable, Sequence
from typing import Any

from scurry.common.nullable import nullable
from scurry.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from scurry.common.types import Row
from scurry.errors import ArgumentError

_ARRAYS = (BasicArrayTypeInfo, ListTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)
_SPARK_NAMES = {
    BasicType.STRING: "STRING",
    BasicType.CHAR: "STRING",
    BasicType.BYTE: "TINYINT",
    BasicType.BOOLEAN: "BOOLEAN",
    BasicType.SHORT: "SMALLINT",
    BasicType.INT: "INT",
    BasicType.LONG: "BIGINT",
    BasicType.FLOAT: "FLOAT",
    BasicType.DOUBLE: "DOUBLE",
    BasicType.BIG_INT: "DECIMAL(38,0)",
    BasicType.BIG_DEC: "DECIMAL(38,18)",
    BasicType.INSTANT: "TIMESTAMP",
}


def fields_of(value: Any, names: Sequence[str]) -> Sequence[Any]:
    """Return the fields of a record, in the order of the columns."""
    if isinstance(value, (Row, tuple)):
        if len(value) != len(names):
            raise ValueError(f"a record of {len(value)} fields for {len(names)} columns")
        return tuple(value)
    if isinstance(value, dict):
        return [value[name] for name in names]
    if len(names) == 1:
        return (value,)
    return [getattr(value, name) for name in names]


def to_arrow(kind: Any) -> Callable[[Any], Any] | None:
    """Return the function that converts a value for pyarrow; None if no conversion is needed."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        names = [field.name for field in kind]
        parts = [to_arrow(field.type) or _same for field in kind]
        return nullable(
            lambda value: {n: part(v) for n, part, v in zip(names, parts, fields_of(value, names), strict=True)}
        )
    if pa.types.is_map(kind):
        key, item = to_arrow(kind.key_type) or _same, to_arrow(kind.item_type) or _same
        return nullable(lambda value: [(key(k), item(v)) for k, v in value.items()])
    if pa.types.is_list(kind):
        element = to_arrow(kind.value_type)
        return None if element is None else nullable(lambda value: list(map(element, value)))
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        zone = zoneinfo.ZoneInfo(kind.tz)
        return lambda value: _in_zone(value, zone)
    return None


def _in_zone(value: Any, zone: datetime.tzinfo) -> Any:
    naive = isinstance(value, datetime.datetime) and value.tzinfo is None
    return value.replace(tzinfo=zone) if naive else value


def _same(value: Any) -> Any:
    return value


def declared_columns(type_info: TypeInformation | None) -> tuple[list[str], list[TypeInformation]]:
    """Return the names and declared types of the columns of records of a declared type.

    Raises:
        ArgumentError: The type does not determine the columns.
    """
    if isinstance(type_info, RowTypeInfo):
        return type_info.get_field_names(), type_info.get_field_types()
    if isinstance(type_info, TupleTypeInfo):
        types = type_info.get_field_types()
        return [f"f{i}" for i in range(len(types))], types
    if type_info is None or type_info == Types.PICKLED_BYTE_ARRAY():
        raise ArgumentError(
            "the columns are not known: declare the stream's output_type, or pass columns={name: Spark SQL type, ...}"
        )
    return ["value"], [type_info]


def spark_type(type_info: TypeInformation) -> str:
    """Return the Spark SQL type of a declared type.

    Raises:
        ArgumentError: There is no such Spark SQL type.
    """
    if isinstance(type_info, BasicTypeInfo):
        return _SPARK_NAMES[type_info.basic_type]
    if isinstance(type_info, DateTypeInfo):
        return "DATE"
    if isinstance(type_info, TimestampTypeInfo):
        return "TIMESTAMP"
    if type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return "BINARY"
    if isinstance(type_info, _ARRAYS):
        return f"ARRAY<{spark_type(type_info.elem_type)}>"
    if isinstance(type_info, MapTypeInfo):
        return f"MAP<{spark_type(type_info.key_type)}, {spark_type(type_info.value_type)}>"
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        names, types = declared_columns(type_info)
        return f"STRUCT<{', '.join(f'{n}: {spark_type(t)}' for n, t in zip(names, types, strict=True))}>"
    raise ArgumentError(f"{type_info} has no Spark SQL type; pass columns={{name: Spark SQL type, ...}}")
