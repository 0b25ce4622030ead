"""Many schedules of all programs, on all processors: the same in each division of the work."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import NamedTuple

from scurry.testing.simulation import FoundFault, Simulation
from support.simulated import PROGRAMS
from support.simulated.on_spark import SparkSimulation

#: Schedules that a process takes at once.
_SHARE = 25
#: Programs of SQL are planned for each process, logs and objects are handled in small blocks, and those on Spark test
#: its part: they have a quarter of the schedules that others have.
_RARE, _USUAL = ("tumbling", "changes", "log", "sequence", "objects"), 4
#: Programs that run on the model of Spark, too.
ON_SPARK = ("counts", "evolving", "timers", "windows", "files")
#: More records only make more micro-batches, in which the same faults are found.
RECORDS = 12


class Share(NamedTuple):
    """Schedules of a program: those of successive seeds; on the model of Spark, or in process."""

    program: str
    on_spark: bool
    first: int
    number: int


class Outcome(NamedTuple):
    """What schedules had: their number, how often each kind of fault happened, and what the first wrong one says."""

    schedules: int
    dealt: Counter[str]
    fault: str | None


def shares(schedules: int, first: int) -> list[Share]:
    """Divide schedules among the programs."""
    weights = {(name, False): 1 if name in _RARE else _USUAL for name in PROGRAMS}
    weights |= {(name, True): 1 for name in ON_SPARK}
    total = sum(weights.values())
    found = []
    for (name, on_spark), weight in weights.items():
        own = max(1, schedules * weight // total)
        found += [Share(name, on_spark, first + at, min(_SHARE, own - at)) for at in range(0, own, _SHARE)]
    return sorted(found, key=lambda share: share.first)


@cache
def _simulation(program: str, on_spark: bool) -> Simulation:
    return (SparkSimulation if on_spark else Simulation)(PROGRAMS[program](), records=RECORDS)


def outcome(share: Share) -> Outcome:
    """Run schedules, up to the first one that finds a fault."""
    simulation, dealt = _simulation(share.program, share.on_spark), Counter[str]()
    try:
        for number, seed in enumerate(range(share.first, share.first + share.number)):
            run = simulation.attempt(seed)
            if isinstance(run, FoundFault):
                return Outcome(number + 1, dealt, f"seed {seed}: {simulation.shrink(run)}")
            dealt.update(fault.kind for fault in run.dealt)
    finally:
        gc.collect()
        gc.freeze()  # what programs have loaded stays, and is not looked at after each share
    return Outcome(share.number, dealt, None)


def outcomes(schedules: int, first: int) -> Iterator[tuple[Share, Outcome]]:
    """Yield what shares of schedules had, as soon as each has ended."""
    every = shares(schedules, first)
    processes = min(len(os.sched_getaffinity(0)), len(every))
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin) as pool:
        yield from zip(every, pool.map(outcome, every), strict=True)


def _begin() -> None:
    gc.disable()  # each share collects its garbage


def main() -> None:
    """Run the schedules that the environment names; print what they had."""
    schedules, first = int(os.environ.get("SCURRY_SCHEDULES", "10000")), int(os.environ.get("SCURRY_SEED", "0"))
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
