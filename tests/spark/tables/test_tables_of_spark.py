"""`'connector' = 'spark'`: formats that Spark reads and writes itself, as tables of SQL; tables of lakes on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from scurry.table.expressions import col
from support.statements.tables import rows

pytestmark = pytest.mark.spark


@pytest.fixture
def env(spark: Any) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("table.local-time-zone", "UTC").set("parallelism.default", "2")
    return made


def test_a_dataframe_of_the_programs_session_is_a_table(env: TableEnvironment, spark: Any) -> None:
    frame = spark.createDataFrame([("tea", 3), ("jam", 4)], "item STRING, price INT")
    doubled = env.from_spark(frame).select(col("item"), (col("price") * 2).alias("price")).where(col("price") > 6)
    assert doubled.to_spark().collect() == [("jam", 8)]
    with doubled.execute().collect() as found:
        assert [tuple(row) for row in found] == [("jam", 8)]


def test_a_format_of_spark_is_written_and_read(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(
        "CREATE TABLE t (i INT NOT NULL, s STRING, ts TIMESTAMP(3), lz TIMESTAMP_LTZ(6), a ARRAY<INT>, "
        "r ROW<x INT, y STRING>, p STRING) PARTITIONED BY (p) WITH ('connector' = 'spark', 'format' = 'orc', "
        f"'path' = '{tmp_path}/t', 'options.compression' = 'zlib')"
    )
    env.execute_sql(
        "INSERT INTO t VALUES (1, 'a', TIMESTAMP '2024-02-29 01:02:03.123', TO_TIMESTAMP_LTZ(1000, 3), ARRAY[1], "
        "ROW(1, 'z'), 'p1'), (2, CAST(NULL AS STRING), CAST(NULL AS TIMESTAMP(3)), CAST(NULL AS TIMESTAMP_LTZ(6)), "
        "CAST(NULL AS ARRAY<INT>), CAST(NULL AS ROW<x INT, y STRING>), 'p2')"
    ).wait()
    env.execute_sql("INSERT OVERWRITE t (i, p) VALUES (3, 'p2')").wait()
    texts = "i, s, CAST(ts AS STRING), CAST(lz AS STRING), a, r.y, p"
    assert rows(env, f"SELECT {texts} FROM t") == [
        (1, "a", "2024-02-29 01:02:03.123", "1970-01-01 00:00:01.000000", [1], "z", "p1"),
        (3, None, None, None, None, None, "p2"),
    ]
    assert rows(env, "SELECT COUNT(*) FROM t WHERE i > 1") == [(1,)]
    assert sorted(file.name.rpartition(".zlib.")[2] for file in tmp_path.rglob("*.orc")) == ["orc", "orc"]
    with pytest.raises(ScurryError, match="'i' is NOT NULL, however, a null value"):
        env.execute_sql("INSERT INTO t (i, p) SELECT CAST(NULL AS INT), 'p1'").wait()


def test_values_have_the_declared_types_or_fail(env: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("i;s\n1;a\n;b\n")
    options = f"'connector' = 'spark', 'format' = 'csv', 'path' = '{tmp_path}', 'options.sep' = ';'"
    env.execute_sql(f"CREATE TABLE t (s STRING, i INT) WITH ({options}, 'options.header' = 'true')")
    assert rows(env, "SELECT * FROM t") == [("a", 1), ("b", None)]
    env.execute_sql(f"CREATE TABLE u (s INT) WITH ({options}, 'options.header' = 'true')")
    with pytest.raises(ScurryError, match="column 's' is int, which this value does not fit: a"):
        rows(env, "SELECT * FROM u")
    env.execute_sql(f"CREATE TABLE w (x INT) WITH ({options}, 'options.header' = 'true')")
    with pytest.raises(ValidationError, match="has no column 'x'; it has i string, s string"):
        rows(env, "SELECT * FROM w")


def test_tables_of_lakes_are_written_and_read_by_tasks(env: TableEnvironment, tmp_path: Path) -> None:
    lakes = {
        "delta": f"'connector' = 'delta', 'table-path' = '{tmp_path}/delta'",
        "iceberg": "'connector' = 'iceberg', 'catalog-name' = 'c', 'catalog-type' = 'sql', 'catalog-database' = 'db', "
        f"'uri' = 'sqlite:///{tmp_path}/catalog.db', 'warehouse' = 'file://{tmp_path}/warehouse'",
    }
    for name, options in lakes.items():
        env.execute_sql(f"CREATE TABLE {name} (i INT, ts TIMESTAMP(3), p STRING) PARTITIONED BY (p) WITH ({options})")
        for number in range(2):
            env.execute_sql(
                f"INSERT INTO {name} VALUES ({number}, TIMESTAMP '2024-02-29 01:02:03', 'a'), ({number}, "
                "CAST(NULL AS TIMESTAMP(3)), 'b')"
            ).wait()
    both = "SELECT d.i, CAST(d.ts AS STRING), e.p FROM delta AS d JOIN iceberg AS e ON d.i = e.i AND d.p = e.p"
    assert rows(env, both) == [
        (0, "2024-02-29 01:02:03.000", "a"), (0, None, "b"), (1, "2024-02-29 01:02:03.000", "a"), (1, None, "b"),
    ]  # fmt: skip
