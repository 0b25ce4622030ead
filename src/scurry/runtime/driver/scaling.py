"""Elastic scaling: the parallelism of a job for the available task slots (Flink's adaptive scheduler).

Pure logic on a clock; `spark.streaming.adaptive` counts slots and carries out what is decided here.
"""

from __future__ import annotations

from scurry._dataclasses import dataclass
from scurry.common._config import scheduler as options
from scurry.common.config_options import ConfigOption
from scurry.common.configuration import Configuration
from scurry.graph.settings import JobSettings


@dataclass(frozen=True)
class Scaling:
    """The scaling policy of a job.

    Attributes:
        reactive: Whether it takes every slot; otherwise no more than its parallelism requires.
        most: The largest parallelism it takes.
        submission_stabilization_ms: How long slots must not change before it starts.
        stabilization_ms: How long slots must not change before it adapts to them.
        cooldown_ms: How long it keeps its parallelism after a start or a change.
    """

    reactive: bool
    most: int
    submission_stabilization_ms: int
    stabilization_ms: int
    cooldown_ms: int

    @classmethod
    def of(cls, settings: JobSettings) -> Scaling | None:
        """Return the configured scaling; None for a job that keeps its parallelism."""
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
    """Measure for how long an observed number has been the same."""

    def __init__(self) -> None:
        self._number: int | None = None
        self._since = 0

    def observe(self, number: int, now: int) -> int:
        """Record an observation; return the milliseconds since the number last changed."""
        if number != self._number:
            self._number, self._since = number, now
        return now - self._since


class ScalingPolicy:
    """Decide when a running job continues at another parallelism.

    Args:
        scaling: The limits.
    """

    def __init__(self, scaling: Scaling) -> None:
        self._scaling = scaling
        self._stability = Stability()
        self._settled = 0

    def began(self, now: int) -> None:
        """Begin the cooldown: the job runs at its present parallelism from now on."""
        self._settled = now

    def observe(self, slots: int, parallelism: int, now: int) -> int | None:
        """Record an observation of the available slots.

        Args:
            slots: The task slots available now. A job without any keeps its parallelism, and waits.
            now: The time, in milliseconds of any clock that does not go back.

        Returns:
            The parallelism it should have instead, None if it should keep the present one.
        """
        scaling = self._scaling
        wanted = min(slots, scaling.most)
        stable = self._stability.observe(wanted, now)
        if wanted in (0, parallelism) or stable < scaling.stabilization_ms or now - self._settled < scaling.cooldown_ms:
            return None
        return wanted
