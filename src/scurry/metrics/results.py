"""Results of meters and distributions, as `JobClient.get_metrics()` reports them. scurry's own."""

from __future__ import annotations

from scurry._dataclasses import dataclass

__all__ = ["DistributionResult", "MeterResult"]


@dataclass(frozen=True)
class MeterResult:
    """The events a meter has seen in all parallel instances.

    Attributes:
        count: All of them.
        rate: Per second, averaged over the time span the meter was registered with.
    """

    count: int
    rate: float


@dataclass(frozen=True)
class DistributionResult:
    """The values reported to a distribution in all parallel instances."""

    sum: float
    count: int
    min: float
    max: float

    @property
    def mean(self) -> float:
        """The average value."""
        return self.sum / self.count
