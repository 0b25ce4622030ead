"""Traces of the engine, which the model of the protocol has to accept.

The model itself is what follows a trace: Spin explores those of its runs that take the recorded steps. So the protocol
is written once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

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


@dataclass(frozen=True)
class Trace:
    """The steps of all runs on one checkpoint directory."""

    directory: str
    steps: list[Step] = field(default_factory=list)

    @property
    def model(self) -> str:
        return "spark" if any(step.name in _ON_SPARK for step in self.steps) else "in_process"

    def lines(self) -> list[str]:
        """The steps as the model reads them: positions are numbered, two drivers take turns."""
        codes, seen, runs = _codes(), {"": 0}, list(dict.fromkeys(step.run for step in self.steps))
        found = []
        for step in self.steps:
            numbers = [*step.numbers, 0, 0, 0][:3]
            if step.name in ("checkpoint", "started") and self.model == "in_process":
                numbers[2] = seen.setdefault(step.positions, len(seen))
            found.append(" ".join(map(str, (codes[step.name], runs.index(step.run) % 2, *numbers))))
        return found


def traces_in(file: Path) -> list[Trace]:
    """Return the traces that a file has, one for each checkpoint directory."""
    traces: dict[str, Trace] = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        known = json.loads(line)
        step = Step(known["run"], known["step"], tuple(known["numbers"]), known["positions"])
        traces.setdefault(known["directory"], Trace(known["directory"])).steps.append(step)
    return list(traces.values())


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


def _accepted(model: str, lines: Sequence[str], directory: Path) -> bool:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "trace"
    file.write_text("\n".join(lines))
    bounds = {"TRACE_FILE": file, "DRIVERS": 2, "PARTS": 1}
    return _verifier(model).explore(bounds, directory).refuted is not None
