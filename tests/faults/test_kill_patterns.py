"""A job with patterns that is killed finds what it would have found: nothing lost, nothing twice.

`SCURRY_KILLS` says how many kills (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, PROGRAMS, Run, kill, workers
from support.faults.sql_inserts import goes_on

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

MATCH_RECOGNIZE = """
SET 'execution.checkpointing.dir' = '{checkpoints}';
SET 'scurry.batch.max-bytes' = '12000';
SET 'restart-strategy.type' = 'none';
SET 'parallelism.default' = '2';
CREATE TABLE readings (sensor STRING, e BIGINT, v BIGINT, ts AS TO_TIMESTAMP_LTZ(e, 3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{readings}');
CREATE TABLE found (sensor STRING, e1 BIGINT, e2 BIGINT, n BIGINT, s BIGINT)
  WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{output}/matches');
INSERT INTO found SELECT * FROM readings MATCH_RECOGNIZE (
  PARTITION BY sensor ORDER BY ts
  MEASURES FIRST(A.e) AS e1, B.e AS e2, COUNT(A.v) AS n, SUM(A.v) AS s
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A+ B) WITHIN INTERVAL '15' SECOND
  DEFINE A AS LAST(A.v, 1) IS NULL OR A.v > LAST(A.v, 1), B AS B.v < LAST(A.v) - 20);
"""


def patterns(place: Place) -> Run:
    return Run(place, program=PROGRAMS / "patterns.py", arguments=[place.readings, place.output, place.checkpoints])


def match_recognize(place: Place) -> Run:
    script = place.root / "job.sql"
    given = {"checkpoints": place.checkpoints, "readings": place.readings, "output": place.output}
    script.write_text(MATCH_RECOGNIZE.format(**given))
    return Run(place, program=script, arguments=[])


def found(place: Place) -> dict[str, list[str]]:
    return {
        sink: sorted(line for file in place.visible(sink) for line in file.read_text().splitlines())
        for sink in ("matches", "timed-out")
        if (place.output / sink).exists()
    }


def batches(place: Place) -> int:
    return len(place.batches())


@pytest.mark.in_turn
@pytest.mark.parametrize("start", [patterns, match_recognize])
def test_killed_drivers_and_workers_change_no_match(
    start: Callable[[Place], Run], readings: Path, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    undisturbed = Place.new(tmp_path, 0, readings)
    start(undisturbed).finish()
    expected = found(undisturbed)
    assert expected and all(expected.values())
    wanted = faults if faults >= 20 else 1  # one kill where time is short: this job is one of many that are killed
    kills, jobs = 0, 0
    while kills < wanted:
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        run = start(place)
        while kills < wanted and goes_on(run, batches) and not run.ends_within(chance.uniform(0, 0.5)):
            those = workers(run.process.pid)
            if those and chance.random() < 0.5:
                kill(chance.choice(those))
            else:
                run.kill()
                run = start(place)
            kills += 1
            print(f"job {jobs}: kill {kills} after {batches(place)} batches")
        if not run.ends_within(GIVE_UP_SECONDS) or run.process.returncode != 0:  # it failed with its worker
            run.kill()
            run = start(place)
        run.finish()
        assert found(place) == expected
