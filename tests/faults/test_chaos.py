"""A long job that meets faults of all kinds, one after another (`make chaos`; `SCURRY_KILLS` says how many, 100)."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from support.faults.damaged_checkpoints import KINDS, damage
from support.faults.failing_sink import fail_after
from support.faults.job_directory import Place, write_readings
from support.faults.job_processes import CLUSTER, EXECUTOR, Run, kill, workers

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

FAULTS = int(os.environ.get("SCURRY_KILLS", "100"))
LINES_PER_FILE = 4000


class Chaos:
    """A job, and what happened to it so far."""

    def __init__(self, place: Place, chance: random.Random) -> None:
        self.place, self.chance = place, chance
        self.faults: Counter[str] = Counter()
        self._failures = 0
        self.run = Run(place, CLUSTER)

    def strike(self) -> None:
        """One fault at the job as it runs, if there is anything to strike at."""
        kind = self.chance.choices(["worker", "executor", "driver", "damage", "fuse"], [4, 3, 1, 1, 1])[0]
        if kind == "worker":
            self._kill_one(kind, workers(self.run.process.pid))
        elif kind == "executor":
            self._kill_one(kind, list(self.run.members(EXECUTOR)))
        elif kind == "fuse":
            fail_after(self.place.fuse, self.chance.randrange(3), "kill")
            self.run.process.wait()
            blown = self.run.process.returncode == -signal.SIGKILL
            self._start_again(kind if blown else "")
        else:
            self.run.kill()
            if kind == "damage":
                self._damage()
            self._start_again(kind)

    def start_after_failure(self) -> None:
        """The job failed by itself, such as at a task that met too many faults."""
        self._failures += 1
        print(f"    the job failed: {self.place.log.read_text()[-300:]}")
        assert self._failures < 5, "it fails again and again"
        self._start_again("")

    def _kill_one(self, kind: str, pids: list[int]) -> None:
        if pids and kill(self.chance.choice(pids)):
            self._happened(kind)

    def _damage(self) -> None:
        try:
            print(f"    {damage(self.place, self.chance.choice(list(KINDS)), self.chance)}")
        except (ValueError, FileNotFoundError, IndexError):
            print("    there is no such file yet")

    def _start_again(self, kind: str) -> None:
        self.run.kill()
        self.place.fuse.unlink(missing_ok=True)
        if kind:
            self._happened(kind)
        self.run = Run(self.place, CLUSTER)

    def _happened(self, kind: str) -> None:
        self.faults[kind] += 1
        self._failures = 0
        print(f"fault {self.faults.total()}: {kind}, {len(self.place.batches())} batches", flush=True)


def test_a_job_in_chaos_ends_with_the_same_records(tmp_path: Path, seed: int) -> None:
    chance, faults, jobs = random.Random(f"{seed} chaos"), Counter[str](), 1
    readings = write_readings(tmp_path / "readings", LINES_PER_FILE)
    undisturbed = Place.new(tmp_path, 0, readings)
    Run(undisturbed).finish()
    print(f"\nSCURRY_SEED={seed}; undisturbed: {len(undisturbed.batches())} batches")
    while faults.total() < FAULTS:
        chaos = Chaos(Place.new(tmp_path, jobs, readings), chance)
        while faults.total() + chaos.faults.total() < FAULTS and not chaos.place.finished:
            if not chaos.run.ends_within(chance.uniform(1, 8)):
                chaos.strike()
            elif not chaos.place.finished:
                chaos.start_after_failure()
        chaos.run.finish()
        assert chaos.place.results() == undisturbed.results()
        faults += chaos.faults
        jobs += 1
    print(f"{faults.total()} faults in {jobs - 1} jobs: {dict(faults)}")
