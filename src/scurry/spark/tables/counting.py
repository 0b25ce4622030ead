"""Counts of the Python tasks of a BATCH job on Spark, sent to the driver as they end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pyspark.accumulators import Accumulator, AccumulatorParam, _accumulatorRegistry

from scurry._dataclasses import dataclass
from scurry.connectors.source import NOTE_ONCE, SKIPPED
from scurry.runtime.exchange.report import TaskReport
from scurry.runtime.functions.metrics import OperatorMetricGroup

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from scurry.sql.plan.nodes import Plan

#: Function and partition of a task: Spark runs a function again to sample rows that it sorts, or after a failure.
_Place = tuple[int, int]
#: The attempt of a task, and its reports: one per call of a function.
_Reports = tuple[int, list[TaskReport]]


class _LatestAttempts(AccumulatorParam[dict[_Place, _Reports]]):
    """Keep the reports of the latest attempt of each task: one that is repeated counts once."""

    def zero(self, value: dict[_Place, _Reports]) -> dict[_Place, _Reports]:
        return {}

    def addInPlace(  # noqa: N802
        self, value1: dict[_Place, _Reports], value2: dict[_Place, _Reports]
    ) -> dict[_Place, _Reports]:
        for place, (attempt, reports) in value2.items():
            known = value1.get(place)
            if known is None or known[0] < attempt:
                value1[place] = attempt, list(reports)
            elif known[0] == attempt:
                known[1].extend(reports)
        return value1


class Counting:
    """Counts of one attempt of a job.

    Args:
        spark: The session in which the job runs its plans.
        numbers: Identity of a node of a plan -> number of its operator or source in the job's plan.
        functions: The operator whose metrics those of user-defined functions are.
    """

    def __init__(self, spark: SparkSession, numbers: Mapping[int, int], functions: int) -> None:
        self.spark = spark
        self._numbers = numbers
        self._functions = functions
        self._sent: Accumulator[dict[_Place, _Reports]] = spark.sparkContext.accumulator({}, _LatestAttempts())
        self._count = 0
        #: whether Spark itself reads a table, whose rows are not counted
        self.misses_input = False

    def of(self, plan: Plan, scan: Plan | None = None) -> TaskCounts:
        """Return the counts for tasks that run a plan.

        Args:
            scan: The table that they read, None if they read none.
        """
        read = None if scan is None else self._numbers.get(id(scan))
        out = self._numbers.get(id(plan)) if plan is not scan else None
        self._count += 1
        return TaskCounts(self._sent, self._count, read, out, self._functions)

    def reports(self) -> list[tuple[int, TaskReport]]:
        """Return the reports of all tasks that have ended, with their numbers."""
        latest = dict(self._sent.value)
        return [(number, report) for (_, number), (_, reports) in latest.items() for report in reports]

    def counters(self) -> dict[tuple[int, str], int]:
        """Return the counters of all tasks that have ended."""
        total: dict[tuple[int, str], int] = {}
        for _, report in self.reports():
            for key, value in report.counters.items():
                total[key] = total.get(key, 0) + value
        return total

    def close(self) -> None:
        """Forget the reports."""
        _accumulatorRegistry.pop(self._sent.aid, None)


@dataclass
class TaskCounts:
    """Counts of a task; picklable.

    Attributes:
        sent: Takes the report.
        read: The number of the table that the task reads, None if it reads none.
        out: The number of the operator whose rows it emits, None if it is that table or unknown.
        functions: The operator whose metrics those of user-defined functions are.
    """

    sent: Accumulator[dict[_Place, _Reports]]
    function: int
    read: int | None
    out: int | None
    functions: int
    report: TaskReport = field(default_factory=TaskReport)
    metrics: dict[tuple[int, str], Any] = field(default_factory=dict)

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Send the report at the end of a `with` block, unless the task fails."""
        self.report, self.metrics = TaskReport(), {}
        NOTE_ONCE.set(self._note)
        SKIPPED.set(lambda count: self.count(self.read, "numMalformedRecordsDropped", count))
        try:
            yield
        except GeneratorExit:
            self._send()
            raise
        self._send()

    def count(self, number: int | None, metric: str, value: int) -> None:
        """Add to a counter of an operator or source; nothing if it has no number."""
        if number is not None and value:
            counters = self.report.counters
            counters[number, metric] = counters.get((number, metric), 0) + value

    def metric_group(self, subtask: int) -> OperatorMetricGroup:
        """Return the group in which user-defined functions register their metrics."""
        return OperatorMetricGroup(self.functions, subtask, self.metrics)

    def _note(self, text: str) -> None:
        if text not in self.report.notes:
            self.report.notes.append(text)

    def _send(self) -> None:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None, "a task has a context"
        self.report.user_metrics = {key: found for key, each in self.metrics.items() if (found := each.report())}
        if self.report:
            place = self.function, context.partitionId()
            self.sent.add({place: (context.taskAttemptId(), [self.report])})
