"""The Avro schema that columns give, as Flink's AvroSchemaConverter makes it, and values in its terms."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._epoch import EPOCH, date_of_days, datetime_of_micros, days_of_date, time_of_millis
from scurry.common.nullable import nullable
from scurry.errors import UnsupportedError
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types import (
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
from scurry.sql.types.values import from_values, to_values

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = "org.apache.flink.avro.generated.record"
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


def named_alike(node: Any, writer: Any) -> Any:
    """Return a schema whose records have the names of those they are read from, as Java's Avro ignores these names.

    Args:
        node: The reader's schema, as `schema_of` makes it.
        writer: The schema of what is read.
    """
    if isinstance(node, list):
        return [named_alike(branch, writer) for branch in node]
    branches = writer if isinstance(writer, list) else [writer]
    kind = node["type"] if isinstance(node, dict) else node
    found = next((each for each in branches if isinstance(each, dict) and each["type"] == kind), None)
    if found is None or kind not in ("record", "array", "map"):
        return node
    if kind != "record":
        inside = "items" if kind == "array" else "values"
        return {**node, inside: named_alike(node[inside], found[inside])}
    written = {field["name"]: field["type"] for field in found["fields"]}
    fields = [
        {**field, "type": named_alike(field["type"], written[field["name"]])} if field["name"] in written else field
        for field in node["fields"]
    ]
    return {**node, "name": found["name"], "fields": fields}


def columns_of(records: Sequence[Mapping[str, Any]], columns: Sequence[FormatColumn]) -> pa.RecordBatch:
    """Return some columns of fastavro's records; NULL where a record lacks them."""
    import pyarrow as pa

    if not columns:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * len(records), pa.struct([])))
    arrays = []
    for column in columns:
        convert = nullable(reader_of(column.type))
        arrays.append(from_values([convert(record.get(column.name)) for record in records], column.type))
    return pa.RecordBatch.from_arrays(arrays, names=[column.name for column in columns])


def records_of(batch: pa.RecordBatch, columns: Sequence[FormatColumn]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the columns as records that fastavro takes."""
    names = [column.name for column in columns]
    converted = []
    for column, array in zip(columns, batch.columns, strict=True):
        convert = nullable(writer_of(column.type))
        converted.append([convert(value) for value in to_values(array)])
    return (dict(zip(names, row, strict=True)) for row in zip(*converted, strict=True))


def reader_of(data_type: DataType) -> Convert:
    """Return the function that makes a value of fastavro's, which is not None."""
    if isinstance(data_type, DateType):
        return days_of_date
    if isinstance(data_type, TimeType):
        return lambda value: ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        unit = 1000 if data_type.precision <= 3 else 1
        step = datetime.timedelta(microseconds=unit)
        scale = 1000 if data_type.precision > 6 else 1
        return lambda value: (value.replace(tzinfo=None) - EPOCH) // step * scale
    if isinstance(data_type, ArrayType):
        element = nullable(reader_of(data_type.element_type))
        return lambda values: list(map(element, values))
    if isinstance(data_type, MapType | MultisetType):
        item = nullable(reader_of(data_type.value_type if isinstance(data_type, MapType) else IntType()))
        return lambda entries: [(key, item(value)) for key, value in entries.items()]
    if isinstance(data_type, RowType):
        fields = [(field.name, nullable(reader_of(field.data_type))) for field in data_type.fields]
        return lambda record: tuple([read(record[name]) for name, read in fields])
    return lambda value: value


def writer_of(data_type: DataType) -> Convert:
    """Return the function that makes what fastavro takes of a value, which is not None."""
    if isinstance(data_type, DateType):
        return date_of_days
    if isinstance(data_type, TimeType):
        return time_of_millis
    if isinstance(data_type, TimestampType):
        return lambda value: datetime_of_micros(value * 1000).replace(tzinfo=_UTC)
    if isinstance(data_type, DecimalType):
        unit = decimal.Decimal(1).scaleb(-data_type.scale)
        return lambda value: value.quantize(unit, context=decimal.Context(prec=60))
    if isinstance(data_type, ArrayType):
        element = nullable(writer_of(data_type.element_type))
        return lambda values: list(map(element, values))
    if isinstance(data_type, MapType | MultisetType):
        item = nullable(writer_of(data_type.value_type if isinstance(data_type, MapType) else IntType()))
        return lambda pairs: {key: item(value) for key, value in pairs}
    if isinstance(data_type, RowType):
        fields = [(field.name, nullable(writer_of(field.data_type))) for field in data_type.fields]
        return lambda row: {name: write(value) for (name, write), value in zip(fields, row, strict=True)}
    return lambda value: value
