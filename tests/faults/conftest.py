"""What the tests of faults share: the input, the results of a run nobody disturbs, and chance.

`SCURRY_KILLS` says how many faults of each kind (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from scurry.runtime.driver.protocol import TRACE_FILE
from support.faults.job_directory import FILES, LINES_PER_FILE, Place, Results, write_readings
from support.faults.job_processes import Run
from support.model.spin import Unavailable
from support.model.traces import traces_in, unexplained

FAULTS = int(os.environ.get("SCURRY_KILLS", "20"))
SEED = int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6))))


@pytest.fixture(scope="package", autouse=True)
def protocol_trace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file to which all jobs of these tests append their steps, those of shared fixtures, too."""
    file = tmp_path_factory.mktemp("protocol") / "trace"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TRACE_FILE, str(file))
        yield file


@pytest.fixture(scope="package")
def readings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_readings(tmp_path_factory.mktemp("readings"))


@pytest.fixture
def protocol_is_kept(
    protocol_trace: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The model of the protocol accepts what the jobs of a test have recorded, over all their starts."""
    if request.node.get_closest_marker("slow"):  # simulations have oracles of their own, and mutants
        monkeypatch.delenv(TRACE_FILE)
        yield
        return
    before = {trace.key: len(trace.steps) for trace in traces_in(protocol_trace)}
    yield
    traces = [trace for trace in traces_in(protocol_trace) if len(trace.steps) > before.get(trace.key, 0)]
    for trace in traces:
        try:
            step = unexplained(trace, tmp_path / "protocol-check")
        except Unavailable as reason:
            print(f"the model of the protocol is not asked: {reason}")
            return
        at = len(trace.steps) if step is None else trace.steps.index(step)
        assert step is None, f"{trace.directory}: step {at} is none of the protocol's: {trace.steps[: at + 1]}"
        print(f"the model of the protocol accepts {len(trace.steps)} steps of {trace.directory}")


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
