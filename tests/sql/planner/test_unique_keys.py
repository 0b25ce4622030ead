"""Unique keys: which columns identify the rows of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from scurry.sql.plan.nodes import Plan, walk
from scurry.sql.planner import unique_keys as module
from scurry.sql.planner.unique_keys import Keys, flinks_upsert_keys, unique_keys, upsert_keys
from scurry.sql.types import IntType
from support.queries import Tables


@pytest.fixture(scope="module")
def tables() -> Tables:
    found = Tables()
    found.add("t", {"v": IntType(), "k": IntType(False)}, key=("k",))
    found.add("u", {"k": IntType(False), "w": IntType()}, key=("k",))
    found.add("n", {"k": IntType(), "w": IntType()})
    return found


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("SELECT * FROM t", ["k"]),
        ("SELECT v FROM t", []),
        ("SELECT k AS a, v, k AS b FROM t WHERE v > 1", ["a", "b"]),
        ("SELECT w, COUNT(*) AS c FROM n GROUP BY w", ["w"]),
        ("SELECT DISTINCT w, k FROM n", ["k w"]),
        ("SELECT t.k, u.k AS l FROM t JOIN u ON t.k = u.k", ["k", "k l", "l"]),
        ("SELECT t.k, u.k AS l FROM t JOIN u ON t.v = u.w", ["k l"]),
        ("SELECT t.k, u.k AS l FROM t LEFT JOIN u ON t.k = u.k", ["k", "k l"]),
        ("SELECT t.k, n.k AS l FROM t JOIN n ON t.k = n.k", []),
        ("SELECT u.w, t.k FROM t JOIN u ON t.v = u.k", ["k"]),
        ("SELECT k FROM t WHERE v IN (SELECT k FROM n)", ["k"]),
        ("SELECT w, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY w ORDER BY k) AS r FROM n) WHERE r = 1", ["w"]),
        ("SELECT w, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY w ORDER BY k) AS r FROM n) WHERE r <= 2", []),
        ("SELECT k FROM t UNION ALL SELECT k FROM u", []),
        ("SELECT k FROM t UNION SELECT k FROM u", ["k"]),
    ],
)
def test_keys(query: str, keys: list[str], tables: Tables) -> None:
    plan = tables.plan(query)
    names = plan.schema.names
    found = [" ".join(sorted(names[column] for column in key)) for key in unique_keys(plan)]
    assert sorted(set(found)) == keys


def test_joins_one_on_another_ask_for_keys_once(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Counter[int]()
    derived = module._derived

    def counted(plan: Plan, inputs: Sequence[Keys]) -> Keys:
        asked[id(plan)] += 1
        return derived(plan, inputs)

    monkeypatch.setattr(module, "_derived", counted)
    joins = 30
    plan = tables.plan(
        f"SELECT n.k FROM n {' '.join(f'JOIN n AS n{each} ON n.k = n{each}.w' for each in range(joins))}"
    )
    for keys in (unique_keys, upsert_keys, flinks_upsert_keys):
        asked.clear()
        keys(plan)
        assert asked.total() <= 2 * len(list(walk(plan)))
