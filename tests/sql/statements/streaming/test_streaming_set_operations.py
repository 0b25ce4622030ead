"""UNION, INTERSECT and EXCEPT in STREAMING: what their changes leave is what BATCH returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.statements.tables import environment, files, rows, write


def left_rows(env: Any, query: str) -> list[tuple[Any, ...]]:
    """Return the rows that the changes of a query leave."""
    left: list[Any] = []
    with env.execute_sql(query).collect() as results:
        for each in results:
            (left.append if str(each.get_row_kind()) in ("+I", "+U") else left.remove)(tuple(each))
    return sorted(left, key=str)


@pytest.mark.parametrize("parallelism", ["1", "3"])
@pytest.mark.parametrize(
    "operation",
    ["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL", "EXCEPT SELECT 1, 'x' UNION"],
)
def test_set_operations_leave_the_rows_that_they_have_in_batch(
    operation: str, parallelism: str, tmp_path: Path
) -> None:
    for part in range(2):
        some = [{"k": k * 7 % 5 if k % 4 else None, "s": "xyz"[k % 3]} for k in range(part, 60, 2)]
        write(tmp_path / "first_one", f"f{part}", *some)
        write(
            tmp_path / "second_one",
            f"f{part}",
            *({**each, "k": None if each["k"] == 2 else each["k"]} for each in some[5:]),
        )
    query = (
        f"SELECT k, s FROM first_one WHERE k IS NULL OR k < 4 {operation} SELECT k, s FROM second_one WHERE s <> 'z'"
    )
    found = []
    for streaming in (True, False):
        env = environment(streaming, **{"parallelism.default": parallelism})
        files(env, "first_one", "k INT, s STRING", tmp_path / "first_one")
        files(env, "second_one", "k INT, s STRING", tmp_path / "second_one")
        found.append(left_rows(env, query) if streaming else rows(env, query))
    assert found[0] == found[1]
    assert found[0]


def test_except_all_repeats_the_rows_of_each_update(tmp_path: Path) -> None:
    write(tmp_path / "in", "f", *({"k": k} for k in (1, 1, 2, 1)))
    env = environment(**{"parallelism.default": "1"})
    files(env, "t", "k INT", tmp_path / "in")
    with env.execute_sql("SELECT k FROM t EXCEPT ALL SELECT k FROM t WHERE k > 5").collect() as results:
        found = [f"{each.get_row_kind()} {each[0]}" for each in results]
    assert found == ["+I 1", "-U 1", "+U 1", "+U 1", "+I 2", "-U 1", "-U 1", "+U 1", "+U 1", "+U 1"]


@pytest.mark.parametrize("streaming", [True, False])
def test_windows_have_the_rows_of_all_branches_of_a_union(streaming: bool, tmp_path: Path) -> None:
    # Flink 2.3 drops all branches but the first: its plan has them as further inputs of the window function.
    env = environment(streaming)
    columns = "v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    for table, start in (("a", 0), ("b", 1)):
        write(tmp_path / table, "f", *({"v": v, "ts": f"2024-01-01 00:00:{v}0"} for v in range(start, 6, 2)))
        files(env, table, columns, tmp_path / table)
    union = "(SELECT * FROM a UNION ALL SELECT * FROM b)"
    windows = f"TABLE(TUMBLE({union}, DESCRIPTOR(ts), INTERVAL '20' SECOND))"
    assert rows(env, f"SELECT v FROM {windows}") == [(v,) for v in range(6)]
    assert [n for (n,) in rows(env, f"SELECT COUNT(*) FROM {windows} GROUP BY window_start, window_end")] == [2, 2, 2]
