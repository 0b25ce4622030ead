"""Tables of lakes in SQL: `'connector' = 'delta'` and `'connector' = 'iceberg'`, in BATCH and in STREAMING."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

from scurry.errors import JobError, SourceNotFoundError, UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.statements.tables import rows

COLUMNS = (
    "i INT, s STRING, b BOOLEAN, d DECIMAL(10, 2), f DOUBLE, day_ DATE, ts TIMESTAMP(3), lz TIMESTAMP_LTZ(3), "
    "a ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT, y STRING>, y BYTES"
)
VALUES = (
    "(1, 'a', TRUE, CAST(1.25 AS DECIMAL(10, 2)), CAST(0.5 AS DOUBLE), DATE '2024-02-29', "
    "TIMESTAMP '2024-02-29 01:02:03.123', TO_TIMESTAMP_LTZ(1709168523123, 3), ARRAY[1, CAST(NULL AS INT)], "
    "MAP['k', 1], ROW(1, 'z'), x'01ff')"
)
TEXTS = "i, s, b, d, f, CAST(day_ AS STRING), CAST(ts AS STRING), CAST(lz AS STRING), a, m, r, y"


def environment(settings: EnvironmentSettings) -> TableEnvironment:
    made = TableEnvironment.create(settings)
    made.get_config().set("scurry.runner", "local").set("table.local-time-zone", "UTC").set("parallelism.default", "2")
    return made


@pytest.fixture
def batch() -> TableEnvironment:
    return environment(EnvironmentSettings.in_batch_mode())


@pytest.fixture
def streaming() -> TableEnvironment:
    return environment(EnvironmentSettings.in_streaming_mode())


Options = Callable[..., str]


def delta(path: Path) -> Options:
    def options(**more: str) -> str:
        return listed({"connector": "delta", "table-path": str(path / "table")} | more)

    return options


def iceberg(path: Path) -> Options:
    def options(**more: str) -> str:
        properties = {"uri": f"sqlite:///{path}/catalog.db", "warehouse": f"file://{path}/warehouse"}
        named = {"catalog-name": "c", "catalog-type": "sql", "catalog-database": "db", "catalog-table": "lake"}
        return listed({"connector": "iceberg"} | named | properties | more)

    return options


def listed(options: dict[str, str]) -> str:
    return ", ".join(f"'{key.replace('__', '-')}' = '{value}'" for key, value in options.items())


@pytest.fixture(params=[delta, iceberg])
def options(request: pytest.FixtureRequest, tmp_path: Path) -> Options:
    made: Options = request.param(tmp_path)
    return made


def take(found: Iterator[Any], count: int) -> list[Any]:
    return sorted(tuple(next(found)) for _ in range(count))


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_rows_of_every_type_are_read_as_they_were_written(
    options: Options, mode: str, request: pytest.FixtureRequest
) -> None:
    env = request.getfixturevalue(mode)
    env.execute_sql(f"CREATE TABLE t ({COLUMNS}) WITH ({options()})")
    env.execute_sql(f"INSERT INTO t VALUES {VALUES}").wait()
    env.execute_sql("INSERT INTO t (i) VALUES (2)").wait()
    whole, empty = rows(env, f"SELECT {TEXTS} FROM t")
    assert [str(value) for value in whole] == [
        "1", "a", "True", "1.25", "0.5", "2024-02-29", "2024-02-29 01:02:03.123", "2024-02-29 01:02:03.123",
        "[1, None]", "{'k': 1}", "<Row(1, 'z')>", "bytearray(b'\\x01\\xff')",
    ]  # fmt: skip
    assert empty == (2, *[None] * 11)


def test_a_query_reads_the_columns_that_it_names(batch: TableEnvironment, options: Options) -> None:
    batch.execute_sql(f"CREATE TABLE t (i INT, s STRING) WITH ({options()})")
    batch.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')").wait()
    assert rows(batch, "SELECT s FROM t WHERE i > 1") == [("b",)]
    assert rows(batch, "SELECT COUNT(*) FROM t") == [(2,)]


def test_partitions_are_those_of_the_declaration(batch: TableEnvironment, options: Options, tmp_path: Path) -> None:
    batch.execute_sql(f"CREATE TABLE t (i INT, p STRING) PARTITIONED BY (p) WITH ({options()})")
    batch.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, 'b/c'), (3, CAST(NULL AS STRING)), (4, 'a')").wait()
    assert rows(batch, "SELECT * FROM t WHERE p = 'a'") == [(1, "a"), (4, "a")]
    assert rows(batch, "SELECT i FROM t") == [(1,), (2,), (3,), (4,)]
    assert {path.parent.name for path in tmp_path.rglob("*.parquet")} >= {"p=a"}


def test_an_unbounded_query_goes_on_with_what_is_added_later(
    streaming: TableEnvironment, batch: TableEnvironment, options: Options
) -> None:
    asked = {"mode": "streaming", "updateCheckIntervalMillis": "50"}
    if "iceberg" in options():
        asked = {"streaming": "true", "monitor-interval": "50 ms"}
    batch.execute_sql(f"CREATE TABLE t (i INT) WITH ({options()})")
    batch.execute_sql("INSERT INTO t VALUES (1), (2)").wait()
    streaming.execute_sql(f"CREATE TABLE t (i INT) WITH ({options(**asked)})")
    result = streaming.execute_sql("SELECT i FROM t")
    with closing(result.collect()) as found:
        assert take(found, 2) == [(1,), (2,)]
        batch.execute_sql("INSERT INTO t VALUES (3)").wait()
        assert take(found, 1) == [(3,)]


def test_a_job_in_streaming_writes_a_version_for_what_a_checkpoint_has(
    streaming: TableEnvironment, options: Options
) -> None:
    streaming.execute_sql(f"CREATE TABLE t (i BIGINT) WITH ({options()})")
    streaming.execute_sql(
        "CREATE TABLE n (i BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '500', "
        "'rows-per-second' = '2000', 'fields.i.kind' = 'sequence', 'fields.i.start' = '1', 'fields.i.end' = '500')"
    )
    streaming.execute_sql("INSERT INTO t SELECT i FROM n").wait()
    assert rows(streaming, "SELECT i FROM t") == sorted(((i,) for i in range(1, 501)), key=str)


def test_a_column_that_the_table_has_not_is_named(batch: TableEnvironment, options: Options) -> None:
    batch.execute_sql(f"CREATE TABLE t (i INT) WITH ({options()})")
    batch.execute_sql("INSERT INTO t VALUES (1)").wait()
    batch.execute_sql(f"CREATE TABLE u (i INT, j INT) WITH ({options()})")
    batch.execute_sql(f"CREATE TABLE w (i STRING) WITH ({options()})")
    with pytest.raises(ValidationError, match="Column 'j' does not exist there"):
        batch.execute_sql("SELECT * FROM u")
    with pytest.raises(ValidationError, match="Column 'i' has another type there"):
        batch.execute_sql("SELECT * FROM w")
    with pytest.raises(JobError, match="the sink writes i STRING"):
        batch.execute_sql("INSERT INTO w VALUES ('a')").wait()


def test_a_table_that_does_not_exist_is_named(batch: TableEnvironment, options: Options) -> None:
    batch.execute_sql(f"CREATE TABLE t (i INT) WITH ({options()})")
    with pytest.raises(SourceNotFoundError):
        batch.execute_sql("SELECT * FROM t")


def test_more_digits_than_microseconds_are_refused(batch: TableEnvironment, options: Options) -> None:
    batch.execute_sql(f"CREATE TABLE t (ts TIMESTAMP(9)) WITH ({options()})")
    with pytest.raises(UnsupportedError, match=r"column 'ts' is TIMESTAMP\(9\), lake tables have microseconds"):
        batch.execute_sql("INSERT INTO t VALUES (TIMESTAMP '2024-01-01 00:00:00')")


def test_an_overwriting_insert_is_refused_as_by_flink(batch: TableEnvironment, options: Options) -> None:
    batch.execute_sql(f"CREATE TABLE t (i INT) WITH ({options()})")
    with pytest.raises(ValidationError, match="INSERT OVERWRITE requires a connector that can overwrite"):
        batch.execute_sql("INSERT OVERWRITE t VALUES (1)")


class TestDelta:
    """What only Delta tables have."""

    @pytest.fixture
    def table(self, batch: TableEnvironment, tmp_path: Path) -> Options:
        options = delta(tmp_path)
        batch.execute_sql(f"CREATE TABLE t (i INT) WITH ({options()})")
        for number in range(3):
            batch.execute_sql(f"INSERT INTO t VALUES ({number})").wait()
        return options

    def test_a_hint_names_the_version(self, batch: TableEnvironment, table: Options) -> None:
        assert rows(batch, "SELECT i FROM t /*+ OPTIONS('versionAsOf' = '2') */") == [(0,), (1,)]

    def test_a_hint_names_the_time(self, batch: TableEnvironment, table: Options, tmp_path: Path) -> None:
        time.sleep(1.1)
        now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
        time.sleep(1.1)
        batch.execute_sql("INSERT INTO t VALUES (3)").wait()
        assert rows(batch, f"SELECT i FROM t /*+ OPTIONS('timestampAsOf' = '{now}') */") == [(0,), (1,), (2,)]

    def test_a_stream_begins_with_a_version(self, streaming: TableEnvironment, table: Options) -> None:
        asked = {"mode": "streaming", "startingVersion": "2", "updateCheckIntervalMillis": "50"}
        streaming.execute_sql(f"CREATE TABLE t (i INT) WITH ({table(**asked)})")
        with closing(streaming.execute_sql("SELECT i FROM t").collect()) as found:
            assert take(found, 2) == [(1,), (2,)]

    def test_options_of_the_other_mode_are_refused(self, batch: TableEnvironment, table: Options) -> None:
        with pytest.raises(ValidationError, match="'startingVersion' does not go with 'mode' = 'batch'"):
            batch.execute_sql("SELECT * FROM t /*+ OPTIONS('startingVersion' = '0') */")
        with pytest.raises(ValidationError, match="'mode' = 'streaming' needs a session in STREAMING"):
            batch.execute_sql("SELECT * FROM t /*+ OPTIONS('mode' = 'streaming') */")

    def test_an_insertion_may_add_columns(self, batch: TableEnvironment, table: Options, tmp_path: Path) -> None:
        batch.execute_sql(f"CREATE TABLE u (i INT, j INT) WITH ({table(mergeSchema='true')})")
        batch.execute_sql("INSERT INTO u VALUES (3, 4)").wait()
        assert rows(batch, "SELECT * FROM u WHERE i > 1") == [(2, None), (3, 4)]

    def test_what_others_wrote_is_read(self, batch: TableEnvironment, tmp_path: Path) -> None:
        at = pa.array([1_000_000], pa.timestamp("us", "UTC"))
        written = pa.table({"at": at, "n": pa.array([7], pa.int64()), "p": pa.array([True])})
        deltalake.write_deltalake(str(tmp_path / "table"), written, partition_by=["p"])
        batch.execute_sql(f"CREATE TABLE t (p BOOLEAN, `at` TIMESTAMP(6), n BIGINT) WITH ({delta(tmp_path)()})")
        assert rows(batch, "SELECT p, CAST(`at` AS STRING), n FROM t") == [(True, "1970-01-01 00:00:01.000000", 7)]


class TestIceberg:
    """What only Iceberg tables have."""

    def test_a_hint_names_the_snapshot(self, batch: TableEnvironment, tmp_path: Path) -> None:
        from pyiceberg.catalog import load_catalog

        batch.execute_sql(f"CREATE TABLE t (i INT) WITH ({iceberg(tmp_path)()})")
        batch.execute_sql("INSERT INTO t VALUES (1)").wait()
        properties = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse"}
        current = load_catalog("c", type="sql", **properties).load_table("db.lake").current_snapshot()
        assert current is not None
        batch.execute_sql("INSERT INTO t VALUES (2)").wait()
        hint = f"/*+ OPTIONS('snapshot-id' = '{current.snapshot_id}') */"
        assert rows(batch, f"SELECT i FROM t {hint}") == [(1,)]
        assert rows(batch, "SELECT i FROM t") == [(1,), (2,)]

    def test_small_whole_numbers_are_stored_as_int(self, batch: TableEnvironment, tmp_path: Path) -> None:
        batch.execute_sql(f"CREATE TABLE t (a TINYINT, b SMALLINT) WITH ({iceberg(tmp_path)()})")
        batch.execute_sql("INSERT INTO t VALUES (CAST(1 AS TINYINT), CAST(2 AS SMALLINT))").wait()
        assert rows(batch, "SELECT * FROM t") == [(1, 2)]
