"""What the command line decides about the program it runs; the execution environment reads it here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """Options given from outside the program, as Flink's command line gives them to a job.

    They win over the configuration a program hands to ``get_execution_environment``; setters the program calls on the
    environment afterwards (``set_parallelism``, ``set_runtime_mode``) win over them, as in Flink.

    Attributes:
        configuration: Configuration keys and values as text (``-D key=value``).
        mode: ``streaming``, ``batch`` or ``automatic``; None leaves it to the configuration.
        parallelism: Default parallelism of the job's operators; None leaves it to the configuration.
        master: Spark master URL, such as ``local[4]``; None leaves it to the configuration.
        runner: ``spark`` or ``local``; None leaves it to the configuration.
        from_savepoint: Path of the savepoint whose state the job starts with.
        allow_non_restored_state: Whether state of it that no operator takes may be dropped.
        final_savepoint: Directory for a savepoint of the state a BATCH job ends with.
        explain_only: ``execute()`` prints the execution plan and runs nothing.
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

    def overrides(self) -> dict[str, str]:
        """Return all options that are configuration in the end, as keys and values.

        Returns:
            ``configuration``, with the keys the other options stand for set by them.
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

#: environment -> operators that its program has built and asked no plan of
_built: Counter[int] = Counter()


def operator_built(environment: int) -> None:
    """Count an operator that waits for being executed; `environment` is the id of where."""
    _built[environment] += 1


def operators_planned(environment: int) -> None:
    """Note that a plan was made of all operators built: to execute, to show or to test them."""
    _built.pop(environment, None)


def operators_left() -> int:
    """Return how many operators were built and never made part of a plan."""
    return _built.total()


def current() -> LaunchOptions:
    """Return the options of the running program; without any set where it was not started by the command line."""
    return _active


@contextmanager
def activate(options: LaunchOptions) -> Iterator[None]:
    """Make options the current ones of this process for the duration of a ``with`` block.

    Args:
        options: What ``current()`` returns inside the block, in every thread.
    """
    global _active
    previous, _active = _active, options
    try:
        yield
    finally:
        _active = previous
