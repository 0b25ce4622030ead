"""The history of a job's checkpoints: one for each committed micro-batch."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from scurry._dataclasses import dataclass

#: The number of latest checkpoints that a job keeps: as many as Spark's query progress has.
KEPT_CHECKPOINTS = 100


@dataclass(frozen=True)
class OperatorState:
    """The state of an operator in a checkpoint, by subtask.

    Attributes:
        total: Its bytes.
        written: The bytes that the micro-batch has written.
    """

    total: Sequence[int]
    written: Sequence[int]


@dataclass(frozen=True)
class CheckpointInfo:
    """A completed checkpoint.

    Attributes:
        checkpoint_id: The id of the micro-batch.
        trigger_timestamp_ms: When the micro-batch began.
        duration_ms: How long it took, sinks included.
        state_size_bytes: Size of all state after it, None if unknown.
        phases: What it spent its time with: phase -> milliseconds, in the order of the phases; empty if unknown.
        source_positions: Source uid -> its position after the micro-batch; only the latest checkpoint has them, because
            positions may be large.
        states: Number of an operator in the plan -> its state; operators without state are missing.
    """

    checkpoint_id: int
    trigger_timestamp_ms: int
    duration_ms: int
    records: int
    state_size_bytes: int | None = None
    source_positions: Mapping[str, Any] = field(default_factory=dict)
    phases: Mapping[str, int] = field(default_factory=dict)
    states: Mapping[int, OperatorState] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchDetails:
    """The details of a micro-batch that the engine reports.

    Attributes:
        state_bytes: Size of all state after it, None if the engine knows no more than the subtasks report.
        phases: As those of a checkpoint.
        began_ms: When its first phase began; None if that was with its tasks.
    """

    state_bytes: int | None
    phases: Mapping[str, int]
    began_ms: int | None = None


class CheckpointLog:
    """The latest checkpoints of a job.

    Adding one is cheap; sizes and phases, which are costly, are determined only on request, and once for each batch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._latest: deque[CheckpointInfo] = deque(maxlen=KEPT_CHECKPOINTS)
        #: how often the job has begun with the state of a checkpoint or savepoint: at its start, a restart or rescaling
        self.restored = 0
        #: set by runners: the source positions after the current batch is committed
        self.source_positions: Mapping[str, Any] = {}
        #: set by runners: what is known of the batches from an id on, by id
        self.details: Callable[[int], Mapping[int, BatchDetails]] | None = None
        self._known: dict[int, BatchDetails] = {}
        self._asking = threading.Lock()

    def add(
        self, batch_id: int, seconds: float, records: int, states: Mapping[int, OperatorState] | None = None
    ) -> None:
        """Add a batch that took `seconds` and has just been committed."""
        began = self._clock() - seconds
        if self._latest and self._latest[-1].checkpoint_id >= batch_id:  # committed again after a failure
            self._forget(batch_id)
        states = states or {}
        size = sum(sum(each.total) for each in states.values()) if states else None
        info = CheckpointInfo(batch_id, int(began * 1000), int(seconds * 1000), records, size, states=states)
        self._latest.append(info)

    def latest(self) -> list[CheckpointInfo]:
        """Return the checkpoints, the oldest first."""
        found = list(self._latest)
        details = self._details_of(found)
        found = [_detailed(each, details.get(each.checkpoint_id)) for each in found]
        if found:
            found[-1] = replace(found[-1], source_positions=dict(self.source_positions))
        return found

    def _details_of(self, found: Sequence[CheckpointInfo]) -> Mapping[int, BatchDetails]:
        """Return the details of batches; query the engine only for those later than the last reported one."""
        if not found or self.details is None:
            return {}
        with self._asking:  # others that ask meanwhile need the same answer
            newest = max(self._known, default=-1)
            if newest < found[-1].checkpoint_id:
                known = {**self._known, **self.details(newest + 1)}
                self._known = {id: each for id, each in known.items() if found[0].checkpoint_id <= id}
            return self._known

    def _forget(self, batch_id: int) -> None:
        """Forget a batch and those after it, which a job that has rolled back computes again."""
        with self._asking:
            while self._latest and self._latest[-1].checkpoint_id >= batch_id:
                self._latest.pop()
            self._known = {id: each for id, each in self._known.items() if id < batch_id}


def _detailed(info: CheckpointInfo, known: BatchDetails | None) -> CheckpointInfo:
    """Add the engine's details; its phases may begin before the tasks, with planning."""
    if known is None:
        return info
    size = info.state_size_bytes if known.state_bytes is None else known.state_bytes
    info = replace(info, state_size_bytes=size, phases=known.phases)
    if known.began_ms is None:
        return info
    return replace(info, trigger_timestamp_ms=known.began_ms, duration_ms=sum(known.phases.values()))
