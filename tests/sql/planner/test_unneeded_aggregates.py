"""How many aggregates Flink 2.3 keeps of queries that group by unique keys."""

from __future__ import annotations

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

TABLES = (
    "a (k INT, v INT, x BIGINT, s STRING, d DECIMAL(10, 2), PRIMARY KEY (k) NOT ENFORCED)",
    "b (k INT, v INT, PRIMARY KEY (k, v) NOT ENFORCED)",
    "c (k INT, v INT)",
    "dd (k INT, v INT, f DOUBLE, b BOOLEAN, PRIMARY KEY (k) NOT ENFORCED)",
)
RECORDED = [
    (0, "SELECT k, SUM(v) FROM a GROUP BY k"),
    (0, "SELECT k, MIN(v), MAX(x) FROM a GROUP BY k"),
    (1, "SELECT k, COUNT(*) FROM a GROUP BY k"),
    (1, "SELECT k, COUNT(v) FROM a GROUP BY k"),
    (1, "SELECT k, AVG(v) FROM a GROUP BY k"),
    (0, "SELECT k, v, SUM(x) FROM a GROUP BY k, v"),
    (0, "SELECT k FROM a GROUP BY k"),
    (0, "SELECT DISTINCT k, v FROM a"),
    (1, "SELECT DISTINCT v FROM a"),
    (0, "SELECT DISTINCT k FROM a"),
    (0, "SELECT k, SUM(DISTINCT v) FROM a GROUP BY k"),
    (1, "SELECT k, SUM(v) FILTER (WHERE x > 1) FROM a GROUP BY k"),
    (0, "SELECT k, MIN(s) FROM a GROUP BY k"),
    (0, "SELECT k, SUM(d) FROM a GROUP BY k"),
    (1, "SELECT k, FIRST_VALUE(v) FROM a GROUP BY k"),
    (1, "SELECT k, LAST_VALUE(v) FROM a GROUP BY k"),
    (1, "SELECT k, SUM(v), COUNT(*) FROM a GROUP BY k"),
    (1, "SELECT k, SUM(v) FROM b GROUP BY k"),
    (1, "SELECT k, v, COUNT(*) FROM b GROUP BY k, v"),
    (0, "SELECT k, v, MAX(v) FROM b GROUP BY k, v"),
    (1, "SELECT k, SUM(v) FROM c GROUP BY k"),
    (1, "SELECT k, SUM(n) FROM (SELECT k, COUNT(*) n FROM c GROUP BY k) GROUP BY k"),
    (1, "SELECT k, MAX(n) FROM (SELECT k, COUNT(*) n FROM c GROUP BY k) GROUP BY k"),
    (2, "SELECT k, COUNT(n) FROM (SELECT k, COUNT(*) n FROM c GROUP BY k) GROUP BY k"),
    (1, "SELECT DISTINCT k FROM (SELECT k, COUNT(*) n FROM c GROUP BY k)"),
    (1, "SELECT DISTINCT k, n FROM (SELECT k, COUNT(*) n FROM c GROUP BY k)"),
    (1, "SELECT k, SUM(v) FROM a GROUP BY GROUPING SETS ((k), ())"),
    (0, "SELECT k, SUM(v) FROM a WHERE x > 1 GROUP BY k HAVING SUM(v) > 3"),
    (0, "SELECT k, SUM(v + 1) FROM a GROUP BY k"),
    (1, "SELECT k + 1, SUM(v) FROM a GROUP BY k + 1"),
    (1, "SELECT CAST(k AS BIGINT), SUM(v) FROM a GROUP BY CAST(k AS BIGINT)"),
    (0, "SELECT a.k, SUM(a.v) FROM a JOIN dd ON a.k = dd.k GROUP BY a.k"),
    (0, "SELECT k, MIN(b) FROM dd GROUP BY k"),
    (0, "SELECT k, SUM(f) FROM dd GROUP BY k"),
    (1, "SELECT k, STDDEV_POP(f) FROM dd GROUP BY k"),
    (1, "SELECT k, LISTAGG(s) FROM a GROUP BY k"),
    (0, "SELECT k, s, SUM(v) FROM a GROUP BY k, s"),
    (1, "SELECT SUM(m) FROM (SELECT k, SUM(v) m FROM a GROUP BY k)"),
    (1, "SELECT COUNT(*) FROM (SELECT DISTINCT k FROM a)"),
    (0, "SELECT k, MAX(v) OVER_ FROM a GROUP BY k"),
    (1, "SELECT k, COLLECT(v) FROM a GROUP BY k"),
    (1, "SELECT k, SINGLE_VALUE(v) FROM a GROUP BY k"),
    (0, "SELECT k FROM a INTERSECT SELECT k FROM dd"),
    (0, "SELECT k FROM a EXCEPT SELECT k FROM dd"),
    (1, "SELECT k FROM a UNION SELECT k FROM dd"),
    (
        1,
        "SELECT k, SUM(v) FROM (SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) r FROM c) "
        "WHERE r = 1) GROUP BY k",
    ),
    (1, "SELECT k, COUNT(DISTINCT v) FROM a GROUP BY k"),
]


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for table in TABLES:
        env.execute_sql(f"CREATE TABLE {table} WITH ('connector' = 'datagen')")
    return env


@pytest.mark.parametrize(("aggregates", "query"), RECORDED)
def test_aggregates_by_unique_keys_are_left_out_as_in_flink(
    aggregates: int, query: str, environment: TableEnvironment
) -> None:
    assert environment.explain_sql(query).partition("Execution Plan")[2].count("GroupAggregate(") == aggregates
