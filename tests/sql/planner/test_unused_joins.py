"""How many joins Flink 2.3 keeps of queries that do not use all sides of them."""

from __future__ import annotations

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

RECORDED = [
    (0, "SELECT a.v FROM a LEFT JOIN b ON a.k=b.k WHERE a.x > 3"),
    (0, "SELECT a.x, MAX(a.v) FROM a LEFT JOIN b ON a.k=b.k GROUP BY a.x"),
    (0, "SELECT a.v FROM a LEFT JOIN b ON a.k=b.k AND a.x > 1"),
    (0, "SELECT a.v FROM a LEFT JOIN b ON a.k=b.k ORDER BY a.x LIMIT 3"),
    (0, "SELECT a.v FROM a LEFT JOIN b ON a.k+1=b.k"),
    (0, "SELECT a.v FROM a LEFT JOIN b ON CAST(a.v AS INT)=b.k"),
    (0, "SELECT a.v FROM a LEFT JOIN b ON a.k IS NOT DISTINCT FROM b.k"),
    (0, "SELECT v FROM (SELECT a.v, b.w FROM a LEFT JOIN b ON a.k=b.k) UNION ALL SELECT w FROM c"),
    (0, "SELECT x, n FROM (SELECT a.x, COUNT(DISTINCT a.v) n FROM a LEFT JOIN c ON a.k=c.k GROUP BY a.x) WHERE n > 2"),
    (0, "SELECT a.x, COUNT(DISTINCT a.v), COUNT(DISTINCT a.k) FROM a LEFT JOIN c ON a.k=c.k GROUP BY a.x"),
    (0, "SELECT a.x, COUNT(DISTINCT a.v) FROM a LEFT JOIN c ON a.k=c.k WHERE a.x > 2 GROUP BY a.x"),
    (0, "SELECT DISTINCT a.x FROM c RIGHT JOIN a ON a.k=c.k"),
    (0, "SELECT DISTINCT a.x FROM a LEFT JOIN c ON a.k < c.k"),
    (0, "SELECT DISTINCT a.x FROM a LEFT JOIN c ON TRUE"),
    (0, "SELECT a.x, a.v FROM a LEFT JOIN c ON a.k=c.k GROUP BY GROUPING SETS ((a.x),(a.v))"),
    (0, "SELECT a.v FROM a LEFT JOIN (SELECT k FROM c INTERSECT SELECT k FROM b) d ON a.k=d.k"),
    (0, "SELECT a.v FROM a LEFT JOIN (SELECT k, w FROM c GROUP BY k, w) d ON a.k=d.k AND a.v=d.w"),
    (0, "SELECT a.v FROM a LEFT JOIN LATERAL (SELECT w FROM b WHERE b.k = a.k) ON TRUE"),
    (0, "SELECT v FROM (SELECT v, (SELECT MAX(w) FROM c) FROM a)"),
    (0, "SELECT v FROM (SELECT v, (SELECT MAX(w) FROM c WHERE c.k = a.k) m FROM a)"),
    (0, "SELECT COUNT(*) FROM (SELECT v, (SELECT w FROM b WHERE b.k = a.k) m FROM a)"),
    (0, "INSERT INTO s SELECT a.v FROM a LEFT JOIN b ON a.k=b.k"),
    (0, "SELECT a.v FROM a LEFT JOIN b ON a.k=b.k"),
    (0, "SELECT a.v FROM a LEFT JOIN (SELECT DISTINCT k FROM c) c ON a.k=c.k"),
    (0, "SELECT a.v FROM a LEFT JOIN (SELECT k, COUNT(*) n FROM c GROUP BY k) c ON a.k=c.k"),
    (0, "SELECT a.v FROM a LEFT JOIN (SELECT k, COUNT(*) n FROM c GROUP BY k) c ON a.k=c.k AND c.n>1"),
    (0, "SELECT a.v FROM a LEFT JOIN (SELECT k, COUNT(*) n FROM c GROUP BY k) c ON a.k=c.k AND a.x>1"),
    (0, "SELECT a.v FROM (SELECT k, COUNT(*) n FROM c GROUP BY k) c RIGHT JOIN a ON a.k=c.k"),
    (0, "SELECT COUNT(*) FROM a LEFT JOIN (SELECT k, COUNT(*) n FROM c GROUP BY k) c ON a.k=c.k"),
    (0, "SELECT a.x, COUNT(*) FROM a LEFT JOIN b ON a.k=b.k GROUP BY a.x"),
    (0, "SELECT a.x, COUNT(DISTINCT a.v) FROM a LEFT JOIN c ON a.k=c.k GROUP BY a.x"),
    (0, "SELECT DISTINCT a.x FROM a LEFT JOIN c ON a.k=c.k"),
    (0, "SELECT a.v FROM a LEFT JOIN (SELECT COUNT(*) n FROM c) c ON TRUE"),
    (0, "SELECT a.v FROM a LEFT JOIN (SELECT MAX(k) k FROM c) c ON a.k=c.k"),
    (1, "SELECT a.v FROM a LEFT JOIN b ON a.k=b.k JOIN c ON a.k=c.k"),
    (1, "SELECT a.v, c.w FROM a LEFT JOIN b ON a.k=b.k JOIN c ON a.x=c.k"),
    (1, "SELECT a.v, c.w FROM a LEFT JOIN b ON a.k=b.k LEFT JOIN c ON a.x=c.k"),
    (1, "SELECT a.v FROM a LEFT JOIN b ON a.k=b.k WHERE b.w IS NULL"),
    (1, "SELECT a.v FROM a LEFT JOIN b ON a.k=b.k+1"),
    (1, "SELECT b.w FROM b RIGHT JOIN a ON a.k=b.k"),
    (1, "SELECT a.v FROM a FULL JOIN b ON a.k=b.k"),
    (1, "SELECT a.v FROM a JOIN b ON a.k=b.k"),
    (1, "SELECT v FROM (SELECT a.v, b.w FROM a LEFT JOIN b ON a.k=b.k) WHERE v IN (SELECT w FROM c)"),
    (
        1,
        "SELECT v, ROW_NUMBER() OVER (PARTITION BY x ORDER BY k) "
        "FROM (SELECT a.v, a.x, a.k FROM a LEFT JOIN b ON a.k=b.k)",
    ),
    (1, "SELECT a.x + 1, COUNT(DISTINCT a.v) FROM a LEFT JOIN c ON a.k=c.k GROUP BY a.x + 1"),
    (1, "SELECT a.x, COUNT(DISTINCT a.v) FILTER (WHERE a.k > 1) FROM a LEFT JOIN c ON a.k=c.k GROUP BY a.x"),
    (1, "SELECT a.x, MAX(DISTINCT a.v) FROM a LEFT JOIN c ON a.k=c.k GROUP BY a.x"),
    (1, "SELECT a.x FROM a LEFT JOIN c ON a.k=c.k UNION SELECT k FROM b"),
    (
        1,
        "SELECT a.v FROM a LEFT JOIN (SELECT * FROM (SELECT *, "
        "ROW_NUMBER() OVER (PARTITION BY k ORDER BY w) r FROM c) WHERE r = 1) d ON a.k=d.k",
    ),
    (1, "SELECT a.v FROM a LEFT JOIN (SELECT k, w FROM c GROUP BY k, w) d ON a.k=d.k"),
    (1, "SELECT v, (SELECT MAX(w) FROM c) FROM a"),
    (1, "SELECT a.v, c.n FROM a LEFT JOIN (SELECT k, COUNT(*) n FROM c GROUP BY k) c ON a.k=c.k"),
    (1, "SELECT a.x, MAX(a.v) FROM a LEFT JOIN c ON a.k=c.k GROUP BY a.x"),
    (1, "SELECT a.v, b2.w FROM a LEFT JOIN b ON a.k=b.k LEFT JOIN b b2 ON a.k=b2.k"),
    (1, "SELECT DISTINCT a.x, a.v FROM a JOIN c ON a.k=c.k"),
]


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for table in (
        "a (k INT, v STRING, x INT)",
        "b (k INT, w STRING, PRIMARY KEY (k) NOT ENFORCED)",
        "c (k INT, w STRING)",
    ):
        env.execute_sql(f"CREATE TABLE {table} WITH ('connector' = 'datagen')")
    env.execute_sql("CREATE TABLE s (v STRING) WITH ('connector' = 'blackhole')")
    return env


@pytest.mark.parametrize(("joins", "query"), RECORDED)
def test_joins_that_are_not_used_are_left_out_as_by_flink(
    environment: TableEnvironment, joins: int, query: str
) -> None:
    assert environment.explain_sql(query).partition("== Optimized Physical Plan ==")[2].count("joinType") == 2 * joins
