"""Groups in STREAMING: a change per row, and in the end what BATCH computes."""

from __future__ import annotations

import random
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
from scurry.table import TableEnvironment
from support.statements.tables import changed_rows, environment, files, read, rows, until, write

COLUMNS = "k STRING, v INT, d DOUBLE, m DECIMAL(10, 2), s STRING"


def materialized(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    table: list[tuple[Any, ...]] = []
    for kind, *row in changed_rows(env, query):
        if kind in ("+I", "+U"):
            table.append(tuple(row))
        else:
            table.remove(tuple(row))
    return sorted(table, key=str)


def some_rows(count: int, seed: int = 5) -> list[dict[str, Any]]:
    chance = random.Random(seed)

    def maybe(value: Any) -> Any:
        return value if chance.random() > 0.1 else None

    return [
        {
            "k": maybe(chance.choice("abcde")),
            "v": maybe(chance.randint(-3, 9)),
            "d": maybe(chance.randint(-40, 90) / 8),
            "m": maybe(chance.randint(-400, 900) / 4),
            "s": maybe(chance.choice(["x", "y", "yy"])),
        }
        for _ in range(count)
    ]


def test_each_row_that_changes_its_group_makes_a_change(tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1"})
    write(tmp_path / "in", "f", {"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": 1}, {"k": "a", "v": 3})
    files(env, "t", COLUMNS, tmp_path / "in")
    assert changed_rows(env, "SELECT k, MAX(v) FROM t GROUP BY k") == [
        ("+I", "a", 1), ("+I", "b", 2), ("-U", "a", 1), ("+U", "a", 3),
    ]  # fmt: skip


def test_a_group_is_deleted_with_its_last_row_and_begins_again(tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1"})
    write(tmp_path / "in", "f", *({"k": k} for k in "aabb"))
    files(env, "t", COLUMNS, tmp_path / "in")
    query = "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) GROUP BY n"
    assert changed_rows(env, query) == [
        ("+I", 1, 1), ("-D", 1, 1), ("+I", 2, 1), ("+I", 1, 1), ("-D", 1, 1), ("-U", 2, 1), ("+U", 2, 2),
    ]  # fmt: skip


GROUPED = (
    "SELECT k, COUNT(*), COUNT(v), SUM(v), AVG(v), MIN(v), MAX(v), SUM(d), AVG(d), SUM(m), MAX(s), "
    "COUNT(DISTINCT v), SUM(DISTINCT v) FILTER (WHERE s = 'x'), MAX(d) FILTER (WHERE v > 2) FROM t GROUP BY k"
)


@pytest.mark.parametrize("parallelism", ["1", "3"])
@pytest.mark.parametrize(
    "query",
    [
        GROUPED,
        "SELECT SUM(v), MIN(s), COUNT(DISTINCT k) FROM t",
        "SELECT DISTINCT k, s FROM t",
        "SELECT k, SUM(v) FROM t GROUP BY k HAVING SUM(v) > 50",
        "SELECT k, s, COUNT(*), SUM(v), GROUPING(k) FROM t GROUP BY CUBE (k, s)",
        f"SELECT * FROM ({GROUPED}) WHERE k <> 'a'",
        "SELECT n, COUNT(*), SUM(x), MIN(x), MAX(x), AVG(x), COUNT(DISTINCT x) FROM "
        "(SELECT k, s, MOD(COUNT(*), 3) AS n, SUM(v) AS x FROM t GROUP BY k, s) GROUP BY n",
        "SELECT COUNT(*), SUM(x) FROM (SELECT k, MAX(v) AS x FROM t GROUP BY k)",
        "SELECT x, COUNT(*) FROM (SELECT MAX(v) AS x FROM t GROUP BY k UNION ALL SELECT v FROM t) GROUP BY x",
    ],
)
def test_the_table_after_all_changes_is_that_of_batch(query: str, parallelism: str, tmp_path: Path) -> None:
    for part in range(4):
        write(tmp_path / "in", f"f{part}", *some_rows(60, part))
    streaming, batch = environment(**{"parallelism.default": parallelism}), environment(False)
    for env in (streaming, batch):
        files(env, "t", COLUMNS, tmp_path / "in")
    assert materialized(streaming, query) == rows(batch, query)


def test_a_table_of_inserted_rows_does_not_take_updates(tmp_path: Path) -> None:
    env = environment()
    files(env, "t", COLUMNS, tmp_path / "in")
    files(env, "written", "k STRING, n BIGINT", tmp_path / "out")
    with pytest.raises(ValidationError, match=r"doesn't support consuming update changes .* GroupAggregate\("):
        env.execute_sql("INSERT INTO written SELECT k, COUNT(*) FROM t GROUP BY k")


@pytest.mark.parametrize("mini_batches", ["false", "true"])
def test_groups_are_in_savepoints_and_continue_at_another_parallelism(mini_batches: str, tmp_path: Path) -> None:
    def start(**settings: Any) -> Any:
        env = environment(**{"table.exec.mini-batch.enabled": mini_batches, **settings})
        files(env, "t", COLUMNS, tmp_path / "in", **{"source.monitor-interval": "20 ms"})
        env.execute_sql(
            f"CREATE TABLE written (k STRING, n BIGINT, s INT) WITH ('connector' = 'filesystem', 'path' = "
            f"'{tmp_path / 'out'}', 'format' = 'debezium-json')"
        )
        return env.execute_sql(
            "INSERT INTO written SELECT k, COUNT(DISTINCT v), SUM(v) FROM t GROUP BY k"
        ).get_job_client()

    def table() -> list[tuple[Any, ...]]:
        found = []
        for change in read(tmp_path / "out"):
            if change["before"] is not None:
                found.append((-1, tuple(change["before"].values())))
            if change["after"] is not None:
                found.append((1, tuple(change["after"].values())))
        totals: dict[Any, int] = {}
        for sign, row in found:
            totals[row] = totals.get(row, 0) + sign
        return sorted(row for row, number in totals.items() if number)

    write(tmp_path / "in", "f1", {"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": 1})
    job = start(**{"parallelism.default": "1"})
    until(lambda: table() == [("a", 1, 2), ("b", 1, 2)])
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "in", "f2", {"k": "a", "v": 1}, {"k": "a", "v": 5}, {"k": "c", "v": 5})
    resumed = start(**{"execution.state-recovery.path": savepoint, "parallelism.default": "3"})
    try:
        until(lambda: table() == [("a", 2, 8), ("b", 1, 2), ("c", 1, 5)])
    finally:
        resumed.cancel().result()


@pytest.mark.parametrize(
    "query", [GROUPED, "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) GROUP BY n"]
)
def test_mini_batches_give_the_same_table_with_fewer_changes(query: str, tmp_path: Path) -> None:
    for part in range(3):
        write(tmp_path / "in", f"f{part}", *some_rows(60, part))
    by_row = environment(**{"parallelism.default": "1"})
    bundled = environment(**{"parallelism.default": "1", "table.exec.mini-batch.enabled": "true"})
    for env in (by_row, bundled):
        files(env, "t", COLUMNS, tmp_path / "in")
    assert materialized(bundled, query) == materialized(by_row, query)
    assert len(changed_rows(bundled, query)) < len(changed_rows(by_row, query))


def test_an_average_of_the_largest_decimals_is_no_overflow(tmp_path: Path) -> None:
    env = environment()
    large = "9999999999999999999999999999.9999999999"
    assert rows(env, f"SELECT AVG(x) FROM (VALUES (CAST('{large}' AS DECIMAL(38, 10)))) AS v (x)") == [
        (Decimal(large),)
    ]


def test_with_a_state_ttl_an_update_is_emitted_also_for_an_unchanged_value(tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1", "table.exec.state.ttl": "1 h"})
    write(tmp_path / "in", "f", {"k": "a", "v": 1}, {"k": "a", "v": 1})
    files(env, "t", COLUMNS, tmp_path / "in")
    assert changed_rows(env, "SELECT k, MAX(v) FROM t GROUP BY k") == [("+I", "a", 1), ("-U", "a", 1), ("+U", "a", 1)]


@pytest.mark.parametrize("mini_batches", ["false", "true"])
def test_a_group_without_rows_for_the_state_ttl_begins_again(mini_batches: str, tmp_path: Path) -> None:
    settings = {"table.exec.state.ttl": "300 ms", "table.exec.mini-batch.enabled": mini_batches}
    env = environment(**{"parallelism.default": "1", **settings})
    write(tmp_path / "in", "f1", {"k": "a", "v": 1})
    files(env, "t", COLUMNS, tmp_path / "in", **{"source.monitor-interval": "20 ms"})
    with env.execute_sql("SELECT k, COUNT(*) FROM t GROUP BY k").collect() as results:
        assert tuple(next(results)) == ("a", 1)
        time.sleep(0.5)
        write(tmp_path / "in", "f2", {"k": "a", "v": 1})
        row = next(results)
    assert (str(row.get_row_kind()), *row) == ("+I", "a", 1)
