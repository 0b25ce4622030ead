"""Detection of watermarks that stand still although records arrive, and of their cause."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan, OperatorPlan, SourcePlan
from scurry.runtime.exchange.report import HeldBack, TaskReport
from scurry.runtime.exchange.wire import MIN_TIME

if TYPE_CHECKING:
    from scurry.runtime.driver.job import JobExecution

#: Seconds until a watermark that stands still is reported.
PATIENCE_SECONDS = 60.0


class StalledWatermarks:
    """Add a note to a job when an operator that gets records has had the same watermark for too long.

    It reports each standstill of an operator once, and only operators that receive watermarks.

    Args:
        clock: Returns seconds.
    """

    def __init__(self, job: JobExecution, clock: Callable[[], float] = time.monotonic) -> None:
        self._job = job
        self._clock = clock
        #: operator -> since when its watermark stands still, and whether that was reported
        self._since: dict[int, tuple[float, bool]] = {}
        self._holders: dict[int, HeldBack] = {}
        #: returns the name of the part of a source that a channel reads, if the source knows it
        self.describe_channel: Callable[[int, int], str] = lambda source, channel: ""

    def add(self, report: TaskReport) -> None:
        for number in report.watermarks:
            self.moved(number)
        for number, holder in report.held_back.items():
            self.held_back(number, holder)

    def moved(self, number: int) -> None:
        """Forget an operator whose watermark has risen."""
        self._since.pop(number, None)
        self._holders.pop(number, None)

    def held_back(self, number: int, holder: HeldBack) -> None:
        """Record an operator that got records in this batch but whose watermark has not risen."""
        self._holders[number] = holder
        now = self._clock()
        began, reported = self._since.setdefault(number, (now, False))
        if reported or now - began < PATIENCE_SECONDS:
            return
        self._since[number] = (began, True)
        plan = self._job.plan
        if number in _timed(plan):
            self._job.log.note(self._text(plan.operators[number], now - began))

    def _text(self, operator: OperatorPlan, seconds: float) -> str:
        task, instance, watermark = self._holders[operator.id]
        while task in self._holders:  # it waits for other senders itself
            task, instance, watermark = self._holders[task]
        plan = self._job.plan
        part: Any = plan.sources.get(task) or plan.operators[task]
        where = f"{part.name!r} ({part.origin})"
        if isinstance(part, SourcePlan):
            described = self.describe_channel(task, instance)
            where = f"source {where}, channel {instance + 1} of {part.channels}{f' ({described})' if described else ''}"
        stands = "it has none yet" if watermark == MIN_TIME else f"it stands at {watermark}"
        return (
            f"the watermark of {operator.name!r} ({operator.origin}) has not moved for {seconds:.0f} s although "
            f"records arrive: {where} holds it back, {stands}; WatermarkStrategy.with_idleness(...) lets time advance "
            "without it"
        )


def _timed(plan: JobPlan) -> set[int]:
    """Return the operators that get watermarks because something upstream generates them."""
    tasks: list[SourcePlan | OperatorPlan] = [*plan.sources.values(), *plan.operators.values()]
    found: set[int] = set()
    for task in sorted(tasks, key=lambda task: task.id):  # producers before consumers
        if task.id in found or _generates(task):
            targets = (out.operator if out.edge is None else plan.edges[out.edge].target for out in task.outputs)
            found.update(target for target in targets if target is not None)
    return found


def _generates(task: SourcePlan | OperatorPlan) -> bool:
    if isinstance(task, SourcePlan):
        strategy = task.watermark_strategy
    else:
        strategy = task.operator.function if isinstance(task.operator, ops.AssignTimestamps) else None
    return strategy is not None and bool(strategy.generates_watermarks)
