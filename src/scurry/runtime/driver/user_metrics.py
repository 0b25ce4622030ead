"""The metrics that user functions register, combined on the driver from the reports of the tasks."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from scurry.metrics import DistributionResult, MeterResult
from scurry.runtime.functions.metrics import Report


class UserMetrics:
    """The metrics of user functions so far, over all tasks and batches.

    Metrics of one name in operators of one name are one metric, like Flink's accumulators.
    """

    def __init__(self) -> None:
        self._metrics: dict[tuple[str, str], _Total] = {}

    def add(self, operator: str, name: str, report: Report) -> None:
        """Take a task's report."""
        kind, *values = report
        metric = self._metrics.get((operator, name))
        if metric is None:
            metric = self._metrics[operator, name] = _TOTALS[kind]()
        metric.add(*values)

    def values(self) -> dict[str, Any]:
        """Return all values by `operator.metric`."""
        return {f"{operator}.{name}": metric.value() for (operator, name), metric in list(self._metrics.items())}

    def counters(self) -> dict[str, int]:
        """Return the counters by their own name, summed over the operators."""
        totals: dict[str, int] = {}
        for (_, name), metric in list(self._metrics.items()):
            if isinstance(metric, _CounterTotal):
                totals[name] = totals.get(name, 0) + metric.value()
        return totals


class _Total(Protocol):
    def add(self, *values: Any) -> None: ...

    def value(self) -> Any: ...


class _CounterTotal:
    def __init__(self) -> None:
        self._count = 0

    def add(self, increase: int) -> None:
        self._count += increase

    def value(self) -> int:
        return self._count


class _MeterTotal:
    """Flink's MeterView: the events of the last time span, divided by the time span."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._count = 0
        self._span = 60
        self._recent: deque[tuple[float, int]] = deque()

    def add(self, events: int, span: int) -> None:
        now = self._clock()
        self._count += events
        self._span = span
        self._recent.append((now, events))
        while self._recent[0][0] < now - span:
            self._recent.popleft()

    def value(self) -> MeterResult:
        since = self._clock() - self._span
        recent = sum(events for when, events in list(self._recent) if when >= since)
        return MeterResult(self._count, recent / self._span)


class _DistributionTotal:
    def __init__(self) -> None:
        self._result: DistributionResult | None = None

    def add(self, total: float, count: int, least: float, most: float) -> None:
        known = self._result
        if known is not None:
            total, count = known.sum + total, known.count + count
            least, most = min(known.min, least), max(known.max, most)
        self._result = DistributionResult(total, count, least, most)

    def value(self) -> DistributionResult | None:
        return self._result


class _GaugeTotal:
    def __init__(self) -> None:
        self._values: dict[int, Any] = {}

    def add(self, subtask: int, value: Any) -> None:
        self._values[subtask] = value

    def value(self) -> dict[int, Any]:
        return dict(sorted(self._values.items()))


_TOTALS: dict[str, Callable[[], _Total]] = {
    "counter": _CounterTotal,
    "meter": _MeterTotal,
    "distribution": _DistributionTotal,
    "gauge": _GaugeTotal,
}
