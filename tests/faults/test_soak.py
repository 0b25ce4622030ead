"""A job whose keys never come again keeps what is alive: neither state, files nor memory grow with time.

`make soak` runs it for 15 minutes (`SCURRY_SOAK_SECONDS`) and prints what it measured.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.faults.job_directory import Place
from support.faults.job_processes import PROGRAMS, Run, processes, workers
from support.faults.programs.ever_new_keys import KEYS_PER_SECOND, LATENESS_SECONDS, TTL_SECONDS

PROGRAM = PROGRAMS / "ever_new_keys.py"
SECONDS = int(os.environ.get("SCURRY_SOAK_SECONDS", "900"))
#: The first third, at most five minutes, is for warming up, and until so many batches are there as Spark and we retain.
WARM = min(SECONDS // 3, 300)
RETAINED = 120

#: State is cleaned by batches: it may be late by so many seconds on a busy machine.
LATE = 20
#: By operator: how long a key is alive.
ALIVE = {"ttl": TTL_SECONDS * 9 / 8, "windows": 2 + LATENESS_SECONDS, "sessions": 2}

Sample = dict[str, float]


def bound(uid: str) -> float:
    """How many entries an operator may have: those of keys that are alive, and of those that came a little before."""
    return KEYS_PER_SECOND * (ALIVE[uid] + LATE)


def start(place: Place, seconds: float, period: float) -> Run:
    return Run(place, [], PROGRAM, [seconds, period, place.checkpoints, place.root / "savepoints"])


def states(place: Place) -> list[dict[str, Any]]:
    """What the program has printed."""
    lines = place.log.read_text().splitlines()
    assert not [line for line in lines if "was there before" in line]
    return [json.loads(line) for line in lines if line.startswith("{")]


def sample(run: Run, started: float) -> Sample:
    """Files and bytes of the checkpoints, and resident memory in MB."""
    sizes = []
    for directory, below, names in os.walk(run.place.checkpoints):
        below[:] = [name for name in below if not name.startswith(".savepoint-")]  # links, while a savepoint is taken
        for name in names:
            try:
                sizes.append(os.path.getsize(os.path.join(directory, name)))
            except FileNotFoundError:
                continue  # purged meanwhile
    there = list(processes(run.process.pid))
    python = {run.process.pid, *workers(run.process.pid)}
    return {
        "at": time.monotonic() - started,
        "batch": max(run.place.batches(), default=0),
        "files": len(sizes),
        "MB of files": sum(sizes) / 1e6,
        "MB of the JVM": sum(_resident(each.pid) for each in there if "java" in each.command.split("\0")[0]),
        "MB of Python": sum(map(_resident, python)),
        "Python processes": len(python),
    }


def _resident(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0


def grows(samples: list[Sample], name: str, of: Callable[[list[float]], float]) -> float:
    """The last third of the time after warming up, compared with the first third."""
    values = [each[name] for each in samples if each["at"] >= WARM and each["batch"] >= RETAINED]
    third = len(values) // 3
    return of(values[-third:]) / of(values[:third])


@pytest.mark.spark
def test_keys_that_never_come_again_leave_the_state(tmp_path: Path) -> None:
    place = Place.new(tmp_path, 0, tmp_path)
    start(place, 14, 60).finish()
    (state,) = states(place)
    assert 0 < state["ttl"] <= KEYS_PER_SECOND * (ALIVE["ttl"] + 6)  # of 4,200


@pytest.mark.soak
def test_nothing_grows_with_time(tmp_path: Path) -> None:
    place, started, samples = Place.new(tmp_path, 0, tmp_path), time.monotonic(), []
    run = start(place, SECONDS, max(30, SECONDS / 15))
    while not run.ends_within(5):
        samples.append(sample(run, started))
    run.finish()
    kept = [state for state in states(place) if state["at"] >= WARM]
    growth = {
        "files": grows(samples, "files", max),
        "MB of files": grows(samples, "MB of files", max),
        "MB of the JVM": grows(samples, "MB of the JVM", statistics.median),
        "MB of Python": grows(samples, "MB of Python", statistics.median),
    }
    print("\n" + "\n".join(map(json.dumps, states(place))))
    for each in samples[:: max(1, len(samples) // 15)]:
        print({name: round(value) for name, value in each.items()})
    print("last third / first third:", {name: round(value, 3) for name, value in growth.items()})
    for state in kept:
        for uid in ALIVE:
            assert state.get(uid, 0) <= bound(uid), state
    assert max(each["files"] for each in samples) < 10_000
    assert max(each["MB of files"] for each in samples) < 200
    assert max(growth.values()) <= 1.2, growth
