"""The Avro schema that columns give, as Flink's AvroSchemaConverter makes it, and values in its terms."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._epoch import days_of_date, micros_of_datetime, millis_of_time
from scurry.errors import RecordRejectedError, UnsupportedError
from scurry.sql import types
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types.arrow import units_per_second
from scurry.sql.types.values import batch_of_columns, from_values, to_values
from scurry.sql.values.converters import Convert, FromPython, ToPython, converted
from scurry.sql.values.texts import date_text, timestamp_text

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = "org.apache.flink.avro.generated.record"
_PRIMITIVE: dict[type[types.DataType], Any] = {
    types.BooleanType: "boolean",
    types.TinyIntType: "int",
    types.SmallIntType: "int",
    types.IntType: "int",
    types.BigIntType: "long",
    types.FloatType: "float",
    types.DoubleType: "double",
    types.CharType: "string",
    types.VarCharType: "string",
    types.BinaryType: "bytes",
    types.VarBinaryType: "bytes",
    types.NullType: "null",
    types.DateType: {"type": "int", "logicalType": "date"},
    types.TimeType: {"type": "int", "logicalType": "time-millis"},
}


def schema_of(columns: Sequence[FormatColumn]) -> str:
    """Return the JSON of the schema of a record with some columns.

    Raises:
        UnsupportedError: A type has no counterpart.
    """
    return json.dumps(_record([(column.name, column.type) for column in columns], _NAME))


def _record(fields: Sequence[tuple[str, types.DataType]], name: str) -> dict[str, Any]:
    made = []
    for field, data_type in fields:
        node = _nullable(data_type, f"{name}_{field}")
        entry: dict[str, Any] = {"name": field, "type": node}
        if isinstance(node, list):
            entry["default"] = None
        made.append(entry)
    return {"type": "record", "name": name, "fields": made}


def _nullable(data_type: types.DataType, name: str) -> Any:
    node = _node(data_type, name)
    return ["null", node] if data_type.is_nullable and node != "null" else node


def _node(data_type: types.DataType, name: str) -> Any:
    found = _PRIMITIVE.get(type(data_type))
    if found is not None:
        return found
    if isinstance(data_type, types.DecimalType):
        return {
            "type": "bytes",
            "logicalType": "decimal",
            "precision": data_type.precision,
            "scale": data_type.scale,
        }
    if isinstance(data_type, types.TimestampType):
        # Flink's legacy mapping, which is its default: TIMESTAMP is timestamp-millis
        if data_type.precision > 3:
            raise UnsupportedError(
                "Avro does not support TIMESTAMP type with precision: "
                f"{data_type.precision}, it only supports precision less than 3."
            )
        return {"type": "long", "logicalType": "timestamp-millis"}
    if isinstance(data_type, types.ArrayType):
        return {"type": "array", "items": _nullable(data_type.element_type, name)}
    if isinstance(data_type, types.MapType | types.MultisetType):
        key = data_type.key_type if isinstance(data_type, types.MapType) else data_type.element_type
        if not isinstance(key, types.CharType | types.VarCharType):
            raise UnsupportedError(
                f"Avro format doesn't support non-string as key type of map. The key type is: {key.as_summary_string()}"
            )
        value = data_type.value_type if isinstance(data_type, types.MapType) else types.IntType()
        return {"type": "map", "values": _nullable(value, name)}
    if isinstance(data_type, types.RowType):
        return _record([(field.name, field.data_type) for field in data_type.fields], name)
    raise UnsupportedError(f"Unsupported to derive Schema for type: {data_type.as_summary_string()}")


def named_alike(node: Any, writer: Any) -> Any:
    """Return a schema whose records have the names of those they are read from, as Java's Avro ignores these names.

    Args:
        node: The reader's schema, as `schema_of` makes it.
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
    arrays = []
    for column in columns:
        convert = _FROM_AVRO.part(column.type)
        arrays.append(from_values([convert(record.get(column.name)) for record in records], column.type))
    return batch_of_columns(arrays, [column.name for column in columns], len(records))


def records_of(batch: pa.RecordBatch, columns: Sequence[FormatColumn]) -> Iterator[dict[str, Any]]:
    """Return the rows of the columns as records that fastavro takes.

    Raises:
        RecordRejectedError: A date or a timestamp is not of the years 1 to 9999, those of Python's objects.
    """
    names = [column.name for column in columns]
    values = []
    for column, array in zip(columns, batch.columns, strict=True):
        convert, value = converted(_TO_AVRO.converter(column.type)), None
        try:
            values.append([convert(value := each) for each in to_values(array)])
        except (ValueError, OverflowError):  # of a date or timestamp, in the column or within its value
            raise _beyond_years(column, value) from None
    return (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))


def _beyond_years(column: FormatColumn, value: Any) -> RecordRejectedError:
    shown = value
    if isinstance(column.type, types.DateType):
        shown = date_text(value)
    elif isinstance(column.type, types.TimestampType):
        shown = timestamp_text(value * (1_000_000_000 // units_per_second(column.type)))
    return RecordRejectedError(
        f"column '{column.name}' ({column.type.as_summary_string()}): dates and timestamps of Avro are written from "
        f"year 1 to 9999, got {shown}",
        value,
    ).with_hint("leave the row out, or write CAST(... AS STRING)")


class _FromAvro(FromPython):
    """Conversion of fastavro's values to those of columns."""

    def atom(self, data_type: types.DataType) -> Convert:
        if isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType):
            per_second = units_per_second(data_type)
            return lambda value: micros_of_datetime(value) * per_second // 1_000_000
        return _TEMPORAL.get(type(data_type), _same)

    def fields(self, data_type: types.RowType) -> Callable[[Any], Iterable[Any]]:
        names = data_type.field_names()
        return lambda record: [record[name] for name in names]


class _ToAvro(ToPython):
    """Conversion of values of columns to fastavro's."""

    def converter(self, data_type: types.DataType) -> Convert | None:
        if isinstance(data_type, types.DecimalType):
            unit, context = decimal.Decimal(1).scaleb(-data_type.scale), decimal.Context(prec=60)
            return lambda value: value.quantize(unit, context=context)
        return super().converter(data_type)

    def timestamp(self, per_second: int) -> Convert:
        naive = super().timestamp(per_second)
        return lambda value: naive(value).replace(tzinfo=datetime.UTC)

    def instant(self, per_second: int) -> Convert:
        return _same

    def row(self, data_type: types.RowType, fields: list[Convert]) -> Convert:
        parts = list(zip(data_type.field_names(), fields, strict=True))
        return lambda row: {name: write(value) for (name, write), value in zip(parts, row, strict=True)}


def _same(value: Any) -> Any:
    return value


_TEMPORAL: dict[type[types.DataType], Convert] = {types.DateType: days_of_date, types.TimeType: millis_of_time}
_FROM_AVRO, _TO_AVRO = _FromAvro(), _ToAvro()
