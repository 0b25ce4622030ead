"""Many schedules of all programs, on all processors: the same in each division of the work."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import resource
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from scurry.testing.simulation import FoundFault, Simulation
from support.simulated import PROGRAMS
from support.simulated.on_spark import SparkSimulation

#: The schedules that were run, part by part: seeds, commit, faults.
LEDGER = Path(__file__).with_name("ledger.jsonl")
#: Schedules of a part: what is lost if a run is ended.
_PART = 20_000
#: Schedules that a process takes at once.
_SHARE = 25
#: Programs of SQL are planned for each process, logs and objects are handled in small blocks, and those on Spark test
#: its part: they have a quarter of the schedules that others have.
_RARE, _USUAL = ("tumbling", "changes", "log", "sequence", "objects"), 4
#: Programs that run on the model of Spark, too.
ON_SPARK = ("counts", "evolving", "timers", "windows", "files", "passed")
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


def ledger() -> list[dict[str, Any]]:
    """Return the schedules that were run at night and beside other work: a line for each part of a run."""
    return [json.loads(line) for line in LEDGER.read_text("utf-8").splitlines()] if LEDGER.exists() else []


def _commit() -> str:
    """Return the commit that is checked out."""
    shown = subprocess.run(
        ["git", "rev-parse", "--short=9", "HEAD"], check=True, capture_output=True, text=True, cwd=LEDGER.parent
    )
    return shown.stdout.strip()


def _unused() -> int:
    """Return the seed from which no part of the ledger has run."""
    return max((line["first"] + _PART for line in ledger()), default=11_000_000)


def part(schedules: int, first: int) -> dict[str, Any]:
    """Run schedules and print the faults that they find; return a line of the ledger."""
    commit, faults, done, dealt = _commit(), list[str](), 0, Counter[str]()
    for share, had in outcomes(schedules, first):
        done += had.schedules
        dealt.update(had.dealt)
        if had.fault is not None:
            print(share, had.fault, flush=True)
            faults.append(f"{share.program}{' on Spark' if share.on_spark else ''}: {had.fault.partition(':')[0]}")
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "day": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit, "first": first, "schedules": done, "faults": faults,
        "dealt": dealt.total(), "processor_seconds": round(spent.ru_utime + spent.ru_stime),
    }  # fmt: skip


def main() -> None:
    """Run the schedules that the environment names, in parts; print each, and keep those of new seeds in the ledger."""
    schedules, seed = int(os.environ.get("SCURRY_SCHEDULES", "10000")), os.environ.get("SCURRY_SEED")
    before, done, faults = 0, 0, 0
    for start in range(0, schedules, _PART):
        line = part(min(_PART, schedules - start), _unused() if seed is None else int(seed) + start)
        before, line["processor_seconds"] = line["processor_seconds"], line["processor_seconds"] - before
        done, faults = done + line["schedules"], faults + len(line["faults"])
        if seed is None:
            with LEDGER.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(line) + "\n")
        print(f"{done} schedules, {faults} faults", flush=True)


if __name__ == "__main__":
    main()
