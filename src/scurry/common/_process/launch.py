"""Hold the options of the command line for the program it runs, where the execution environment reads them."""

from __future__ import annotations

import atexit
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors.user_frames import with_source


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """Options given from outside the program, as by Flink's command line.

    They override the configuration that a program passes to ``get_execution_environment``. Setters that the program
    calls on the environment later (``set_parallelism``, ``set_runtime_mode``) override them, as in Flink.

    Attributes:
        configuration: Configuration keys and values as text (``-D key=value``).
        mode: ``streaming``, ``batch`` or ``automatic``; None leaves it to the configuration.
        parallelism: Default parallelism of the job's operators; None leaves it to the configuration.
        master: Spark master URL, such as ``local[4]``; None leaves it to the configuration.
        runner: ``spark`` or ``local``; None leaves it to the configuration.
        from_savepoint: Path of the savepoint whose state the job starts with.
        allow_non_restored_state: Whether state of the savepoint that no operator takes may be dropped.
        final_savepoint: Directory for a savepoint of the final state of a BATCH job.
        explain_only: Whether ``execute()`` prints the execution plan and runs nothing.
        plan_file: The file that gets the plan of the first job instead, as JSON in Flink's form; the program then ends.
        take_plan: Called with the plan of each job instead.
    """

    configuration: Mapping[str, str] = field(default_factory=dict)
    mode: str | None = None
    parallelism: int | None = None
    master: str | None = None
    runner: str | None = None
    from_savepoint: str | None = None
    allow_non_restored_state: bool = False
    final_savepoint: str | None = None
    explain_only: bool = False
    plan_file: Path | None = None
    take_plan: Callable[[Any], None] | None = None

    def overrides(self) -> dict[str, str]:
        """Return the options as configuration.

        Returns:
            ``configuration``, with the keys of the other options set.
        """
        named = {
            "execution.runtime-mode": self.mode.upper() if self.mode else None,
            "parallelism.default": str(self.parallelism) if self.parallelism else None,
            "spark.master": self.master,
            "scurry.runner": self.runner,
            "execution.state-recovery.path": self.from_savepoint,
            "execution.state-recovery.ignore-unclaimed-state": "true" if self.allow_non_restored_state else None,
            "scurry.final-savepoint.dir": self.final_savepoint,
        }
        return {**self.configuration, **{key: value for key, value in named.items() if value is not None}}


_active = LaunchOptions()

#: begins to start the engine for the first environment
_prepare: Callable[[Mapping[str, str]], None] | None = None

#: id of an environment -> the places that built operators which are not part of a plan yet, as file and line
_built: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)


def operator_built(environment: int, file: str, line: int) -> None:
    """Note an operator that is not part of a plan yet.

    Args:
        environment: The id of its environment.
    """
    if not _built:
        atexit.unregister(_tell_at_exit)
        atexit.register(_tell_at_exit, getattr(sys.modules["__main__"], "__file__", None))  # gone at the exit
    _built[environment].append((file, line))


def operators_planned(environment: int) -> None:
    """Note that all operators of an environment are now part of a plan, to execute, show or test them."""
    _built.pop(environment, None)


def operators_left() -> list[tuple[str, int]]:
    """Return where the operators were built that are not part of a plan, as file and line, in that order."""
    return [place for places in _built.values() for place in places]


def not_executed(places: Sequence[tuple[str, int]]) -> str:
    """Return the warning about operators that a program built at some places but did not execute."""
    file, line = places[-1]
    built = f"{len(places)} operator{'s' * (len(places) > 1)}"
    return (
        f"the program built {built} that it did not execute: call env.execute()\n"
        f"  the last one at {with_source(f'{file}:{line}')}"
    )


def _tell_at_exit(program: str | None) -> None:
    """Warn about operators that a program run by Python did not execute, unless it failed.

    Args:
        program: The file of the main module.
    """
    left = [(file, line) for file, line in operators_left() if file == program]
    if left and not hasattr(sys, "last_type"):
        print(not_executed(left), file=sys.stderr, flush=True)


def current() -> LaunchOptions:
    """Return the options of the running program; none is set if it was not started by the command line."""
    return _active


def environment_made(configuration: Mapping[str, str]) -> None:
    """Begin to start the engine when the running program makes its first environment, if the command line wants that.

    Args:
        configuration: The settings of the environment.
    """
    global _prepare
    prepare, _prepare = _prepare, None
    if prepare is not None:
        prepare(configuration)


@contextmanager
def activate(options: LaunchOptions, prepare: Callable[[Mapping[str, str]], None] | None = None) -> Iterator[None]:
    """Make options the current ones of this process within a ``with`` block.

    Args:
        options: The options that ``current()`` returns inside the block, in every thread.
        prepare: Begins to start the engine for an environment with some settings.
    """
    global _active, _prepare
    previous, _active, _prepare = _active, options, prepare
    try:
        yield
    finally:
        _active, _prepare = previous, None
        atexit.unregister(_tell_at_exit)  # the command line tells it
