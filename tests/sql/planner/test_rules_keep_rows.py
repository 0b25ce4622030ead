"""Rules change plans, not rows: queries over random tables give the same with and without them."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.sql.evaluation.batch.executor import execute_batch
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan
from scurry.sql.planner.rules import RULES
from scurry.sql.planner.rules.subqueries import subqueries_to_joins
from scurry.sql.types import IntType
from scurry.sql.types.values import to_values
from support.cases import cases
from support.queries import Tables, read_table

VALUES = st.one_of(st.none(), st.integers(0, 3))
ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=6)
CONDITIONS = st.sampled_from(
    ["t.a = u.a", "t.a < u.b", "t.b = 1", "u.b > 1", "t.a IS NULL", "u.a IS NULL", "t.a = u.a OR t.b = u.b", "u.a = 2"]
)
JOINS = st.sampled_from(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
FILTERS = st.sampled_from(
    [
        "t.a = u.a AND t.b > 0",
        "t.a IN (SELECT b FROM u)",
        "t.a NOT IN (SELECT b FROM u)",
        "EXISTS (SELECT 1 FROM u AS v WHERE v.a = t.a AND v.b > t.b)",
        "NOT EXISTS (SELECT 1 FROM u AS v WHERE v.a = t.a OR v.b = t.b)",
        "t.b > (SELECT MIN(v.b) FROM u AS v WHERE v.a = t.a)",
        "(SELECT COUNT(*) FROM u AS v WHERE v.a = t.a) = 0",
        "u.b IS NULL OR t.a = 1",
        "u.b >= 1",
    ]
)
BATCH = EvaluationContext()


def rows(plan: Plan) -> list[Any]:
    found: list[Any] = []
    for batch in execute_batch(plan, BATCH, read_table):
        found += zip(*map(to_values, batch.columns), strict=True)
    return sorted(found, key=repr)


@settings(max_examples=cases(60), deadline=None)
@given(ROWS, ROWS, JOINS, CONDITIONS, FILTERS)
def test_a_join_with_conditions_has_the_same_rows(
    left: list[tuple[Any, ...]], right: list[tuple[Any, ...]], join: str, condition: str, where: str
) -> None:
    tables = Tables()
    tables.add("t", {"a": IntType(), "b": IntType()}, *left)
    tables.add("u", {"a": IntType(), "b": IntType()}, *right)
    plan = subqueries_to_joins(
        tables.plan(f"SELECT t.a, u.b, t.b + u.a AS c FROM t {join} u ON {condition} WHERE {where}"), BATCH
    )
    expected = rows(plan)
    for rule in RULES:
        plan = rule(plan, BATCH)
        assert rows(plan) == expected, rule.__name__


@settings(max_examples=cases(40), deadline=None)
@given(ROWS, ROWS, st.sampled_from(["t.a = v.a AND u.b = v.b", "v.a = u.a AND t.b < v.b", "t.a = u.a OR v.b = 1"]))
def test_several_tables_have_the_same_rows(
    left: list[tuple[Any, ...]], right: list[tuple[Any, ...]], where: str
) -> None:
    tables = Tables()
    tables.add("t", {"a": IntType(), "b": IntType()}, *left)
    tables.add("u", {"a": IntType(), "b": IntType()}, *right)
    columns = "t.a, t.b, u.a AS c, u.b AS d, v.a AS e, w.b AS f"
    query = f"SELECT {columns} FROM t, u, t AS v, (VALUES (1), (2)) AS w(b) WHERE {where}"
    plan = tables.plan(query)
    expected = rows(plan)
    for rule in RULES:
        plan = rule(plan, BATCH)
        assert rows(plan) == expected, rule.__name__


@settings(max_examples=cases(60), deadline=None)
@given(ROWS, ROWS)
def test_subqueries_are_what_a_loop_over_the_outer_rows_says(
    left: list[tuple[Any, ...]], right: list[tuple[Any, ...]]
) -> None:
    tables = Tables()
    tables.add("t", {"a": IntType(), "b": IntType()}, *left)
    tables.add("u", {"a": IntType(), "b": IntType()}, *right)
    query = (
        "SELECT a, b, (SELECT SUM(u.b) FROM u WHERE u.a = t.a) AS s, (SELECT COUNT(u.b) FROM u WHERE u.a < t.a) AS n, "
        "EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.b > t.b) AS e, "
        "b IN (SELECT u.a FROM u WHERE u.b = t.a) AS i FROM t"
    )
    assert sorted(tables.rows(query), key=repr) == sorted((_looped(row, right) for row in left), key=repr)


def _looped(row: tuple[Any, ...], right: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    a, b = row
    of_a = [other for other in right if a is not None and other[0] == a]
    values = [other[1] for other in of_a if other[1] is not None]
    less = [c for key, c in right if a is not None and key is not None and key < a and c is not None]
    exists = any(b is not None and c > b for c in values)
    candidates = [key for key, c in right if a is not None and c == a]
    is_in: bool | None = False
    if candidates and (b is None or (b not in candidates and None in candidates)):
        is_in = None
    elif b in candidates:
        is_in = True
    return a, b, sum(values) if values else None, len(less), exists, is_in
