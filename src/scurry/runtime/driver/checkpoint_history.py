"""The history of a job's checkpoints: one for each committed micro-batch."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

#: The number of latest checkpoints that a job keeps: as many as Spark's query progress has.
KEPT_CHECKPOINTS = 100


@dataclass(frozen=True)
class CheckpointInfo:
    """A completed checkpoint.

    Attributes:
        checkpoint_id: The id of the micro-batch.
        trigger_timestamp_ms: When the micro-batch began.
        duration_ms: How long it took, sinks included.
        records: The number of records read.
        state_size_bytes: Size of all state after it, None if unknown.
        phases: What it spent its time with: phase -> milliseconds, in the order of the phases; empty if unknown.
        source_positions: Source uid -> its position after the micro-batch; only the latest checkpoint has them, because
            positions may be large.
    """

    checkpoint_id: int
    trigger_timestamp_ms: int
    duration_ms: int
    records: int
    state_size_bytes: int | None = None
    source_positions: Mapping[str, Any] = field(default_factory=dict)
    phases: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchDetails:
    """What an engine knows of a micro-batch.

    Attributes:
        state_bytes: Size of all state after it, None if unknown.
        phases: As those of a checkpoint.
    """

    state_bytes: int | None
    phases: Mapping[str, int]


class CheckpointLog:
    """The latest checkpoints of a job.

    Adding one is cheap; sizes and phases, which are costly, are determined only on request.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._latest: deque[CheckpointInfo] = deque(maxlen=KEPT_CHECKPOINTS)
        #: how often the job has begun with the state of a checkpoint or savepoint: at its start, a restart or rescaling
        self.restored = 0
        #: set by runners: the source positions after the current batch is committed
        self.source_positions: Mapping[str, Any] = {}
        #: set by runners: what is known of the latest batches, by id
        self.details: Callable[[], Mapping[int, BatchDetails]] | None = None

    def add(self, batch_id: int, seconds: float, records: int) -> None:
        """Add a batch that took `seconds` and has just been committed."""
        began = self._clock() - seconds
        if self._latest and self._latest[-1].checkpoint_id == batch_id:  # committed again after a failure
            self._latest.pop()
        self._latest.append(CheckpointInfo(batch_id, int(began * 1000), int(seconds * 1000), records))

    def latest(self) -> list[CheckpointInfo]:
        """Return the checkpoints, the oldest first."""
        found = list(self._latest)
        details = self.details() if found and self.details is not None else {}
        for index, each in enumerate(found):
            known = details.get(each.checkpoint_id)
            if known is not None:
                found[index] = replace(each, state_size_bytes=known.state_bytes, phases=known.phases)
        if found:
            found[-1] = replace(found[-1], source_positions=dict(self.source_positions))
        return found
