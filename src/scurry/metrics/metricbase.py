"""The kinds of metrics; the runtime implements them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]


class MetricGroup(ABC):
    """A named group in which metrics and further groups are registered (Flink's `MetricGroup`)."""

    @abstractmethod
    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Return the subgroup `name`, or with `extra` the key-value group name=extra."""

    @abstractmethod
    def counter(self, name: str) -> Counter:
        """Register a counter."""

    @abstractmethod
    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Register a gauge: `obj` is called whenever the value is reported and returns a whole number."""

    @abstractmethod
    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Register a meter: events per second, averaged over the last `time_span_in_seconds`."""

    @abstractmethod
    def distribution(self, name: str) -> Distribution:
        """Register a distribution: sum, count, min, max and mean of the reported values."""


class Metric(ABC):  # noqa: B024 - a marker, as in Flink
    """Base of all metrics."""


class Counter(Metric):
    """A number that goes up and down."""

    @abstractmethod
    def inc(self, n: int = 1) -> None:
        """Add `n`."""

    @abstractmethod
    def dec(self, n: int = 1) -> None:
        """Subtract `n`."""

    @abstractmethod
    def get_count(self) -> int:
        """Return the count."""


class Meter(Metric):
    """The rate of events."""

    @abstractmethod
    def mark_event(self, value: int = 1) -> None:
        """Record that `value` events happened now."""

    @abstractmethod
    def get_count(self) -> int:
        """Return how many events were recorded in all."""


class Distribution(Metric):
    """Statistics over reported values."""

    @abstractmethod
    def update(self, value: int) -> None:
        """Report a value."""
