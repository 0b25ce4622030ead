"""The watermarks that the operators of a simulated job have reached in committed batches: none goes back."""

from __future__ import annotations

from scurry.graph.plan import JobPlan
from scurry.runtime.driver.metrics import JobMetrics
from scurry.runtime.exchange.report import TaskReport

__all__ = ["CommittedWatermarks"]


class CommittedWatermarks:
    """The watermarks of operators over all processes and parallelisms of a job.

    Attributes:
        wrong: What went back, in words.
    """

    def __init__(self) -> None:
        self._reached: dict[str, int] = {}
        self.wrong: list[str] = []

    def of(self, plan: JobPlan) -> JobMetrics:
        """Return the metrics of a process, which look at all that its tasks report.

        An operator that an earlier process did not have begins anew.
        """
        uids = {op.id: op.uid for op in plan.operators.values()}
        self._reached = {uid: time for uid, time in self._reached.items() if uid in uids.values()}
        return _Watched(plan, uids, self)

    def add(self, uid: str, watermark: int) -> None:
        """Add the watermark of an operator after a batch that is committed."""
        reached = self._reached.get(uid, watermark)
        if watermark < reached:
            self.wrong.append(f"the watermark of {uid!r} goes back from {reached} to {watermark}")
        self._reached[uid] = max(reached, watermark)


class _Watched(JobMetrics):
    def __init__(self, plan: JobPlan, uids: dict[int, str], watermarks: CommittedWatermarks) -> None:
        super().__init__(plan)
        self._uids, self._committed = uids, watermarks

    def add(self, report: TaskReport) -> None:
        for number, watermark in report.watermarks.items():
            self._committed.add(self._uids[number], watermark)
        super().add(report)
