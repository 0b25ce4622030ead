"""SQL jobs with event time that are rescaled and restored while files are left: the rows of the undisturbed job."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Duration, Time, WatermarkStrategy
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.datastream.window import TumblingEventTimeWindows
from support.cases import sample
from support.faults.endless_job import PYTHONPATH
from support.faults.job_processes import environment as process_environment
from support.faults.standalone_cluster import REACTIVE, Cluster, Daemon, wait_until
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
    *tables, inserts = statements(inputs, output)
    for table in tables:
        env.execute_sql(table)
    return env.execute_sql(inserts).get_job_client()


def statements(inputs: Path, output: Path) -> list[str]:
    """The tables, and last the statement set that writes them."""
    columns = {"a": (COLUMNS, inputs / "a"), "b": (COLUMNS, inputs / "b")}
    columns |= {f"{name}_out": (declared, output / name) for name, (declared, _) in QUERIES.items()}
    options = "'connector' = 'filesystem', 'format' = 'json', 'path'"
    tables = [
        f"CREATE TABLE {name} ({declared}) WITH ({options} = '{path}')" for name, (declared, path) in columns.items()
    ]
    inserts = "; ".join(f"INSERT INTO {name}_out {query}" for name, (_, query) in QUERIES.items())
    return [*tables, f"EXECUTE STATEMENT SET BEGIN {inserts}; END"]


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


PARALLELISMS = (1, 3, 2, 4, 1)
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


class _Millis(TimestampAssigner):
    def extract_timestamp(self, value: str, record_timestamp: int) -> int:
        return int(value)


def _counts(directory: Path, parallelisms: tuple[int, ...]) -> list[tuple[int, int]]:
    """Count the milliseconds of files in windows of a stream; rescale meanwhile."""
    settings = {"scurry.runner": "local", "parallelism.default": "2", "scurry.batch.max-bytes": "400"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(directory)).build()
    strategy: WatermarkStrategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    times = env.from_source(lines, strategy.with_timestamp_assigner(_Millis()), "times")
    pairs = times.map(lambda line: (int(line) // 10_000, 1))
    counts = pairs.key_by(lambda pair: 0).window(TumblingEventTimeWindows.of(Time.seconds(10)))
    with counts.reduce(lambda a, b: (a[0], a[1] + b[1])).execute_and_collect() as found:
        client: Any = found._client
        for parallelism in parallelisms:
            client.rescale(parallelism).result()
        assert not client.get_job_status().result().is_terminal_state()
        return sorted(found)


def test_windows_of_a_stream_lose_no_record(tmp_path: Path) -> None:
    for file in range(8):
        path = tmp_path / f"{file}.txt"
        path.write_text("".join(f"{number * 100}\n" for number in range(file * 500, file * 500 + 500)))
        os.utime(path, (file, file))
    assert _counts(tmp_path, PARALLELISMS) == [(window, 100) for window in range(40)]


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


@pytest.mark.faults
@pytest.mark.in_turn
def test_executors_that_come_and_go_lose_no_row(
    inputs: Path, tmp_path: Path, undisturbed: dict[str, list[str]]
) -> None:
    script = tmp_path / "job.sql"
    script.write_text(";\n".join(statements(inputs, tmp_path / "output")) + ";\n")
    settings = {
        "execution.checkpointing.dir": f"{tmp_path}/checkpoints",
        "execution.checkpointing.interval": "2 s",  # files are left while workers start
        "scurry.batch.max-bytes": "2 kb",
    }
    options = [*REACTIVE, *(option for key, value in settings.items() for option in ("-D", f"{key}={value}"))]
    with Cluster(tmp_path, PYTHONPATH=PYTHONPATH) as cluster:
        cluster.add_worker()
        command = [sys.executable, "-m", "scurry", "run", "--master", cluster.url, *options, str(script)]
        job = Daemon(command, tmp_path / "log", process_environment())

        def rescales(number: int, after: int) -> None:
            wait_until(lambda: log_of(job).count(f" to {after} subtasks in ") == number, "a rescale", while_runs=job)

        def log_of(job: Daemon) -> str:
            return job.log.read_text()

        try:
            wait_until(lambda: read(tmp_path / "output" / "over"), "the first rows", while_runs=job)
            for number, leave in enumerate(sample((Daemon.kill, Daemon.terminate), 2), 1):
                second = cluster.add_worker()
                rescales(number, 2)
                leave(second)
                rescales(number, 1)
            wait_until(lambda: job.returncode is not None, "the end of the job", 600)
            assert job.returncode == 0, log_of(job)
        finally:
            job.kill()
    assert rows(tmp_path / "output") == undisturbed
