"""ON CONFLICT: rows of a query that is keyed otherwise than the table into which they go."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ScurryError
from support.statements.tables import environment, files, write

QUERY = "SELECT v, id FROM (SELECT id, MAX(v) AS v FROM t GROUP BY id)"
EVENTS = [
    {"id": 1, "v": "a", "ts": "2024-01-01 00:00:01"},
    {"id": 2, "v": "b", "ts": "2024-01-01 00:00:02"},
    {"id": 3, "v": "a", "ts": "2024-01-01 00:00:03"},
]


def inserted(
    directory: Path, rows: list[dict[str, Any]], conflict: str, runner: str = "local"
) -> list[tuple[Any, ...]]:
    """Return what a table keyed by `v` has after the insertion."""
    with sqlite3.connect(directory / "w.db") as database:
        database.execute("CREATE TABLE w (v TEXT PRIMARY KEY, id INT)")
    env = environment(True, **{"scurry.runner": runner})
    write(directory / "t", "f", *rows)
    columns = "id INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    files(env, "t", columns, directory / "t")
    env.execute_sql(
        "CREATE TABLE w (v STRING, id INT, PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'jdbc', "
        f"'table-name' = 'w', 'url' = 'jdbc:sqlite:{directory}/w.db')"
    )
    env.execute_sql(f"INSERT INTO w {QUERY} ON CONFLICT DO {conflict}").wait()
    with sqlite3.connect(directory / "w.db") as database:
        return sorted(database.execute("SELECT v, id FROM w"))


@pytest.mark.parametrize(
    ("conflict", "kept"), [("DEDUPLICATE", [("a", 3), ("b", 2)]), ("NOTHING", [("a", 1), ("b", 2)])]
)
def test_one_row_of_a_key_is_kept(conflict: str, kept: list[tuple[Any, ...]], tmp_path: Path) -> None:
    assert inserted(tmp_path, EVENTS, conflict) == kept


def test_a_conflict_fails_the_statement_if_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ScurryError, match=r"Conflicting key: \[v=a\]. Use ON CONFLICT DO NOTHING"):
        inserted(tmp_path, EVENTS, "ERROR")


def test_rows_without_conflict_are_written(tmp_path: Path) -> None:
    assert inserted(tmp_path, EVENTS[:2], "ERROR") == [("a", 1), ("b", 2)]


@pytest.mark.parametrize("conflict", ["DEDUPLICATE", "NOTHING", "ERROR"])
def test_explain_shows_the_choice_in_streaming(conflict: str, tmp_path: Path) -> None:
    shown = []
    for streaming in (True, False):
        env = environment(streaming)
        files(env, "t", "id INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts", tmp_path / "t")
        env.execute_sql("CREATE TABLE w (v STRING, id INT, PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'print')")
        shown.append(env.explain_sql(f"INSERT INTO w {QUERY} ON CONFLICT DO {conflict}"))
    assert f"fields=[v, id], upsertMaterialize=[true], conflictStrategy=[{conflict}])" in shown[0]
    assert "conflictStrategy" not in shown[1]


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize(("conflict", "kept"), [("DEDUPLICATE", 3), ("NOTHING", 1)])
def test_one_row_of_a_key_is_kept_on_spark(conflict: str, kept: int, tmp_path: Path) -> None:
    assert inserted(tmp_path, EVENTS, conflict, "spark") == [("a", kept), ("b", 2)]
