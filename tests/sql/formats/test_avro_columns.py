"""The format `avro`: what is written is read back, in the schema that Flink derives."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from scurry.datastream.formats.avro import AvroRowDeserializationSchema, AvroRowSerializationSchema
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options
from scurry.sql.formats.avro.messages import AvroEncoder
from scurry.sql.formats.avro.schema import schema_of
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.message_format import bound_format
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    MapType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.values import from_values, to_values
from scurry.sql.values.records import record_values

STRING = VarCharType(0x7FFFFFFF)
ROWS: dict[str, tuple[DataType, list[Any]]] = {
    "i": (IntType().not_null(), [1, 2]),
    "s": (STRING, ["a", None]),
    "d": (DecimalType(6, 2), [Decimal("1.50"), None]),
    "day": (DateType(), [19_782, None]),
    "at": (TimestampType(3), [1_700_000_000_123, None]),
    "tm": (TimeType(3), [3_723_000, None]),
    "list": (ArrayType(IntType()), [[1, None], None]),
    "map": (MapType(STRING.not_null(), IntType()), [[("k", 1)], None]),
    "row": (RowType([RowField("x", IntType())]), [(5,), None]),
}
COLUMNS = [FormatColumn(name, data_type) for name, (data_type, _) in ROWS.items()]


def test_rows_that_were_written_are_read() -> None:
    batch = pa.RecordBatch.from_arrays(
        [from_values(values, data_type) for data_type, values in ROWS.values()], names=list(ROWS)
    )
    messages = bound_format(Options({}), "", "avro", COLUMNS, "sink").encoder().encode(batch)
    read = bound_format(Options({}), "", "avro", COLUMNS, "scan").decoder(["row", *ROWS], ()).decode(messages)
    assert to_values(read.column(0)) == ROWS["row"][1]
    assert [to_values(column) for column in read.columns[1:]] == [values for _, values in ROWS.values()]


def test_the_schema_is_the_one_flink_derives() -> None:
    assert json.loads(schema_of([FormatColumn("a", IntType()), FormatColumn("b", STRING.not_null())])) == {
        "type": "record",
        "name": "org.apache.flink.avro.generated.record",
        "fields": [{"name": "a", "type": ["null", "int"], "default": None}, {"name": "b", "type": "string"}],
    }


def test_timestamps_have_milliseconds() -> None:
    with pytest.raises(UnsupportedError, match="Avro does not support TIMESTAMP type with precision: 6"):
        bound_format(Options({}), "", "avro", [FormatColumn("a", TimestampType(6))], "scan")


def test_a_registry_has_an_address() -> None:
    with pytest.raises(ValidationError, match="(?s)Missing required options are:.*avro-confluent.url"):
        bound_format(Options({}), "", "avro-confluent", COLUMNS, "scan")


@pytest.mark.parametrize(
    ("data_type", "values"),
    [
        (BooleanType(), [True, None]),
        (SmallIntType(), [-5, None]),
        (BigIntType(), [1 << 40, None]),
        (FloatType(), [1.5, None]),
        (CharType(3), ["a  ", None]),
        (VarBinaryType(9), [b"\0\xff", None]),
        (DateType(), [18_000, None]),
        (TimeType(3), [36_672_123, None]),
        (DecimalType(10, 2), [Decimal("1.50"), Decimal("-100.00"), None]),
        (TimestampType(3), [1_577_836_800_123, -62_135_596_800_000, None]),
        (MapType(VarCharType(5), DateType()), [[("a", 1), ("b", None)], None]),
        (RowType([RowField("x", TimestampType(3)), RowField("y", ArrayType(DecimalType(5, 1)))]), [(5, []), None]),
    ],
    ids=lambda given: given.as_summary_string() if isinstance(given, DataType) else "",
)
def test_schemas_of_streams_read_and_write_the_messages_of_tables(data_type: DataType, values: list[Any]) -> None:
    columns = (FormatColumn("a", data_type),)
    batch = pa.RecordBatch.from_arrays([from_values(values, data_type)], names=["a"])
    messages, schema = AvroEncoder(columns).encode(batch), schema_of(columns)
    reader = AvroRowDeserializationSchema(avro_schema_string=schema)
    records = [reader.deserialize(message) for message in messages]
    assert [record["a"] for record in records] == record_values(batch.column(0), data_type)
    writer = AvroRowSerializationSchema(avro_schema_string=schema)
    assert [writer.serialize(record) for record in records] == messages
