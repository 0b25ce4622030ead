"""Runs of `programs/endless.py`: a test writes files, watches what becomes of them, and ends the job."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Protocol

import scurry
from support import TESTS
from support.faults.job_processes import environment
from support.faults.standalone_cluster import Daemon, wait_until

PROGRAMS = Path(__file__).parent / "programs"
PYTHONPATH = os.pathsep.join(map(str, [Path(scurry.__file__).parent.parent, TESTS]))
LINES, SENSORS = 400, 7


class Process(Protocol):
    """Whatever runs the job."""

    @property
    def log(self) -> Path: ...

    @property
    def returncode(self) -> int | None: ...

    def kill(self) -> None: ...


class Readings:
    """A directory of files that each hold later readings than those before, so that none is ever late."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        self.directory, self.files = directory, 0
        self._numbers = random.Random(1)

    def write(self, files: int) -> None:
        for _ in range(files):
            start = self.files * LINES * 100
            lines = [
                f"sensor-{self._numbers.randrange(SENSORS)},"
                f"{max(start + line * 100 - self._numbers.randrange(4000), start)},{self._numbers.randrange(100)}\n"
                for line in range(LINES)
            ]
            hidden = self.directory / f".{self.files:04d}.csv"
            hidden.write_text("".join(lines))
            hidden.rename(self.directory / f"{self.files:04d}.csv")
            self.files += 1


class EndlessJob:
    """One job, which may have several runs.

    Args:
        place: Directory for what it writes.
        readings: What it reads.
    """

    def __init__(self, place: Path, readings: Readings) -> None:
        self.place, self.readings = place, readings
        place.mkdir(parents=True, exist_ok=True)
        self.run: Process | None = None

    def command(self, *options: str) -> list[str]:
        paths = [self.readings.directory, *(self.place / name for name in ("out", "checkpoints", "stop"))]
        return [sys.executable, "-m", "scurry", "run", *options, str(PROGRAMS / "endless.py"), *map(str, paths)]

    def start(self, *options: str) -> EndlessJob:
        self.run = Daemon(self.command(*options), self.place / "log", environment())
        return self

    def claim(self) -> dict[str, object]:
        """What the directory of checkpoints says of the job."""
        claim = self.place / "checkpoints" / "scurry.json"
        found: dict[str, object] = json.loads(claim.read_text()) if claim.exists() else {}
        return found

    def reaches(self, parallelism: int) -> None:
        self._wait(lambda: self.claim().get("parallelism") == parallelism, f"it has parallelism {parallelism}")

    def counts_all(self) -> None:
        """Waits until everything written is counted."""
        total = self.readings.files * LINES
        self._wait(lambda: len(self.results("counts")) >= total, f"{total} records are counted")

    def _wait(self, condition: object, what: str) -> None:
        assert self.run is not None and callable(condition)
        wait_until(condition, what, while_runs=self.run)

    def results(self, sink: str) -> list[str]:
        """The records of a sink's visible files, sorted."""
        files = [file for file in (self.place / "out" / sink).rglob("*") if file.is_file() and file.name[0] != "."]
        return sorted(line for file in files for line in file.read_text().splitlines())

    def drain(self) -> dict[str, list[str]]:
        """Ends the job, and event time with it; returns the records of all sinks."""
        self._end("drain")
        return {sink: self.results(sink) for sink in ("sums", "counts")}

    def suspend(self) -> str:
        """Ends the run; returns the savepoint to go on from."""
        self._end("suspend")
        (path,) = (self.place / "savepoints").iterdir()
        return str(path)

    def _end(self, how: str) -> None:
        stop, run = self.place / "stop", self.run
        assert run is not None
        stop.with_suffix(".new").write_text(how)
        stop.with_suffix(".new").rename(stop)
        wait_until(lambda: run.returncode is not None, "the job has ended")
        assert run.returncode == 0, run.log.read_text()[-4000:]
        stop.unlink()
