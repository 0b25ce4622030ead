"""Traces of the engine, which the model of the protocol has to accept.

The model itself is what follows a trace: Spin explores those of its runs that take the recorded steps. So the protocol
is written once.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from scurry.runtime.driver.protocol import TRACE_FILE
from support.model.spin import MODELS, Verifier

#: Steps that only jobs in process have, and those of Spark.
_IN_PROCESS, _ON_SPARK = {"checkpoint", "noted"}, {"assigned", "computed", "prepared", "settled", "repaired"}


@dataclass(frozen=True)
class Step:
    """A step that a run of a job has recorded."""

    run: str
    name: str
    numbers: tuple[int, ...] = ()
    positions: str = ""


#: What tests append when they make a directory what it was at an earlier moment, and when they damage files in it.
LAID_OUT, DAMAGED = "laid out", "damaged"


def laid_out(directory: str) -> None:
    """Record that a directory is again what it was at some moment of its first runs, unless nothing is recorded."""
    _append(directory, LAID_OUT)


def damaged(directory: str) -> None:
    """Record that files in a directory are damaged, entries of the log of assignments perhaps: these may be lost."""
    _append(directory, DAMAGED)


def _append(directory: str, step: str) -> None:
    if path := os.environ.get(TRACE_FILE):
        with open(path, "ab", buffering=0) as file:
            known = {"directory": directory, "run": "", "step": step, "numbers": [], "positions": ""}
            file.write(json.dumps(known).encode() + b"\n")


@dataclass(frozen=True)
class Trace:
    """The steps of all runs on one checkpoint directory.

    Attributes:
        directory: The directory.
        steps: The steps.
        part: How often the directory had been laid out before.
        origin: The steps before it was laid out for the first time; those up to some moment come before these.
    """

    directory: str
    steps: list[Step] = field(default_factory=list)
    part: int = 0
    origin: tuple[Step, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        return self.directory, self.part

    @property
    def model(self) -> str:
        return "spark" if any(step.name in _ON_SPARK for step in (*self.origin, *self.steps)) else "in_process"

    def lines(self) -> list[str]:
        """The steps as the model reads them: positions are numbered, two drivers take turns."""
        codes, seen, runs = _codes(), {"": 0}, list(dict.fromkeys(step.run for step in self.steps if step.run))
        found = []
        for step in self.steps:
            numbers = [*step.numbers, 0, 0, 0][:3]
            if step.name in ("checkpoint", "started") and self.model == "in_process":
                numbers[2] = seen.setdefault(step.positions, len(seen))
            driver = runs.index(step.run) % 2 if step.run else 0
            found.append(" ".join(map(str, (codes[step.name], driver, *numbers))))
        return found


def traces_in(file: Path) -> list[Trace]:
    """Return the traces that a file has: one for each checkpoint directory, and for each time that it was laid out."""
    latest: dict[str, Trace] = {}
    traces = []
    for line in file.read_text().splitlines() if file.exists() else ():
        known = json.loads(line)
        directory = known["directory"]
        if known["step"] == LAID_OUT:
            for of, trace in latest.items():
                if of.removeprefix("file:").startswith(directory):
                    latest[of] = Trace(of, [], trace.part + 1, trace.origin or tuple(trace.steps))
                    traces.append(latest[of])
            continue
        if known["step"] == DAMAGED:
            for of, trace in latest.items():
                if of.removeprefix("file:").startswith(directory):
                    trace.steps.append(Step("", DAMAGED))
            continue
        if directory not in latest:
            latest[directory] = Trace(directory)
            traces.append(latest[directory])
        step = Step(known["run"], known["step"], tuple(known["numbers"]), known["positions"])
        latest[directory].steps.append(step)
    return [trace for trace in traces if trace.steps]


@cache
def _codes() -> dict[str, int]:
    text = (MODELS / "common.pml").read_text().partition("The steps that the engine records")[2].partition("Bounds")[0]
    return {name.lower(): int(code) for name, code in re.findall(r"#define ([A-Z]+) (\d+)", text)}


@cache
def _verifier(model: str) -> Verifier:
    return Verifier.of(model, Path(mkdtemp(prefix=f"scurry-{model}-")), "TRACE")


def unexplained(trace: Trace, directory: Path) -> Step | None:
    """Return the first step that no run of the model takes; None if it accepts the trace.

    Args:
        directory: Where files are made.

    Raises:
        Unavailable: Spin is not installed.
    """
    if trace.origin:
        return _unexplained_after(trace, directory)
    if _accepted(trace.model, trace.lines(), directory):
        return None
    good, bad = 0, len(trace.steps)  # the first `good` steps are accepted, the first `bad` are not
    while bad - good > 1:
        middle = (good + bad) // 2
        if _accepted(trace.model, trace.lines()[:middle], directory):
            good = middle
        else:
            bad = middle
    return trace.steps[good]


def _unexplained_after(trace: Trace, directory: Path) -> Step | None:
    """Return the first step if no run of the model has begun as the origin and goes on so; None if one does."""
    for count in range(len(trace.origin), -1, -1):
        whole = replace(trace, steps=[*trace.origin[:count], *trace.steps], origin=())
        if _accepted(trace.model, whole.lines(), directory):
            return None
    return trace.steps[0]


def _accepted(model: str, lines: Sequence[str], directory: Path) -> bool:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "trace"
    file.write_text("\n".join(lines))
    bounds = {"TRACE_FILE": file, "DRIVERS": 2, "PARTS": 1}
    return _verifier(model).explore(bounds, directory, table=16).refuted is not None
