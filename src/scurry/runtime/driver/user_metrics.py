"""The metrics that user functions register, combined on the driver from the reports of the tasks."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from scurry.metrics import DistributionResult, MeterResult
from scurry.metrics.scopes import identifier
from scurry.runtime.functions.metrics import Report


class UserMetrics:
    """The metrics of user functions so far, over all tasks and batches."""

    def __init__(self) -> None:
        self._metrics: dict[tuple[int, str], _Total] = {}

    def add(self, operator: int, name: str, report: Report) -> None:
        """Add a task's report."""
        kind, *values = report
        metric = self._metrics.get((operator, name))
        if metric is None:
            metric = self._metrics[operator, name] = _TOTALS[kind]()
        metric.add(*values)

    def values(self) -> dict[tuple[int, str], Any]:
        return {
            (operator, identifier(name)): metric.value() for (operator, name), metric in list(self._metrics.items())
        }

    def counters(self) -> dict[str, int]:
        """Return the counters by their own name, summed over the operators."""
        totals: dict[str, int] = {}
        for (_, name), metric in list(self._metrics.items()):
            if isinstance(metric, _CounterTotal):
                own = identifier(name)
                totals[own] = totals.get(own, 0) + metric.value()
        return totals


class SubtaskUserMetrics:
    """The metrics of user functions by subtask, as single values."""

    def __init__(self) -> None:
        self._metrics: dict[tuple[int, str], dict[int, _Total]] = {}

    def add(self, number: int, name: str, subtask: int, report: Report) -> None:
        """Add a task's report.

        Args:
            name: The full name of the metric.
        """
        kind, *values = report
        by_subtask = self._metrics.setdefault((number, name), {})
        if subtask not in by_subtask:
            by_subtask[subtask] = _TOTALS[kind]()
        by_subtask[subtask].add(*values)

    def values(self) -> dict[int, dict[str, dict[int, float]]]:
        """Return operator -> full name -> subtask -> value.

        A meter is its rate, a distribution one value for each of its statistics, a truth value 1 or 0; gauges of
        anything else are left out.
        """
        found: dict[int, dict[str, dict[int, float]]] = {}
        for (number, name), by_subtask in list(self._metrics.items()):
            for subtask, metric in list(by_subtask.items()):
                for one, value in _single_values(name, metric.value()):
                    found.setdefault(number, {}).setdefault(one, {})[subtask] = value
        return found


_STATISTICS = ("count", "sum", "min", "max", "mean")


def _single_values(name: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, MeterResult):
        yield name, value.rate
    elif isinstance(value, DistributionResult):
        yield from ((f"{name}_{part}", getattr(value, part)) for part in _STATISTICS)
    elif isinstance(value, dict):  # a gauge, of this subtask alone
        yield from ((name, one + 0) for one in value.values() if isinstance(one, int | float))
    else:
        yield name, value


class _Total(Protocol):
    def add(self, *values: Any) -> None: ...

    def value(self) -> Any: ...


#: Parts of a meter's time span whose events are kept; those of batches in one part are added up.
_STEPS = 600


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
        if self._recent and now - self._recent[-1][0] < span / _STEPS:
            began, before = self._recent.pop()
            self._recent.append((began, before + events))
        else:
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
