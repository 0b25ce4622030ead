"""Rows of small queries in BATCH mode."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.errors import EvaluationError, ValidationError
from scurry.sql.types import IntType, RowField, RowType, VarCharType
from support.queries import Tables


@pytest.fixture
def tables() -> Tables:
    found = Tables()
    columns = {"a": IntType(), "b": IntType(False), "s": VarCharType(0x7FFFFFFF)}
    found.add("t", columns, (1, 10, "x"), (2, 20, "y"), (3, 30, "x"), (None, 40, None))
    return found


Rows = list[tuple[Any, ...]]

QUERIES: dict[str, Rows] = {
    "SELECT 1 + 1": [(2,)],
    "SELECT a, b * 2 AS c FROM t WHERE a > 1": [(2, 40), (3, 60)],
    "SELECT t.*, a AS z FROM t WHERE s = 'y'": [(2, 20, "y", 2)],
    "SELECT COUNT(*), SUM(a), AVG(b), MIN(s), MAX(a) FROM t": [(4, 6, 25, "x", 3)],
    "SELECT COUNT(*), SUM(a) FROM t WHERE b < 0": [(0, None)],
    "SELECT s, COUNT(*) FROM t GROUP BY s HAVING COUNT(*) > 1": [("x", 2)],
    "SELECT a / 2, COUNT(*) FROM t GROUP BY a / 2 ORDER BY 1": [(None, 1), (0, 1), (1, 2)],
    "SELECT s, GROUPING(s), COUNT(*) FROM t GROUP BY ROLLUP (s)": [
        ("x", 0, 2),
        ("y", 0, 1),
        (None, 0, 1),
        (None, 1, 4),
    ],
    "SELECT COUNT(DISTINCT s), COUNT(*) FILTER (WHERE a > 1) FROM t": [(2, 2)],
    "SELECT x.a, y.b FROM t x JOIN t y ON x.a = y.a AND x.b > 10": [(2, 20), (3, 30)],
    "SELECT x.a, y.b FROM t x LEFT JOIN t y ON x.a = y.a + 1": [(2, 10), (3, 20), (1, None), (None, None)],
    "SELECT x.a, y.a FROM t x RIGHT JOIN t y ON x.a = y.a AND y.a > 2": [(3, 3), (None, 1), (None, 2), (None, None)],
    "SELECT a, x.b FROM t x FULL JOIN (VALUES (3), (4)) AS y(a) USING (a)": [
        (3, 30),
        (1, 10),
        (2, 20),
        (None, 40),
        (4, None),
    ],
    "SELECT x.a, y.a FROM t x JOIN t y ON x.a < y.a": [(1, 2), (1, 3), (2, 3)],
    "SELECT * FROM (VALUES (1, 'a'), (2, 'bcd')) AS v(x, y) ORDER BY 2 DESC": [(2, "bcd"), (1, "a")],
    "SELECT s FROM t UNION SELECT s FROM t ORDER BY s": [(None,), ("x",), ("y",)],
    "SELECT s FROM t INTERSECT ALL SELECT s FROM t WHERE b > 10": [("y",), ("x",), (None,)],
    "SELECT s FROM t EXCEPT ALL SELECT s FROM t WHERE b > 10": [("x",)],
    "SELECT a FROM t ORDER BY a DESC NULLS FIRST LIMIT 2 OFFSET 1": [(3,), (2,)],
    "SELECT a FROM t ORDER BY b + 0 DESC LIMIT 1": [(None,)],
    "WITH w AS (SELECT a AS x FROM t) SELECT SUM(x) FROM w": [(6,)],
    "SELECT b, ROW_NUMBER() OVER (PARTITION BY s ORDER BY b DESC), SUM(b) OVER w FROM t WINDOW w AS (ORDER BY b)": [
        (30, 1, 60),
        (10, 2, 10),
        (20, 1, 30),
        (40, 1, 100),
    ],
    "SELECT b, SUM(b) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t": [
        (10, 10),
        (20, 30),
        (30, 50),
        (40, 70),
    ],
    "SELECT b FROM t QUALIFY RANK() OVER (ORDER BY s) = 1": [(40,)],
}

SUBQUERIES: dict[str, Rows] = {
    "SELECT b, (SELECT MAX(b) FROM t y WHERE y.s = t.s) FROM t": [(10, 30), (20, 20), (30, 30), (40, None)],
    "SELECT b, (SELECT COUNT(*) FROM t y WHERE y.s = t.s AND y.b > 20) FROM t": [(10, 1), (20, 0), (30, 1), (40, 0)],
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM t y WHERE y.a = t.a + 1)": [(1,), (2,)],
    "SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM t y WHERE y.a > t.a)": [(3,), (None,)],
    "SELECT a FROM t WHERE a IN (SELECT b / 10 FROM t)": [(1,), (2,), (3,)],
    "SELECT b FROM t WHERE b NOT IN (SELECT a FROM t)": [],
    "SELECT b FROM t WHERE b NOT IN (SELECT a * 10 FROM t WHERE a IS NOT NULL)": [(40,)],
    "SELECT a IN (SELECT a FROM t WHERE a < 3) FROM t": [(True,), (True,), (False,), (None,)],
    "SELECT a FROM t WHERE a > ALL (SELECT a FROM t WHERE a < 3)": [(3,)],
    "SELECT t.a, z.m FROM t, LATERAL (SELECT MAX(b) AS m FROM t y WHERE y.a < t.a) AS z": [
        (1, None),
        (2, 10),
        (3, 20),
        (None, None),
    ],
    "SELECT t.a, m FROM t LEFT JOIN LATERAL (SELECT b m FROM t y WHERE y.a < t.a ORDER BY b DESC LIMIT 1) z ON 1=1": [
        (2, 10),
        (3, 20),
        (1, None),
        (None, None),
    ],
    "SELECT s FROM t GROUP BY s HAVING SUM(b) > (SELECT AVG(b) FROM t)": [("x",), (None,)],
    "SELECT s FROM t GROUP BY s HAVING EXISTS (SELECT 1 FROM t y WHERE y.s = t.s AND y.a = 2)": [("y",)],
}


@pytest.mark.parametrize("query", QUERIES)
def test_rows(tables: Tables, query: str) -> None:
    assert sorted(tables.rows(query), key=repr) == sorted(QUERIES[query], key=repr)


@pytest.mark.parametrize("query", SUBQUERIES)
def test_subqueries_become_joins(tables: Tables, query: str) -> None:
    assert sorted(tables.rows(query), key=repr) == sorted(SUBQUERIES[query], key=repr)


@pytest.mark.parametrize("query", [each for each in QUERIES if "ORDER BY" in each and "OVER" not in each])
def test_order(tables: Tables, query: str) -> None:
    assert tables.rows(query) == QUERIES[query]


def test_a_scalar_subquery_of_two_rows_fails(tables: Tables) -> None:
    with pytest.raises(EvaluationError, match="SingleValueAggFunction received more than one element"):
        tables.rows("SELECT (SELECT b FROM t)")


def test_columns_without_a_name_are_numbered(tables: Tables) -> None:
    assert tables.names("SELECT 1, a, a, b + 1 AS a FROM t") == ["EXPR$0", "a", "a0", "a1"]


def test_fields_of_rows_are_found_without_the_name_of_their_column(tables: Tables) -> None:
    row = RowType([RowField("x", IntType()), RowField("y", VarCharType(0x7FFFFFFF))])
    tables.add("n", {"id": IntType(), "r": row}, (1, (7, "seven")), (2, (8, "eight")))
    assert tables.rows("SELECT y, n.x + 1 FROM n WHERE x = 7") == [("seven", 8)]
    tables.add("two", {"r": row, "q": row}, ((1, "a"), (2, "b")))
    with pytest.raises(ValidationError, match="Column 'x' is ambiguous"):
        tables.rows("SELECT x FROM two")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT FLOOR(DATE '2020-01-01' TO NOPE)", "column 35 to line 1, column 38: 'NOPE' is not a valid time frame"),
        (
            "SELECT SUM(b) OVER (ORDER BY b ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM t",
            "column 61 to line 1, column 71: Upper frame boundary cannot be PRECEDING when lower",
        ),
        ("SELECT LAG(b, 'x') OVER (ORDER BY b) FROM t", "column 18: Cannot apply 'LAG' to arguments of type"),
        ("SELECT b BETWEEN '1' AND DATE '2020-01-01' FROM t", "Cannot apply"),
    ],
)
def test_queries_are_refused_where_flink_refuses_them(tables: Tables, query: str, message: str) -> None:
    with pytest.raises(ValidationError) as raised:
        tables.rows(query)
    assert message in str(raised.value)


def test_a_list_may_have_thousands_of_values(tables: Tables) -> None:
    values = ", ".join(map(str, range(2, 2000)))
    assert tables.rows(f"SELECT a FROM t WHERE a IN ({values})") == [(2,), (3,)]
    assert tables.rows(f"SELECT a FROM t WHERE a NOT IN ({values})") == [(1,)]
