"""A SQL job whose operators keep many rows in runs of columns is killed: groups, first rows and a join are exact.

`SCURRY_KILLS` says how many kills (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from support.faults.job_directory import Place
from support.faults.sql_inserts import kill_often

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

KEYS, TIMES, FILES = 4000, 3, 8
INSERTS = {
    "counts": "k INT, c BIGINT, t STRING:SELECT k, COUNT(*), MAX(t) FROM s GROUP BY k",
    "firsts": "k INT:SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) AS r FROM s) WHERE r = 1",
    "pairs": "k INT, n INT:SELECT a.k, b.n FROM s AS a JOIN s AS b ON a.k = b.k",
}


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of lines `key,number,text`: each key with each number, in random order."""
    directory, order = tmp_path_factory.mktemp("numbers"), random.Random(1)
    lines = [f"{key},{number},{number:060}" for key in range(KEYS) for number in range(TIMES)]
    order.shuffle(lines)
    for file in range(FILES):
        (directory / f"part-{file}.csv").write_text("\n".join(lines[file::FILES]) + "\n")
    return directory


def script(place: Place) -> Path:
    settings = {
        "execution.checkpointing.dir": place.checkpoints,
        "scurry.batch.max-bytes": 60_000,
        "restart-strategy.type": "none",
        "parallelism.default": 2,
        "pipeline.max-parallelism": 4,
    }
    statements = [f"SET '{key}' = '{value}'" for key, value in settings.items()]
    statements.append(
        "CREATE TABLE s (k INT, n INT, t STRING, p AS PROCTIME()) WITH ('connector' = 'filesystem', 'format' = 'csv', "
        f"'path' = '{place.readings}')"
    )
    inserts = []
    for name, insert in INSERTS.items():
        columns, _, query = insert.partition(":")
        statements.append(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'format' = 'debezium-json', "
            f"'path' = '{place.output}/{name}')"
        )
        inserts.append(f"INSERT INTO {name} {query};")
    statements.append("EXECUTE STATEMENT SET BEGIN " + " ".join(inserts) + " END")
    path = place.root / "job.sql"
    path.write_text(";\n".join(statements) + ";\n")
    return path


def rows_after(place: Place, sink: str) -> list[tuple[Any, ...]]:
    """The rows that were inserted and those that updates ended with."""
    found = [json.loads(line)["after"] for file in place.visible(sink) for line in file.read_text().splitlines()]
    return sorted(tuple(row.values()) for row in found if row is not None)


def check(place: Place) -> None:
    assert [row[:2] for row in rows_after(place, "counts")] == [
        (key, count) for key in range(KEYS) for count in range(1, TIMES + 1)
    ]
    assert rows_after(place, "firsts") == [(key,) for key in range(KEYS)]
    assert rows_after(place, "pairs") == [
        (key, number) for key in range(KEYS) for number in range(TIMES) for _ in range(TIMES)
    ]


@pytest.mark.parametrize("runner", [pytest.param("spark", marks=pytest.mark.in_turn), "local"])
def test_a_killed_job_ends_with_the_same_rows(
    runner: str, numbers: Path, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    kill_often(lambda number: Place.new(tmp_path, number, numbers), script, check, faults, chance, runner=runner)
