"""Event-time temporal joins: each row with the version of its time, whatever comes first."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
from scurry.table import TableEnvironment
from support.statements.tables import environment, files, read, rows, until, write

ORDERS = "id INT, cur STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
RATES = f"cur STRING, rate INT, {ORDERS.partition(', cur STRING, ')[2]}, PRIMARY KEY (cur) NOT ENFORCED"
QUERY = "SELECT o.id, o.cur, r.rate FROM orders AS o {} rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur"


def at(second: int) -> str:
    return f"2024-01-01 00:{second // 60:02d}:{second % 60:02d}"


def order(id: int, cur: str | None, second: int) -> dict[str, Any]:
    return {"id": id, "cur": cur, "ts": at(second)}


def rate(cur: str | None, value: int, second: int) -> dict[str, Any]:
    return {"cur": cur, "rate": value, "ts": at(second)}


def tables(tmp_path: Path, **settings: Any) -> TableEnvironment:
    env = environment(**settings)
    files(env, "orders", ORDERS, tmp_path / "orders")
    files(env, "rates", RATES, tmp_path / "rates")
    return env


@pytest.mark.parametrize("parallelism", ["1", "3"])
@pytest.mark.parametrize("condition", ["", " AND r.rate > o.id"])
@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
def test_a_row_has_the_last_version_until_its_time(kind: str, condition: str, parallelism: str, tmp_path: Path) -> None:
    chance = random.Random(11)
    versions = {(chance.choice("abc"), second): chance.randint(0, 90) for second in range(10, 300, 3)}
    expected: list[tuple[Any, ...]] = []
    for name in ("f1", "f2"):
        orders = []
        for second in range(5, 310, 4):
            cur, moved, id = chance.choice(["a", "b", "c", "d", None]), second + chance.randint(-2, 2), len(expected)
            orders.append(order(id, cur, moved))
            known = [since for key, since in versions if key == cur and since <= moved]
            found = versions[cur, max(known)] if cur is not None and known else None
            if condition and found is not None and not found > id:
                found = None
            expected.append((id, cur, found))
        write(tmp_path / "orders", name, *orders)
    write(tmp_path / "rates", "f", *(rate(cur, value, second) for (cur, second), value in versions.items()))
    if kind == "JOIN":
        expected = [each for each in expected if each[2] is not None]
    env = tables(tmp_path, **{"parallelism.default": parallelism})
    assert rows(env, QUERY.format(kind) + condition) == sorted(expected, key=str)


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
def test_a_view_of_the_last_row_by_key_has_versions(kind: str, tmp_path: Path) -> None:
    write(tmp_path / "orders", "f", order(1, "a", 10), order(2, "a", 30), order(3, "b", 30))
    write(tmp_path / "log", "f", rate("a", 1, 5), rate("a", 2, 20), rate("c", 3, 20))
    env = tables(tmp_path)
    files(env, "log", RATES.partition(", PRIMARY")[0], tmp_path / "log")
    numbered = "SELECT *, ROW_NUMBER() OVER (PARTITION BY cur ORDER BY ts DESC) AS n FROM log"
    env.execute_sql(f"CREATE VIEW versions AS SELECT cur, rate, ts FROM ({numbered}) WHERE n = 1")
    found = rows(env, QUERY.format(kind).replace("rates", "versions"))
    assert found == [(1, "a", 1), (2, "a", 2), (3, "b", None)][: 2 if kind == "JOIN" else 3]


def test_of_versions_of_the_same_time_the_one_that_came_last_is_valid(tmp_path: Path) -> None:
    write(tmp_path / "orders", "f", order(1, "a", 10))
    write(tmp_path / "rates", "f", rate("a", 1, 5), rate("a", 2, 5), rate("a", 3, 4))
    assert rows(tables(tmp_path), QUERY.format("JOIN")) == [(1, "a", 2)]


def test_the_result_keeps_the_time_of_the_left_row(tmp_path: Path) -> None:
    write(tmp_path / "orders", "f", order(1, "a", 10), order(2, "a", 70), order(3, "a", 75))
    write(tmp_path / "rates", "f", rate("a", 1, 5))
    env = tables(tmp_path)
    env.execute_sql(f"CREATE VIEW v AS {QUERY.format('JOIN').replace('o.id', 'o.id, o.ts')}")
    query = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
    assert rows(env, f"{query} GROUP BY window_start, window_end") == [(1,), (2,)]


def test_waiting_rows_and_versions_are_in_savepoints_and_continue_at_another_parallelism(tmp_path: Path) -> None:
    def start(**settings: Any) -> Any:
        env = environment(**settings)
        files(env, "orders", ORDERS, tmp_path / "orders", **{"source.monitor-interval": "20 ms"})
        files(env, "rates", RATES, tmp_path / "rates", **{"source.monitor-interval": "20 ms"})
        files(env, "written", "id INT, cur STRING, rate INT", tmp_path / "out")
        return env.execute_sql(f"INSERT INTO written {QUERY.format('JOIN')}").get_job_client()

    def found() -> list[tuple[int, str, int]]:
        return sorted((each["id"], each["cur"], each["rate"]) for each in read(tmp_path / "out"))

    write(
        tmp_path / "rates", "f1", rate("a", 1, 1), rate("b", 2, 2), rate("a", 3, 60), rate("b", 4, 65), rate("b", 9, 70)
    )
    write(tmp_path / "orders", "f1", order(1, "a", 10), order(2, "b", 50), order(3, "a", 69), order(4, "b", 66))
    job = start(**{"parallelism.default": "1"})
    until(lambda: found() == [(1, "a", 1), (2, "b", 2)])
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "rates", "f2", rate("c", 5, 200))
    write(tmp_path / "orders", "f2", order(5, "c", 200))
    settings = {"execution.state-recovery.path": savepoint, "table.exec.source.idle-timeout": "50 ms"}
    resumed = start(**settings, **{"parallelism.default": "3"})
    try:
        until(lambda: found() == [(1, "a", 1), (2, "b", 2), (3, "a", 3), (4, "b", 4)])
    finally:
        resumed.cancel().result()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT * FROM orders AS o JOIN orders FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur",
            "requires primary key in versioned table, but no primary key can be found",
        ),
        (
            "SELECT * FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.id = r.rate",
            r"primary key \[cur\] must be included in the equivalence condition .* condition is \[id=rate\]",
        ),
        (
            "SELECT * FROM orders AS o JOIN zoned FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur",
            r"are TIMESTAMP\(3\) \*ROWTIME\* and TIMESTAMP_LTZ\(3\) \*ROWTIME\*",
        ),
        (
            "SELECT * FROM orders AS o JOIN keyed FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur",
            "but no row time attribute can be found",
        ),
        (
            "SELECT * FROM (SELECT *, CAST(ts AS TIMESTAMP(3)) AS t FROM orders) AS o "
            "JOIN rates FOR SYSTEM_TIME AS OF o.t AS r ON o.cur = r.cur",
            "only supports 'FOR SYSTEM_TIME AS OF' left table's time attribute field",
        ),
        (
            "SELECT * FROM orders AS o RIGHT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur",
            "Unknown join type RIGHT",
        ),
    ],
)
def test_what_flink_refuses_is_refused(query: str, message: str, tmp_path: Path) -> None:
    env = tables(tmp_path)
    zoned = "cur STRING, e BIGINT, ts AS TO_TIMESTAMP_LTZ(e, 3), WATERMARK FOR ts AS ts, PRIMARY KEY (cur) NOT ENFORCED"
    files(env, "zoned", zoned, tmp_path / "zoned")
    files(env, "keyed", "cur STRING, PRIMARY KEY (cur) NOT ENFORCED", tmp_path / "keyed")
    with pytest.raises(ValidationError, match=message):
        env.explain_sql(query)
