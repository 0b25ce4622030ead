"""A program of streams and tables with state in each part, killed while it writes into a topic: every row once.

Between its kills it is stopped with savepoints, from which it goes on at other parallelisms. `SCURRY_KILLS` says how
many kills (2, at night 20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from support.faults.job_directory import Place
from support.faults.job_processes import Run
from support.faults.sql_inserts import NUMBERS, goes_on, write_numbers
from support.kafka.broker import Kafka
from support.kafka.killed_job import count

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]
PROGRAM = Path(__file__).parent.parent / "support" / "kafka" / "programs" / "streams_and_tables.py"
GROUPS = 8
#: The last stage has most of the input: with many readers, few batches.
PARALLELISMS = (2, 1, 4)


@pytest.mark.in_turn
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.nightly)])
def test_streams_and_tables_into_a_topic(kills: int, kafka: Kafka, tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6)))))
    # A micro-batch reads a file with each reader: there have to be moments to be killed in.
    numbers = write_numbers(tmp_path / "numbers", files=60)
    wanted = count("SCURRY_KILLS", kills)
    killed = jobs = 0
    while killed < wanted:
        jobs += 1
        topic, savepoint = kafka.topic(2), None
        for stage, parallelism in enumerate(PARALLELISMS):
            place = Place.new(tmp_path / f"job-{jobs}", stage, numbers)
            job = KilledJob(place, [kafka.address, topic, f"job-{jobs}"], parallelism, savepoint)
            killed += job.run(min(wanted - killed, 3), chance, stops=stage < len(PARALLELISMS) - 1)
            print(f"job {jobs}: {killed} kills, the last ones at parallelism {parallelism}", flush=True)
            savepoint = job.savepoint
        check([json.loads(value) for value in kafka.read(topic)])


class KilledJob:
    """A job that begins where another one was stopped.

    Attributes:
        savepoint: With which it was stopped.
    """

    def __init__(self, place: Place, topic: list[str], parallelism: int, start: Path | None) -> None:
        self.savepoint: Path | None = None
        self._place = place
        self._stop = place.root / "savepoints" / "stop"
        self._stop.parent.mkdir()
        self._arguments = [place.readings, place.checkpoints, *topic, parallelism, self._stop]
        self._options = [] if start is None else ["-s", str(start)]

    def run(self, kills: int, chance: random.Random, stops: bool) -> int:
        """Kill it at moments of its first batches and let it go on; return how many kills there were."""
        run = self._start()
        for _ in range(kills):
            assert goes_on(run, _batches), run.story("it has ended before all kills")
            assert not run.ends_within(chance.uniform(0, 0.3)), run.story("it has ended before it was killed")
            run.kill()
            run = self._start()
        if stops:
            assert goes_on(run, _batches), run.story("it has ended before it was to stop")
            self._stop.touch()
        run.finish()
        if stops:
            savepoints = [path for path in self._stop.parent.iterdir() if path.is_dir()]
            assert len(savepoints) == 1, run.story(f"it was to stop with one savepoint, there are {savepoints}")
            self.savepoint = savepoints[0]
        return kills

    def _start(self) -> Run:
        return Run(self._place, self._options, PROGRAM, self._arguments)


def _batches(place: Place) -> int:
    return len(place.batches())


def check(found: list[dict[str, int]]) -> None:
    """Each group was counted from 1, by every part of the program, and no count is missing or there twice."""
    expected = [
        (group, number, number * (number + 1) // 2, number)
        for group in range(GROUPS)
        for number in range(1, len(NUMBERS[group::GROUPS]) + 1)
    ]
    assert sorted((row["k"], row["c"], row["s"], row["u"]) for row in found) == expected
