"""Files, then a topic -> windows -> topic, exactly once, when the job is killed in either or between them.

`SCURRY_KILLS` says how often it is killed (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from support.faults.job_directory import Place
from support.faults.job_processes import GIVE_UP_SECONDS, Run
from support.kafka.broker import Kafka
from support.kafka.killed_job import PARTITIONS, KilledJob, Readings, count

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

#: There are three places.
KILLS = max(3, count("SCURRY_KILLS", 20))
SEED = int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6))))
#: Readings of each partition in a file; not a whole number of windows.
IN_FILE, FILES = 330, 12


def write_history(directory: Path, readings: Readings) -> None:
    """Files named by the time of the first reading behind them. The topic keeps what is in the files."""
    directory.mkdir()
    for number in range(FILES):
        values = readings.write(IN_FILE)
        file = directory / f"{readings.now}.txt"
        file.write_text("".join(f"{value}\n" for value in values))
        os.utime(file, (number, number))


class Phases:
    """Where the job is: at its files, between them and the topic, or at the topic."""

    def __init__(self, switched: Path) -> None:
        self._switched = switched

    @property
    def phase(self) -> str:
        return "topic" if self._switched.exists() else "files"

    def wait_for_switch(self, run: Run, since: float) -> bool:
        """Waits until the topic is turned to, for the first time or once more; False if the job ends before."""
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while not (self._switched.exists() and self._switched.stat().st_mtime >= since):
            assert time.monotonic() < give_up, run.place.log.read_text()[-4000:]
            if run.ends_within(0.01):
                return False
        return True


@pytest.mark.in_turn
def test_every_window_is_there_once_wherever_the_job_is_killed(kafka: Kafka, tmp_path: Path) -> None:
    print(f"\nSCURRY_SEED={SEED}")
    chance, killed = random.Random(SEED), Counter[str]()
    readings, target, place = Readings(kafka, FILES * IN_FILE * 2), kafka.topic(2), Place.new(tmp_path, 1, tmp_path)
    switched = place.root / "switched"
    write_history(place.root / "history", readings)
    readings.write_the_rest()
    arguments = [kafka.address, readings.topic, target, str(place.checkpoints), readings.ends]
    job, phases = KilledJob(place, [*arguments, str(place.root / "history"), str(switched)], []), Phases(switched)
    at_files, at_switch = (KILLS + 2) // 3, (KILLS + 1) // 3
    for number in range(KILLS):
        started, run = time.time(), job.start()
        if at_files <= number < at_files + at_switch:
            assert phases.wait_for_switch(run, started)
            assert not run.ends_within(chance.uniform(0, 0.8))
            where = "switch"
        else:
            assert job.goes_on_for(run, 1, chance.uniform(0, 0.8)), place.log.read_text()[-4000:]
            where = phases.phase
        run.kill()
        killed[where] += 1
        print(f"{dict(killed)} after {len(place.batches())} batches", flush=True)
    job.start().finish()
    assert kafka.read(target) == readings.expected
    assert all(killed[where] >= KILLS // 4 for where in ("files", "switch", "topic"))
    assert PARTITIONS > 2, "the topic is to have more readers than the files"
