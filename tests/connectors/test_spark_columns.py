"""Rows of DataFrames and of Spark's sinks: what Arrow columns become, and what becomes of records. No Spark needed."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from scurry.common import Row, Types
from scurry.connectors.source import ChunkSizer
from scurry.connectors.spark_sink import SparkSink
from scurry.connectors.spark_source import SparkSource, arrow_rows
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ArgumentError, JobError, UnsupportedError
from support.chunks import present

NOON = datetime.datetime(2026, 11, 21, 12)


class Frame:
    isStreaming = False
    columns = ["a"]


def batch(**columns: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


def test_rows_have_the_names_of_the_columns() -> None:
    assert list(arrow_rows(batch(a=[1, None], b=["x", "y"]))[:]) == [Row(a=1, b="x"), Row(a=None, b="y")]


def test_structs_are_rows_and_maps_dicts_at_any_depth() -> None:
    struct = pa.struct([("n", pa.int64()), ("m", pa.map_(pa.string(), pa.list_(pa.struct([("x", pa.int32())]))))])
    column = pa.array([{"n": 1, "m": [("k", [{"x": 2}, None])]}, None], struct)
    (first, second) = arrow_rows(pa.RecordBatch.from_arrays([column], ["s"]))
    assert first == Row(s=Row(n=1, m={"k": [Row(x=2), None]}))
    assert second == Row(s=None)


def test_a_source_reads_batches_as_its_work() -> None:
    source = SparkSource(None, ("a",), True)
    chunks = source.read(iter([batch(a=[1, 2]), batch(a=[3])]), ChunkSizer(size=10))
    assert [row.a for values, _ in present(chunks) for row in values] == [1, 2, 3]


def sink(columns: Any, type_info: Any = None) -> SparkSink:
    return SparkSink.of("parquet", {}, columns, "append", type_info)


def written(values: list[Any], *columns: tuple[str, pa.DataType]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        sink({name: "ANY" for name, _ in columns}).record_batch(values, pa.schema(list(columns))).to_pylist()
    )
    return rows


@dataclass
class Reading:
    sensor: str
    value: int


COLUMNS = (("sensor", pa.string()), ("value", pa.int64()))


@pytest.mark.parametrize(
    "record",
    [("a", 1), Row("a", 1), Row(sensor="a", value=1), {"value": 1, "sensor": "a"}, Reading("a", 1)],
    ids=["tuple", "row", "named row", "dict", "object"],
)
def test_a_record_may_be(record: Any) -> None:
    assert written([record], *COLUMNS) == [{"sensor": "a", "value": 1}]


def test_with_one_column_a_record_may_be_the_value() -> None:
    assert written([1, None, (3,)], ("value", pa.int64())) == [{"value": 1}, {"value": None}, {"value": 3}]


def test_a_record_with_too_few_fields_is_an_error() -> None:
    with pytest.raises(ValueError, match="1 fields for 2 columns"):
        written([("a",)], *COLUMNS)


def test_nested_values_become_structs_and_maps() -> None:
    struct = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.int32()))])
    rows = written([(Row(x=1, y=[2]), {"k": (3, None)})], ("s", struct), ("m", pa.map_(pa.string(), struct)))
    assert rows == [{"s": {"x": 1, "y": [2]}, "m": [("k", {"x": 3, "y": None})]}]


def test_datetimes_without_a_zone_are_in_the_sessions() -> None:
    kind = pa.timestamp("us", tz="Europe/Berlin")
    (row,) = written([(NOON, NOON.replace(tzinfo=datetime.UTC))], ("naive", kind), ("aware", kind))
    assert (row["naive"].astimezone(datetime.UTC).hour, row["aware"].astimezone(datetime.UTC).hour) == (11, 12)


def test_decimals_keep_their_digits() -> None:
    assert written([Decimal("1.50")], ("d", pa.decimal128(38, 18)))[0]["d"] == Decimal("1.50")


def test_columns_come_from_the_declared_type() -> None:
    row = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.LIST(Types.STRING())])
    assert sink(None, row).schema == (("a", "INT"), ("b", "ARRAY<STRING>"))


def test_arrays_and_bytes_have_columns() -> None:
    arrays = [Types.BASIC_ARRAY(Types.STRING()), Types.OBJECT_ARRAY(Types.TUPLE([Types.INT()])),
              Types.PRIMITIVE_ARRAY(Types.DOUBLE()), Types.PRIMITIVE_ARRAY(Types.BYTE())]  # fmt: skip
    kinds = [kind for _, kind in sink(None, Types.ROW(arrays)).schema]
    assert kinds == ["ARRAY<STRING>", "ARRAY<STRUCT<f0: INT>>", "ARRAY<DOUBLE>", "BINARY"]


def test_undeclared_columns_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ArgumentError, match="declare the stream's output_type"):
        sink(None)


@pytest.mark.parametrize("side", ["source", "sink"])
def test_the_in_process_runner_refuses_what_only_spark_can_do(side: str) -> None:
    from scurry.common import Configuration

    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    if side == "source":
        env.from_spark(Frame()).print()  # type: ignore[arg-type]
    else:
        env.from_collection([1], Types.INT()).to_spark("parquet", {"path": "/nowhere"})
    with pytest.raises(JobError, match="the in-process runner cannot run it") as caught:
        env.execute()
    assert isinstance(caught.value.cause, UnsupportedError)
