"""What a session has settled: its mode, its functions and modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.errors import TopologyError, ValidationError
from scurry.sql.statements.client_statements import ClientStatements
from scurry.sql.syntax.parser import parse
from scurry.table import DataTypes, EnvironmentSettings, TableEnvironment, TableSchema
from scurry.table.module import Module


def made(mode: str) -> TableEnvironment:
    streaming = mode == "STREAMING"
    env = TableEnvironment.create(
        EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
    )
    env.get_config().set("scurry.runner", "local")
    return env


def rows(env: TableEnvironment, statement: str) -> list[tuple[object, ...]]:
    with env.execute_sql(statement).collect() as found:
        return [tuple(row) for row in found]


@pytest.mark.parametrize(("mode", "other"), [("STREAMING", "batch"), ("BATCH", "STREAMING")])
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1",
        "EXPLAIN SELECT 1",
        "INSERT INTO s SELECT 1",
        "CREATE TABLE c WITH ('connector' = 'blackhole') AS SELECT 1 AS x",
    ],
)
def test_the_mode_of_an_environment_does_not_change(mode: str, other: str, statement: str) -> None:
    env = made(mode)
    env.execute_sql("CREATE TABLE s (a INT) WITH ('connector' = 'blackhole')")
    env.get_config().set("execution.runtime-mode", other)
    with pytest.raises(ValidationError, match="Mismatch between configured runtime mode and actual runtime mode"):
        env.execute_sql(statement)


def test_the_statements_of_a_client_change_the_mode() -> None:
    env = made("STREAMING")
    client = ClientStatements(env._session)
    client.execute(parse("SET 'execution.runtime-mode' = 'batch'"))
    result = client.execute(parse("SELECT 1"))
    assert [row[1] for row in result.rows] == [(1,)]


def test_functions_are_described(tmp_path: Path) -> None:
    env = made("STREAMING")
    source = "from scurry.table import DataTypes\nfrom scurry.table.udf import udf\n"
    source += "@udf(result_type=DataTypes.INT(), deterministic=False)\ndef plus_one(x):\n    return x + 1\n"
    (tmp_path / "described_functions.py").write_text(source)
    env.get_config().set("python.files", str(tmp_path / "described_functions.py"))
    env.execute_sql("CREATE FUNCTION f AS 'described_functions.plus_one' LANGUAGE PYTHON")
    env.execute_sql("CREATE TEMPORARY SYSTEM FUNCTION sf AS 'described_functions.plus_one' LANGUAGE PYTHON")
    built_in = [("is system function", "true"), ("is temporary", "false")]
    own = [
        ("is system function", "false"),
        ("is temporary", "false"),
        ("class name", "described_functions.plus_one"),
        ("function language", "PYTHON"),
        ("resource uris", "[]"),
    ]
    folded = ("supports constant folding", "true")
    python = [("kind", "SCALAR"), ("requirements", "[]"), ("is deterministic", "false"), folded]
    assert rows(env, "DESCRIBE FUNCTION `SUM`") == built_in
    assert rows(env, "DESCRIBE FUNCTION EXTENDED `sum`")[2] == ("kind", "AGGREGATE")
    random = [*built_in, *python, ("signature", "RAND()\nRAND(<INTEGER>)")]
    assert rows(env, "DESCRIBE FUNCTION EXTENDED `RAND`") == random
    assert rows(env, "DESCRIBE FUNCTION f") == own
    full = "default_catalog.default_database.f"
    assert rows(env, f"DESCRIBE FUNCTION EXTENDED {full}") == [*own, *python, ("signature", f"{full}(*)")]
    assert rows(env, "DESCRIBE FUNCTION EXTENDED sf") == [
        ("is system function", "true"),
        ("is temporary", "true"),
        *python,
        ("signature", "sf(*)"),
    ]
    for name in ("`nope`", "`CASE`", "`TUMBLE`", "other.f"):
        with pytest.raises(ValidationError, match="doesn't exist"):
            env.execute_sql(f"DESCRIBE FUNCTION {name}")


def test_core_is_loaded_again() -> None:
    env = made("BATCH")
    with pytest.raises(ValidationError, match="already exists"):
        env.load_module("core", Module())
    env.unload_module("core")
    env.load_module("core", Module())
    assert env.list_modules() == ["core"]


def test_the_row_of_a_schema_is_not_null() -> None:
    schema = TableSchema.Builder().field("a", DataTypes.INT()).build()
    assert schema.to_row_data_type().as_summary_string() == "ROW<`a` INT> NOT NULL"


def test_an_empty_statement_set_of_a_client_is_nothing() -> None:
    client = ClientStatements(made("BATCH")._session)
    client.execute(parse("BEGIN STATEMENT SET"))
    assert client.execute(parse("END")).job is None


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM v /*+ OPTIONS('x' = 'y') */", "cannot be enriched with new options"),
        ("SELECT k FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '5' SECOND))", "offset"),
        (
            "SELECT k FROM (SELECT k, ROW_NUMBER() OVER (ORDER BY CAST(NULL AS INT)) AS rn FROM t) WHERE rn <= 1",
            "non-constant fields",
        ),
        ("INSERT INTO two SELECT ts, ts FROM t", r"more than one rowtime attribute column \[a, b\]"),
        (
            "SELECT window_start, COUNT(*) FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '7' SECOND, "
            "INTERVAL '10' SECOND)) GROUP BY window_start, window_end",
            "integral multiple",
        ),
        (
            "SELECT window_start FROM TABLE("
            "TUMBLE((SELECT DISTINCT k, ts FROM t), DESCRIPTOR(ts), INTERVAL '5' SECOND))",
            "is a time attribute type",
        ),
        ("SELECT k, k FROM t ORDER BY k", "ambiguous"),
    ],
)
def test_what_flink_refuses_is_refused(query: str, message: str) -> None:
    env = made("STREAMING")
    env.execute_sql("CREATE TABLE two (a TIMESTAMP(3), b TIMESTAMP(3)) WITH ('connector' = 'blackhole')")
    env.execute_sql(
        "CREATE TABLE t (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', "
        "'number-of-rows' = '1')"
    )
    env.execute_sql("CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(ValidationError, match=message):
        env.execute_sql(query).collect()


def test_what_flink_takes_is_taken() -> None:
    batch, streaming = made("BATCH"), made("STREAMING")
    for env in (batch, streaming):
        env.execute_sql(
            "CREATE TEMPORARY VIEW a AS SELECT * FROM (VALUES (1, ARRAY['x', 'y']), (2, ARRAY['x'])) AS t(id, l)"
        )
        env.execute_sql("CREATE TEMPORARY VIEW b AS SELECT * FROM (VALUES (1, 2), (2, 3)) AS t(id, x)")
        found = rows(env, "SELECT id, s FROM a LEFT JOIN UNNEST(l) AS u(s) ON s <> 'x' AND id < 9")
        assert sorted(found) == [(1, "y"), (2, None)]
    assert rows(batch, "SELECT a.id, b.x FROM a, b WHERE a.id = b.id ORDER BY id DESC") == [(2, 3), (1, 2)]
    assert rows(batch, "SELECT * FROM b JOIN a USING (id) JOIN (VALUES (3, 9)) AS c(x, z) USING (x)") == [
        (3, 2, ["x"], 9)
    ]


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("runner", ["local", "spark"])
@pytest.mark.parametrize("key", ["parallelism.default", "table.exec.resource.default-parallelism"])
def test_no_job_has_a_parallelism_above_the_maximum(mode: str, runner: str, key: str) -> None:
    env = made(mode)
    env.get_config().set("scurry.runner", runner).set(key, "5").set("pipeline.max-parallelism", "4")
    with pytest.raises(TopologyError, match="has parallelism 5, and its maximum parallelism is 4"):
        rows(env, "SELECT x FROM (VALUES 1, 2) AS t(x)")
