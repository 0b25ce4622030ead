"""The metrics of a job, combined on the driver from the reports of its tasks: by operator and by subtask."""

from __future__ import annotations

import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any

from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.checkpoint_history import OperatorState
from scurry.runtime.driver.user_metrics import SubtaskUserMetrics, UserMetrics
from scurry.runtime.exchange.report import TaskReport
from scurry.runtime.exchange.wire import MIN_TIME

#: Rates are averages over this time, as those of Flink's meters.
WINDOW_SECONDS = 60.0
#: Least time between two recorded counts.
_STEP_SECONDS = 2.0

#: Counter -> the metric that is its rate per second.
_RATES = {"numRecordsOut": "numRecordsOutPerSecond", "accumulateBusyTimeMs": "busyTimeMsPerSecond"}
_WATERMARK = "currentOutputWatermark"
_STATE = "stateSize"

_Counts = dict[int, dict[int, int]]


class SubtaskMetrics:
    """The counters of the subtasks of operators and sources over the committed batches.

    Args:
        clock: Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        #: metric -> operator or source -> subtask -> count
        self._counters: dict[str, _Counts] = {}
        self._watermarks: _Counts = {}
        #: operator -> subtask -> bytes of its state, and of those written in the batch that is being added
        self._state: _Counts = {}
        self._written: _Counts = {}
        #: (source, metric) -> channel -> milliseconds
        self._lags: dict[tuple[int, str], dict[int, int]] = {}
        self.of_users = SubtaskUserMetrics()
        #: (time, the counters with rates at that time); the first is older than the window, or the start
        self._history: deque[tuple[float, dict[str, _Counts]]] = deque([(clock(), {})])

    def add(self, subtask: int, report: TaskReport) -> None:
        """Add the counts of a subtask in a batch."""
        for (number, metric), value in report.counters.items():
            counts = self._counters.setdefault(metric, {}).setdefault(number, {})
            counts[subtask] = counts.get(subtask, 0) + value
        for number, watermark in report.watermarks.items():
            known = self._watermarks.setdefault(number, {})
            known[subtask] = max(watermark, known.get(subtask, MIN_TIME))
        for number, size in report.state.items():
            self._state.setdefault(number, {})[subtask] = size.total
            self._written.setdefault(number, {})[subtask] = size.written
        for (number, channel), progress in report.channels.items():
            for metric, lag in progress.lags.items():
                self._lags.setdefault((number, metric), {})[channel] = lag
        for (number, name), measured in report.user_metrics.items():
            self.of_users.add(number, name, subtask, measured)

    def committed(self) -> None:
        """Note the end of a batch, all of whose reports were added."""
        now = self._clock()
        if now - self._history[-1][0] >= _STEP_SECONDS:
            counted = {metric: self._counters.get(metric, {}) for metric in _RATES}
            self._history.append(
                (
                    now,
                    {
                        metric: {number: dict(each) for number, each in counts.items()}
                        for metric, counts in counted.items()
                    },
                )
            )
        while len(self._history) > 1 and self._history[1][0] <= now - WINDOW_SECONDS:
            self._history.popleft()

    def take_states(self, parallelism: Mapping[int, int]) -> dict[int, OperatorState]:
        """Return the state of each operator that has some, and reset the counts of writes.

        Args:
            parallelism: Operator -> number of its subtasks.
        """
        written, self._written = self._written, {}
        return {
            number: OperatorState(
                *(
                    array("q", [sizes.get(subtask, 0) for subtask in range(parallelism[number])])
                    for sizes in (totals, written.get(number, {}))
                )
            )
            for number, totals in self._state.items()
        }

    def forget_state(self) -> None:
        """Forget the sizes of state: other subtasks will have it."""
        self._state = {}

    def values(self) -> dict[int, dict[str, dict[int, float]]]:
        """Return operator or source -> metric -> subtask -> value."""
        found: dict[int, dict[str, dict[int, float]]] = {}
        for metric, by_number in list(self._counters.items()):
            for number, counts in list(by_number.items()):
                found.setdefault(number, {})[metric] = dict(counts)
        for number, watermarks in list(self._watermarks.items()):
            found.setdefault(number, {})[_WATERMARK] = dict(watermarks)
        for number, sizes in list(self._state.items()):
            found.setdefault(number, {})[_STATE] = dict(sizes)
        for (number, metric), lags in list(self._lags.items()):
            found.setdefault(number, {})[metric] = dict(lags)
        for counter, metric in _RATES.items():
            for number, rates in self._rates(counter).items():
                found.setdefault(number, {})[metric] = rates
        return found

    def _rates(self, counter: str) -> dict[int, dict[int, float]]:
        now = self._clock()
        marks = list(self._history)
        # An idle job records no counts: what was counted before the window has no part in the rate.
        at, before = next((mark for mark in reversed(marks) if mark[0] <= now - WINDOW_SECONDS), marks[0])
        seconds, earlier = max(min(now - at, WINDOW_SECONDS), 1e-3), before.get(counter, {})
        return {
            number: {
                subtask: max(0, count - earlier.get(number, {}).get(subtask, 0)) / seconds
                for subtask, count in list(counts.items())
            }
            for number, counts in list(self._counters.get(counter, {}).items())
        }


#: An operator's metric: the event time up to which it is complete.
WATERMARK = "currentOutputWatermark"


class JobMetrics:
    """The metrics of the committed batches so far.

    Args:
        plan: A plan of the program; plans for another parallelism have the same numbers and names.
    """

    def __init__(self, plan: JobPlan) -> None:
        self._labels = plan.labels()
        self._sources = set(plan.sources)
        self._sinks = {op.id for op in plan.operators.values() if isinstance(op.operator, ops.Sink)}
        self.batches = 0
        self.records_in = 0
        #: whether records are counted when they are read: not where Spark reads tables in BATCH
        self.counts_input = True
        self.records_out = 0
        #: label of an operator -> number of records it dropped because they were late
        self.late: dict[str, int] = {}
        #: label of an operator or source -> number of records sent to its dead letters
        self.dead_letters: dict[str, int] = {}
        #: label of a source -> number of malformed records it dropped
        self.malformed: dict[str, int] = {}
        #: (operator or source, metric) -> value
        self.counters: dict[tuple[int, str], int] = {}
        #: the same of what a BATCH job has not committed yet; tasks in this process write it while they run
        self.uncommitted: dict[tuple[int, str], int] = {}
        self.user_metrics = UserMetrics()
        #: head operator -> its watermark; heads without one yet are missing
        self.watermarks: dict[int, int] = {}
        #: (source, channel) -> its watermark, for sources with watermark alignment
        self.source_watermarks: dict[tuple[int, int], int] = {}
        #: source -> channel -> mean size of the records it read last, for sources whose readers report it
        self.record_bytes: dict[int, dict[int, float]] = {}
        #: (source, metric) -> channel -> milliseconds
        self._lags: dict[tuple[int, str], dict[int, int]] = {}

    @property
    def late_records(self) -> int:
        """Number of records dropped because they were late, over all operators."""
        return sum(self.late.values())

    @property
    def watermark(self) -> int:
        """The lowest watermark of the operators that depend on time: how far every part of the job has progressed."""
        return min(self.watermarks.values(), default=MIN_TIME)

    def rows(self) -> str:
        """Return the numbers of records read and written, for people; those that are not counted are left out."""
        read = f"{self.records_in:,} records in, " if self.counts_input else ""
        return f"{read}{self.records_out:,} out" if read else f"{self.records_out:,} records out"

    def rows_so_far(self) -> tuple[int, int]:
        """Return the numbers of records read and written, with those that are not committed yet."""
        read, written = self.records_in, self.records_out
        for (number, metric), value in list(self.uncommitted.items()):
            read += value if metric == "numRecordsOut" and number in self._sources else 0
            written += value if metric == "numRecordsIn" and number in self._sinks else 0
        return read, written

    def add(self, report: TaskReport) -> None:
        """Add the counts of a task in a batch."""
        for (number, metric), value in report.counters.items():
            assert value >= 0, f"{metric} of operator {number} fell by {-value}"
            self._count(number, metric, value)
        for (number, metric), measured in report.user_metrics.items():
            self.user_metrics.add(number, metric, measured)
        for number, watermark in report.watermarks.items():
            self.watermarks[number] = max(watermark, self.watermarks.get(number, MIN_TIME))
        for (source, channel), progress in report.channels.items():
            if progress.watermark is not None:
                before = self.source_watermarks.get((source, channel), MIN_TIME)
                self.source_watermarks[source, channel] = max(progress.watermark, before)
            if progress.record_bytes is not None:
                self.record_bytes.setdefault(source, {})[channel] = progress.record_bytes
            for metric, lag in progress.lags.items():
                self._lags.setdefault((source, metric), {})[channel] = lag

    def _count(self, number: int, metric: str, value: int) -> None:
        self.counters[number, metric] = self.counters.get((number, metric), 0) + value
        by_label = self._counted_by_label(metric)
        if by_label is not None:
            label = self._labels[number]
            by_label[label] = by_label.get(label, 0) + value
        elif metric == "numRecordsOut" and number in self._sources:
            self.records_in += value
        elif metric == "numRecordsIn" and number in self._sinks:
            self.records_out += value

    def _counted_by_label(self, metric: str) -> dict[str, int] | None:
        if metric == "numLateRecordsDropped":
            return self.late
        if metric == "numDeadLetters":
            return self.dead_letters
        return self.malformed if metric == "numMalformedRecordsDropped" else None

    def by_operator(self, backlog: dict[tuple[int, str], int]) -> dict[int, dict[str, Any]]:
        """Return operator or source -> metric -> value."""
        watermarks = {(number, WATERMARK): watermark for number, watermark in list(self.watermarks.items())}
        found: dict[int, dict[str, Any]] = {}
        counters = Counter(self.counters)
        counters.update(dict(self.uncommitted))
        lags = {place: max(by_channel.values()) for place, by_channel in list(self._lags.items())}
        for values in (counters, watermarks, lags, backlog, self.user_metrics.values()):
            for (number, metric), value in values.items():
                found.setdefault(number, {})[metric] = value
        return found

    def values(self, backlog: dict[tuple[int, str], int]) -> dict[str, Any]:
        """Return all values by `operator.metric`, with the labels of the operators.

        Args:
            backlog: As in `by_operator`.
        """
        return {
            f"{self._labels[number]}.{metric}": value
            for number, own in self.by_operator(backlog).items()
            for metric, value in own.items()
        }
