"""Nexmark's queries in STREAMING on Spark, whose drivers and workers are killed: the answers of Flink.

`SCURRY_KILLS` says how many kills of each kind (10), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from support.faults.job_directory import Place
from support.faults.job_processes import Run, kill, workers
from support.faults.nexmark import NEXMARK, QUERIES, expected, left_by, script, write_events
from support.faults.sql_inserts import goes_on

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not NEXMARK.is_dir(), reason="the answers of Flink are not there"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]
KILLS = int(os.environ.get("SCURRY_KILLS", "10"))
#: Small batches: there have to be moments to be killed in.
SETTINGS = {"scurry.batch.max-bytes": "500000", "parallelism.default": "2"}
#: Tasks are repeated, as on a cluster.
MASTER = ["--master", "local[2,8]"]


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("nexmark")
    write_events(directory)
    return directory


@pytest.mark.parametrize("group", QUERIES)
def test_queries_have_the_answers_of_flink_after_kills(
    group: str, events: Path, chance: random.Random, tmp_path: Path
) -> None:
    killed: Counter[str] = Counter()
    number = 0
    while min(killed["driver"], killed["worker"]) < KILLS:
        number += 1
        place = Place.new(tmp_path, number, events)
        program = script(place, QUERIES[group], SETTINGS)
        run = Run(place, MASTER, program, [])
        # Kills of one kind after the other, as many as there is time for.
        while goes_on(run, lambda place: len(place.batches())) and not run.ends_within(chance.uniform(0, 1)):
            if killed["worker"] <= killed["driver"]:
                there = workers(run.process.pid)
                if not there or not kill(chance.choice(there)):
                    continue
                killed["worker"] += 1
            elif killed["driver"] < KILLS:
                run.kill()
                killed["driver"] += 1
                run = Run(place, MASTER, program, [])
            else:
                break
            print(f"job {number}: {dict(killed)} after {len(place.batches())} batches", flush=True)
        run.finish()
        found = {name: left_by(place, name) for name in QUERIES[group]}
        assert found == {name: expected(name) for name in QUERIES[group]}
