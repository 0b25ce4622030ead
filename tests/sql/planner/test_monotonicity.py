"""In which direction updates move the columns of a plan, and between which numbers columns are."""

from __future__ import annotations

from decimal import Decimal

import pytest

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan
from scurry.sql.planner.column_intervals import Interval, column_interval
from scurry.sql.planner.monotonicity import Monotonicity, modified_monotonicity
from scurry.sql.planner.rules import optimized
from scurry.sql.types import DoubleType, IntType, VarCharType
from support.queries import Tables

CONSTANT, INCREASING, DECREASING, NOT = Monotonicity
COUNTS = "SELECT k, COUNT(*) AS c, MIN(v) AS low, SUM(v) AS s FROM t GROUP BY k"


@pytest.fixture(scope="module")
def tables() -> Tables:
    found = Tables()
    found.add("t", {"k": VarCharType(), "v": IntType(), "d": DoubleType()})
    return found


def planned(tables: Tables, query: str) -> Plan:
    session = EvaluationContext(is_streaming=True)
    return optimized(tables.plan(query, session), session)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT k, v + 1 FROM t", (CONSTANT, CONSTANT)),
        (COUNTS, (CONSTANT, INCREASING, DECREASING, NOT)),
        ("SELECT k, SUM(v) FROM t WHERE v >= 0 GROUP BY k", (CONSTANT, INCREASING)),
        ("SELECT k, SUM(v) FROM t WHERE v > 0 OR v < 0 GROUP BY k", (CONSTANT, NOT)),
        ("SELECT k, SUM(v) FROM t WHERE NOT (v > 0) GROUP BY k", (CONSTANT, DECREASING)),
        ("SELECT SUM(CASE WHEN k = 'a' THEN 1 ELSE 0 END) FROM t", (INCREASING,)),
        ("SELECT AVG(v), COUNT(DISTINCT k) FROM t", (NOT, INCREASING)),
        (f"SELECT CAST(c AS INT), c + 1 FROM ({COUNTS})", (INCREASING, NOT)),
        (f"SELECT k, c FROM ({COUNTS}) WHERE c > 2", (CONSTANT, INCREASING)),
        (f"SELECT k, c FROM ({COUNTS}) WHERE c < 2", (NOT, NOT)),
        (f"SELECT MAX(c), MIN(c), COUNT(low), SUM(c) FROM ({COUNTS})", (INCREASING, NOT, INCREASING, INCREASING)),
        (f"SELECT c, COUNT(*) FROM ({COUNTS}) GROUP BY c", None),
        (f"SELECT k, c FROM ({COUNTS}) UNION ALL SELECT k, c FROM ({COUNTS})", (CONSTANT, INCREASING)),
        ("SELECT k, v FROM t UNION SELECT k, v FROM t", (CONSTANT, CONSTANT)),
        (f"SELECT * FROM t AS a JOIN ({COUNTS}) AS b ON a.k = b.k",
         (CONSTANT, CONSTANT, CONSTANT, CONSTANT, INCREASING, DECREASING, NOT)),
        (f"SELECT * FROM t AS a JOIN ({COUNTS}) AS b ON a.v = b.c", None),
        ("SELECT k FROM t WHERE k NOT IN (SELECT k FROM t)", None),
    ],
)  # fmt: skip
def test_the_direction_of_each_column(tables: Tables, query: str, expected: tuple[Monotonicity, ...] | None) -> None:
    assert modified_monotonicity(planned(tables, query)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT v FROM t", Interval()),
        ("SELECT v FROM t WHERE v > 3 AND v <= 7", Interval(Decimal(3), Decimal(7))),
        ("SELECT v FROM t WHERE 3 < v", Interval(lower=Decimal(3))),
        ("SELECT v FROM t WHERE v = 1 OR v = 5", Interval(Decimal(1), Decimal(5))),
        ("SELECT v + 2 FROM t WHERE v > 3", Interval(lower=Decimal(5))),
        ("SELECT 2 - v FROM t WHERE v > 3", Interval(upper=Decimal(-1))),
        ("SELECT v * -2 FROM t WHERE v BETWEEN 1 AND 3", Interval(Decimal(-6), Decimal(-2))),
        ("SELECT COUNT(v) FROM t", Interval(lower=Decimal(0))),
        ("SELECT * FROM (VALUES 3, 1, 2) AS x(a)", Interval(Decimal(1), Decimal(3))),
    ],
)
def test_the_interval_of_a_column(tables: Tables, query: str, expected: Interval) -> None:
    assert column_interval(planned(tables, query), 0) == expected
