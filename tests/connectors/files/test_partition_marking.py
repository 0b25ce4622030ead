"""Success files: when a partition of a table is marked as complete."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scurry.connectors.files.writing.names import PartNames
from scurry.sql.connectors.filesystem.marking import Marker, PartitionMarking

NAMES = PartNames("part-abc-", "")


class Clock:
    """A clock that a test moves."""

    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def marker(path: Path, delay_ms: int | None, clock: Clock) -> Marker:
    return Marker(PartitionMarking("_SUCCESS", delay_ms), str(path), NAMES, clock)


def partition(path: Path, name: str, written: float | None = None) -> str:
    """Make a partition, with a file of the sink if it says when that was written."""
    directory = path / name
    directory.mkdir(exist_ok=True)
    if written is not None:
        file = directory / NAMES.part(0, 0, 0)
        file.touch()
        os.utime(file, (written, written))
    return str(directory)


def marked(path: Path) -> list[str]:
    return sorted(found.parent.name for found in path.glob("*/_SUCCESS"))


def test_without_a_delay_every_commit_marks_its_partitions(tmp_path: Path, clock: Clock) -> None:
    marking = marker(tmp_path, 0, clock)
    marking.committed([partition(tmp_path, "a")])
    assert marked(tmp_path) == ["a"]
    (tmp_path / "a" / "_SUCCESS").unlink()
    marking.committed([partition(tmp_path, "b")])
    assert marked(tmp_path) == ["b"]


def test_the_delay_begins_with_the_first_rows(tmp_path: Path, clock: Clock) -> None:
    marking = marker(tmp_path, 2000, clock)
    first = partition(tmp_path, "a")
    marking.committed([first])
    clock.seconds += 1.9
    marking.committed([first])
    assert marked(tmp_path) == []
    clock.seconds += 0.1
    marking.committed([])
    assert marked(tmp_path) == ["a"]


def test_at_the_end_of_the_job_all_partitions_are_marked(tmp_path: Path, clock: Clock) -> None:
    marking = marker(tmp_path, None, clock)
    marking.committed([partition(tmp_path, "a")])
    clock.seconds += 1_000_000
    marking.committed([])
    assert marked(tmp_path) == []
    marking.finish()
    assert marked(tmp_path) == ["a"]


def test_a_later_run_marks_what_an_earlier_one_committed_but_did_not_mark(tmp_path: Path, clock: Clock) -> None:
    partition(tmp_path, "a", written=990)
    partition(tmp_path, "others")
    done = partition(tmp_path, "done", written=980)
    success = Path(done) / "_SUCCESS"
    success.touch()
    os.utime(success, (981, 981))
    marking = marker(tmp_path, 12_000, clock)
    marking.committed([])
    assert marked(tmp_path) == ["done"]
    clock.seconds += 2
    marking.committed([])
    assert marked(tmp_path) == ["a", "done"]
