"""The Avro schema that columns give, as Flink's AvroSchemaConverter makes it, and values in its terms."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable, Sequence
from typing import Any

from scurry.errors import UnsupportedError
from scurry.formats.contract import FormatColumn
from scurry.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)

__all__ = ["reader_of", "schema_of", "writer_of"]

_NAME = "org.apache.flink.avro.generated.record"
_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_EPOCH = datetime.datetime(1970, 1, 1)
_UTC = datetime.UTC
_PRIMITIVE: dict[type[DataType], Any] = {
    BooleanType: "boolean",
    TinyIntType: "int",
    SmallIntType: "int",
    IntType: "int",
    BigIntType: "long",
    FloatType: "float",
    DoubleType: "double",
    CharType: "string",
    VarCharType: "string",
    BinaryType: "bytes",
    VarBinaryType: "bytes",
    NullType: "null",
    DateType: {"type": "int", "logicalType": "date"},
    TimeType: {"type": "int", "logicalType": "time-millis"},
}

Convert = Callable[[Any], Any]


def schema_of(columns: Sequence[FormatColumn]) -> str:
    """Return the JSON of the schema of a record with some columns.

    Raises:
        UnsupportedError: A type has no counterpart.
    """
    return json.dumps(_record([(column.name, column.type) for column in columns], _NAME))


def _record(fields: Sequence[tuple[str, DataType]], name: str) -> dict[str, Any]:
    made = []
    for field, data_type in fields:
        node = _nullable(data_type, f"{name}_{field}")
        entry: dict[str, Any] = {"name": field, "type": node}
        if isinstance(node, list):
            entry["default"] = None
        made.append(entry)
    return {"type": "record", "name": name, "fields": made}


def _nullable(data_type: DataType, name: str) -> Any:
    node = _node(data_type, name)
    return ["null", node] if data_type.is_nullable and node != "null" else node


def _node(data_type: DataType, name: str) -> Any:
    found = _PRIMITIVE.get(type(data_type))
    if found is not None:
        return found
    if isinstance(data_type, DecimalType):
        return {
            "type": "bytes", "logicalType": "decimal", "precision": data_type.precision, "scale": data_type.scale,
        }  # fmt: skip
    if isinstance(data_type, TimestampType):
        # Flink's legacy mapping, which is its default: TIMESTAMP is timestamp-millis
        if data_type.precision > 3:
            raise UnsupportedError(
                "Avro does not support TIMESTAMP type with precision: "
                f"{data_type.precision}, it only supports precision less than 3."
            )
        return {"type": "long", "logicalType": "timestamp-millis"}
    if isinstance(data_type, ArrayType):
        return {"type": "array", "items": _nullable(data_type.element_type, name)}
    if isinstance(data_type, MapType | MultisetType):
        key = data_type.key_type if isinstance(data_type, MapType) else data_type.element_type
        if not isinstance(key, CharType | VarCharType):
            raise UnsupportedError(
                f"Avro format doesn't support non-string as key type of map. The key type is: {key.as_summary_string()}"
            )
        value = data_type.value_type if isinstance(data_type, MapType) else IntType()
        return {"type": "map", "values": _nullable(value, name)}
    if isinstance(data_type, RowType):
        return _record([(field.name, field.data_type) for field in data_type.fields], name)
    raise UnsupportedError(f"Unsupported to derive Schema for type: {data_type.as_summary_string()}")


def reader_of(data_type: DataType) -> Convert:
    """Return the function that makes a value of fastavro's, which is not None."""
    if isinstance(data_type, DateType):
        return lambda value: value.toordinal() - _EPOCH_DAY
    if isinstance(data_type, TimeType):
        return lambda value: ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        unit = 1000 if data_type.precision <= 3 else 1
        step = datetime.timedelta(microseconds=unit)
        scale = 1000 if data_type.precision > 6 else 1
        return lambda value: (value.replace(tzinfo=None) - _EPOCH) // step * scale
    if isinstance(data_type, ArrayType):
        element = _optional(reader_of(data_type.element_type))
        return lambda values: list(map(element, values))
    if isinstance(data_type, MapType | MultisetType):
        item = _optional(reader_of(data_type.value_type if isinstance(data_type, MapType) else IntType()))
        return lambda entries: [(key, item(value)) for key, value in entries.items()]
    if isinstance(data_type, RowType):
        fields = [(field.name, _optional(reader_of(field.data_type))) for field in data_type.fields]
        return lambda record: tuple([read(record[name]) for name, read in fields])
    return lambda value: value


def writer_of(data_type: DataType) -> Convert:
    """Return the function that makes what fastavro takes of a value, which is not None."""
    if isinstance(data_type, DateType):
        return lambda value: datetime.date.fromordinal(value + _EPOCH_DAY)
    if isinstance(data_type, TimeType):
        return lambda value: (_EPOCH + datetime.timedelta(milliseconds=value)).time()
    if isinstance(data_type, TimestampType):
        return lambda value: (_EPOCH + datetime.timedelta(milliseconds=value)).replace(tzinfo=_UTC)
    if isinstance(data_type, DecimalType):
        unit = decimal.Decimal(1).scaleb(-data_type.scale)
        return lambda value: value.quantize(unit, context=decimal.Context(prec=60))
    if isinstance(data_type, ArrayType):
        element = _optional(writer_of(data_type.element_type))
        return lambda values: list(map(element, values))
    if isinstance(data_type, MapType | MultisetType):
        item = _optional(writer_of(data_type.value_type if isinstance(data_type, MapType) else IntType()))
        return lambda pairs: {key: item(value) for key, value in pairs}
    if isinstance(data_type, RowType):
        fields = [(field.name, _optional(writer_of(field.data_type))) for field in data_type.fields]
        return lambda row: {name: write(value) for (name, write), value in zip(fields, row, strict=True)}
    return lambda value: value


def _optional(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)
