"""Views keep their meaning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scurry.sql.syntax import nodes
from scurry.table import EnvironmentSettings, TableEnvironment


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    made.get_config().set("scurry.runner", "local")
    made.execute_sql("CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    return made


def columns(env: TableEnvironment, query: str) -> list[str]:
    return env.sql_query(query).get_schema().get_field_names()


def test_a_view_of_all_columns_keeps_them_when_the_table_gets_more(env: TableEnvironment) -> None:
    env.execute_sql("CREATE VIEW v AS SELECT * FROM t")
    env.execute_sql("ALTER TABLE t ADD c INT FIRST")
    assert columns(env, "SELECT * FROM v") == ["a", "b"]
    assert columns(env, "SELECT * FROM t") == ["c", "a", "b"]


def test_a_view_reads_its_tables_from_any_database(env: TableEnvironment) -> None:
    env.execute_sql("CREATE VIEW v AS WITH w AS (SELECT a FROM t) SELECT x.a FROM w AS x JOIN t ON x.a = t.a")
    env.execute_sql("CREATE DATABASE other")
    env.execute_sql("USE other")
    assert columns(env, "SELECT * FROM default_database.v") == ["a"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, COUNT(*) AS n FROM t GROUP BY a HAVING COUNT(*) > 0 ORDER BY n",
        "SELECT t.*, b AS c FROM t WHERE EXISTS (SELECT 1 FROM t AS u WHERE u.a = t.a)",
        "SELECT a FROM t UNION ALL SELECT CHAR_LENGTH(b) FROM t",
        "SELECT s.x, ROW_NUMBER() OVER (PARTITION BY s.x ORDER BY y) AS r FROM (SELECT a AS x, b AS y FROM t) AS s",
        "SELECT CAST(a AS BIGINT) AS a, EXTRACT(YEAR FROM DATE '2024-01-01') FROM t JOIN (VALUES (1)) AS v(k) ON a = k",
    ],
)
def test_a_view_has_the_columns_of_its_query(env: TableEnvironment, query: str) -> None:
    env.execute_sql(f"CREATE TEMPORARY VIEW v AS {query}")
    assert str(env.from_path("v").get_schema()) == str(env.sql_query(query).get_schema())
    assert columns(env, "SELECT * FROM v") == columns(env, query)


@pytest.mark.parametrize("alias", ["AS c", ""])
def test_a_view_joins_with_the_versions_of_a_table(alias: str, env: TableEnvironment) -> None:
    with_key = "(k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED)"
    env.execute_sql(f"CREATE TABLE versions {with_key} WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    versions = f"versions FOR SYSTEM_TIME AS OF t.ts {alias}"
    env.execute_sql(f"CREATE VIEW v AS SELECT t.k FROM versions t JOIN {versions} ON t.k = {alias[3:] or 'versions'}.k")
    assert columns(env, "SELECT * FROM v") == ["k"]


def test_final_is_a_name_unless_a_call_follows(env: TableEnvironment) -> None:
    env.execute_sql("CREATE VIEW v AS SELECT a AS final FROM t")
    assert columns(env, "SELECT AVG(final) AS x, final + (1) AS y, final FROM v GROUP BY final") == ["x", "y", "final"]


@pytest.fixture
def python_function(env: TableEnvironment, tmp_path: Path) -> None:
    source = "from scurry.table import DataTypes\nfrom scurry.table.udf import udf\n"
    source += "@udf(result_type=DataTypes.INT())\ndef plus_one(x):\n    return x + 1\n"
    (tmp_path / "views_functions.py").write_text(source)
    env.get_config().set("python.files", str(tmp_path / "views_functions.py"))
    env.execute_sql("CREATE FUNCTION plus_one AS 'views_functions.plus_one' LANGUAGE PYTHON")


@pytest.mark.usefixtures("python_function")
def test_views_and_computed_columns_call_the_function_of_their_database(env: TableEnvironment) -> None:
    env.execute_sql("CREATE VIEW v AS SELECT plus_one(a) AS x FROM (VALUES (1)) AS u(a)")
    with_sequence = "'number-of-rows' = '1', 'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '1'"
    env.execute_sql(f"CREATE TABLE c (a INT, x AS plus_one(a)) WITH ('connector' = 'datagen', {with_sequence})")
    env.execute_sql("CREATE DATABASE other")
    env.execute_sql("USE other")
    for name in ("v", "c"):
        with env.execute_sql(f"SELECT x FROM default_database.{name}").collect() as rows:
            assert [row[0] for row in rows] == [2]


#: What each part of a query that is a name names; a view gives full names to tables and functions.
_NAMED = {
    "Alias.columns": "columns",
    "Alias.name": "a table of its own",
    "Call.name": "a function",
    "CommonTableExpression.columns": "columns",
    "CommonTableExpression.name": "a table of its own",
    "Convert.charset": "a charset",
    "Descriptor.columns": "columns",
    "ExplicitTable.name": "a table",
    "FunctionCall.over": "a window",
    "HintOption.value": "a name of a hint",
    "Join.using": "columns",
    "Measure.name": "a column",
    "ModelArgument.name": "refused",
    "NamedArgument.name": "a parameter",
    "NextValue.sequence": "refused",
    "PatternDefinition.variable": "a variable",
    "PatternSubset.name": "a variable",
    "PatternSubset.variables": "variables",
    "PatternVariable.name": "a variable",
    "Pivot.columns": "refused",
    "PivotItem.alias": "refused",
    "SelectItem.alias": "a column",
    "SkipAfterMatch.variable": "a variable",
    "Star.qualifier": "a table of its own",
    "TableReference.extend": "refused",
    "TableReference.name": "a table",
    "Translate.charset": "a charset",
    "Unpivot.axes": "refused",
    "Unpivot.measures": "refused",
    "WindowDefinition.name": "a window",
    "WindowSpecification.base": "a window",
}


def test_every_name_in_a_query_is_known_as_what_it_names() -> None:
    found = set()
    for made in vars(nodes).values():
        if isinstance(made, type) and issubclass(made, nodes.Node) and made.__module__.rsplit(".", 1)[1] in _OF_QUERIES:
            hints = made.__annotations__
            found |= {f"{made.__name__}.{each}" for each, text in hints.items() if re.search(r"\bIdentifier\b", text)}
    assert found == set(_NAMED)


_OF_QUERIES = ("expressions", "functions", "json", "literals", "patterns", "queries", "windows")


@pytest.mark.parametrize(
    "query",
    [
        "TABLE t",
        "SELECT a FROM (TABLE t)",
        "SELECT a FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR))",
        "SELECT a FROM TABLE(TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1' HOUR))",
        "SELECT a FROM TABLE(SESSION(TABLE t PARTITION BY a, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS w",
        "WITH w AS (TABLE t) SELECT a FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '1' HOUR))",
        "SELECT a FROM t WHERE a IN (SELECT a FROM (TABLE t))",
    ],
)
def test_a_view_reads_the_table_of_its_own_database(query: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    options = "WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
    env.execute_sql(f"CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {options}")
    env.execute_sql(f"CREATE VIEW v AS {query}")
    before = env.explain_sql("SELECT * FROM v")
    env.execute_sql("CREATE DATABASE other")
    env.execute_sql("USE other")
    env.execute_sql(f"CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {options}")
    assert env.explain_sql("SELECT * FROM default_database.v") == before
    assert "other" not in before
