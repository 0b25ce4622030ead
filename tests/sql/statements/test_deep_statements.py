"""Statements that are nested deeply, or chain many operands, are planned, explained and executed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ScurryError
from scurry.sql.syntax import parse
from scurry.sql.syntax.unparse import unparse
from scurry.table import EnvironmentSettings, StreamTableEnvironment, Table, TableEnvironment


@pytest.fixture(params=["batch", "streaming"])
def env(request: Any) -> Iterator[TableEnvironment]:
    batch = request.param == "batch"
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("scurry.runner", "local").set("parallelism.default", "1")
    env.execute_sql("CREATE VIEW t AS SELECT * FROM (VALUES (1, 2.5, 'x'), (7, 0.5, 'y')) AS v(a, d, s)")
    limit = sys.getrecursionlimit()
    yield env
    assert sys.getrecursionlimit() == limit


def nested(start: str, levels: int, around: str) -> str:
    for _ in range(levels):
        start = around.format(start)
    return start


DEEP: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "sum": (f"SELECT {' + '.join(['a'] * 400)} FROM t", [(400,), (2800,)]),
    "sum of doubles": (f"SELECT {' + '.join(['CAST(d AS DOUBLE)'] * 400)} FROM t", [(1000.0,), (200.0,)]),
    "sum of groups": (f"SELECT {' + '.join(['SUM(a)'] * 300)} FROM t GROUP BY d", [(300,), (2100,)]),
    "concatenation": (f"SELECT CHAR_LENGTH({' || '.join(['s'] * 400)}) FROM t", [(400,), (400,)]),
    "and": (f"SELECT a FROM t WHERE {' AND '.join(f'a <> {n + 2}' for n in range(1000))}", [(1,)]),
    "or": (f"SELECT a FROM t WHERE {' OR '.join(f'a = {n + 2}' for n in range(1000))}", [(7,)]),
    "and of groups": (
        f"SELECT d FROM t GROUP BY d HAVING {' AND '.join(f'SUM(a) <> {n + 2}' for n in range(200))}",
        [(2.5,)],
    ),
    "case": (f"SELECT {nested('0', 100, 'CASE WHEN a > 1 THEN {} ELSE a END')} FROM t", [(1,), (0,)]),
    "parentheses": (f"SELECT {'(' * 200}a{')' * 200} FROM t", [(1,), (7,)]),
    "calls": (f"SELECT {nested('a', 150, 'ABS({})')} FROM t", [(1,), (7,)]),
    "not": (f"SELECT a FROM t WHERE {'NOT ' * 200} a = 1", [(1,)]),
    "subqueries": (nested("SELECT a FROM t", 60, "SELECT a FROM ({}) WHERE a < 5"), [(1,)]),
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_deep_statements_have_their_rows(name: str, env: TableEnvironment) -> None:
    query, rows = DEEP[name]
    assert "Abstract Syntax Tree" in env.explain_sql(query)
    assert unparse(parse(unparse(parse(query)))) == unparse(parse(query))
    with env.execute_sql(query).collect() as found:
        assert sorted(tuple(row) for row in found) == sorted(rows)


def test_a_thousand_queries_are_a_union() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    union = " UNION ALL ".join(f"SELECT {n} AS a" for n in range(1000))
    assert env.explain_sql(union).count("LogicalUnion(all=[true])") == 999  # one in another, as Flink shows them
    with env.execute_sql(f"SELECT SUM(a), COUNT(*) FROM ({union})").collect() as found:
        assert [tuple(row) for row in found] == [(499500, 1000)]


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT {'(' * 5000}1{')' * 5000}",
        f"SELECT {'- (' * 4000} 1 {')' * 4000}",
        nested("SELECT 1 AS a", 2500, "SELECT a FROM ({}) AS x"),
    ],
)
def test_what_is_nested_too_deeply_is_said(query: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    with pytest.raises(ScurryError, match="nested too deeply"):
        env.execute_sql(query)


#: Filters one on another, which nothing merges, as the condition of each has the value of the one below.
DEEP_QUERY, ROWS = nested("SELECT a FROM t", 260, "SELECT a + 1 AS a FROM ({}) WHERE a <> -1"), 2


def _attached(env: StreamTableEnvironment, _: Table) -> int:
    env.execute_sql("CREATE TABLE sink (a INT) WITH ('connector' = 'blackhole')")
    statements = env.create_statement_set()
    statements.add_insert_sql(f"INSERT INTO sink {DEEP_QUERY}")
    statements.attach_as_datastream()
    with env.to_data_stream(env.sql_query("SELECT 1")).execute_and_collect() as rows:
        list(rows)
    return ROWS


def _explained(env: StreamTableEnvironment, _: Table) -> int:
    env.execute_sql("CREATE TABLE sink (a INT) WITH ('connector' = 'blackhole')")
    statements = env.create_statement_set()
    statements.add_insert_sql(f"INSERT INTO sink {DEEP_QUERY}")
    return statements.explain().count("LogicalFilter") // 130


def _collected(env: StreamTableEnvironment, table: Table) -> int:
    with env.to_data_stream(table).execute_and_collect() as rows:
        return len(list(rows))


def _changes(env: StreamTableEnvironment, table: Table) -> int:
    with env.to_changelog_stream(table).execute_and_collect() as rows:
        return len(list(rows))


def _of_a_view(env: StreamTableEnvironment, table: Table) -> int:
    env.create_temporary_view("deep", table)
    with env.execute_sql("SELECT * FROM deep").collect() as rows:
        return len(list(rows))


WAYS: dict[str, Callable[[StreamTableEnvironment, Table], int]] = {
    "attach_as_datastream": _attached,
    "explain of a statement set": _explained,
    "to_data_stream": _collected,
    "to_changelog_stream": _changes,
    "view": _of_a_view,
    "to_pandas": lambda env, table: len(table.to_pandas()),
    "to_arrow": lambda env, table: table.to_arrow().num_rows,
    "explain": lambda env, table: table.explain().count("LogicalFilter") // 130,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_deep_query_takes_every_way(way: str) -> None:
    streams = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    streams.set_parallelism(1)
    env = StreamTableEnvironment.create(streams)
    env.execute_sql("CREATE VIEW t AS SELECT * FROM (VALUES (1), (7)) AS v(a)")
    assert WAYS[way](env, env.sql_query(DEEP_QUERY)) == ROWS
