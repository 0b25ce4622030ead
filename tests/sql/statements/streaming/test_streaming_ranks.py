"""Top-N, deduplication, LIMIT and ORDER BY in STREAMING: the changes that real Flink has given for the same rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
from support.statements.tables import changes, environment, files, read, rows, until, write

COLUMNS = (
    "g STRING, k INT, v INT, e BIGINT, ts AS TO_TIMESTAMP_LTZ(e, 3), pt AS PROCTIME(), "
    "WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE"
)
_ROWS: list[Any] = [("a", 1, 5, 1000), ("a", 2, 7, 2000), ("b", 3, 1, 2000), ("a", 4, 6, 2000), ("a", 5, 3, 3000)]
_ROWS += [("b", 6, 2, 2500), ("a", 7, 6, 2000), ("b", 8, 2, 4000), ("a", 9, None, 3000), ("a", 10, 9, 9000)]
_ROWS += [("a", 11, 7, 9000), ("c", 12, 3, 100)]
NUMBERED = "(SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY {}) AS r FROM t)"


@pytest.fixture
def env(tmp_path: Path) -> Any:
    write(tmp_path / "in", "f", *(dict(zip("gkve", each, strict=True)) for each in _ROWS))
    env = environment(**{"parallelism.default": "1", "table.local-time-zone": "UTC"})
    files(env, "t", COLUMNS, tmp_path / "in")
    return env


def test_top_n_with_numbers_updates_each_number_whose_row_changes(env: Any) -> None:
    assert changes(env, f"SELECT g, k, v, r FROM {NUMBERED.format('v DESC')} WHERE r <= 2") == (
        "+I a 1 5 1 | -U a 1 5 1 | +U a 2 7 1 | +I a 1 5 2 | +I b 3 1 1 | -U a 1 5 2 | +U a 4 6 2 | -U b 3 1 1 | "
        "+U b 6 2 1 | +I b 3 1 2 | -U b 3 1 2 | +U b 8 2 2 | -U a 2 7 1 | +U a 10 9 1 | -U a 4 6 2 | +U a 2 7 2 | "
        "+I c 12 3 1"
    )


def test_top_n_without_numbers_deletes_the_row_that_leaves_before_it_inserts_the_new_one(env: Any) -> None:
    assert changes(env, f"SELECT g, k, v FROM {NUMBERED.format('v DESC')} WHERE r <= 2") == (
        "+I a 1 5 | +I a 2 7 | +I b 3 1 | -D a 1 5 | +I a 4 6 | +I b 6 2 | -D b 3 1 | +I b 8 2 | -D a 4 6 | "
        "+I a 10 9 | +I c 12 3"
    )


def test_a_range_of_numbers_is_updated_number_by_number_also_where_they_are_not_selected(env: Any) -> None:
    assert changes(env, f"SELECT g, k, v FROM {NUMBERED.format('v DESC')} WHERE r BETWEEN 2 AND 3") == (
        "+I a 1 5 | -U a 1 5 | +U a 4 6 | +I a 1 5 | +I b 3 1 | -U a 1 5 | +U a 7 6 | -U b 3 1 | +U b 8 2 | +I b 3 1 | "
        "-U a 4 6 | +U a 2 7 | -U a 7 6 | +U a 4 6 | -U a 4 6 | +U a 11 7"
    )


def test_the_first_row_of_an_order_is_updated(env: Any) -> None:
    assert changes(env, f"SELECT g, k, v, r FROM {NUMBERED.format('v DESC')} WHERE r = 1") == (
        "+I a 1 5 1 | -U a 1 5 1 | +U a 2 7 1 | +I b 3 1 1 | -U b 3 1 1 | +U b 6 2 1 | -U a 2 7 1 | +U a 10 9 1 | "
        "+I c 12 3 1"
    )


def test_one_number_and_other_conditions_on_the_rows_that_have_it(env: Any) -> None:
    assert changes(env, f"SELECT g, k, v, r FROM {NUMBERED.format('v')} WHERE r = 3") == (
        "+I a 2 7 3 | -U a 2 7 3 | +U a 4 6 3 | +I b 8 2 3 | -U a 4 6 3 | +U a 1 5 3"
    )
    assert changes(env, f"SELECT g, k, v FROM {NUMBERED.format('ts DESC')} WHERE r = 1 AND v > 5") == (
        "+U a 2 7 | -U a 2 7 | +U a 4 6 | -U a 4 6 | +U a 10 9 | -U a 10 9 | +U a 11 7"
    )


def test_the_first_row_of_a_partition_says_how_many_there_are(env: Any) -> None:
    assert changes(env, f"SELECT g, k, v, r FROM {NUMBERED.format('v DESC')} WHERE r <= k") == (
        "+I a 1 5 1 | -U a 1 5 1 | +U a 2 7 1 | +I b 3 1 1 | -U b 3 1 1 | +U b 6 2 1 | +I b 3 1 2 | -U b 3 1 2 | "
        "+U b 8 2 2 | +I b 3 1 3 | -U a 2 7 1 | +U a 10 9 1 | +I c 12 3 1"
    )


def test_order_by_with_limit_and_offset(env: Any) -> None:
    assert changes(env, "SELECT g, k, v FROM t ORDER BY v LIMIT 3") == (
        "+I a 1 5 | +I a 2 7 | +I b 3 1 | -D a 2 7 | +I a 4 6 | -D a 4 6 | +I a 5 3 | -D a 1 5 | +I b 6 2 | -D a 5 3 | "
        "+I b 8 2 | -D b 8 2 | +I a 9 None"
    )
    assert changes(env, "SELECT g, k, v FROM t ORDER BY v DESC LIMIT 2 OFFSET 1") == (
        "+I a 1 5 | +I b 3 1 | -U a 1 5 | +U a 4 6 | -U b 3 1 | +U a 1 5 | -U a 1 5 | +U a 7 6 | -U a 4 6 | +U a 2 7 | "
        "-U a 7 6 | +U a 4 6 | -U a 4 6 | +U a 11 7"
    )


def test_limit_without_an_order_passes_on_the_rows_that_come_first(env: Any) -> None:
    assert changes(env, "SELECT g, k FROM t LIMIT 3 OFFSET 2") == "+I b 3 | +I a 4 | +I a 5"
    assert changes(env, "SELECT g, k FROM t ORDER BY k LIMIT 0") == ""


def test_an_offset_without_a_limit_is_refused(env: Any) -> None:
    with pytest.raises(ValidationError, match="FETCH is missed, which on streaming table is not supported currently"):
        changes(env, "SELECT g, k FROM t OFFSET 2")


def test_rows_sorted_by_time_are_emitted_when_the_watermark_has_passed_them(env: Any) -> None:
    assert changes(env, "SELECT g, k, v FROM t ORDER BY ts, v DESC") == (
        "+I c 12 3 | +I a 1 5 | +I a 2 7 | +I a 4 6 | +I a 7 6 | +I b 3 1 | +I b 6 2 | +I a 5 3 | +I a 9 None | "
        "+I b 8 2 | +I a 10 9 | +I a 11 7"
    )


def test_the_order_of_a_derived_table_does_not_matter(env: Any) -> None:
    assert changes(env, "SELECT k FROM (SELECT * FROM t ORDER BY v) WHERE k < 4") == "+I 1 | +I 2 | +I 3"


def test_the_first_row_by_event_time_is_emitted_once_the_watermark_has_passed_it(env: Any) -> None:
    assert changes(env, f"SELECT g, k, v, r FROM {NUMBERED.format('ts')} WHERE r = 1") == (
        "+I c 12 3 1 | +I a 1 5 1 | +I b 3 1 1"
    )


def test_the_last_row_by_event_time_replaces_those_of_the_same_time_or_before(env: Any) -> None:
    assert changes(env, f"SELECT g, k, v FROM {NUMBERED.format('ts DESC')} WHERE r = 1") == (
        "+I a 1 5 | -U a 1 5 | +U a 2 7 | +I b 3 1 | -U a 2 7 | +U a 4 6 | -U a 4 6 | +U a 5 3 | -U b 3 1 | +U b 6 2 | "
        "-U b 6 2 | +U b 8 2 | -U a 5 3 | +U a 9 None | -U a 9 None | +U a 10 9 | -U a 10 9 | +U a 11 7 | +I c 12 3"
    )


def test_the_first_and_the_last_row_by_processing_time(env: Any) -> None:
    assert changes(env, f"SELECT g, k FROM {NUMBERED.format('pt')} WHERE r = 1") == "+I a 1 | +I b 3 | +I c 12"
    assert changes(env, f"SELECT g, k FROM {NUMBERED.format('pt DESC')} WHERE r = 1 AND g <> 'a'") == (
        "+I b 3 | -U b 3 | +U b 6 | -U b 6 | +U b 8 | +I c 12"
    )


def test_explain_names_operators_as_flink_does(env: Any) -> None:
    def operators(query: str) -> str:
        return str(env.explain_sql(query)).split("Optimized Execution Plan")[1]

    assert (
        "Rank(strategy=[AppendFastStrategy], rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=2], "
        "partitionBy=[g], orderBy=[v DESC], select=[g, k, v])"
    ) in operators(f"SELECT g, k, v FROM {NUMBERED.format('v DESC')} WHERE r <= 2")
    assert "SortLimit(orderBy=[v ASC], offset=[1], fetch=[2], strategy=[AppendFastStrategy])" in operators(
        "SELECT g, v FROM t ORDER BY v LIMIT 2 OFFSET 1"
    )
    assert "Deduplicate(keep=[FirstRow], key=[g], order=[ROWTIME], outputInsertOnly=[true])" in operators(
        f"SELECT k FROM {NUMBERED.format('ts')} WHERE r = 1"
    )


def test_first_rows_are_in_savepoints_and_continue_at_another_parallelism(tmp_path: Path) -> None:
    def start(**settings: Any) -> Any:
        env = environment(**settings)
        files(env, "t", COLUMNS, tmp_path / "in", **{"source.monitor-interval": "20 ms"})
        files(env, "written", "g STRING, k INT", tmp_path / "out")
        query = f"SELECT g, k FROM {NUMBERED.format('pt')} WHERE r = 1"
        return env.execute_sql(f"INSERT INTO written {query}").get_job_client()

    def written() -> list[tuple[str, int]]:
        return sorted((each["g"], each["k"]) for each in read(tmp_path / "out"))

    write(tmp_path / "in", "f1", {"g": "a", "k": 1, "e": 1}, {"g": "b", "k": 2, "e": 1}, {"g": "a", "k": 3, "e": 1})
    job = start(**{"parallelism.default": "1"})
    until(lambda: written() == [("a", 1), ("b", 2)])
    savepoint = job.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
    write(tmp_path / "in", "f2", {"g": "b", "k": 4, "e": 1}, {"g": "c", "k": 5, "e": 1}, {"g": "a", "k": 6, "e": 1})
    resumed = start(**{"execution.state-recovery.path": savepoint, "parallelism.default": "3"})
    try:
        until(lambda: written() == [("a", 1), ("b", 2), ("c", 5)])
    finally:
        resumed.cancel().result()


@pytest.mark.parametrize("parallelism", ["1", "3"])
@pytest.mark.parametrize("condition", ["r <= 3", "r = 2", "r BETWEEN 2 AND 4"])
def test_what_changes_leave_is_what_batch_returns(condition: str, parallelism: str, tmp_path: Path) -> None:
    for part in range(3):
        some = [{"g": "abc"[k * 7 % 3], "k": k, "v": k * 37 % 50} for k in range(part, 50, 3)]
        write(tmp_path / "in", f"f{part}", *some)
    query = f"SELECT g, k, v, r FROM {NUMBERED.format('v DESC, k')} WHERE {condition}"
    found: list[Any] = []
    for streaming in (True, False):
        env = environment(streaming, **{"parallelism.default": parallelism})
        files(env, "t", "g STRING, k INT, v INT", tmp_path / "in")
        if not streaming:
            found.append(rows(env, query))
            continue
        left: list[Any] = []
        with env.execute_sql(query).collect() as results:
            for each in results:
                (left.append if str(each.get_row_kind()) in ("+I", "+U") else left.remove)(tuple(each))
        found.append(sorted(left, key=str))
    assert found[0] == found[1]


SUMS = "(SELECT g, MOD(k, 3) AS m, SUM(v) AS s FROM t GROUP BY g, MOD(k, 3))"
COUNTS = "(SELECT g, MOD(k, 3) AS m, COUNT(*) AS s FROM t GROUP BY g, MOD(k, 3))"


def test_top_n_of_rows_that_are_taken_back(env: Any) -> None:
    ranked = f"(SELECT *, ROW_NUMBER() OVER (PARTITION BY m ORDER BY s DESC) AS r FROM {SUMS})"
    assert changes(env, f"SELECT g, m, s, r FROM {ranked} WHERE r <= 2") == (
        "+I a 1 5 1 | +I a 2 7 1 | +I b 0 1 1 | -D a 1 5 1 | +I a 1 11 1 | -D a 2 7 1 | +I a 2 10 1 | -D b 0 1 1 | "
        "+I b 0 3 1 | -D a 1 11 1 | +I a 1 17 1 | +I b 2 2 2 | +I a 0 None 2 | -D a 1 17 1 | +I a 1 26 1 | "
        "-U a 2 10 1 | +U b 2 2 1 | -D b 2 2 2 | -U b 2 2 1 | +U a 2 17 1 | +I b 2 2 2 | -U a 0 None 2 | +U c 0 3 2"
    )
    assert changes(env, f"SELECT g, m, s FROM {ranked} WHERE r <= 1").startswith(
        "+I a 1 5 | +I a 2 7 | +I b 0 1 | -D a 1 5 | +I a 1 11 | -D a 2 7 | +I a 2 10"
    )


def test_top_n_of_rows_that_only_get_better_needs_no_rows_before_updates(env: Any) -> None:
    query = f"SELECT g, m, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY s DESC) AS r FROM {COUNTS})"
    assert "UpdateFastStrategy" in env.explain_sql(f"{query} WHERE r <= 2")
    assert changes(env, f"{query} WHERE r <= 2") == (
        "+I a 1 1 | +I a 2 1 | +I b 0 1 | -U a 1 1 | +U a 1 2 | -U a 2 1 | +U a 2 2 | -U b 0 1 | +U b 0 2 | -U a 1 2 | "
        "+U a 1 3 | +I b 2 1 | -U a 1 3 | +U a 1 4 | -U a 2 2 | +U a 2 3 | +I c 0 1"
    )


def test_limit_of_rows_that_are_taken_back(env: Any) -> None:
    assert changes(env, "SELECT g, COUNT(*) AS n FROM t GROUP BY g LIMIT 2") == (
        "+I a 1 | -D a 1 | +I a 2 | +I b 1 | -D a 2 | +I a 3 | -D a 3 | +I a 4 | -D b 1 | +I b 2 | -D a 4 | +I a 5 | "
        "-D b 2 | +I b 3 | -D a 5 | +I a 6 | -D a 6 | +I a 7 | -D a 7 | +I a 8"
    )


@pytest.mark.parametrize("order", ["pt", "v"])
def test_keys_without_rows_are_forgotten_after_the_time_to_live(order: str, tmp_path: Path) -> None:
    env = environment(**{"parallelism.default": "1", "table.exec.state.ttl": "300 ms"})
    files(env, "t", COLUMNS, tmp_path / "in", **{"source.monitor-interval": "20 ms"})
    write(tmp_path / "in", "f1", {"g": "a", "k": 1, "v": 1, "e": 1})
    query = f"SELECT k FROM {NUMBERED.format(order)} WHERE r = 1"
    with env.execute_sql(query).collect() as results:
        assert next(results)[0] == 1
        time.sleep(1)
        write(tmp_path / "in", "f2", {"g": "a", "k": 2, "v": 2, "e": 2})
        found = next(results)
        assert (str(found.get_row_kind()), found[0]) == ("+I", 2)
