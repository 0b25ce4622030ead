"""Elastic scaling: which parallelism a job should have, given the task slots there are (Flink's adaptive scheduler).

Pure logic on a clock; `spark.adaptive` counts slots and does what is said here.
"""

from __future__ import annotations

from dataclasses import dataclass

from scurry.common import scheduler_options as options
from scurry.common.config_options import ConfigOption
from scurry.common.configuration import Configuration
from scurry.graph.settings import JobSettings


@dataclass(frozen=True)
class Scaling:
    """How a job follows the task slots there are.

    Attributes:
        reactive: Whether it takes every slot; otherwise no more than its parallelism asks for.
        most: The largest parallelism it takes.
        submission_stabilization_ms: How long slots must not change before it starts.
        stabilization_ms: How long slots must not change before it follows them.
        cooldown_ms: How long it keeps its parallelism after a start or a change.
    """

    reactive: bool
    most: int
    submission_stabilization_ms: int
    stabilization_ms: int
    cooldown_ms: int

    @classmethod
    def of(cls, settings: JobSettings) -> Scaling | None:
        """The configured way; None for a job that keeps the parallelism it was given."""
        configuration = Configuration.from_dict(settings.configuration)
        reactive = configuration.get(options.SCHEDULER_MODE) is not None
        if not reactive and configuration.get(options.SCHEDULER) != "Adaptive":
            return None

        def millis(option: ConfigOption[int]) -> int:
            return configuration.get(option) or 0

        return cls(
            reactive,
            settings.max_parallelism if reactive else settings.parallelism,
            millis(options.SUBMISSION_STABILIZATION),
            millis(options.EXECUTING_STABILIZATION),
            millis(options.COOLDOWN),
        )


class Stability:
    """For how long an observed number has been the same."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._since = 0

    def observe(self, number: int, now: int) -> int:
        """Takes an observation; returns for how many milliseconds nothing else was seen."""
        if number != self._number:
            self._number, self._since = number, now
        return now - self._since


class ScalingPolicy:
    """Decides when a running job goes on with another parallelism.

    Args:
        scaling: The limits.
    """

    def __init__(self, scaling: Scaling) -> None:
        self._scaling = scaling
        self._stability = Stability()
        self._settled = 0

    def began(self, now: int) -> None:
        """The job runs with its present parallelism from now on: the cooldown begins."""
        self._settled = now

    def observe(self, slots: int, parallelism: int, now: int) -> int | None:
        """Takes an observation.

        Args:
            slots: The task slots there are now. A job that has none keeps its parallelism, and waits.
            parallelism: The parallelism it has.
            now: The time, in milliseconds of any clock that does not go back.

        Returns:
            The parallelism it should have instead, None if it should go on as it is.
        """
        scaling = self._scaling
        wanted = min(slots, scaling.most)
        stable = self._stability.observe(wanted, now)
        if wanted in (0, parallelism) or stable < scaling.stabilization_ms or now - self._settled < scaling.cooldown_ms:
            return None
        return wanted
