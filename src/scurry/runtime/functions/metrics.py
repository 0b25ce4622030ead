"""Metrics that user functions register, as one task holds them; each batch reports them to the driver.

A report is a tuple of the kind and values: `("counter", increase)`, `("meter", events, time span in seconds)`,
`("distribution", sum, count, min, max)`, `("gauge", subtask, value)`. `scurry.runtime.driver.user_metrics` adds them
up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from scurry.errors import ArgumentError
from scurry.metrics import Counter, Distribution, Meter, Metric, MetricGroup
from scurry.metrics.scopes import identifier, in_group

Report = tuple[Any, ...]
M = TypeVar("M", "TaskCounter", "TaskMeter", "TaskDistribution", "TaskGauge")


class OperatorMetricGroup(MetricGroup):
    """The metrics of one operator instance, or a group of them.

    Args:
        operator: The operator's id in the plan.
        registered: All metrics of the task, by operator and full name; new ones are added.
        scope: The full name of the group, empty for that of the operator.
    """

    def __init__(self, operator: int, subtask: int, registered: dict[tuple[int, str], Any], scope: str = "") -> None:
        self._operator = operator
        self._subtask = subtask
        self._registered = registered
        self._scope = scope

    def add_group(self, name: str, extra: str | None = None) -> OperatorMetricGroup:
        scope = in_group(self._scope, name, extra)
        return OperatorMetricGroup(self._operator, self._subtask, self._registered, scope)

    def counter(self, name: str) -> Counter:
        return self._register(name, TaskCounter())

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        return self._register(name, TaskMeter(time_span_in_seconds))

    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        self._register(name, TaskGauge(self._subtask)).read = obj

    def distribution(self, name: str) -> Distribution:
        return self._register(name, TaskDistribution())

    def _register(self, name: str, metric: M) -> M:
        """Add a metric, or return the existing one of that name and kind."""
        full_name = in_group(self._scope, name)
        known = self._registered.setdefault((self._operator, full_name), metric)
        if type(known) is not type(metric):
            raise ArgumentError(
                f"metric {identifier(full_name)!r} is a {known.kind} already: give the {metric.kind} another name"
            )
        return known


def unreported_metrics(subtask: int = 0) -> OperatorMetricGroup:
    """Return a group whose metrics count as ever, but that nothing reports: tables have none in BATCH."""
    return OperatorMetricGroup(0, subtask, {})


class TaskCounter(Counter):
    kind = "counter"

    def __init__(self) -> None:
        self._count = 0
        self._reported: int | None = None  # None, so that a counter that never moves is reported as 0

    def inc(self, n: int = 1) -> None:
        self._count += n

    def dec(self, n: int = 1) -> None:
        self._count -= n

    def get_count(self) -> int:
        return self._count

    def report(self) -> Report | None:
        """Return the changes since the last report."""
        before, self._reported = self._reported, self._count
        return None if before == self._count else (self.kind, self._count - (before or 0))


class TaskMeter(Meter):
    """The meter of one task; the driver computes the rate over all tasks."""

    kind = "meter"

    def __init__(self, time_span_in_seconds: int) -> None:
        self._span = time_span_in_seconds
        self._count = 0
        self._reported: int | None = None

    def mark_event(self, value: int = 1) -> None:
        self._count += value

    def get_count(self) -> int:
        return self._count

    def report(self) -> Report | None:
        """Return the changes since the last report."""
        before, self._reported = self._reported, self._count
        return None if before == self._count else (self.kind, self._count - (before or 0), self._span)


class TaskDistribution(Distribution):
    """The distribution of one task since its last report."""

    kind = "distribution"

    def __init__(self) -> None:
        self._sum = self._min = self._max = 0
        self._count = 0

    def update(self, value: Any) -> None:
        if self._count == 0 or value < self._min:
            self._min = value
        if self._count == 0 or value > self._max:
            self._max = value
        self._sum += value
        self._count += 1

    def report(self) -> Report | None:
        """Return the values since the last report."""
        if self._count == 0:
            return None
        report = (self.kind, self._sum, self._count, self._min, self._max)
        self._sum = self._count = 0
        return report


class TaskGauge(Metric):
    """The gauge of one task, read each time the task reports."""

    kind = "gauge"
    read: Callable[[], Any]

    def __init__(self, subtask: int) -> None:
        self._subtask = subtask

    def report(self) -> Report | None:
        return self.kind, self._subtask, self.read()
