"""CSV and Parquet files as they are written, and Parquet files as they are read."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scurry.common import Configuration, Instant, Row, Types
from scurry.connectors.source import BatchLimits
from scurry.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource
from scurry.datastream.formats.csv import CsvBulkWriters, CsvSchema, CsvSchemaBuilder
from scurry.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from scurry.errors import ArgumentTypeError, MalformedRecordError, TypeMismatchError, UnsupportedError
from scurry.table import DataTypes

Drive = Callable[..., Any]
Run = Callable[..., Any]


def written(base: Path, run_sink: Run, factory: Any, *batches: list[Any]) -> list[Path]:
    builder = FileSink.for_bulk_format(str(base), factory)
    run_sink(builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build(), *batches)
    return sorted(base.iterdir())


TEXTS = ["a", "a b", " a", "a,b", 'a"b', "a\nb", "a-b", "a#b", "x'y", "a;b", "", None, "abcdefghijklmnopqrstuvwx",
         "abcdefghijklmnopqrstuvwxy", "é", "a\\b", "a\tb", "null", "12"]  # fmt: skip


def texts() -> CsvSchemaBuilder:
    return CsvSchema.builder().add_string_column("a").add_number_column("n", DataTypes.INT())


class TestCsv:
    @pytest.mark.parametrize(
        ("schema", "expected"),
        # recorded from Flink 2.3
        [
            (
                texts(),
                'a,0\n"a b",1\n" a",2\n"a,b",3\n"a""b",4\n"a\nb",5\na-b,6\n"a#b",7\n"x\'y",8\na;b,9\n,10\n,11\n'
                'abcdefghijklmnopqrstuvwx,12\n"abcdefghijklmnopqrstuvwxy",13\né,14\n"a\\b",15\n"a\tb",16\nnull,17\n12,18\n',
            ),
            (
                texts().set_column_separator("|"),
                '"a"|0\n"a b"|1\n" a"|2\n"a,b"|3\n"a""b"|4\n"a\nb"|5\n"a-b"|6\n"a#b"|7\n"x\'y"|8\n"a;b"|9\n|10\n|11\n'
                '"abcdefghijklmnopqrstuvwx"|12\n"abcdefghijklmnopqrstuvwxy"|13\né|14\n"a\\b"|15\n"a\tb"|16\n"null"|17\n"12"|18\n',
            ),
            (
                texts().disable_quote_char(),
                "a,0\na b,1\n a,2\na,b,3\na\"b,4\na\nb,5\na-b,6\na#b,7\nx'y,8\na;b,9\n,10\n,11\n"
                "abcdefghijklmnopqrstuvwx,12\nabcdefghijklmnopqrstuvwxy,13\né,14\na\\b,15\na\tb,16\nnull,17\n12,18\n",
            ),
        ],
    )
    def test_quotes_texts_as_flink_does(
        self, tmp_path: Path, run_sink: Run, schema: CsvSchemaBuilder, expected: str
    ) -> None:
        rows = [Row(text, i) for i, text in enumerate(TEXTS)]
        [file] = written(tmp_path, run_sink, CsvBulkWriters.for_schema(schema.build()), rows)
        assert file.read_text() == expected

    @pytest.mark.parametrize(
        ("schema", "row", "expected"),
        # recorded from Flink 2.3
        [
            (texts().set_null_value("NA"), Row(None, None), "NA,NA\n"),
            (texts().set_escape_char("\\"), Row("a\\b", 1), '"a\\\\b",1\n'),
            (texts().set_escape_char("^"), Row("a^,b", 1), '"a^^,b",1\n'),
            (texts().set_use_header(), Row("x", 1), "a,n\nx,1\n"),
            (CsvSchema.builder().add_string_column("a b").set_use_header(), Row("x"), '"a b"\nx\n'),
            (texts().set_line_separator("\r\n"), Row("x", 1), "x,1\r\n"),
        ],
    )
    def test_follows_the_schema(
        self, tmp_path: Path, run_sink: Run, schema: CsvSchemaBuilder, row: Row, expected: str
    ) -> None:
        [file] = written(tmp_path, run_sink, CsvBulkWriters.for_schema(schema.build()), [row])
        assert file.read_bytes().decode() == expected

    def test_writes_values_as_java_shows_them(self, tmp_path: Path, run_sink: Run) -> None:
        builder = CsvSchema.builder().add_boolean_column("b").add_number_column("d", DataTypes.DOUBLE())
        builder.add_number_column("f", DataTypes.FLOAT()).add_number_column("m", DataTypes.DECIMAL(10, 3))
        builder.add_number_column("i")
        rows = [
            Row(True, 1.5, 0.1, Decimal("1.5"), 1),
            Row(False, 1e10, 1e-5, Decimal("100"), -2),
            Row(None, None, None, None, None),
            Row(True, float("nan"), float("inf"), Decimal("0.0001"), 3),
        ]
        [file] = written(tmp_path, run_sink, CsvBulkWriters.for_schema(builder.build()), rows)
        # recorded from Flink 2.3
        assert file.read_text() == "true,1.5,0.1,1.5,1\nfalse,1.0E10,1.0E-5,1E+2,-2\n,,,,\ntrue,NaN,Infinity,0,3\n"

    def test_joins_arrays(self, tmp_path: Path, run_sink: Run) -> None:
        schema = CsvSchema.builder().add_array_column("l", ":", DataTypes.INT()).add_array_column("s").build()
        [file] = written(tmp_path, run_sink, CsvBulkWriters.for_schema(schema), [Row([1, 2], ["a b", "c"]), ([], None)])
        assert file.read_text() == '1:2,"a b;c"\n,\n'

    def test_joins_arrays_without_a_separator_of_their_own_by_the_schemas(self, tmp_path: Path, run_sink: Run) -> None:
        builder = CsvSchema.builder().add_array_column("l", ":", DataTypes.INT()).add_array_column("s", "")
        schema = builder.remove_array_element_separator(0).set_array_element_separator("/").build()
        [file] = written(tmp_path, run_sink, CsvBulkWriters.for_schema(schema), [Row([1, 2], ["b", "c"])])
        assert file.read_text() == "1/2,b/c\n"

    def test_takes_columns_by_name(self, tmp_path: Path, run_sink: Run) -> None:
        rows = [Row(n=1, a="x"), {"n": 2, "a": "y"}, ("z", 3)]
        [file] = written(tmp_path, run_sink, CsvBulkWriters.for_schema(texts().build()), rows)
        assert file.read_text() == "x,1\ny,2\nz,3\n"

    @pytest.mark.parametrize("record", ["text", ("one",)])
    def test_refuses_what_is_no_such_row(self, tmp_path: Path, run_sink: Run, record: Any) -> None:
        with pytest.raises(TypeMismatchError):
            written(tmp_path, run_sink, CsvBulkWriters.for_schema(texts().build()), [record])


ALL_TYPES = DataTypes.ROW(
    [
        DataTypes.FIELD("s", DataTypes.STRING()),
        DataTypes.FIELD("i", DataTypes.INT()),
        DataTypes.FIELD("x", DataTypes.DOUBLE()),
        DataTypes.FIELD("b", DataTypes.BOOLEAN()),
        DataTypes.FIELD("y", DataTypes.BYTES()),
        DataTypes.FIELD("m", DataTypes.DECIMAL(10, 2)),
        DataTypes.FIELD("d", DataTypes.DATE()),
        DataTypes.FIELD("t", DataTypes.TIME()),
        DataTypes.FIELD("ts", DataTypes.TIMESTAMP(3)),
        DataTypes.FIELD("tz", DataTypes.TIMESTAMP_LTZ(6)),
        DataTypes.FIELD("l", DataTypes.ARRAY(DataTypes.INT())),
        DataTypes.FIELD("k", DataTypes.MAP(DataTypes.STRING(), DataTypes.TIMESTAMP_LTZ(6))),
        DataTypes.FIELD("r", DataTypes.ROW([DataTypes.FIELD("z", DataTypes.STRING())])),
    ]
)
FULL = Row(
    "a", 1, 1.5, True, b"y", Decimal("1.50"), datetime.date(2020, 1, 2), datetime.time(3, 4, 5),
    datetime.datetime(2020, 1, 2, 3, 4, 5, 6000), Instant(1_600_000_000, 7000), [1, None],
    {"k": Instant(1, 0)}, Row("z"),
)  # fmt: skip
FULL.set_field_names(ALL_TYPES.field_names())
FULL["r"].set_field_names(["z"])
EMPTY = Row(*[None] * len(FULL))
EMPTY.set_field_names(ALL_TYPES.field_names())


@pytest.fixture
def berlin() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Europe/Berlin"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def two_fields() -> Any:
    return DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("b", DataTypes.STRING())])


def parquet(path: Path, row_type: Any = None, **options: Any) -> FileSource:
    read = ParquetColumnarRowInputFormat(row_type or two_fields(), **options)
    return FileSource.for_bulk_file_format(read, str(path)).build()


class TestParquet:
    @pytest.mark.parametrize("utc", [True, False])
    @pytest.mark.usefixtures("berlin")
    def test_brings_back_what_was_written(self, tmp_path: Path, run_sink: Run, drive: Drive, utc: bool) -> None:
        written(tmp_path, run_sink, ParquetBulkWriters.for_row_type(ALL_TYPES, utc_timestamp=utc), [FULL, EMPTY])
        assert drive(parquet(tmp_path, ALL_TYPES, is_utc_timestamp=utc)).all() == [FULL, EMPTY]

    @pytest.mark.usefixtures("berlin")
    def test_keeps_timestamps_in_utc_or_the_machines_zone(self, tmp_path: Path, run_sink: Run) -> None:
        row_type = DataTypes.ROW([DataTypes.FIELD("t", DataTypes.TIMESTAMP(3))])
        noon = datetime.datetime(2020, 7, 1, 12)
        for name, utc, hour in (("utc", True, 12), ("local", False, 10)):
            [file] = written(
                tmp_path / name, run_sink, ParquetBulkWriters.for_row_type(row_type, utc_timestamp=utc), [(noon,)]
            )
            assert pq.read_table(file)["t"].to_pylist() == [datetime.datetime(2020, 7, 1, hour)]

    def test_rounds_decimals_to_their_scale(self, tmp_path: Path, run_sink: Run) -> None:
        row_type = DataTypes.ROW(
            [
                DataTypes.FIELD("m", DataTypes.DECIMAL(10, 2)),
                DataTypes.FIELD("l", DataTypes.ARRAY(DataTypes.DECIMAL(10, 2))),
            ]
        )
        # as Flink's DecimalData.fromBigDecimal has them
        expected = {"1.235": "1.24", "1.245": "1.25", "-1.235": "-1.24", "1.2349": "1.23", "9999999.994": "9999999.99",
                    "1E+3": "1000.00", "1E-9": "0.00", "0.005": "0.01", "-0.004": "0.00"}  # fmt: skip
        rows = [(Decimal(given), [Decimal(given), None]) for given in expected]
        [file] = written(tmp_path, run_sink, ParquetBulkWriters.for_row_type(row_type), rows)
        assert [str(value) for value in pq.read_table(file)["m"].to_pylist()] == list(expected.values())
        assert [str(value) for value, _ in pq.read_table(file)["l"].to_pylist()] == list(expected.values())

    @pytest.mark.parametrize("value", ["99999999.995", "123456789.1"])
    def test_refuses_decimals_with_more_digits_before_the_point(
        self, tmp_path: Path, run_sink: Run, value: str
    ) -> None:
        row_type = DataTypes.ROW([DataTypes.FIELD("m", DataTypes.DECIMAL(10, 2))])
        with pytest.raises(TypeMismatchError, match=r"DECIMAL\(10, 2\).*Flink would write null"):
            written(tmp_path, run_sink, ParquetBulkWriters.for_row_type(row_type), [(Decimal(value),)])

    def test_declares_a_row_with_named_fields(self, tmp_path: Path) -> None:
        assert parquet(tmp_path).produced_type == Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.STRING()])

    def test_reads_a_large_file_by_row_groups(self, tmp_path: Path, drive: Drive) -> None:
        table = pa.table({"a": range(1000), "b": map(str, range(1000))})
        pq.write_table(table, tmp_path / "f.parquet", row_group_size=100)
        batches = drive(parquet(tmp_path), 1, BatchLimits(max_bytes=3000)).batches(restarting=True)
        assert len(batches) > 2
        assert [row["a"] for batch in batches for row in batch[0]] == list(range(1000))

    def test_makes_columns_null_that_a_file_does_not_have(self, tmp_path: Path, drive: Drive) -> None:
        pq.write_table(pa.table({"a": [1], "c": [2]}), tmp_path / "f.parquet")
        assert drive(parquet(tmp_path)).all() == [Row(a=1, b=None)]

    def test_finds_columns_in_any_case_if_asked(self, tmp_path: Path, drive: Drive) -> None:
        pq.write_table(pa.table({"A": [1], "B": ["x"]}), tmp_path / "f.parquet")
        assert drive(parquet(tmp_path)).all() == [Row(a=None, b=None)]
        assert drive(parquet(tmp_path, is_case_sensitive=False)).all() == [Row(a=1, b="x")]

    def test_refuses_a_column_of_another_type(self, tmp_path: Path, drive: Drive) -> None:
        pq.write_table(pa.table({"a": ["text"]}), tmp_path / "f.parquet")
        with pytest.raises(MalformedRecordError, match="column 'a' is string, declared is BIGINT"):
            drive(parquet(tmp_path)).all()

    def test_refuses_what_is_no_parquet_file(self, tmp_path: Path, drive: Drive) -> None:
        (tmp_path / "f.parquet").write_text("a,b\n")
        with pytest.raises(MalformedRecordError, match="no Parquet file"):
            drive(parquet(tmp_path)).all()

    def test_is_compressed_as_asked(self, tmp_path: Path, run_sink: Run) -> None:
        config = Configuration()
        config.set_string("parquet.compression", "GZIP")
        [file] = written(tmp_path, run_sink, ParquetBulkWriters.for_row_type(two_fields(), config), [(1, "a")])
        assert pq.ParquetFile(file).metadata.row_group(0).column(0).compression == "GZIP"

    def test_refuses_settings_without_effect(self) -> None:
        config = Configuration()
        config.set_string("fs.s3a.endpoint", "x")
        with pytest.raises(UnsupportedError, match="fs.s3a.endpoint"):
            ParquetBulkWriters.for_row_type(two_fields(), config)
        with pytest.raises(UnsupportedError, match="fs.s3a.endpoint"):
            ParquetColumnarRowInputFormat(two_fields(), config)

    def test_needs_a_row_type(self) -> None:
        with pytest.raises(ArgumentTypeError, match="DataTypes.ROW"):
            ParquetBulkWriters.for_row_type(DataTypes.INT())  # type: ignore[arg-type]
