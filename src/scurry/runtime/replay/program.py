"""The plan of a captured job made anew, from its program as it is now: to see whether a change mends it."""

from __future__ import annotations

import runpy
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from scurry.common._process.launch import LaunchOptions, activate
from scurry.common.redaction import HIDDEN
from scurry.errors import ReplayError
from scurry.graph.plan import JobPlan
from scurry.graph.shipping import ship
from scurry.runtime.replay.preparing import without_connections


def plan_of_program(program: str, captured: JobPlan) -> bytes:
    """Run a program up to the job that was captured, which it does not execute; return the job's plan, shipped.

    Args:
        program: The program's file, and its arguments as in a shell.
        captured: The job's plan when it was captured.

    Raises:
        ReplayError: The program does not exist, executes no job of that name, or one of other operators.
    """
    file, *arguments = shlex.split(program)
    if not Path(file).is_file():
        raise ReplayError(f"there is no program {file}")
    taken: list[bytes] = []
    names: list[str] = []

    def take(plan: JobPlan) -> None:
        names.append(plan.settings.job_name)
        if plan.settings.job_name == captured.settings.job_name:
            taken.append(ship(without_connections(_fitted(plan, captured))))
            raise SystemExit(0)

    settings = {key: value for key, value in captured.settings.configuration.items() if HIDDEN not in value}
    options = LaunchOptions(configuration=settings, explain_only=True, take_plan=take)
    with _as_main(file, arguments), activate(options):
        try:
            runpy.run_path(file, run_name="__main__")
        except SystemExit as end:
            if not taken and end.code not in (None, 0):
                raise ReplayError(f"{file} ended with status {end.code} before it executed the captured job") from end
    if not taken:
        there = f"it executes {', '.join(map(repr, names))}" if names else "it executes none"
        raise ReplayError(f"{file} executes no job {captured.settings.job_name!r}, which was captured: {there}")
    return taken[0]


@contextmanager
def _as_main(file: str, arguments: list[str]) -> Iterator[None]:
    argv, path = sys.argv, sys.path[:]
    sys.argv = [file, *arguments]
    sys.path.insert(0, str(Path(file).resolve().parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path


def _fitted(plan: JobPlan, captured: JobPlan) -> JobPlan:
    """Return a plan with the subtasks of the captured one.

    Raises:
        ReplayError: Its operators are others.
    """
    for vertices, before in ((plan.sources, captured.sources), (plan.operators, captured.operators)):
        there: dict[int, Any] = dict(vertices.items())
        known: dict[int, Any] = dict(before.items())
        for number in there.keys() | known.keys():
            one, other = there.get(number), known.get(number)
            if one is None or other is None or one.uid != other.uid or one.parallelism != other.parallelism:
                changed: Any = one or other
                raise ReplayError(
                    f"the program's operators are not those that were captured: {changed.name!r} ({changed.origin}) "
                    "is new, gone, or has another uid or parallelism"
                ).with_hint("replay can run functions that have changed, but not another graph: capture it again")
    return replace(plan, settings=captured.settings, subtask_ids=captured.subtask_ids, partitions=captured.partitions)
