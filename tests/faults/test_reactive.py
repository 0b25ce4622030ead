"""A reactive job on a standalone Spark whose workers come and go: its parallelism follows, its results do not change."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import pytest
from cluster import Cluster, Daemon, wait_until

import scurry

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

PROGRAMS = Path(__file__).parent / "programs"
PYTHONPATH = os.pathsep.join([str(Path(scurry.__file__).parent.parent), str(PROGRAMS)])
ENVIRONMENT = {**os.environ, "PYTHONPATH": PYTHONPATH, "PYTHONUNBUFFERED": "1"}
SCHEDULER = "jobmanager.adaptive-scheduler"
REACTIVE = {
    "scheduler-mode": "reactive",
    f"{SCHEDULER}.submission.resource-stabilization-timeout": "1 s",
    f"{SCHEDULER}.executing.resource-stabilization-timeout": "2 s",
    f"{SCHEDULER}.executing.cooldown-after-rescaling": "2 s",
    "spark.executor.memory": "512m",
}
LINES, SENSORS = 400, 7


class Job:
    """A run of the endless program on files that the test writes."""

    def __init__(self, place: Path, *options: str) -> None:
        self.place, self.written = place, 0
        self._numbers = random.Random(1)
        (place / "in").mkdir(parents=True)
        command = [sys.executable, "-m", "scurry", "run", *options, str(PROGRAMS / "endless.py"),
                   *(str(place / name) for name in ("in", "out", "checkpoints", "stop"))]  # fmt: skip
        self.driver = Daemon(command, place / "log", ENVIRONMENT)

    def write(self, files: int) -> None:
        """Writes files whose readings are later than those of the files before, so that none is late."""
        for _ in range(files):
            start = self.written * LINES
            lines = [
                f"sensor-{self._numbers.randrange(SENSORS)},"
                f"{max((start + line) * 100 - self._numbers.randrange(4000), start * 100)},"
                f"{self._numbers.randrange(100)}\n"
                for line in range(LINES)
            ]
            hidden = self.place / "in" / f".{self.written:04d}.csv"
            hidden.write_text("".join(lines))
            hidden.rename(self.place / "in" / f"{self.written:04d}.csv")
            self.written += 1

    def parallelism(self) -> int | None:
        claim = self.place / "checkpoints" / "scurry.json"
        return json.loads(claim.read_text())["parallelism"] if claim.exists() else None

    def reaches(self, parallelism: int) -> None:
        wait_until(lambda: self.parallelism() == parallelism, f"parallelism {parallelism}", while_runs=self.driver)

    def counts_all(self) -> None:
        """Waits until everything written is counted."""
        total = self.written * LINES
        wait_until(lambda: len(self.results("counts")) >= total, f"{total} counts", while_runs=self.driver)

    def results(self, sink: str) -> list[str]:
        """The records of a sink's visible files, sorted."""
        files = [file for file in (self.place / "out" / sink).rglob("*") if file.is_file() and file.name[0] != "."]
        return sorted(line for file in files for line in file.read_text().splitlines())

    def finish(self) -> dict[str, list[str]]:
        (self.place / "stop").touch()
        wait_until(lambda: self.driver.process.poll() is not None, "the job has ended")
        assert self.driver.process.returncode == 0, self.driver.log.read_text()[-4000:]
        return {sink: self.results(sink) for sink in ("sums", "counts")}


def test_the_parallelism_follows_the_workers_and_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    undisturbed = Job(tmp_path / "undisturbed", "--runner", "local", "-p", "2")
    undisturbed.write(8)
    undisturbed.counts_all()
    expected = undisturbed.finish()
    assert len(expected["counts"]) == 8 * LINES and len(expected["sums"]) > 8 * SENSORS

    with Cluster(tmp_path, PYTHONPATH=PYTHONPATH) as cluster:
        cluster.add_worker()
        options = [option for key, value in REACTIVE.items() for option in ("-D", f"{key}={value}")]
        job = Job(tmp_path / "reactive", "--master", cluster.url, *options)
        try:
            job.write(2)
            job.reaches(1)
            job.counts_all()
            for leave in (Daemon.kill, Daemon.terminate):
                second = cluster.add_worker()
                job.write(1)
                job.reaches(2)
                job.write(1)
                job.counts_all()
                leave(second)
                job.write(1)
                job.reaches(1)
                job.counts_all()
            assert job.finish() == expected
        finally:
            job.driver.kill()
        assert [int(line.split()[4]) for line in following(job)] == [2, 1, 2, 1]


def following(job: Job) -> list[str]:
    """What the job said about its parallelism."""
    return [line for line in job.driver.log.read_text().splitlines() if line.startswith("following the executors: ")]
