"""OVER in STREAMING: rows are emitted when the watermark has passed them, with aggregates over the rows before them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
from support.statements.tables import changes, environment, files, read, rows, until, write

COLUMNS = "k STRING, n INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
TIES = "k STRING, n INT, v INT, e BIGINT, ts AS TO_TIMESTAMP_LTZ(e, 3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE"


def row(second: int, k: str | None = "a", v: int | None = 1, n: int = 0) -> dict[str, Any]:
    return {"k": k, "n": n, "v": v, "ts": f"2024-01-01 00:{second // 60:02d}:{second % 60:02d}"}


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "ROWS UNBOUNDED PRECEDING",
        "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
        "RANGE BETWEEN INTERVAL '20' SECOND PRECEDING AND CURRENT ROW",
    ],
)
@pytest.mark.parametrize("partition", ["PARTITION BY k", ""])
def test_functions_over_rows_have_the_values_that_they_have_in_batch(
    frame: str, partition: str, tmp_path: Path
) -> None:
    chance = random.Random(11)
    seconds = list(range(10, 400, 3))
    for name, some in (("f1", seconds[:60]), ("f2", seconds[60:])):
        shuffled = [some[at] for at in sorted(range(len(some)), key=lambda at: at + chance.random() * 2)]
        write(
            tmp_path / "in",
            name,
            *(row(at, chance.choice(["a", "b", None]), chance.choice([None, *range(9)]), at) for at in shuffled),
        )
    query = (
        "SELECT n, COUNT(*) OVER w, SUM(v) OVER w, AVG(v) OVER w, MIN(v) OVER w, MAX(v) OVER w, "
        f"FIRST_VALUE(v) OVER w, LAST_VALUE(v) OVER w FROM t WINDOW w AS ({partition} ORDER BY ts {frame})"
    )
    found = []
    for streaming in (True, False):
        env = environment(streaming)
        files(env, "t", COLUMNS, tmp_path / "in")
        found.append(rows(env, query))
    assert found[0] == found[1]
    assert len(found[0]) == len(seconds)


@pytest.fixture
def ties(tmp_path: Path) -> Any:
    """A table with rows of the same times, whose results real Flink has given."""
    written: list[Any] = [("a", 1, 5, 1000), ("a", 2, 7, 2000), ("b", 3, 1, 2000), ("a", 4, 6, 2000), ("a", 5, 3, 3000)]
    written += [("b", 6, 2, 2500), ("a", 7, 6, 2000), ("b", 8, 2, 4000), ("a", 9, None, 3000), ("c", 12, 3, 100)]
    write(tmp_path / "in", "f", *({"k": k, "n": n, "v": v, "e": e} for k, n, v, e in written))
    env = environment(**{"parallelism.default": "1", "table.local-time-zone": "UTC"})
    files(env, "t", TIES, tmp_path / "in")
    return env


def over(env: Any, functions: str, window: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(f"SELECT n, {functions} FROM t WINDOW w AS ({window})").collect() as results:
        return [tuple(each) for each in results]


def test_rows_are_emitted_in_the_order_of_time_and_peers_have_the_values_of_the_last_one(ties: Any) -> None:
    found = over(
        ties, "RANK() OVER w, SUM(v) OVER w, LAST_VALUE(v) OVER w, LAG(v) OVER w", "PARTITION BY k ORDER BY ts"
    )
    assert found == [
        (12, 1, 3, 3, None),
        (1, 1, 5, 5, None),
        *((n, 4, 24, 6, 6) for n in (2, 4, 7)),
        (3, 1, 1, 1, None),
        (6, 2, 3, 2, 1),
        *((n, 6, 27, 3, 3) for n in (5, 9)),
        (8, 3, 5, 2, 2),
    ]


def test_the_number_of_a_row_counts_peers(ties: Any) -> None:
    found = over(ties, "ROW_NUMBER() OVER w", "PARTITION BY k ORDER BY ts")
    assert found == [(12, 1), (1, 1), (2, 2), (4, 3), (7, 4), (3, 1), (6, 2), (5, 5), (9, 6), (8, 3)]


def test_distinct_values_are_counted_once_in_running_and_in_bounded_frames(ties: Any) -> None:
    assert over(ties, "COUNT(DISTINCT v) OVER w", "ORDER BY ts ROWS UNBOUNDED PRECEDING")[-1] == (8, 6)
    assert over(ties, "COUNT(DISTINCT v) OVER w", "ORDER BY ts ROWS 2 PRECEDING")[-1] == (8, 2)


def test_lag_has_its_default_until_there_are_enough_rows(ties: Any) -> None:
    found = over(ties, "LAG(n, 2, 99) OVER w", "PARTITION BY k ORDER BY ts")
    assert found == [(12, 99), (1, 99), (2, 2), (4, 2), (7, 2), (3, 99), (6, 99), (5, 7), (9, 7), (8, 3)]


def test_rows_by_processing_time_are_emitted_as_they_arrive(tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1"})
    write(tmp_path / "in", "f", row(9, "a", 1), row(1, "b", 2), row(5, "a", 3))
    files(env, "t", f"{COLUMNS}, pt AS PROCTIME()", tmp_path / "in")
    query = "SELECT k, SUM(v) OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY pt)"
    with env.execute_sql(query).collect() as results:
        assert [tuple(each) for each in results] == [("a", 1), ("b", 2), ("a", 4)]
    query = "SELECT k, SUM(v) OVER w FROM t WINDOW w AS (ORDER BY pt ROWS 1 PRECEDING)"
    assert rows(env, query) == [("a", 1), ("a", 5), ("b", 3)]


def test_a_row_behind_the_watermark_is_dropped(tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1"})
    write(tmp_path / "in", "f", row(1, n=1), row(70, n=2), row(2, n=3), row(69, n=4), row(200, n=5))
    files(env, "t", COLUMNS, tmp_path / "in")
    query = "SELECT n, COUNT(*) OVER (ORDER BY ts) FROM t"
    assert rows(env, query) == [(1, 1), (2, 3), (4, 2), (5, 4)]


@pytest.mark.parametrize("upper", ["1 FOLLOWING", "1 PRECEDING"])
def test_a_frame_that_does_not_end_with_the_current_row_is_refused(ties: Any, upper: str) -> None:
    with pytest.raises(ValidationError, match="OVER RANGE FOLLOWING windows are not supported yet"):
        over(ties, "COUNT(*) OVER w", f"ORDER BY ts ROWS BETWEEN 2 PRECEDING AND {upper}")


def test_a_number_of_rows_and_their_rank_are_of_different_windows(ties: Any) -> None:
    with pytest.raises(ValidationError, match="All aggregates must be computed on the same window"):
        over(ties, "ROW_NUMBER() OVER w, RANK() OVER w", "ORDER BY ts")


@pytest.mark.parametrize(
    ("frame", "sums"), [("ROWS UNBOUNDED PRECEDING", [1, 3, 6, 7, 11]), ("ROWS 1 PRECEDING", [1, 3, 5, 7, 11])]
)
def test_what_was_seen_is_in_savepoints_and_continues_at_another_parallelism(
    frame: str, sums: list[int], tmp_path: Path
) -> None:
    def start(**settings: Any) -> Any:
        env = environment(**settings)
        files(env, "t", COLUMNS, tmp_path / "in", **{"source.monitor-interval": "20 ms"})
        files(env, "written", "k STRING, s INT", tmp_path / "out")
        query = f"SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts {frame}) FROM t"
        return env.execute_sql(f"INSERT INTO written {query}").get_job_client()

    def written() -> list[int]:
        return sorted(each["s"] for each in read(tmp_path / "out"))

    write(tmp_path / "in", "f1", row(1, "a", 1), row(2, "a", 2), row(3, "b", 7), row(60, "a", 3))
    job = start(**{"parallelism.default": "1"})
    until(lambda: written() == [1, 3, 7])
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "in", "f2", row(61, "b", 4), row(200, "c", 5))
    settings = {"execution.state-recovery.path": savepoint, "table.exec.source.idle-timeout": "50 ms"}
    resumed = start(**settings, **{"parallelism.default": "3"})
    try:
        until(lambda: written() == sorted(sums))
    finally:
        resumed.cancel().result()


def test_a_row_changes_the_values_of_the_rows_behind_it_in_an_order_that_is_not_time(ties: Any) -> None:
    query = "SELECT n, SUM(v) OVER w, COUNT(*) OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY v)"
    assert changes(ties, f"{query}") == (
        "+I 1 5 1 | +I 2 12 2 | +I 3 1 1 | +I 4 11 2 | -U 2 12 2 | +U 2 18 3 | +I 5 3 1 | -U 1 5 1 | +U 1 8 2 | "
        "-U 4 11 2 | +U 4 14 3 | -U 2 18 3 | +U 2 21 4 | +I 6 3 2 | -U 4 14 3 | +U 4 20 4 | +I 7 20 4 | -U 2 21 4 | "
        "+U 2 27 5 | -U 6 3 2 | +U 6 5 3 | +I 8 5 3 | +I 9 None 1 | -U 5 3 1 | +U 5 3 2 | -U 1 8 2 | +U 1 8 3 | "
        "-U 4 20 4 | +U 4 20 5 | -U 7 20 4 | +U 7 20 5 | -U 2 27 5 | +U 2 27 6 | +I 12 3 1"
    )


def test_rows_that_are_taken_back_change_the_values_of_the_rows_behind_them(ties: Any) -> None:
    query = "SELECT k, n, SUM(n) OVER (ORDER BY n) FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k)"
    assert changes(ties, query).startswith(
        "+I a 1 1 | -D a 1 1 | +U a 2 2 | +I b 1 1 | -U a 2 2 | +U a 2 3 | -D a 2 3 | +U a 3 4 | -D a 3 4 | +U a 4 5 | "
        "-D b 1 1 | -U a 4 5 | +U a 4 4 | +U b 2 2 | -U a 4 4 | +U a 4 6"
    )


def test_sums_of_floating_point_numbers_are_made_in_the_order_of_the_rows(ties: Any) -> None:
    value = "CASE WHEN n < 4 THEN 1.5E308 ELSE -1.5E308 END"
    found = changes(ties, f"SELECT n, SUM({value}) OVER (ORDER BY ts) FROM t WHERE k = 'a' AND n <> 5 AND n <> 9")
    assert found == "+I 1 1.5e+308 | +I 2 inf | +I 4 inf | +I 7 inf"


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_averages_of_floating_point_numbers_are_their_sums_by_their_number(kind: str, tmp_path: Path) -> None:
    chance = random.Random(5)
    write(tmp_path / "in", "f", *(row(at, "a", chance.randrange(10_000), at) for at in range(80)))
    env = environment()
    files(env, "t", COLUMNS, tmp_path / "in")
    value = f"CAST(v AS {kind}) / CAST(7 AS {kind})"
    quotient = f"CAST(SUM({value}) OVER w / COUNT(v) OVER w AS {kind})"
    found = rows(env, f"SELECT AVG({value}) OVER w, {quotient} FROM t WINDOW w AS (ORDER BY ts)")
    assert len(found) == 80
    assert [average for average, _ in found] == [divided for _, divided in found]
