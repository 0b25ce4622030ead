"""What the tests of faults share: the input, the results of a run nobody disturbs, and chance.

`SCURRY_KILLS` says how many faults of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.faults.job_directory import FILES, LINES_PER_FILE, Place, Results, write_readings
from support.faults.job_processes import Run
from support.model.kept import protocol_is_kept, protocol_trace

__all__ = ["protocol_is_kept", "protocol_trace"]

FAULTS = int(os.environ.get("SCURRY_KILLS", "20"))
SEED = int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6))))


@pytest.fixture(scope="package")
def readings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_readings(tmp_path_factory.mktemp("readings"))


@dataclass(frozen=True)
class Undisturbed:
    """A job that has run without being disturbed, and how long it took."""

    place: Place
    seconds: float


@pytest.fixture(scope="package")
def undisturbed(readings: Path, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    place = Place.new(tmp_path_factory.mktemp("undisturbed"), 0, readings)
    start = time.monotonic()
    Run(place).finish()
    seconds = time.monotonic() - start
    assert len(place.batches()) >= 10
    print(f"\nSCURRY_SEED={SEED}; undisturbed: {len(place.batches())} batches, {seconds:.1f} s")
    return Undisturbed(place, seconds)


@pytest.fixture(scope="package")
def expected(undisturbed: Undisturbed) -> Results:
    """What every job must have written in the end."""
    results = undisturbed.place.results()
    assert len(results["counts"]) == FILES * LINES_PER_FILE
    return results


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """Chance, of its own for each test."""
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture
def seed() -> int:
    """What chance begins with, for programs."""
    return SEED


@pytest.fixture
def faults() -> int:
    """How many faults to inject."""
    return FAULTS
