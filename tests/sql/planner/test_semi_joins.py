"""Which joins and aggregates Flink 2.3 makes of subqueries in WHERE, as the tests of its planner have them."""

from __future__ import annotations

import re

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

#: Queries with the operators that keep rows, from the result down.
RECORDED = [
    ("LeftSemiJoin", "SELECT * FROM l WHERE (a IN (SELECT d FROM r)) IS TRUE"),
    ("LeftSemiJoin", "SELECT * FROM l WHERE b > 10 AND NOT (c like 'abc' OR a NOT IN (SELECT d FROM r))"),
    (
        "LeftSemiJoin GroupAggregate",
        "SELECT a + 10, c FROM l WHERE b > 10 AND NOT (c like 'abc' OR NOT EXISTS (SELECT d FROM r))",
    ),
    (
        "LeftSemiJoin",
        "SELECT a + 10, c FROM l WHERE NOT(NOT(substring(c, 1, 5) IN "
        "(SELECT substring(f, 1, 5) FROM r WHERE l.b + 1 = r.e)))",
    ),
    (
        "LeftSemiJoin LeftOuterJoin GroupAggregate",
        "SELECT a FROM l WHERE (SELECT MAX(e) FROM r WHERE d > 0) IN (SELECT j FROM t)",
    ),
    (
        "LeftSemiJoin InnerJoin",
        "SELECT c FROM l WHERE b IN (WITH r1 AS (SELECT e FROM r WHERE l.a = r.d AND r.e < 50) "
        "SELECT e FROM r1 INNER JOIN (SELECT j FROM t WHERE l.c = t.k AND i > 10) t2 ON r1.e = t2.j)",
    ),
    (
        "LeftSemiJoin LeftOuterJoin",
        "SELECT c FROM l WHERE b IN (WITH r1 AS (SELECT e, f FROM r WHERE l.a = r.d AND r.e < 50) "
        "SELECT t.j FROM r1 LEFT JOIN t ON r1.f = t.k)",
    ),
    (
        "LeftSemiJoin RightOuterJoin",
        "SELECT c FROM l WHERE a IN "
        "(SELECT d FROM r RIGHT JOIN (SELECT i FROM t WHERE l.c = t.k AND i > 10) t2 ON r.d = t2.i)",
    ),
    (
        "",
        "SELECT a, c FROM (SELECT DISTINCT a FROM l) x, "
        "LATERAL (SELECT b, c FROM l WHERE a = x.a ORDER BY b DESC LIMIT 3)",
    ),
    ("", "SELECT * FROM l WHERE 1 = 0 AND a IN (SELECT d FROM r)"),
    ("", "SELECT c FROM l WHERE 1 = 0 INTERSECT SELECT f FROM r"),
    ("", "SELECT c FROM l WHERE 1 = 0 EXCEPT SELECT f FROM r"),
    ("GroupAggregate", "SELECT c FROM l EXCEPT SELECT f FROM r WHERE 1 = 0"),
]


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for table in ("l (a INT, b BIGINT, c STRING)", "r (d INT, e BIGINT, f STRING)", "t (i INT, j BIGINT, k STRING)"):
        env.execute_sql(f"CREATE TABLE {table} WITH ('connector' = 'datagen')")
    return env


@pytest.mark.parametrize(("operators", "query"), RECORDED)
def test_operators_of_subqueries_and_empty_inputs(environment: TableEnvironment, operators: str, query: str) -> None:
    shown = environment.explain_sql(query).partition("== Optimized Physical Plan ==")[2].partition("== Optimized")[0]
    found = re.findall(r"joinType=\[(\w+)\]|(GroupAggregate)\(", shown)
    assert " ".join(one or other for one, other in found) == operators, shown
