"""Windows in STREAMING: fired by the watermarks of rows, equal to BATCH where nothing is late."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from support.statements.tables import environment, files, read, rows, until, write

COLUMNS = "k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"


def row(second: int, k: str | None = "a", v: int = 1) -> dict[str, Any]:
    return {"k": k, "v": v, "ts": f"2024-01-01 00:{second // 60:02d}:{second % 60:02d}"}


@pytest.mark.parametrize(
    "windows",
    [
        "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
        "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '1' MINUTE)",
        "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '2' MINUTE)",
    ],
)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, window_start, window_end, COUNT(*), SUM(v), AVG(v), MIN(v) FROM TABLE({}) "
        "GROUP BY k, window_start, window_end",
        "SELECT window_end, SUM(v) FILTER (WHERE v > 4) FROM TABLE({}) WHERE k = 'a' GROUP BY window_start, window_end",
        "SELECT k, COUNT(DISTINCT v) FROM TABLE({}) GROUP BY window_start, window_end, k",
    ],
)
def test_windows_have_the_aggregates_that_they_have_in_batch(query: str, windows: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    for name in ("f1", "f2"):
        seconds = [second + chance.randint(-2, 2) for second in range(10, 300, 7)]
        some = [row(second, chance.choice(["a", "b", None]), chance.randint(0, 9)) for second in seconds]
        write(tmp_path / "in", name, *some)
    found = []
    for streaming in (True, False):
        env = environment(streaming)
        files(env, "t", COLUMNS, tmp_path / "in")
        found.append(rows(env, query.format(windows)))
    assert found[0] == found[1]
    assert found[0]


def test_a_row_is_late_for_the_windows_that_a_row_before_it_has_closed(tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1"})
    write(tmp_path / "in", "f", row(1), row(70), row(2), row(63), row(69), row(140), row(62), row(61))
    files(env, "t", COLUMNS, tmp_path / "in")
    query = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY "
    assert sorted(n for (n,) in rows(env, f"{query} window_start, window_end")) == [1, 1, 3]


def test_open_windows_are_in_savepoints_and_continue_at_another_parallelism(tmp_path: Path) -> None:
    def start(**settings: Any) -> Any:
        env = environment(**settings)
        files(env, "t", COLUMNS, tmp_path / "in", **{"source.monitor-interval": "20 ms"})
        files(env, "written", "k STRING, n BIGINT", tmp_path / "out")
        query = "SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY "
        return env.execute_sql(f"INSERT INTO written {query} k, window_start, window_end").get_job_client()

    def counts() -> list[tuple[str, int]]:
        return sorted((each["k"], each["n"]) for each in read(tmp_path / "out"))

    write(tmp_path / "in", "f1", row(1, "a"), row(2, "b"), row(70, "b"))
    job = start(**{"parallelism.default": "1"})
    until(lambda: counts() == [("a", 1), ("b", 1)])
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "in", "f2", row(71, "b"), row(72, "a"), row(200, "a"))
    settings = {"execution.state-recovery.path": savepoint, "table.exec.source.idle-timeout": "50 ms"}
    resumed = start(**settings, **{"parallelism.default": "3"})
    try:
        until(lambda: counts() == [("a", 1), ("a", 1), ("b", 1), ("b", 2)])
    finally:
        resumed.cancel().result()
