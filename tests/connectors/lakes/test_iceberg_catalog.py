"""`CREATE CATALOG ... WITH ('type' = 'iceberg')`: namespaces and tables of a catalog that pyiceberg knows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog

from scurry.errors import CatalogError, ScurryError, UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.statements.tables import rows


@pytest.fixture
def properties(tmp_path: Path) -> dict[str, str]:
    return {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse"}


@pytest.fixture
def lake(properties: dict[str, str]) -> Catalog:
    """The catalog as others see it."""
    return load_catalog("lake", type="sql", **properties)


@pytest.fixture
def env(properties: dict[str, str]) -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local").set("table.local-time-zone", "UTC")
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    made.execute_sql(f"CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'sql', {listed})")
    made.execute_sql("USE CATALOG lake")
    return made


def test_tables_of_others_are_read_without_a_declaration(env: TableEnvironment, lake: Catalog) -> None:
    lake.create_namespace("shop")
    inner = pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.string())])
    schema = pa.schema(
        [
            pa.field("i", pa.int64(), nullable=False), pa.field("d", pa.decimal128(10, 2)),
            pa.field("ts", pa.timestamp("us", "UTC")), pa.field("r", inner), pa.field("a", pa.list_(pa.int32())),
        ]
    )  # fmt: skip
    table = lake.create_table("shop.orders", schema)
    row = {"i": 1, "d": None, "ts": 1_000_000, "r": {"x": 7, "y": "z"}, "a": [1]}
    table.append(pa.Table.from_pylist([row], schema))
    assert rows(env, "SHOW DATABASES") == [("default",), ("shop",)]
    env.execute_sql("USE shop")
    assert rows(env, "SHOW TABLES") == [("orders",)]
    described = {row[0]: (row[1], row[2]) for row in rows(env, "DESCRIBE orders")}
    assert described == {
        "i": ("BIGINT", False),
        "d": ("DECIMAL(10, 2)", True),
        "ts": ("TIMESTAMP_LTZ(6)", True),
        "r": ("ROW<`x` INT, `y` STRING>", True),
        "a": ("ARRAY<INT>", True),
    }
    assert rows(env, "SELECT i, CAST(ts AS STRING), r.y, a FROM lake.shop.orders") == [
        (1, "1970-01-01 00:00:01.000000", "z", [1])
    ]


def test_tables_are_created_written_renamed_and_dropped(env: TableEnvironment, lake: Catalog) -> None:
    env.execute_sql("CREATE DATABASE shop COMMENT 'what is sold'")
    env.execute_sql("USE shop")
    env.execute_sql(
        "CREATE TABLE t (i INT NOT NULL, p STRING) COMMENT 'numbers' PARTITIONED BY (p) WITH ('write.spark.x' = '1')"
    )
    env.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')").wait()
    assert rows(env, "SELECT * FROM t") == [(1, "a"), (2, "b")]
    there = lake.load_table("shop.t")
    assert [field.name for field in there.spec().fields] == ["p"]
    assert (there.properties["write.spark.x"], there.properties["comment"]) == ("1", "numbers")
    assert lake.load_namespace_properties("shop")["comment"] == "what is sold"
    env.execute_sql("ALTER TABLE t RENAME TO u")
    assert lake.list_tables("shop") == [("shop", "u")]
    env.execute_sql("DROP TABLE u")
    env.execute_sql("USE `default`")
    env.execute_sql("DROP DATABASE shop")
    assert not lake.namespace_exists("shop")


def test_a_table_of_a_query_is_created_with_its_columns(env: TableEnvironment, lake: Catalog) -> None:
    env.execute_sql("CREATE TABLE t AS SELECT 1 AS i, 'a' AS s").wait()
    assert lake.load_table("default.t").scan().to_arrow().to_pylist() == [{"i": 1, "s": "a"}]


def test_columns_are_added_renamed_and_dropped(env: TableEnvironment, lake: Catalog) -> None:
    env.execute_sql("CREATE TABLE t (i INT, s STRING)")
    env.execute_sql("INSERT INTO t VALUES (1, 'a')").wait()
    env.execute_sql("ALTER TABLE t ADD (n TINYINT, d DOUBLE)")
    env.execute_sql("ALTER TABLE t RENAME s TO r")
    env.execute_sql("ALTER TABLE t DROP d")
    env.execute_sql("INSERT INTO t VALUES (2, 'b', 3)").wait()
    assert [field.name for field in lake.load_table("default.t").schema().fields] == ["i", "r", "n"]
    assert rows(env, "SELECT i, r, n FROM t") == [(1, "a", None), (2, "b", 3)]
    env.execute_sql("ALTER TABLE t SET ('write.spark.x' = '1')")
    assert lake.load_table("default.t").properties["write.spark.x"] == "1"
    with pytest.raises(UnsupportedError, match="does not change the type of columns: i"):
        env.execute_sql("ALTER TABLE t MODIFY i BIGINT")


def test_properties_of_databases_are_set(env: TableEnvironment, lake: Catalog) -> None:
    env.execute_sql("CREATE DATABASE shop COMMENT 'sold' WITH ('a' = '1')")
    env.execute_sql("ALTER DATABASE shop SET ('b' = '2')")
    properties = lake.load_namespace_properties("shop")
    assert {key: properties[key] for key in ("a", "b", "comment")} == {"a": "1", "b": "2", "comment": "sold"}


def test_a_database_that_is_not_empty_is_not_dropped_without_cascade(env: TableEnvironment, lake: Catalog) -> None:
    env.execute_sql("CREATE DATABASE shop")
    env.execute_sql("CREATE TABLE shop.t (i INT)")
    with pytest.raises(CatalogError, match="shop"):
        env.execute_sql("DROP DATABASE shop")
    env.execute_sql("DROP DATABASE shop CASCADE")
    assert not lake.namespace_exists("shop")


def test_what_iceberg_does_not_keep_is_refused(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE t (i INT)")
    with pytest.raises(CatalogError, match="already exists"):
        env.execute_sql("CREATE TABLE t (i INT)")
    with pytest.raises(UnsupportedError, match="keeps tables of Iceberg only"):
        env.execute_sql("CREATE TABLE u (i INT) WITH ('connector' = 'datagen')")
    with pytest.raises(UnsupportedError, match="physical columns only"):
        env.execute_sql("CREATE TABLE u (i INT, j AS i + 1)")
    with pytest.raises(UnsupportedError, match="keeps tables only: create a temporary view"):
        env.execute_sql("CREATE VIEW u AS SELECT 1 AS x")
    with pytest.raises(UnsupportedError, match="of type 'iceberg'"):
        env.execute_sql("CREATE FUNCTION f AS 'm.f' LANGUAGE PYTHON")


def test_options_of_the_catalog_are_checked(env: TableEnvironment) -> None:
    with pytest.raises(ValidationError, match="Unsupported options: nope"):
        env.execute_sql("CREATE CATALOG b WITH ('type' = 'iceberg', 'nope' = '1')")
    with pytest.raises(ScurryError, match="the Iceberg catalog 'b' cannot be"):
        env.execute_sql(
            "CREATE CATALOG b WITH ('type' = 'iceberg', 'catalog-type' = 'sql', 'uri' = 'sqlite:////none/x')"
        )
