"""Where a job of these tests reads, writes and keeps its checkpoints."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

FILES, LINES_PER_FILE, SENSORS = 8, 1000, 7
SINKS = ("sums", "totals", "counts")

Results = dict[str, list[str]]


def write_readings(directory: Path, lines_per_file: int = LINES_PER_FILE) -> Path:
    """Files that each span all of the time, so that no reading is late however the files are shared out."""
    numbers = random.Random(1)
    directory.mkdir(parents=True, exist_ok=True)
    for file in range(FILES):
        with open(directory / f"part-{file}.csv", "w") as out:
            for line in range(lines_per_file):
                at = (file * lines_per_file + line) * 100 - numbers.randrange(4000)
                out.write(f"sensor-{numbers.randrange(SENSORS)},{max(at, 0)},{numbers.randrange(100)}\n")
        os.utime(directory / f"part-{file}.csv", (file, file))
    return directory


@dataclass(frozen=True)
class Place:
    """The directory of one job."""

    root: Path
    readings: Path

    @classmethod
    def new(cls, parent: Path, number: int, readings: Path) -> Place:
        root = parent / f"job-{number}"
        root.mkdir(parents=True)
        return cls(root, readings)

    @property
    def output(self) -> Path:
        return self.root / "out"

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints"

    @property
    def log(self) -> Path:
        return self.root / "log"

    @property
    def fuse(self) -> Path:
        return self.root / "fuse"

    @property
    def generation(self) -> Path:
        """The part of the checkpoints that counts; these jobs never begin another generation."""
        return self.checkpoints / "generation-1"

    @property
    def finished(self) -> bool:
        """Whether the job has come to its end."""
        return (self.generation / "finished").exists()

    def batches(self, log: str = "commits") -> list[int]:
        """The batches in one of Spark's logs; in-process, those that sinks have committed."""
        committed = self.checkpoints / "committed"
        if committed.exists():
            return list(range(int(committed.read_text() or 0) + 1))
        directory = self.generation / "spark" / log
        return sorted(int(name) for name in os.listdir(directory) if name.isdigit()) if directory.is_dir() else []

    def visible(self, sink: str) -> list[Path]:
        """The files that a sink has made visible."""
        return [file for file in (self.output / sink).rglob("*") if file.is_file() and file.name[0] != "."]

    def results(self) -> Results:
        """The records of each sink's visible files, sorted."""
        return {sink: sorted(line for file in self.visible(sink) for line in _lines(file)) for sink in SINKS}


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines()
