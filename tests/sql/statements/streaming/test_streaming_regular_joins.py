"""Regular joins in STREAMING: their changes add up to what BATCH finds in the rows that are left."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from scurry.common.types import RowKind
from scurry.table import TableEnvironment
from support.statements.fed_queries import FedQuery
from support.statements.tables import environment, files, read, rows, until, write

KINDS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]
CONDITIONS = [
    "l.k = r.k",
    "l.k = r.k AND l.v > r.v",
    "l.k IS NOT DISTINCT FROM r.k",
    "l.k = r.k AND l.v + 1 = r.v",
    "l.v < r.v",
]
TESTS = [
    "SELECT * FROM l WHERE k IN (SELECT k FROM r)",
    "SELECT * FROM l WHERE k NOT IN (SELECT k FROM r WHERE k IS NOT NULL)",
    "SELECT * FROM l WHERE k NOT IN (SELECT k FROM r)",
    "SELECT * FROM l WHERE EXISTS (SELECT * FROM r WHERE l.k = r.k AND l.v > r.v)",
    "SELECT * FROM l WHERE NOT EXISTS (SELECT * FROM r WHERE l.k = r.k AND l.v > r.v)",
]
QUERIES = [
    *(f"SELECT l.id, l.k, l.v, r.id, r.k, r.v FROM l {kind} r ON {on}" for kind in KINDS for on in CONDITIONS),
    *TESTS,
]
COLUMNS = "id INT, k STRING, v INT"


def materialized(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    """Return the rows that the changes of a query leave; each is taken back as often as it was there at most."""
    found: Counter[tuple[Any, ...]] = Counter()
    with env.execute_sql(query).collect() as results:
        for each in results:
            added = each.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER)
            found[tuple(each)] += 1 if added else -1
            assert found[tuple(each)] >= 0, each
    return sorted(found.elements(), key=str)


@pytest.mark.parametrize("query", QUERIES)
def test_rows_that_come_are_joined_as_in_batch(query: str, tmp_path: Path) -> None:
    chance = random.Random(len(query))
    for table in "lr":
        for name in ("f1", "f2"):
            keys = ["a", "b", "c", None][: 4 if table == "l" else 2]
            some = [{"id": id % 4, "k": chance.choice(keys), "v": chance.randint(0, 3)} for id in range(12)]
            write(tmp_path / table, name, *some)
    found = []
    for streaming in (True, False):
        env = environment(streaming)
        for table in "lr":
            files(env, table, COLUMNS, tmp_path / table)
        found.append(materialized(env, query) if streaming else rows(env, query))
    assert found[0] == found[1]
    assert found[0]


def test_rows_of_both_sides_are_in_savepoints_and_continue_at_another_parallelism(tmp_path: Path) -> None:
    def start(**settings: Any) -> Any:
        env = environment(**settings)
        for table in "lr":
            files(env, table, COLUMNS, tmp_path / table, **{"source.monitor-interval": "20 ms"})
        files(env, "written", "a INT, b INT", tmp_path / "out")
        query = "INSERT INTO written SELECT l.id, r.id FROM l JOIN r ON l.k = r.k AND l.v < r.v"
        return env.execute_sql(query).get_job_client()

    def found() -> list[tuple[int, int]]:
        return sorted((each["a"], each["b"]) for each in read(tmp_path / "out"))

    write(tmp_path / "l", "f1", *({"id": id, "k": key, "v": 1} for id, key in enumerate("abcd")))
    write(tmp_path / "r", "f1", {"id": 10, "k": "a", "v": 2}, {"id": 11, "k": "b", "v": 1})
    job = start(**{"parallelism.default": "1"})
    until(lambda: found() == [(0, 10)])
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "l", "f2", {"id": 4, "k": "a", "v": 0}, {"id": 5, "k": "b", "v": 0})
    write(tmp_path / "r", "f2", {"id": 12, "k": "d", "v": 2})
    resumed = start(**{"execution.state-recovery.path": savepoint, "parallelism.default": "3"})
    try:
        until(lambda: found() == [(0, 10), (3, 12), (4, 10), (5, 11)])
    finally:
        resumed.cancel().result()


def test_rows_that_come_one_by_one_are_all_joined_later() -> None:
    env = environment()
    for table in "lr":
        files(env, table, COLUMNS, Path("/none"), format="debezium-json")
    query = FedQuery(env, "SELECT l.id, r.id FROM l JOIN r ON l.k = r.k")
    some = [{"id": number % 7, "k": "x", "v": 0} for number in range(100)]
    for row in some:
        query.feed([("l", [("+I", row)])])
    assert query.rows() == []
    query.feed([("l", [("-D", some[3]), ("-D", some[3])])])
    query.feed([("r", [("+I", {"id": 1, "k": "x", "v": 0})])])
    assert query.rows() == sorted(((row["id"], 1) for row in [*some[:3], *some[4:10], *some[11:]]), key=str)
