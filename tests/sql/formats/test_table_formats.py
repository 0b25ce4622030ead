"""Formats of tables: what is written is read back, and wrong input is named with its place."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest

from scurry.errors import MalformedRecordError, ValidationError
from scurry.sql.catalog.table_options import Options
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.csv import CsvFormat
from scurry.sql.formats.registry import find_format
from scurry.sql.types import ArrayType, DecimalType, VarCharType
from scurry.sql.types.arrow import arrow_type
from scurry.table import EnvironmentSettings, TableEnvironment


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local")
    return made


def rows(env: TableEnvironment, query: str) -> list[str]:
    with env.execute_sql(query).collect() as found:
        return [str(row) for row in found]


COLUMNS = (
    "a INT, b STRING, c DECIMAL(6, 2), d DATE, e TIME(3), f TIMESTAMP(3), g TIMESTAMP_LTZ(6), h ARRAY<INT>, "
    "i MAP<STRING, INT>, j ROW<x INT, y STRING>, k BYTES, l BOOLEAN, m DOUBLE, n FLOAT, o BIGINT, p TINYINT"
)
VALUES = (
    "(1, 'x', 1.50, DATE '2024-02-29', TIME '12:34:56', TIMESTAMP '2024-02-29 12:34:56.789', "
    "CAST(TIMESTAMP '1969-12-31 23:59:59.999999' AS TIMESTAMP_LTZ(6)), ARRAY[1, 2], MAP['k', 1], ROW(1, 'a'), x'00ff', "
    "TRUE, 1e300, CAST(1.5 AS FLOAT), 9223372036854775807, CAST(-128 AS TINYINT))"
)


@pytest.mark.parametrize("format", ["json", "parquet", "orc"])
def test_all_types_are_read_back(env: TableEnvironment, tmp_path: Path, format: str) -> None:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = '{format}'"
    env.execute_sql(f"CREATE TABLE t ({COLUMNS}) WITH ({options})")
    env.execute_sql(f"INSERT INTO t VALUES {VALUES}").wait()
    env.execute_sql("INSERT INTO t (a) VALUES (2)").wait()
    assert rows(env, "SELECT * FROM t WHERE a = 1") == rows(env, f"SELECT * FROM (VALUES {VALUES})")
    assert rows(env, "SELECT b, i, m FROM t WHERE a = 2") == ["<Row(None, None, None)>"]


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_a_column_that_a_file_lacks_is_null(env: TableEnvironment, tmp_path: Path, format: str) -> None:
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = '{format}'"
    env.execute_sql(f"CREATE TABLE former (a INT) WITH ({options})")
    env.execute_sql("INSERT INTO former VALUES (1)").wait()
    env.execute_sql(f"CREATE TABLE later (b STRING, a INT) WITH ({options})")
    assert rows(env, "SELECT * FROM later") == ["<Row(None, 1)>"]


def test_json_that_cannot_be_read_is_named_with_file_and_line(env: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": 1}\n\n{"r": {"x": "y"}}\n')
    env.execute_sql(
        "CREATE TABLE t (id INT, r ROW<x INT>) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json')"
    )
    with pytest.raises(MalformedRecordError, match=r"a\.json:3: .*Fail to deserialize at field: r\.x\."):
        rows(env, "SELECT * FROM t")


def test_csv_that_cannot_be_read_is_named_with_file_and_line(env: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('1,"two\nlines"\nx,b\n')
    env.execute_sql(
        f"CREATE TABLE t (id INT, s STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    with pytest.raises(MalformedRecordError, match=r"a\.csv:3: .*Fail to deserialize at field: id\."):
        rows(env, "SELECT * FROM t")


def test_only_the_columns_that_are_used_are_decoded(env: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,b\n")
    env.execute_sql(
        f"CREATE TABLE t (id INT, s STRING) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    assert rows(env, "SELECT s FROM t") == ["<Row('b')>"]


def test_partitions_are_directories_whose_names_are_escaped(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(
        "CREATE TABLE t (id INT, day_ STRING) PARTITIONED BY (day_) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    env.execute_sql("INSERT INTO t VALUES (1, 'a/b=c'), (2, CAST(NULL AS STRING)), (3, 'mon')").wait()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "day_=__DEFAULT_PARTITION__",
        "day_=a%2Fb%3Dc",
        "day_=mon",
    ]
    assert rows(env, "SELECT * FROM t ORDER BY id") == ["<Row(1, 'a/b=c')>", "<Row(2, None)>", "<Row(3, 'mon')>"]


def test_overwriting_a_partition_leaves_the_others(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(
        "CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}', 'format' = 'csv', 'sink.partition-commit.policy.kind' = 'success-file')"
    )
    env.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')").wait()
    env.execute_sql("INSERT OVERWRITE t PARTITION (p = 'a') SELECT 3").wait()
    assert rows(env, "SELECT * FROM t ORDER BY id") == ["<Row(2, 'b')>", "<Row(3, 'a')>"]
    assert (tmp_path / "p=a" / "_SUCCESS").exists()


# recorded from Flink 2.3, whose documentation says that the option is true if it is not set
@pytest.mark.parametrize(
    ("scientific", "lines"),
    [
        ("", [b"0.0000000100,100000,100.00;1.50", b"0.0000000000,0,"]),
        ("false", [b"0.0000000100,100000,100.00;1.50", b"0.0000000000,0,"]),
        ("true", [b'1E-8,1E+5,"1E+2;1.5"', b"0,0,"]),
    ],
)
def test_csv_messages_have_the_decimals_of_flink(scientific: str, lines: list[bytes]) -> None:
    options = Options({"write-bigdecimal-in-scientific-notation": scientific} if scientific else {})
    types = [DecimalType(20, 10), DecimalType(10, 0), ArrayType(DecimalType(10, 2))]
    columns = [FormatColumn(f"f{place}", each) for place, each in enumerate(types)]
    encoder = CsvFormat().message_encoder(columns, options)
    values = [[Decimal("1e-8"), Decimal(0)], [Decimal("1e5"), Decimal(0)], [[Decimal(100), Decimal("1.50")], []]]
    arrays = [pa.array(each, arrow_type(data_type)) for each, data_type in zip(values, types, strict=True)]
    assert encoder.encode(pa.RecordBatch.from_arrays(arrays, names=["f0", "f1", "f2"])) == lines


@pytest.mark.parametrize("name", ["json", "debezium-json", "canal-json"])
def test_json_escapes_what_takes_two_characters_of_java(name: str) -> None:
    """As Flink 2.3: its serializer writes UTF-8 by way of Java's characters."""
    encoder = find_format(name).message_encoder([FormatColumn("s", VarCharType(10))], Options({}))
    [message] = encoder.encode_changes(pa.RecordBatch.from_arrays([pa.array(["\U0001f600é\x1f"])], names=["s"]), None)
    assert b'{"s":"\\uD83D\\uDE00\xc3\xa9\\u001F"}' in message


def test_json_of_arrays_in_a_string_column_has_the_escapes_of_flink() -> None:
    columns = [FormatColumn("s", VarCharType(100))]
    decoder = find_format("json").message_decoder(columns, ["s"], [], Options({}))
    [row] = decoder.decode([b'{"s":["\\u001f\\ud83d\\ude00"]}']).to_pylist()
    assert row["s"] == '["\\u001F\U0001f600"]'


AVRO_COLUMNS = (
    "a INT, b STRING, c DECIMAL(6, 2), d DATE, e TIME(3), f TIMESTAMP(3), h ARRAY<INT>, i MAP<STRING, INT>, "
    "j ROW<x INT, y STRING>, k BYTES, l BOOLEAN, m DOUBLE, n FLOAT, o BIGINT NOT NULL, p TINYINT"
)
AVRO_VALUES = (
    "(1, 'x', 1.50, DATE '2024-02-29', TIME '12:34:56', TIMESTAMP '2024-02-29 12:34:56.789', ARRAY[1, 2], "
    "MAP['k', 1], ROW(1, 'a'), x'00ff', TRUE, 1e300, CAST(1.5 AS FLOAT), 9223372036854775807, CAST(-128 AS TINYINT))"
)


@pytest.mark.parametrize("options", ["", ", 'avro.codec' = 'zstandard'", ", 'avro.codec' = 'null'"])
def test_all_types_of_avro_are_read_back(env: TableEnvironment, tmp_path: Path, options: str) -> None:
    where = f"'connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'avro'{options}"
    env.execute_sql(f"CREATE TABLE t ({AVRO_COLUMNS}) WITH ({where})")
    env.execute_sql(f"INSERT INTO t VALUES {AVRO_VALUES}").wait()
    env.execute_sql("INSERT INTO t (a, o) VALUES (2, 3)").wait()
    assert rows(env, "SELECT * FROM t WHERE a = 1") == rows(env, f"SELECT * FROM (VALUES {AVRO_VALUES})")
    assert rows(env, "SELECT b, i, m, o FROM t WHERE a = 2") == ["<Row(None, None, None, 3)>"]
    assert rows(env, "SELECT COUNT(*) FROM t") == ["<Row(2)>"]


def test_avro_files_are_compressed_by_snappy_as_flinks(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(
        f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'avro')"
    )
    env.execute_sql("INSERT INTO t VALUES (1)").wait()
    (file,) = tmp_path.iterdir()
    with file.open("rb") as stream:
        reader = fastavro.reader(stream)
        assert reader.codec == "snappy"
        assert isinstance(reader.writer_schema, dict)
        assert reader.writer_schema["name"] == "org.apache.flink.avro.generated.record"


def test_avro_files_of_others_are_read_by_the_names_of_fields(env: TableEnvironment, tmp_path: Path) -> None:
    inner = {"type": "record", "name": "com.shop.Inner", "fields": [{"name": "x", "type": "int"}]}
    schema = {
        "type": "record", "name": "topLevelRecord",
        "fields": [{"name": "z", "type": "string"}, {"name": "a", "type": "int"}, {"name": "r", "type": inner}],
    }  # fmt: skip
    with (tmp_path / "part.avro").open("wb") as stream:
        fastavro.writer(stream, schema, [{"z": "x", "a": 1, "r": {"x": 7}}], codec="deflate")
    env.execute_sql(
        "CREATE TABLE t (a BIGINT, later STRING, r ROW<x BIGINT>) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'avro')"
    )
    assert rows(env, "SELECT * FROM t") == ["<Row(1, None, <Row(7)>)>"]


def test_an_unknown_codec_is_named(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(
        "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'avro', 'avro.codec' = 'nope', "
        f"'path' = '{tmp_path}')"
    )
    with pytest.raises(ValidationError, match="Unrecognized codec: nope"):
        env.execute_sql("INSERT INTO t VALUES (1)")


def test_a_damaged_avro_file_is_named_with_its_place(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(
        f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'avro')"
    )
    env.execute_sql("INSERT INTO t VALUES (1)").wait()
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(MalformedRecordError, match=r"block at byte \d+ does not end where it should"):
        rows(env, "SELECT a FROM t")
