"""Interval joins and window joins in STREAMING: what they find is what BATCH finds."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
from support.statements.tables import environment, files, read, rows, until, write

LEFT = "id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
RIGHT = "id INT, j STRING, w INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
WINDOWED = "(SELECT * FROM TABLE({}(TABLE {}, DESCRIPTOR(ts), {})))"
INTERVALS = [
    "k = j AND l.ts BETWEEN r.ts - INTERVAL '10' SECOND AND r.ts + INTERVAL '5' SECOND",
    "k = j AND v > w AND l.ts > r.ts - INTERVAL '3' SECOND AND l.ts < r.ts + INTERVAL '20' SECOND",
    "k = j AND r.ts >= l.ts + INTERVAL '2' SECOND AND r.ts <= l.ts + INTERVAL '9' SECOND AND w < 7",
    "l.ts = r.ts AND k = j",
    "l.ts BETWEEN r.ts AND r.ts + INTERVAL '1' SECOND",
]


def at(second: int) -> str:
    return f"2024-01-01 00:{second // 60:02d}:{second % 60:02d}"


def row(second: int, key: str | None, name: str = "k", value: int = 1, id: int = 0) -> dict[str, Any]:
    return {"id": id, name: key, "w" if name == "j" else "v": value, "ts": at(second)}


def inputs(tmp_path: Path, seed: int, step: int = 7) -> None:
    chance = random.Random(seed)
    for table, name in (("l", "k"), ("r", "j")):
        for file in ("f1", "f2"):
            some = [
                row(second + chance.randint(-2, 2), chance.choice(["a", "b", None]), name, chance.randint(0, 9), second)
                for second in range(10, 200, step)
            ]
            write(tmp_path / table, file, *some)


def both(tmp_path: Path, query: str, parallelism: str = "2") -> list[list[tuple[Any, ...]]]:
    found = []
    for streaming in (True, False):
        env = environment(streaming, **{"parallelism.default": parallelism})
        files(env, "l", LEFT, tmp_path / "l")
        files(env, "r", RIGHT, tmp_path / "r")
        found.append(rows(env, query))
    return found


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
@pytest.mark.parametrize("condition", INTERVALS)
def test_an_interval_join_finds_what_it_finds_in_batch(condition: str, kind: str, tmp_path: Path) -> None:
    inputs(tmp_path, seed=len(condition))
    found = both(tmp_path, f"SELECT l.id, k, v, l.ts, r.id, j, w, r.ts FROM l {kind} r ON {condition}")
    assert found[0] == found[1]
    assert found[0]


@pytest.mark.parametrize(
    "window",
    [
        ("TUMBLE", "INTERVAL '20' SECOND"),
        ("HOP", "INTERVAL '10' SECOND, INTERVAL '30' SECOND"),
    ],
)
@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
@pytest.mark.parametrize("condition", ["l.k = r.j AND", "l.k = r.j AND v > w AND", ""])
def test_a_window_join_finds_what_it_finds_in_batch(
    condition: str, kind: str, window: tuple[str, str], tmp_path: Path
) -> None:
    inputs(tmp_path, seed=len(condition + kind), step=13)
    left, right = (WINDOWED.format(window[0], table, window[1]) for table in "lr")
    found = both(
        tmp_path,
        f"SELECT l.id, k, v, l.window_start, r.id, j, w, r.window_end FROM {left} l {kind} {right} r "
        f"ON {condition} l.window_start = r.window_start AND l.window_end = r.window_end",
    )
    assert found[0] == found[1]
    assert found[0]


@pytest.mark.parametrize("word", ["EXISTS", "NOT EXISTS"])
def test_a_window_join_keeps_rows_with_or_without_a_partner(word: str, tmp_path: Path) -> None:
    inputs(tmp_path, seed=3, step=17)
    left, right = (WINDOWED.format("TUMBLE", table, "INTERVAL '20' SECOND") for table in "lr")
    found = both(
        tmp_path,
        f"SELECT id, k, window_end FROM {left} l WHERE {word} (SELECT * FROM {right} r WHERE k = j "
        "AND l.window_start = r.window_start AND l.window_end = r.window_end)",
    )
    assert found[0] == found[1]
    assert found[0]


def test_aggregates_of_windows_are_joined_by_window(tmp_path: Path) -> None:
    inputs(tmp_path, seed=5)
    tables = [
        f"(SELECT {key}, window_start, window_end, COUNT(*) AS c FROM {WINDOWED.format('TUMBLE', table, time)} "
        f"GROUP BY {key}, window_start, window_end)"
        for table, key in (("l", "k"), ("r", "j"))
        for time in ["INTERVAL '20' SECOND"]
    ]
    found = both(
        tmp_path,
        f"SELECT k, l.c, r.c, l.window_end FROM {tables[0]} l JOIN {tables[1]} r ON k = j "
        "AND l.window_start = r.window_start AND l.window_end = r.window_end",
    )
    assert found[0] == found[1]
    assert found[0]


def test_windows_of_joined_rows_wait_for_pairs_that_come_later(tmp_path: Path) -> None:
    write(tmp_path / "l", "f", row(10, "a"), row(130, "z"))
    write(tmp_path / "r", "f", row(50, "a", "j"), row(130, "y", "j"))
    joined = "SELECT l.ts FROM l JOIN r ON k = j AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '50' SECOND"
    env = environment()
    files(env, "l", LEFT, tmp_path / "l")
    files(env, "r", RIGHT, tmp_path / "r")
    env.execute_sql(f"CREATE VIEW joined AS {joined}")
    windows = "TABLE(TUMBLE(TABLE joined, DESCRIPTOR(ts), INTERVAL '20' SECOND))"
    assert rows(env, f"SELECT COUNT(*) FROM {windows} GROUP BY window_start, window_end") == [(1,)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT l.id, r.id FROM l JOIN r ON {INTERVALS[0]}", [(1, 11), (2, 12), (3, 13)]),
        (f"SELECT l.id, r.id FROM l LEFT JOIN r ON {INTERVALS[0]}", [(1, 11), (2, 12), (3, 13), (4, None)]),
        (
            f"SELECT l.id, r.id FROM {WINDOWED.format('TUMBLE', 'l', 'INTERVAL ' + repr('20') + ' SECOND')} l "
            f"JOIN {WINDOWED.format('TUMBLE', 'r', 'INTERVAL ' + repr('20') + ' SECOND')} r "
            "ON k = j AND l.window_start = r.window_start AND l.window_end = r.window_end",
            [(1, 11), (2, 12), (3, 13)],
        ),
    ],
)
def test_kept_rows_are_in_savepoints_and_continue_at_another_parallelism(
    query: str, expected: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    def start(**settings: Any) -> Any:
        env = environment(**settings)
        files(env, "l", LEFT, tmp_path / "l", **{"source.monitor-interval": "20 ms"})
        files(env, "r", RIGHT, tmp_path / "r", **{"source.monitor-interval": "20 ms"})
        files(env, "written", "a INT, b INT", tmp_path / "out")
        return env.execute_sql(f"INSERT INTO written {query}").get_job_client()

    def found() -> list[tuple[int, int | None]]:
        return sorted((each["a"], each.get("b")) for each in read(tmp_path / "out"))

    write(tmp_path / "l", "f1", row(1, "a", id=1), row(65, "a", id=2), row(66, "b", id=3))
    write(tmp_path / "r", "f1", row(2, "a", "j", id=11), row(67, "c", "j", id=10))
    job = start(**{"parallelism.default": "1"})
    until(lambda: (1, 11) in found())
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "l", "f2", row(70, "x", id=4), row(150, "x", id=5))
    write(tmp_path / "r", "f2", row(66, "a", "j", id=12), row(68, "b", "j", id=13), row(150, "y", "j", id=15))
    settings = {"execution.state-recovery.path": savepoint, "table.exec.source.idle-timeout": "2 s"}
    resumed = start(**settings, **{"parallelism.default": "3"})
    try:
        until(lambda: found() == expected)
    finally:
        resumed.cancel().result()


def test_processing_time_joins_what_is_read_within_the_interval(tmp_path: Path) -> None:
    write(tmp_path / "l", "f", row(1, "a", id=1), row(2, "b", id=2))
    write(tmp_path / "r", "f", row(1, "a", "j", id=11))
    env = environment()
    files(env, "l", "id INT, k STRING, p AS PROCTIME()", tmp_path / "l")
    files(env, "r", "id INT, j STRING, p AS PROCTIME()", tmp_path / "r")
    condition = "k = j AND l.p BETWEEN r.p - INTERVAL '1' HOUR AND r.p + INTERVAL '1' HOUR"
    assert "IntervalJoin" in env.explain_sql(f"SELECT l.id, r.id FROM l JOIN r ON {condition}")
    assert rows(env, f"SELECT l.id, r.id FROM l JOIN r ON {condition}") == [(1, 11)]


def test_processing_time_is_not_joined_beside_event_time(tmp_path: Path) -> None:
    env = environment()
    files(env, "l", f"{LEFT}, p AS PROCTIME()", tmp_path / "l")
    files(env, "r", f"{RIGHT}, p AS PROCTIME()", tmp_path / "r")
    with pytest.raises(ValidationError, match="requires no event-time attributes are in the join inputs"):
        env.explain_sql("SELECT * FROM l JOIN r ON k = j AND l.p BETWEEN r.p AND r.p + INTERVAL '1' SECOND")
