"""SQL jobs with event time that are rescaled and restored while files are left: the rows of the undisturbed job."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from scurry.table import TableEnvironment
from support.statements.tables import environment, read

EVENTS, FILES, KEYS = 1500, 15, 5
COLUMNS = "id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"
WINDOW = "SELECT * FROM TABLE(TUMBLE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '10' SECONDS))"

#: table -> its columns, and the query that is written to it
QUERIES = {
    "over": (
        "id INT, n BIGINT, total INT",
        "SELECT id, COUNT(*) OVER w, SUM(v) OVER w FROM a "
        "WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '60' SECOND PRECEDING AND CURRENT ROW)",
    ),
    "sessions": (
        "k STRING, w TIMESTAMP(3), n BIGINT",
        "SELECT k, window_start, COUNT(*) FROM TABLE(SESSION(TABLE a PARTITION BY k, DESCRIPTOR(ts), "
        "INTERVAL '4' SECONDS)) GROUP BY k, window_start, window_end",
    ),
    "matches": (
        "k STRING, first INT, last INT",
        "SELECT * FROM a MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS f, Y.id AS l "
        "AFTER MATCH SKIP PAST LAST ROW PATTERN (X Y) DEFINE X AS X.v < 5, Y AS Y.v > X.v)",
    ),
    "near": (
        "a INT, b INT",
        "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k "
        "AND a.ts BETWEEN b.ts - INTERVAL '3' SECOND AND b.ts + INTERVAL '1' SECOND",
    ),
    "windows": (
        "a INT, b INT, w TIMESTAMP(3)",
        f"SELECT l.id, r.id, l.window_start FROM ({WINDOW.format('a')}) l JOIN ({WINDOW.format('b')}) r "
        "ON l.k = r.k AND l.v = r.v AND l.window_start = r.window_start AND l.window_end = r.window_end",
    ),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables of files in the order of time, as sources discover them; some rows are a second out of order."""
    directory = tmp_path_factory.mktemp("inputs")
    for table, shift in (("a", 0), ("b", 700)):
        (directory / table).mkdir()
        for file in range(FILES):
            rows = []
            for number in range(file * EVENTS // FILES, (file + 1) * EVENTS // FILES):
                millis = 1_704_067_200_000 + number * 331 + shift - number * 7 % 5 * 250
                clock = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(millis // 1000))
                row = {"id": number, "k": f"k{number // 12 % KEYS}", "v": number * 11 % 10}
                rows.append(json.dumps({**row, "ts": f"{clock}.{millis % 1000:03}"}) + "\n")
            path = directory / table / f"{file:02}.json"
            path.write_text("".join(rows))
            os.utime(path, (file, file))
    return directory


def start(inputs: Path, output: Path, parallelism: int, **settings: str) -> Any:
    """Start the job; it reads many batches."""
    at_once = {"parallelism.default": str(parallelism), "scurry.batch.max-bytes": "4 kb", **settings}
    env = environment(**at_once)
    for table in ("a", "b"):
        _create(env, table, COLUMNS, inputs / table)
    for name, (columns, _) in QUERIES.items():
        _create(env, f"{name}_out", columns, output / name)
    inserts = "; ".join(f"INSERT INTO {name}_out {query}" for name, (_, query) in QUERIES.items())
    return env.execute_sql(f"EXECUTE STATEMENT SET BEGIN {inserts}; END").get_job_client()


def _create(env: TableEnvironment, name: str, columns: str, directory: Path) -> None:
    options = f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{directory}'"
    env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({options})")


def rows(output: Path) -> dict[str, list[str]]:
    return {name: sorted(json.dumps(row) for row in read(output / name)) for name in QUERIES}


@pytest.fixture(scope="module")
def undisturbed(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    output = tmp_path_factory.mktemp("undisturbed")
    start(inputs, output, 1).get_job_execution_result().result()
    found = rows(output)
    assert len(found["over"]) == EVENTS
    assert all(len(each) > 100 for each in found.values()), {name: len(each) for name, each in found.items()}
    return found


PARALLELISMS = (1, 3, 2, 4, 1, 2, 4, 3, 1, 2)
LOCAL = ("local", PARALLELISMS)
#: batches of Spark are slow
SPARK = pytest.param("spark", (1, 3), marks=[pytest.mark.spark, pytest.mark.nightly])


@pytest.mark.parametrize(("runner", "parallelisms"), [LOCAL, SPARK])
def test_rescales_lose_no_row(
    inputs: Path, tmp_path: Path, undisturbed: dict[str, list[str]], runner: str, parallelisms: tuple[int, ...]
) -> None:
    client = start(inputs, tmp_path, 2, **{"scurry.runner": runner})
    for parallelism in parallelisms:
        client._job.rescale(parallelism).result()
    assert not client.get_job_status().result().is_terminal_state()
    client.get_job_execution_result().result()
    assert rows(tmp_path) == undisturbed


@pytest.mark.parametrize(("runner", "parallelisms"), [LOCAL, SPARK])
def test_restores_lose_no_row(
    inputs: Path, tmp_path: Path, undisturbed: dict[str, list[str]], runner: str, parallelisms: tuple[int, ...]
) -> None:
    output, settings = tmp_path / "output", {"scurry.runner": runner}
    client = start(inputs, output, 2, **settings)
    for parallelism in parallelisms:
        _wait_for_output(output)
        savepoint = client.stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
        client = start(inputs, output, parallelism, **settings, **{"execution.state-recovery.path": savepoint})
    assert not client.get_job_status().result().is_terminal_state()
    client.get_job_execution_result().result()
    assert rows(output) == undisturbed


def _wait_for_output(output: Path) -> None:
    end = time.monotonic() + 120
    while not read(output / "over"):
        assert time.monotonic() < end
        time.sleep(0.05)
