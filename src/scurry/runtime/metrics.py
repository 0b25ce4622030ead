"""Metrics users register in their functions; values travel to the driver with each batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.runtime.context import TaskInfo


class OperatorMetricGroup:
    """Flink's MetricGroup of one operator instance."""

    def __init__(self, operator: int, info: TaskInfo, scope: str = "") -> None:
        self._operator = operator
        self._info = info
        self._scope = scope
        self._gauges: dict[str, Callable[[], int]] = {}

    def add_group(self, name: str, extra: str | None = None) -> OperatorMetricGroup:
        """A sub-group."""
        parts = [part for part in (self._scope, name, extra) if part]
        return OperatorMetricGroup(self._operator, self._info, ".".join(parts))

    def counter(self, name: str) -> Counter:
        """A counter."""
        return Counter(self._operator, self._info, self._name(name))

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """A meter of events; the rate is derived on the driver."""
        return Meter(self._operator, self._info, self._name(name))

    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """A value read at the end of each task."""
        self._gauges[self._name(name)] = obj

    def distribution(self, name: str) -> Distribution:
        """A distribution of values: count, sum, minimum and maximum."""
        return Distribution(self._operator, self._info, self._name(name))

    def _name(self, name: str) -> str:
        return f"{self._scope}.{name}" if self._scope else name


class _Metric:
    def __init__(self, operator: int, info: TaskInfo, name: str) -> None:
        self._operator, self._info, self._name = operator, info, name
        self._total = 0

    def _add(self, value: int) -> None:
        self._total += value
        self._info.count(self._operator, self._name, value)


class Counter(_Metric):
    """A count that goes up and down."""

    def inc(self, n: int = 1) -> None:
        """Adds n."""
        self._add(n)

    def dec(self, n: int = 1) -> None:
        """Takes n away."""
        self._add(-n)

    def get_count(self) -> int:
        """The count of this instance."""
        return self._total


class Meter(_Metric):
    """Counts events."""

    def mark_event(self, value: int = 1) -> None:
        """Marks `value` events."""
        self._add(value)

    def get_count(self) -> int:
        """The events of this instance."""
        return self._total


class Distribution(_Metric):
    """Summarises values."""

    def update(self, value: Any) -> None:
        """Adds a value."""
        self._info.count(self._operator, f"{self._name}.count")
        self._info.count(self._operator, f"{self._name}.sum", value)
