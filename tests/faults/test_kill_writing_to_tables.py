"""A job that writes to lake tables and compacts files, and is killed: every record is there once."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from support.faults.failing_sink import fail_after
from support.faults.job_directory import FILES, LINES_PER_FILE, Place
from support.faults.job_processes import GIVE_UP_SECONDS, Run
from support.faults.programs import to_tables

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

PROGRAM = Path(to_tables.__file__)


def run(place: Place) -> Run:
    place.output.mkdir(exist_ok=True)
    arguments = [place.readings, place.output, place.checkpoints, place.fuse]
    return Run(place, program=PROGRAM, arguments=arguments)


def of_delta(place: Place) -> list[str]:
    table = pa.table(deltalake.DeltaTable(str(place.output / "delta")).to_pyarrow_table())
    return [f"{row['sensor']},{row['n']}" for row in table.to_pylist()]


def of_iceberg(place: Place) -> list[str]:
    table = to_tables.iceberg(str(place.output))._table.load().scan().to_arrow()
    return [f"{row['sensor']},{row['n']}" for row in table.to_pylist()]


def of_files(place: Place) -> list[str]:
    return [line for file in place.visible("files") for line in file.read_text().splitlines()]


def wait_for_batches(started: Run, count: int) -> None:
    give_up = time.monotonic() + GIVE_UP_SECONDS
    while len(started.place.batches()) < count and started.process.poll() is None:
        assert time.monotonic() < give_up, "the job does not get on"
        time.sleep(0.02)


def check(place: Place, readings: Path) -> None:
    sensors = Counter(line.split(",")[0] for file in readings.iterdir() for line in file.read_text().splitlines())
    expected = sorted(f"{sensor},{n + 1}" for sensor, count in sensors.items() for n in range(count))
    assert len(expected) == FILES * LINES_PER_FILE
    found: dict[str, Iterable[str]] = {"Delta": of_delta(place), "Iceberg": of_iceberg(place), "files": of_files(place)}
    for name, records in found.items():
        assert sorted(records) == expected, name
    assert [file.name for file in (place.output / "files").iterdir() if file.name.startswith(".")] == []


@pytest.mark.in_turn
def test_every_record_is_in_every_table_once(
    readings: Path, chance: random.Random, faults: int, tmp_path: Path
) -> None:
    kills, jobs = 0, 0
    while kills < max(2, faults // 5):
        jobs += 1
        place = Place.new(tmp_path, jobs, readings)
        while kills < max(2, faults // 5):
            # between the commits of the tables and Spark's, or whenever it happens to be
            by_fuse = kills % 2 == 0
            if by_fuse:
                fail_after(place.fuse, chance.randrange(1, 4), "kill")
            started = run(place)
            if by_fuse:
                assert started.ends_within(GIVE_UP_SECONDS)
            else:
                wait_for_batches(started, len(place.batches()) + chance.randrange(1, 4))
                time.sleep(chance.uniform(0, 0.5))
            if started.process.poll() == 0:  # the input ended first
                break
            assert by_fuse == (started.process.poll() is not None), place.log.read_text()[-4000:]
            started.kill()  # the driver, or what it has left behind
            if by_fuse:
                assert place.batches("offsets")[-1] not in place.batches(), "Spark has committed"
            kills += 1
            print(f"job {jobs}: kill {kills} after {len(place.batches())} batches")
        place.fuse.unlink(missing_ok=True)
        run(place).finish()
        check(place, readings)
