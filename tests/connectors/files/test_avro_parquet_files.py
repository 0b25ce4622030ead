"""Records of Avro in Parquet files: what is written comes back as from Avro files, and other tools read it."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Configuration, Row, WatermarkStrategy
from scurry.connectors.avro.files import AvroFileFormat, AvroFileWriterFactory
from scurry.connectors.files.filesystem import LocalFileSystem
from scurry.connectors.source import BatchLimits, MalformedRecords
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import BucketAssigner, FileEnumeratorProvider, FileSink, FileSource
from scurry.datastream.formats.avro import AvroSchema, GenericRecordAvroTypeInfo
from scurry.datastream.formats.parquet import (
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from scurry.errors import ArgumentTypeError, MalformedRecordError, TypeMismatchError, UnsupportedError
from scurry.table.types import DataTypes

FLINK = Path(__file__).parents[2] / "fixtures/flink/connectors/avro_parquet"
Drive = Callable[..., Any]
Run = Callable[..., Any]


def record(*fields: tuple[Any, ...], name: str = "Order") -> AvroSchema:
    """A schema of fields, each a name, a type and perhaps a default."""
    declared = [dict(zip(("name", "type", "default"), field, strict=False)) for field in fields]
    return AvroSchema.parse_string(json.dumps({"type": "record", "name": name, "fields": declared}))


def logical(kind: str, logical_type: str, /, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical_type, **more}


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


ORDER = record(("n", "long"), ("note", ["null", "string"], None), ("tags", array("string"), []))
ORDERS = [{"n": 1, "note": "a", "tags": ["x", "y"]}, {"n": 2, "note": None, "tags": []}]


def written(path: Path, schema: AvroSchema, records: list[Any], **options: Any) -> Path:
    with open(path, "wb") as stream:
        writer = AvroParquetWriters.for_generic_record(schema, **options).create(stream)
        writer.write(records)
        writer.finish()
    return path


def blocks(file_format: Any, path: Path) -> list[Any]:
    size = path.stat().st_size
    return list(file_format.read(LocalFileSystem(), str(path), 0, size, size))


def read(schema: AvroSchema, path: Path) -> list[Any]:
    return [each for block in blocks(AvroParquetReaders.for_generic_record(schema), path) for each in block]


def there_and_back(tmp_path: Path, schema: AvroSchema, *records: Any) -> list[Any]:
    return read(schema, written(tmp_path / "f.parquet", schema, list(records)))


class TestTypes:
    @pytest.mark.parametrize(
        ("kind", "value"),
        [
            ("boolean", True),
            ("int", -(1 << 31)),
            ("long", 1 << 60),
            ("float", 0.5),
            ("double", 0.1),
            ("string", "ü"),
            ("bytes", b"\x00\xff"),
            ({"type": "fixed", "name": "F", "size": 3}, b"abc"),
            ({"type": "enum", "name": "E", "symbols": ["RED", "BLUE"]}, "BLUE"),
            (logical("bytes", "decimal", precision=10, scale=2), Decimal("-12.34")),
            (logical("fixed", "decimal", name="D", size=16, precision=10, scale=2), Decimal("12.34")),
            (logical("fixed", "decimal", name="D", size=30, precision=5), Decimal("12345")),
            (logical("int", "date"), datetime.date(1969, 3, 4)),
            (logical("int", "time-millis"), datetime.time(1, 2, 3, 4000)),
            (logical("long", "time-micros"), datetime.time(1, 2, 3, 4)),
            (logical("long", "timestamp-millis"), datetime.datetime(1969, 3, 4, 5, 6, 7, 8000, datetime.UTC)),
            (logical("long", "timestamp-micros"), datetime.datetime(2026, 3, 4, 5, 6, 7, 8, datetime.UTC)),
            (logical("long", "local-timestamp-millis"), 1_700_000_000_123),
            (logical("string", "uuid"), "2f9c2b3e-0000-4000-8000-000000000000"),
            (array(array(["null", "int"])), [[1, None], []]),
            ({"type": "map", "values": {"type": "map", "values": "long"}}, {"a": {"b": 1}, "c": {}}),
            ({"type": "record", "name": "In", "fields": [{"name": "x", "type": ["int", "null"]}]}, {"x": None}),
            (["null", "string"], None),
            (["null", "string", "long"], "text"),
            (["null", "string", "long"], 7),
            (["null", "string", "long"], None),
            ([{"type": "map", "values": "int"}, array("int")], [1]),
            ([{"type": "map", "values": "int"}, array("int")], {"a": 1}),
            ("null", None),
        ],
    )
    def test_a_value_comes_back(self, tmp_path: Path, kind: Any, value: Any) -> None:
        schema = record(("id", "int"), ("v", kind))
        [back] = there_and_back(tmp_path, schema, {"id": 1, "v": value})
        assert back == {"id": 1, "v": value}
        assert type(back["v"]) is type(value)

    def test_timestamps_are_in_utc_with_zone(self, tmp_path: Path) -> None:
        schema = record(("at", logical("long", "timestamp-millis")))
        berlin = datetime.timezone(datetime.timedelta(hours=1))
        given_ = [datetime.datetime(2026, 3, 4, 5, tzinfo=berlin), datetime.datetime(2026, 3, 4, 5)]
        back = there_and_back(tmp_path, schema, *({"at": each} for each in given_))
        assert [each["at"] for each in back] == [datetime.datetime(2026, 3, 4, h, tzinfo=datetime.UTC) for h in (4, 5)]
        assert all(each["at"].tzinfo is datetime.UTC for each in back)

    def test_of_two_types_with_the_same_column_the_written_one_is_read(self, tmp_path: Path) -> None:
        enum = {"type": "enum", "name": "E", "symbols": ["RED"]}
        schema = record(("v", [enum, {"type": "fixed", "name": "F", "size": 2}, "string"]))
        assert [each["v"] for each in there_and_back(tmp_path, schema, {"v": "RED"}, {"v": "pink"}, {"v": b"ab"})] == [
            "RED", "pink", b"ab",
        ]  # fmt: skip

    def test_rows_and_tuples_are_written_and_defaults_filled_in(self, tmp_path: Path) -> None:
        given_ = [Row(n=1, note="a", tags=["x"]), (2, None, []), {"n": 3}]
        assert there_and_back(tmp_path, ORDER, *given_) == [
            {"n": 1, "note": "a", "tags": ["x"]},
            {"n": 2, "note": None, "tags": []},
            {"n": 3, "note": None, "tags": []},
        ]

    @pytest.mark.parametrize(
        ("kind", "value", "reason"),
        [
            ("string", 5, "it is a str"),
            ("string", None, "it is a str"),
            ("double", "1", "it is a float"),
            ("float", 1e300, "too large"),
            ({"type": "enum", "name": "E", "symbols": ["RED"]}, "PINK", "the symbols are RED"),
            ({"type": "fixed", "name": "F", "size": 3}, b"ab", "3 long"),
            (logical("bytes", "decimal", precision=4, scale=2), Decimal("1.234"), "at most 4 digits, 2 of them"),
            (logical("bytes", "decimal", precision=4, scale=2), Decimal("123"), "at most 4 digits"),
            ({"type": "map", "values": "int"}, {1: 1}, "it is a str"),
            (["null", "string", "long"], 1.5, "Avro union"),
            (array("int"), [None], "an int is an int of 32 bits, in field 'v'"),
        ],
    )
    def test_a_value_that_does_not_fit_is_shown(self, tmp_path: Path, kind: Any, value: Any, reason: str) -> None:
        with pytest.raises(TypeMismatchError, match=reason):
            written(tmp_path / "f", record(("v", kind)), [{"v": value}])

    def test_types_that_parquet_does_not_have_are_refused(self) -> None:
        node = '{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}'
        for make in (AvroParquetReaders.for_generic_record, AvroParquetWriters.for_generic_record):
            for schema, reason in [
                (AvroSchema('"string"'), "only records"),
                (AvroSchema(node), "contains itself"),
                (record(("v", "null")), "has no fields to be columns"),
                (record(("v", array("null"))), "the Avro type null"),
                (record(("v", logical("bytes", "decimal", precision=90))), "wider than the 32 bytes"),
            ]:
                with pytest.raises(UnsupportedError, match=reason):
                    make(schema)
            with pytest.raises(ArgumentTypeError, match="AvroSchema"):
                make("{}")  # type: ignore[arg-type]


NAMES = st.integers(0, 9).map("f{}".format)
MOMENTS = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1), timezones=st.just(datetime.UTC))
#: Types, each with its values.
SCALARS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    ("boolean", st.booleans()),
    ("int", st.integers(-(1 << 31), (1 << 31) - 1)),
    ("long", st.integers(-(1 << 63), (1 << 63) - 1)),
    ("float", st.floats(width=32, allow_nan=False)),
    ("double", st.floats(allow_nan=False) | st.integers(-(1 << 70), 1 << 70)),
    ("string", st.text(max_size=5)),
    ("bytes", st.binary(max_size=5)),
    (logical("int", "date"), st.dates()),
    (logical("int", "time-millis"), st.times()),
    (logical("long", "time-micros"), st.times()),
    (logical("long", "timestamp-millis"), MOMENTS),
    (logical("long", "timestamp-micros"), MOMENTS),
    (logical("bytes", "decimal", precision=12, scale=3), st.decimals(-(10**8), 10**8, places=3)),
]


@st.composite
def types(draw: st.DrawFn, depth: int = 2) -> tuple[Any, st.SearchStrategy[Any]]:
    """A type, and its values."""
    shape = draw(st.sampled_from(["scalar", "nullable", "array", "map", "record", "named"])) if depth else "scalar"
    if shape == "scalar":
        return draw(st.sampled_from(SCALARS))  # type: ignore[no-any-return]
    if shape == "named":
        unique = draw(st.uuids()).hex
        size = draw(st.integers(1, 20))
        return draw(
            st.sampled_from(
                [
                    ({"type": "enum", "name": f"E{unique}", "symbols": ["A", "B"]}, st.sampled_from("AB")),
                    ({"type": "fixed", "name": f"F{unique}", "size": size}, st.binary(min_size=size, max_size=size)),
                    (
                        logical("fixed", "decimal", name=f"D{unique}", size=size, precision=2, scale=1),
                        st.integers(-99, 99).map(lambda n: Decimal(n).scaleb(-1)),
                    ),
                ]
            )
        )
    if shape == "record":
        fields = draw(st.dictionaries(NAMES, types(depth=depth - 1), min_size=1, max_size=3))
        declared = [{"name": name, "type": kind} for name, (kind, _) in fields.items()]
        kind = {"type": "record", "name": f"R{draw(st.uuids()).hex}", "fields": declared}
        return kind, st.fixed_dictionaries({name: values for name, (_, values) in fields.items()})
    kind, values = draw(types(depth=depth - 1))
    if shape == "array":
        return array(kind), st.lists(values, max_size=3)
    if shape == "map":
        return {"type": "map", "values": kind}, st.dictionaries(st.text(max_size=3), values, max_size=3)
    return (kind, values) if isinstance(kind, list) else (["null", kind], st.none() | values)


@st.composite
def records_of_a_schema(draw: st.DrawFn) -> tuple[AvroSchema, list[Any]]:
    fields = draw(st.dictionaries(NAMES, types(), min_size=1, max_size=4))
    values = st.fixed_dictionaries({name: values for name, (_, values) in fields.items()})
    return record(*((name, kind) for name, (kind, _) in fields.items())), draw(st.lists(values, max_size=5))


class Memory(LocalFileSystem):
    """A file system of one file."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def open_input(self, path: str) -> Any:
        return io.BytesIO(self._content)


@settings(deadline=None)
@given(records_of_a_schema())
def test_any_records_come_back_as_from_avro_files(given_: tuple[AvroSchema, list[Any]]) -> None:
    schema, records = given_
    found = []
    for writers, reader in [
        (AvroFileWriterFactory(schema), AvroFileFormat(schema)),
        (AvroParquetWriters.for_generic_record(schema), AvroParquetReaders.for_generic_record(schema)),
    ]:
        stream = io.BytesIO()
        writer = writers.create(stream)
        writer.write(records)
        writer.finish()
        content = stream.getvalue()
        read_blocks: Any = reader.read(Memory(content), "f", 0, len(content), len(content))
        found.append([each for block in read_blocks for each in block])
    assert found[0] == found[1]
    assert len(found[0]) == len(records)


class TestResolution:
    """A file is read with another schema than it was written with."""

    def test_only_the_columns_of_the_schema_are_read(self, tmp_path: Path) -> None:
        path = written(tmp_path / "f", ORDER, ORDERS)
        assert read(record(("note", ["null", "string"])), path) == [{"note": "a"}, {"note": None}]

    def test_fields_have_the_order_of_the_schema(self, tmp_path: Path) -> None:
        schema = record(("tags", array("string")), ("n", "long"))
        assert [list(each) for each in read(schema, written(tmp_path / "f", ORDER, ORDERS))] == [["tags", "n"]] * 2

    def test_a_missing_column_is_the_default(self, tmp_path: Path) -> None:
        path = written(tmp_path / "f", record(("n", "long")), [{"n": 1}, {"n": 2}])
        first, second = read(ORDER, path)
        assert first == {"n": 1, "note": None, "tags": []}
        assert first["tags"] is not second["tags"]

    def test_a_file_may_have_none_of_the_columns(self, tmp_path: Path) -> None:
        path = written(tmp_path / "f", ORDER, ORDERS)
        assert read(record(("new", "int", 5)), path) == [{"new": 5}, {"new": 5}]

    def test_a_column_may_have_an_alias(self, tmp_path: Path) -> None:
        schema = '{"type":"record","name":"O","fields":[{"name":"number","aliases":["n"],"type":"long"}]}'
        assert read(AvroSchema(schema), written(tmp_path / "f", ORDER, ORDERS)) == [{"number": 1}, {"number": 2}]

    def test_records_within_are_resolved_too(self, tmp_path: Path) -> None:
        def outer(*fields: dict[str, Any]) -> AvroSchema:
            return record(("in", array({"type": "record", "name": "In", "fields": list(fields)})))

        x, y = {"name": "x", "type": "int"}, {"name": "y", "type": "string"}
        path = written(tmp_path / "f", outer(x, y), [{"in": [{"x": 1, "y": "a"}]}])
        z = {"name": "z", "type": "int", "default": 9}
        assert read(outer({"name": "x", "type": "double"}, z), path) == [{"in": [{"x": 1.0, "z": 9}]}]

    @pytest.mark.parametrize(
        ("old", "value", "new", "expected"),
        [
            ("int", 1, "long", 1),
            ("int", 1, "double", 1.0),
            ("long", 1, "float", 1.0),
            ("float", 0.5, "double", 0.5),
            ("string", "ü", "bytes", "ü".encode()),
            ("bytes", "ü".encode(), "string", "ü"),
            ("int", 1, ["null", "string", "int"], 1),
            (["string", "int"], 1, ["null", "long", "string"], 1),
            ("string", "RED", {"type": "enum", "name": "E", "symbols": ["RED"]}, "RED"),
            ("string", "PINK", {"type": "enum", "name": "E", "symbols": ["RED"], "default": "RED"}, "RED"),
        ],
    )
    def test_types_are_widened(self, tmp_path: Path, old: Any, value: Any, new: Any, expected: Any) -> None:
        [back] = read(record(("v", new)), written(tmp_path / "f", record(("v", old)), [{"v": value}]))
        assert back == {"v": expected} and type(back["v"]) is type(expected)

    @pytest.mark.parametrize(
        ("old", "value", "new", "reason"),
        [
            ("string", "a", "long", "column 'v' is string, the schema says long"),
            ("long", 1, "int", "column 'v' is int64, the schema says int"),
            (["null", "int"], None, "int", "column 'v' is null in a record"),
            (array(["null", "int"]), [None], array("int"), "column 'v.element' is null in a record"),
            (array("int"), [1], array("string"), "column 'v.element' is int32"),
            ("boolean", True, ["null", "string", "int"], "is bool, the schema says string or int"),
            ("string", "PINK", {"type": "enum", "name": "E", "symbols": ["RED"]}, "'PINK' is no symbol of the enum E"),
            ("int", 1, logical("bytes", "decimal", precision=4), "is int32, the schema says decimal"),
        ],
    )
    def test_what_does_not_fit_is_named(self, tmp_path: Path, old: Any, value: Any, new: Any, reason: str) -> None:
        path = written(tmp_path / "f", record(("v", old)), [{"v": value}])
        with pytest.raises(MalformedRecordError, match=reason) as raised:
            read(record(("v", new)), path)
        assert raised.value.place == str(path)

    def test_a_missing_column_without_default_is_named(self, tmp_path: Path) -> None:
        path = written(tmp_path / "f", ORDER, ORDERS)
        with pytest.raises(MalformedRecordError, match="column 'price' is missing; give the field a default value"):
            read(record(("price", "double")), path)


class TestFiles:
    def test_they_keep_the_schema_where_parquet_avro_does(self, tmp_path: Path) -> None:
        metadata = pq.read_metadata(written(tmp_path / "f", ORDER, ORDERS)).metadata
        assert json.loads(metadata[b"parquet.avro.schema"]) == json.loads(str(ORDER))
        assert metadata[b"writer.model.name"] == b"avro"

    def test_other_tools_read_them_by_column(self, tmp_path: Path) -> None:
        path = written(tmp_path / "f", ORDER, ORDERS)
        assert pq.read_table(path).to_pylist() == ORDERS
        declared = {column.path: column.max_definition_level for column in pq.ParquetFile(path).schema}
        assert declared == {"n": 0, "note": 1, "tags.list.element": 1}  # what is not null in Avro is required

    def test_what_other_tools_write_is_read(self, tmp_path: Path) -> None:
        moment = datetime.datetime(2026, 3, 4, 5, 6, 7, 89)
        table = pa.table(
            {
                "n": pa.array([1], pa.int16()),
                "s": pa.array(["a"]).dictionary_encode(),
                "at": pa.array([moment], pa.timestamp("us")),
                "m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32())),
            }
        )
        pq.write_table(table, tmp_path / "f")
        at, m = ("at", logical("long", "timestamp-micros")), ("m", {"type": "map", "values": "int"})
        schema = record(("n", "int"), ("s", "string"), at, m)
        assert read(schema, tmp_path / "f") == [
            {"n": 1, "s": "a", "at": moment.replace(tzinfo=datetime.UTC), "m": {"k": 1}}
        ]
        pq.write_table(table, tmp_path / "f", use_deprecated_int96_timestamps=True)
        assert read(schema, tmp_path / "f")[0]["at"] == moment.replace(tzinfo=datetime.UTC)

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("array", [{"t": ["a", "b"]}, {"t": []}]),  # lists of two levels
            ("array_of_records", [{"rs": [{"z": 1}, {"z": 2}]}]),
            ("map", [{"m": {"k": 1}}]),
            ("record", [{"r": {"q": 1, "w": 0.5}}]),
            ("union", [{"u": "a"}, {"u": 5}, {"u": None}]),
        ],
    )
    def test_what_flink_writes_is_read(self, name: str, expected: list[Any]) -> None:
        path = FLINK / f"{name}.parquet"
        schema = AvroSchema.parse_string(pq.read_metadata(path).metadata[b"parquet.avro.schema"].decode())
        assert read(schema, path) == expected

    def test_logical_types_of_flink_are_read(self) -> None:
        schema = record(
            ("d", logical("int", "date")),
            ("tm", logical("int", "time-millis")),
            ("tu", logical("long", "time-micros")),
            ("ts", logical("long", "timestamp-millis")),
            ("tsu", logical("long", "timestamp-micros")),
        )
        moment = datetime.datetime(2023, 11, 14, 22, 13, 20, 123456, datetime.UTC)
        assert read(schema, FLINK / "logical.parquet") == [
            {
                "d": datetime.date(2022, 1, 8),
                "tm": datetime.time(1),
                "tu": datetime.time(1),
                "ts": moment.replace(microsecond=123000),
                "tsu": moment,
            }
        ]

    def test_a_value_that_is_none_names_the_file(self) -> None:
        # PyFlink 2.3 writes decimals of bytes without their bytes, and those of fixed with others
        empty = record(("dec", logical("bytes", "decimal", precision=10, scale=2)))
        with pytest.raises(MalformedRecordError, match=r"logical\.parquet.*the file holds what is no such value"):
            read(empty, FLINK / "logical.parquet")

    def test_rows_and_records_are_the_same_files(self, tmp_path: Path) -> None:
        rows = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("note", DataTypes.STRING())])
        [block] = blocks(ParquetColumnarRowInputFormat(rows), written(tmp_path / "f", ORDER, ORDERS))
        assert [list(row) for row in block] == [[1, "a"], [2, None]]
        with open(tmp_path / "g", "wb") as stream:
            writer = ParquetBulkWriters.for_row_type(rows).create(stream)
            writer.write([Row(1, "a")])
            writer.finish()
        assert read(ORDER, tmp_path / "g") == [{"n": 1, "note": "a", "tags": []}]

    @pytest.mark.parametrize("compression", ["UNCOMPRESSED", "SNAPPY", "gzip", "ZSTD", "LZ4_RAW"])
    def test_they_may_be_compressed(self, tmp_path: Path, compression: str) -> None:
        path = written(tmp_path / "f", ORDER, ORDERS, compression=compression)
        column = pq.read_metadata(path).row_group(0).column(0)
        assert column.compression == compression.upper().removesuffix("_RAW")
        assert read(ORDER, path) == ORDERS
        with pytest.raises(UnsupportedError, match="compression=LZO; use SNAPPY"):
            AvroParquetWriters.for_generic_record(ORDER, "LZO")

    def test_no_parquet_file_is_one_malformed_record(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("n,note")
        [block] = blocks(AvroParquetReaders.for_generic_record(ORDER), tmp_path / "f")
        assert isinstance(block, MalformedRecords)
        assert "this is no Parquet file" in str(block.errors[0])

    def test_a_file_may_be_split(self, tmp_path: Path, drive: Drive) -> None:
        schema = record(("n", "int"))
        pq.write_table(pa.table({"n": pa.array(range(10_000), pa.int32())}), tmp_path / "f", row_group_size=1000)
        builder = FileSource.for_record_stream_format(AvroParquetReaders.for_generic_record(schema), str(tmp_path))
        builder.set_file_enumerator(FileEnumeratorProvider.default_splittable_file_enumerator(9000))
        for limits in (None, BatchLimits(max_bytes=5000)):
            found = drive(builder.build(), parallelism=3, limits=limits).all()
            assert sorted(each["n"] for each in found) == list(range(10_000))


def test_a_job_writes_and_reads_them(tmp_path: Path) -> None:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    builder = FileSink.for_bulk_format(str(tmp_path), AvroParquetWriters.for_generic_record(ORDER))
    sink = builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
    env.from_collection(ORDERS).map(lambda order: order, output_type=GenericRecordAvroTypeInfo(ORDER)).sink_to(sink)
    env.execute()
    source = FileSource.for_record_stream_format(AvroParquetReaders.for_generic_record(ORDER), str(tmp_path)).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")
    assert stream.get_type() == GenericRecordAvroTypeInfo(ORDER)
    with stream.execute_and_collect() as found:
        assert sorted(found, key=lambda order: order["n"]) == ORDERS
