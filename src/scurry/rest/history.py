"""The metrics of a job over the last hour: few values, sampled beside the job, so that a batch costs nothing more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan

#: Seconds that the points cover once the job is as old.
SPAN_SECONDS = 3600.0
#: Maximum points. When there are as many, every second one is dropped and points are added half as often.
MOST_POINTS = 720
#: Seconds between two points of a young job, and of one that has run for an hour.
FIRST_STEP, LAST_STEP = 1.0, 8.0

_OUT, _IN, _STATE = "numRecordsOut", "numRecordsIn", "stateSize"
_PRESSURE, _BUSY, _WATERMARK = "backPressuredTimeMsPerSecond", "busyTimeMsPerSecond", "currentOutputWatermark"


class Point(NamedTuple):
    """Metrics of a job at one moment, None if unknown. Counts are those since the job's start.

    Attributes:
        timestamp: The moment, in milliseconds since the epoch.
        records_out: The records that sinks have written.
        pending_records: What was left to read, in records.
        pending_bytes: The same in bytes.
        watermark: The lowest watermark of the operators that act on time, in milliseconds since the epoch.
        back_pressure: How long the most restrained source was held back, in milliseconds per second.
        busy: How long the busiest operator has worked, in milliseconds per second.
        state_size: All state, in bytes.
        batches: The micro-batches whose durations are known.
        phases: Phase -> the milliseconds that these have spent in it.
    """

    timestamp: int
    records_in: int
    records_out: int
    pending_records: int | None
    pending_bytes: int | None
    watermark: int | None
    back_pressure: float | None
    busy: float | None
    state_size: int | None
    batches: int
    phases: Mapping[str, int]


def busy_of(plan: JobPlan, metrics: Mapping[str, Mapping[int, float]]) -> float | None:
    """Return how long a source or operator has worked, in milliseconds per second; None if it is not known.

    That is its busiest subtask; in-process all of them, which run one after another.

    Args:
        metrics: Metric of the source or operator -> subtask -> value.
    """
    values = metrics.get(_BUSY, {}).values()
    if not values:
        return None
    return min(1000.0, sum(values)) if plan.settings.runner == "local" else max(values)


class _Checkpoint(Protocol):
    @property
    def checkpoint_id(self) -> int: ...

    @property
    def phases(self) -> Mapping[str, int]: ...


class _Execution(Protocol):
    @property
    def plan(self) -> JobPlan: ...

    def operator_metrics(self) -> dict[int, dict[str, Any]]: ...

    def subtask_metrics(self) -> dict[int, dict[str, dict[int, float]]]: ...


class _Client(Protocol):
    @property
    def execution(self) -> _Execution: ...

    def checkpoints(self) -> Iterable[_Checkpoint]: ...


class History:
    """The points of one job, the oldest first.

    Counts are cumulative, so that dropping points makes rates means over longer times, but never wrong.

    Args:
        clock: Returns the seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._points: list[Point] = []
        #: seconds between two points
        self.step = FIRST_STEP
        self._adding = threading.Lock()
        self._last_batch, self._batches = -1, 0
        self._phases: dict[str, int] = {}

    @property
    def points(self) -> list[Point]:
        """The points, the oldest first."""
        return self._points.copy()

    def add(self, client: _Client) -> None:
        """Add the current metrics of a job."""
        with self._adding:
            self._measure(client.checkpoints())
            point = self._point(client.execution)
            oldest = point.timestamp - 1000 * SPAN_SECONDS
            kept = [each for each in self._points if each.timestamp >= oldest]
            if len(kept) >= MOST_POINTS:
                kept, self.step = kept[::2], min(2 * self.step, LAST_STEP)
            self._points = [*kept, point]

    def _measure(self, checkpoints: Iterable[_Checkpoint]) -> None:
        # The phases of the latest micro-batches may not be known yet: the next point has them.
        known = [each for each in checkpoints if each.phases]
        if known and known[-1].checkpoint_id < self._last_batch:  # the job has gone back to an earlier one
            self._last_batch = known[0].checkpoint_id - 1
        for each in known:
            if each.checkpoint_id > self._last_batch:
                self._last_batch, self._batches = each.checkpoint_id, self._batches + 1
                for phase, milliseconds in each.phases.items():
                    self._phases[phase] = self._phases.get(phase, 0) + milliseconds

    def _point(self, execution: _Execution) -> Point:
        plan, totals, by_subtask = execution.plan, execution.operator_metrics(), execution.subtask_metrics()
        sinks = [op.id for op in plan.operators.values() if isinstance(op.operator, ops.Sink)]

        def all_of(name: str, numbers: Iterable[int]) -> list[Any]:
            return [own[name] for number in numbers if name in (own := totals.get(number, {}))]

        def subtasks(name: str) -> list[float]:
            return [value for own in by_subtask.values() for value in own.get(name, {}).values()]

        records, sizes = (all_of(name, plan.sources) for name in ("pendingRecords", "pendingBytes"))
        state = subtasks(_STATE)
        return Point(
            int(self._clock() * 1000),
            sum(all_of(_OUT, plan.sources)),
            sum(all_of(_IN, sinks)),
            sum(records) if records else None,
            sum(sizes) if sizes else None,
            min(all_of(_WATERMARK, plan.operators), default=None),
            max(subtasks(_PRESSURE), default=None),
            max((load for own in by_subtask.values() if (load := busy_of(plan, own)) is not None), default=None),
            int(sum(state)) if state else None,
            self._batches,
            dict(self._phases),
        )
