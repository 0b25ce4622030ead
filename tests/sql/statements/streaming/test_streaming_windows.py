"""Windows in STREAMING: fired by the watermarks of rows, equal to BATCH where nothing is late."""

from __future__ import annotations

import random
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
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
        "SELECT k, SUM(v), COUNT(DISTINCT v), COUNT(DISTINCT v) FILTER (WHERE v > 3), COUNT(DISTINCT k) FROM TABLE({}) "
        "GROUP BY window_start, window_end, k HAVING COUNT(*) > 1",
        "SELECT window_end, MAX(v) - MIN(v) FROM TABLE({}) GROUP BY window_start, window_end",
        "SELECT window_end, k, v, COUNT(*), COUNT(DISTINCT v), GROUPING_ID(k, v) FROM TABLE({}) "
        "GROUP BY window_start, window_end, CUBE(k, v)",
        "SELECT k, MAX(window_time) FROM TABLE({}) WHERE window_start > TIMESTAMP '2024-01-01 00:01:00' "
        "GROUP BY window_start, window_end, k",
        "SELECT window_start, MAX(s), COUNT(*) FROM (SELECT k, window_start, window_end, SUM(v) AS s FROM TABLE({}) "
        "GROUP BY k, window_start, window_end) GROUP BY window_start, window_end",
        "SELECT window_end, SUM(s) FROM TABLE(TUMBLE((SELECT window_time AS rt, SUM(v) AS s FROM TABLE({}) "
        "GROUP BY k, window_start, window_end, window_time), DESCRIPTOR(rt), INTERVAL '3' MINUTE)) "
        "GROUP BY window_start, window_end",
        "SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v, ts) "
        "AS n FROM TABLE({})) WHERE n BETWEEN 2 AND 4",
        "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts DESC) "
        "AS n FROM TABLE({})) WHERE n = 1",
        "SELECT k, s, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY s "
        "DESC, k) AS n FROM (SELECT k, window_start, window_end, SUM(v) AS s FROM TABLE({}) "
        "GROUP BY window_start, window_end, k)) WHERE n <= 2",
    ],
)
def test_windows_have_the_aggregates_that_they_have_in_batch(query: str, windows: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    for place, name in enumerate(("f1", "f2")):
        # Each second occurs once: which of two rows at the same time is the last one depends on the readers.
        seconds = [(second + chance.randint(-2, 2)) // 2 * 2 + place for second in range(10, 300, 7)]
        some = [row(second, chance.choice(["a", "b", None]), chance.randint(0, 9)) for second in seconds]
        write(tmp_path / "in", name, *some)
    found = []
    for streaming in (True, False):
        env = environment(streaming)
        files(env, "t", COLUMNS, tmp_path / "in")
        found.append(rows(env, query.format(windows)))
    assert found[0] == found[1]
    assert found[0]


@pytest.mark.parametrize(("slide", "size"), [(2, 5), (4, 6), (5, 2), (3, 9)])
def test_windows_of_hop_in_group_by_may_have_a_size_that_is_no_multiple_of_their_slide(
    slide: int, size: int, tmp_path: Path
) -> None:
    chance = random.Random(3)
    seconds = sorted(chance.randrange(60, 100) for _ in range(40))
    write(tmp_path / "in", "f", *(row(second) for second in seconds))
    windows = f"HOP(ts, INTERVAL '{slide}' SECOND, INTERVAL '{size}' SECOND)"
    start = windows.replace("HOP", "HOP_START")
    # Midnight is a multiple of each of these slides.
    expected = [
        (f"2024-01-01 00:{begin // 60:02d}:{begin % 60:02d}.000", count)
        for begin in range(0, 120, slide)
        if (count := sum(begin <= second < begin + size for second in seconds))
    ]
    for streaming in (True, False):
        env = environment(streaming)
        files(env, "t", COLUMNS, tmp_path / "in")
        assert rows(env, f"SELECT CAST({start} AS STRING), COUNT(*) FROM t GROUP BY k, {windows}") == expected


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


@pytest.mark.parametrize("parallelism", ["1", "3"])
def test_sessions_are_the_intervals_that_rows_of_a_key_make(parallelism: str, tmp_path: Path) -> None:
    chance = random.Random(3)
    seconds = sorted(chance.sample(range(600), 150))
    some = [row(second, chance.choice(["a", "b", "c", None]), chance.randint(0, 9)) for second in seconds]
    write(tmp_path / "in", "f", *some)
    env = environment(**{"parallelism.default": parallelism})
    files(env, "t", COLUMNS, tmp_path / "in")
    session = "SESSION({}, DESCRIPTOR(ts), INTERVAL '9' SECOND)"
    query = "SELECT {} window_start, window_end, COUNT(*), SUM(v) FROM TABLE({}) GROUP BY {} window_start, window_end"
    keyed = rows(env, query.format("k,", session.format("TABLE t PARTITION BY k"), "k,"))
    assert sorted(((str(k), *rest) for k, *rest in keyed), key=str) == naive_sessions(
        [(str(each["k"]), each) for each in some]
    )
    whole = rows(env, query.format("", session.format("TABLE t"), ""))
    assert [("all", *each) for each in whole] == naive_sessions([("all", each) for each in some])
    grouped = query.replace("window_start", f"SESSION_START({GAP})").replace("window_end", f"SESSION_END({GAP})", 1)
    grouped = grouped.replace(f"SESSION_START({GAP}), window_end", f"SESSION({GAP})").replace("TABLE({})", "t")
    assert rows(env, grouped.format("k,", "k,")) == keyed
    table = rows(env, f"SELECT k, window_start, window_end, v FROM TABLE({session.format('TABLE t PARTITION BY k')})")
    assert sum(v for *_, v in table) == sum(v for *_, v in keyed)
    assert {each[:3] for each in table} == {each[:3] for each in keyed}


GAP = "ts, INTERVAL '9' SECOND"


def naive_sessions(values: list[tuple[str, dict[str, Any]]]) -> list[tuple[Any, ...]]:
    found: dict[str, list[list[Any]]] = {}
    gap = timedelta(seconds=9)
    for key, each in sorted(values, key=lambda pair: pair[1]["ts"]):
        time, sessions = datetime.fromisoformat(each["ts"]), found.setdefault(key, [])
        if not sessions or time > sessions[-1][1]:
            sessions.append([time, time + gap, 0, 0])
        sessions[-1][1:] = [time + gap, sessions[-1][2] + 1, sessions[-1][3] + each["v"]]
    return sorted(((key, *session) for key, some in found.items() for session in some), key=str)


def test_a_late_row_belongs_to_a_session_only_if_it_touches_an_open_one(tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1"})
    write(tmp_path / "in", "f", row(1), row(30), row(2), row(18), row(10), row(100))
    files(env, "t", COLUMNS, tmp_path / "in")
    session = "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
    query = f"SELECT window_start, COUNT(*) FROM TABLE({session}) GROUP BY k, window_start, window_end"
    # At 30 the watermark is 25: the session of 18 may still be open, and 10 touches it; that of 1 is closed for 2.
    assert [(start.second, n) for start, n in rows(env, query)] == [(1, 1), (10, 2), (30, 1), (40, 1)]


@pytest.mark.parametrize(
    ("call", "window", "message"),
    [
        ("LAST_VALUE(v)", "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '2' SECOND)", "method 'merge'"),
        ("FIRST_VALUE(v)", "SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND)", "method 'merge'"),
        ("SUM(DISTINCT v)", "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '2' SECOND)", "retraction"),
    ],
)
def test_aggregates_that_flink_cannot_merge_are_refused(call: str, window: str, message: str, tmp_path: Path) -> None:
    env = environment()
    write(tmp_path / "in", "f", row(1))
    files(env, "t", COLUMNS, tmp_path / "in")
    with pytest.raises(ValidationError, match=message):
        rows(env, f"SELECT {call} FROM TABLE({window}) GROUP BY window_start, window_end")


def test_windows_over_instants_are_aligned_to_the_clock_of_the_session(tmp_path: Path) -> None:
    columns = "v INT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts"
    day = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY)"
    # Clocks in Berlin are put forward on 31 March 2024, 01:00 UTC.
    write(tmp_path / "in", "f", *({"v": 1, "ms": 1_711_825_200_000 + hour * 3_600_000} for hour in range(60)))
    for streaming in (True, False):
        env = environment(streaming, **{"table.local-time-zone": "Europe/Berlin"})
        files(env, "t", columns, tmp_path / "in")
        found = rows(
            env,
            "SELECT CAST(window_start AS STRING), CAST(window_time AS STRING), COUNT(*) "
            f"FROM TABLE({day}) GROUP BY window_start, window_end, window_time",
        )
        assert found == [
            ("2024-03-30 00:00:00.000", "2024-03-30 23:59:59.999", 4),
            ("2024-03-31 00:00:00.000", "2024-03-31 23:59:59.999", 23),
            ("2024-04-01 00:00:00.000", "2024-04-01 23:59:59.999", 24),
            ("2024-04-02 00:00:00.000", "2024-04-02 23:59:59.999", 9),
        ]


def test_windows_of_processing_time_that_are_open_at_the_end_of_input_have_no_result(tmp_path: Path) -> None:
    env = environment()
    write(tmp_path / "in", "f", row(1), row(2))
    files(env, "t", COLUMNS + ", p AS PROCTIME()", tmp_path / "in")
    query = "SELECT COUNT(*) FROM TABLE({}(TABLE t, DESCRIPTOR(p), INTERVAL '1' DAY)) GROUP BY window_start, window_end"
    assert rows(env, query.format("TUMBLE")) == []
    assert rows(env, query.format("SESSION")) == []


@pytest.mark.parametrize("kind", ["TUMBLE", "SESSION"])
def test_windows_of_processing_time_close_by_the_clock(kind: str, tmp_path: Path) -> None:
    env = environment()
    write(tmp_path / "in", "f", row(1, "a", 3), row(2, "a", 4), row(3, "b", 5))
    files(env, "t", COLUMNS + ", p AS PROCTIME()", tmp_path / "in", **{"source.monitor-interval": "20 ms"})
    files(env, "written", "k STRING, s INT", tmp_path / "out")
    window = f"{kind}(TABLE t PARTITION BY k, DESCRIPTOR(p), INTERVAL '0.1' SECOND)"
    if kind == "TUMBLE":
        window = window.replace("PARTITION BY k", "")
    job: Any = env.execute_sql(
        f"INSERT INTO written SELECT k, SUM(v) FROM TABLE({window}) GROUP BY k, window_start, window_end"
    ).get_job_client()
    try:
        until(lambda: sorted((each["k"], each["s"]) for each in read(tmp_path / "out")) == [("a", 7), ("b", 5)])
    finally:
        job.cancel().result()


@pytest.mark.parametrize(
    ("query", "before", "after"),
    [
        (
            "SELECT k, CAST(COUNT(*) AS INT) FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' "
            "SECOND)) GROUP BY k, window_start, window_end",
            [("a", 1), ("b", 1)],
            [("a", 1), ("a", 2), ("b", 1), ("b", 2)],
        ),
        (
            "SELECT k, n FROM (SELECT k, v + 0 AS n, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER "
            "BY v DESC, ts) AS r FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) WHERE r = 1",
            [("a", 1), ("b", 1)],
            [("a", 1), ("a", 5), ("b", 1), ("b", 4)],
        ),
        (
            "SELECT k, CAST(COUNT(DISTINCT v) AS INT) FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, "
            "INTERVAL '2' MINUTE)) GROUP BY k, window_start, window_end",
            [("a", 1), ("b", 1)],
            # The windows that end at minutes 1, 2 and 3.
            [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3)],
        ),
    ],
)
def test_operators_of_windows_continue_from_savepoints_at_another_parallelism(
    query: str, before: list[Any], after: list[Any], tmp_path: Path
) -> None:
    def start(**settings: Any) -> Any:
        env = environment(**settings)
        files(env, "t", COLUMNS, tmp_path / "in", **{"source.monitor-interval": "20 ms"})
        files(env, "written", "k STRING, n INT", tmp_path / "out")
        return env.execute_sql(f"INSERT INTO written {query}").get_job_client()

    def found() -> list[tuple[str, int]]:
        return sorted((each["k"], each["n"]) for each in read(tmp_path / "out"))

    write(tmp_path / "in", "f1", row(1, "a"), row(2, "b"), row(70, "b", 3), row(71, "a", 2))
    job = start(**{"parallelism.default": "1"})
    until(lambda: found() == before)
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "in", "f2", row(72, "b", 4), row(73, "a", 5), row(190, "c"))
    settings = {"execution.state-recovery.path": savepoint, "table.exec.source.idle-timeout": "50 ms"}
    resumed = start(**settings, **{"parallelism.default": "3"})
    try:
        until(lambda: found() == after)
    finally:
        resumed.cancel().result()


def test_rows_of_window_joins_are_aggregated_and_ranked_by_their_window(tmp_path: Path) -> None:
    write(tmp_path / "in", "f", *(row(second, "ab"[second % 2], second) for second in range(0, 200, 9)))
    side = "(SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)))"
    joined = (
        f"SELECT a.k, a.v, b.v AS w, a.window_start, a.window_end FROM {side} AS a JOIN {side} AS b ON a.k = b.k "
        "AND a.window_start = b.window_start AND a.window_end = b.window_end"
    )
    found = []
    for streaming in (True, False):
        env = environment(streaming)
        files(env, "t", COLUMNS, tmp_path / "in")
        counts = f"SELECT window_end, COUNT(*), SUM(w) FROM ({joined}) GROUP BY window_start, window_end"
        top = "ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC, w DESC)"
        first = f"SELECT window_end, v, w FROM (SELECT *, {top} AS n FROM ({joined})) WHERE n <= 2"
        found.append((rows(env, counts), rows(env, first)))
    assert found[0] == found[1]
    assert all(found[0])


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT * FROM TABLE(TUMBLE((SELECT CAST(ts AS TIMESTAMP(3)) AS c FROM t), DESCRIPTOR(c), "
            "INTERVAL '1' DAY))",
            "The window function requires the timecol is a time attribute type, but is TIMESTAMP(3).",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT CAST(ts AS TIMESTAMP(3)) AS c FROM t) GROUP BY TUMBLE(c, INTERVAL '1' DAY)",
            "Window aggregate can only be defined over a time attribute column, but TIMESTAMP(3) encountered.",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT CAST(ts AS TIMESTAMP_LTZ(3)) AS c FROM t) "
            "GROUP BY TUMBLE(c, INTERVAL '1' DAY)",
            "Window aggregate can only be defined over a time attribute column, but TIMESTAMP_WITH_LOCAL_TIME_ZONE(3) "
            "encountered.",
        ),
        (
            "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v) AS n "
            "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(p), INTERVAL '1' DAY))) WHERE n <= 2",
            "Processing time Window TopN is not supported yet.",
        ),
    ],
)
def test_windows_need_time_attributes_and_ranks_event_time(query: str, message: str, tmp_path: Path) -> None:
    env = environment()
    write(tmp_path / "in", "f", row(1))
    files(env, "t", COLUMNS + ", p AS PROCTIME()", tmp_path / "in")
    with pytest.raises(ValidationError, match=re.escape(message)):
        rows(env, query)
