"""`CREATE CATALOG ... WITH ('type' = 'delta')`: the directories of a warehouse, and the Delta tables in them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from scurry.errors import CatalogError, UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.statements.tables import rows


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


@pytest.fixture
def env(lake: Path) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local").set("table.local-time-zone", "UTC")
    made.execute_sql(f"CREATE CATALOG lake WITH ('type' = 'delta', 'warehouse' = '{lake}')")
    made.execute_sql("USE CATALOG lake")
    return made


def test_tables_of_others_are_read_without_a_declaration(env: TableEnvironment, lake: Path) -> None:
    inner = pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.string())])
    schema = pa.schema(
        [
            pa.field("i", pa.int64(), nullable=False), pa.field("s", pa.int8()), pa.field("d", pa.decimal128(10, 2)),
            pa.field("ts", pa.timestamp("us", "UTC")), pa.field("r", inner), pa.field("a", pa.list_(pa.int32())),
        ]
    )  # fmt: skip
    row = {"i": 1, "s": 2, "d": None, "ts": 1_000_000, "r": {"x": 7, "y": "z"}, "a": [1]}
    write_deltalake(str(lake / "shop" / "orders"), pa.Table.from_pylist([row], schema))
    (lake / "shop" / "no_table").mkdir()
    assert rows(env, "SHOW DATABASES") == [("default",), ("shop",)]
    env.execute_sql("USE shop")
    assert rows(env, "SHOW TABLES") == [("orders",)]
    described = {row[0]: (row[1], row[2]) for row in rows(env, "DESCRIBE orders")}
    assert described == {
        "i": ("BIGINT", False),
        "s": ("TINYINT", True),
        "d": ("DECIMAL(10, 2)", True),
        "ts": ("TIMESTAMP_LTZ(6)", True),
        "r": ("ROW<`x` INT, `y` STRING>", True),
        "a": ("ARRAY<INT>", True),
    }
    assert rows(env, "SELECT i, s, CAST(ts AS STRING), r.y, a FROM lake.shop.orders") == [
        (1, 2, "1970-01-01 00:00:01.000000", "z", [1])
    ]


def test_tables_are_created_written_renamed_and_dropped(env: TableEnvironment, lake: Path) -> None:
    env.execute_sql("CREATE DATABASE shop COMMENT 'what is sold' WITH ('owner' = 'ann')")
    env.execute_sql("USE shop")
    env.execute_sql(
        "CREATE TABLE t (i INT NOT NULL, p STRING) COMMENT 'numbers' PARTITIONED BY (p) "
        "WITH ('delta.appendOnly' = 'true')"
    )
    env.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')").wait()
    assert rows(env, "SELECT * FROM t") == [(1, "a"), (2, "b")]
    there = DeltaTable(str(lake / "shop" / "t"))
    assert there.metadata().partition_columns == ["p"]
    assert there.metadata().description == "numbers"
    assert there.metadata().configuration == {"delta.appendOnly": "true"}
    assert [field.nullable for field in there.schema().fields] == [False, True]
    env.execute_sql("ALTER TABLE t RENAME TO u")
    assert rows(env, "SHOW TABLES") == [("u",)]
    assert rows(env, "SELECT * FROM u") == [(1, "a"), (2, "b")]
    env.execute_sql("DROP TABLE u")
    assert not (lake / "shop" / "u").exists()
    env.execute_sql("USE `default`")
    env.execute_sql("DROP DATABASE shop")
    assert rows(env, "SHOW DATABASES") == [("default",)]


def test_a_table_of_a_query_is_created_with_its_columns(env: TableEnvironment, lake: Path) -> None:
    env.execute_sql("CREATE TABLE t AS SELECT 1 AS i, 'a' AS s").wait()
    assert DeltaTable(str(lake / "default" / "t")).to_pyarrow_table().to_pylist() == [{"i": 1, "s": "a"}]


def test_columns_and_properties_are_added(env: TableEnvironment, lake: Path) -> None:
    env.execute_sql("CREATE TABLE t (i INT)")
    env.execute_sql("INSERT INTO t VALUES 1").wait()
    env.execute_sql("ALTER TABLE t ADD (s STRING, n TINYINT)")
    env.execute_sql("INSERT INTO t VALUES (2, 'b', CAST(3 AS TINYINT))").wait()
    assert rows(env, "SELECT * FROM t") == [(1, None, None), (2, "b", 3)]
    env.execute_sql("ALTER TABLE t SET ('delta.logRetentionDuration' = 'interval 1 day')")
    assert DeltaTable(str(lake / "default" / "t")).metadata().configuration == {
        "delta.logRetentionDuration": "interval 1 day"
    }


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("DROP s", "does not drop or rename columns"),
        ("RENAME s TO r", "does not drop or rename columns"),
        ("MODIFY i BIGINT", "does not change the type of columns: i"),
        ("ADD n INT FIRST", "does not change the order of columns"),
        ("ADD n INT NOT NULL", "does not add columns that are NOT NULL"),
        ("RESET ('delta.appendOnly')", "does not keep what this statement changes"),
    ],
)
def test_changes_that_delta_does_not_keep_are_refused(env: TableEnvironment, change: str, reason: str) -> None:
    env.execute_sql("CREATE TABLE t (i INT, s STRING)")
    with pytest.raises(UnsupportedError, match=reason):
        env.execute_sql(f"ALTER TABLE t {change}")


def test_properties_of_databases_are_kept(env: TableEnvironment, lake: Path) -> None:
    env.execute_sql("CREATE DATABASE shop COMMENT 'sold' WITH ('a' = '1')")
    env.execute_sql("ALTER DATABASE shop SET ('b' = '2')")
    later = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    later.execute_sql(f"CREATE CATALOG other WITH ('type' = 'delta', 'warehouse' = '{lake}')")
    catalog = later.get_catalog("other")
    assert catalog is not None
    assert catalog.get_database("shop").get_properties() == {"a": "1", "b": "2"}
    assert catalog.get_database("shop").get_comment() == "sold"


def test_a_database_that_is_not_empty_is_not_dropped_without_cascade(env: TableEnvironment, lake: Path) -> None:
    env.execute_sql("CREATE DATABASE shop")
    env.execute_sql("CREATE TABLE shop.t (i INT)")
    with pytest.raises(CatalogError, match="Database shop in catalog lake is not empty"):
        env.execute_sql("DROP DATABASE shop")
    env.execute_sql("DROP DATABASE shop CASCADE")
    assert not (lake / "shop").exists()


def test_what_delta_does_not_keep_is_refused(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE t (i INT)")
    with pytest.raises(CatalogError, match="already exists"):
        env.execute_sql("CREATE TABLE t (i INT)")
    with pytest.raises(CatalogError, match="Database nope does not exist"):
        env.execute_sql("CREATE TABLE nope.t (i INT)")
    with pytest.raises(UnsupportedError, match="keeps tables of Delta Lake only"):
        env.execute_sql("CREATE TABLE u (i INT) WITH ('connector' = 'datagen')")
    with pytest.raises(UnsupportedError, match="physical columns only"):
        env.execute_sql("CREATE TABLE u (i INT, j AS i + 1)")
    with pytest.raises(UnsupportedError, match="keeps tables only: create a temporary view"):
        env.execute_sql("CREATE VIEW u AS SELECT 1 AS x")
    with pytest.raises(UnsupportedError, match="of type 'delta'"):
        env.execute_sql("CREATE FUNCTION f AS 'm.f' LANGUAGE PYTHON")
    with pytest.raises(ValidationError, match="properties that begin with 'delta.', not mergeSchema"):
        env.execute_sql("CREATE TABLE u (i INT) WITH ('mergeSchema' = 'true')")


def test_options_of_the_catalog_are_checked(env: TableEnvironment) -> None:
    with pytest.raises(ValidationError, match="Unsupported options: nope"):
        env.execute_sql("CREATE CATALOG b WITH ('type' = 'delta', 'warehouse' = '/tmp', 'nope' = '1')")
    with pytest.raises(ValidationError, match="Missing required options are: warehouse"):
        env.execute_sql("CREATE CATALOG b WITH ('type' = 'delta')")
