"""Many schedules of all programs, on all processors: the same in each division of the work."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from scurry.testing.simulation import FoundFault, Simulation
from support.simulated import PROGRAMS

#: Schedules that a process takes at once.
_SHARE = 25
#: Programs of SQL are planned for each process: one of so many schedules is theirs.
_RARE, _SELDOM = ("tumbling", "changes"), 4
RECORDS = 20


class Share(NamedTuple):
    """Schedules of a program: those of successive seeds."""

    program: str
    first: int
    number: int


class Outcome(NamedTuple):
    """What schedules had: their number, how often each kind of fault happened, and what the first wrong one says."""

    schedules: int
    dealt: Counter[str]
    fault: str | None


def shares(schedules: int, first: int) -> list[Share]:
    """Divide schedules among the programs."""
    weights = {name: 1 if name in _RARE else _SELDOM for name in PROGRAMS}
    total = sum(weights.values())
    found = []
    for name, weight in weights.items():
        own = max(1, schedules * weight // total)
        found += [Share(name, first + at, min(_SHARE, own - at)) for at in range(0, own, _SHARE)]
    return sorted(found, key=lambda share: share.first)


def outcome(share: Share) -> Outcome:
    """Run schedules, up to the first one that finds a fault."""
    simulation, dealt = Simulation(PROGRAMS[share.program](), records=RECORDS), Counter[str]()
    try:
        for number, seed in enumerate(range(share.first, share.first + share.number)):
            run = simulation.attempt(seed)
            if isinstance(run, FoundFault):
                return Outcome(number + 1, dealt, f"seed {seed}: {simulation.shrink(run)}")
            dealt.update(fault.kind for fault in run.dealt)
    finally:
        gc.collect()
    return Outcome(share.number, dealt, None)


def outcomes(schedules: int, first: int) -> Iterator[tuple[Share, Outcome]]:
    """Yield what shares of schedules had, as soon as each has ended."""
    every = shares(schedules, first)
    processes = min(len(os.sched_getaffinity(0)), len(every))
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin) as pool:
        yield from zip(every, pool.map(outcome, every), strict=True)


def _begin() -> None:
    gc.set_threshold(20_000, 20, 50)


def main() -> None:
    """Run the schedules that the environment names; print what they had."""
    schedules, first = int(os.environ.get("SCURRY_SCHEDULES", "1000")), int(os.environ.get("SCURRY_SEED", "0"))
    done, faults = 0, 0
    for share, had in outcomes(schedules, first):
        done += had.schedules
        if had.fault is not None:
            faults += 1
            print(share, had.fault, flush=True)
        if done % 1000 < _SHARE:
            print(f"{done} schedules, {faults} faults", flush=True)
    print(f"{done} schedules, {faults} faults")


if __name__ == "__main__":
    main()
