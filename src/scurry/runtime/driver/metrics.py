"""The metrics of a job, combined on the driver from the reports of its tasks."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.user_metrics import UserMetrics
from scurry.runtime.exchange.report import TaskReport
from scurry.runtime.exchange.wire import MIN_TIME

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
        """Return operator or source -> metric -> value.

        Args:
            backlog: The metrics of the sources' backlog, by source and metric.
        """
        watermarks = {(number, WATERMARK): watermark for number, watermark in list(self.watermarks.items())}
        found: dict[int, dict[str, Any]] = {}
        counters = Counter(self.counters)
        counters.update(dict(self.uncommitted))
        for values in (counters, watermarks, backlog, self.user_metrics.values()):
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
