"""What a job's checkpoints were: one for each micro-batch that was committed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

#: Checkpoints a job remembers, the latest: as many as Spark's query progress goes back.
KEPT_CHECKPOINTS = 100


@dataclass(frozen=True)
class CheckpointInfo:
    """A completed checkpoint.

    Attributes:
        checkpoint_id: The micro-batch.
        trigger_timestamp_ms: When the micro-batch began.
        duration_ms: How long it took, sinks included.
        records: Records that were read.
        state_size_bytes: Size of all state after it, None if unknown.
        source_positions: Source uid -> where the source stood after it; only the latest checkpoint has them, because
            positions may be large.
    """

    checkpoint_id: int
    trigger_timestamp_ms: int
    duration_ms: int
    records: int
    state_size_bytes: int | None = None
    source_positions: Mapping[str, Any] = field(default_factory=dict)


class CheckpointLog:
    """The latest checkpoints of a job.

    Adding one costs next to nothing; what is costly to know (sizes) is asked for when somebody looks.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._latest: deque[CheckpointInfo] = deque(maxlen=KEPT_CHECKPOINTS)
        #: set by runners: where the sources stand once the batch at hand is committed
        self.source_positions: Mapping[str, Any] = {}
        #: set by runners that know: batch -> bytes of state after it, for the latest batches
        self.state_sizes: Callable[[], Mapping[int, int]] | None = None

    def add(self, batch_id: int, seconds: float, records: int) -> None:
        """A batch that took `seconds` has been committed now."""
        began = self._clock() - seconds
        if self._latest and self._latest[-1].checkpoint_id == batch_id:  # committed once more after a failure
            self._latest.pop()
        self._latest.append(CheckpointInfo(batch_id, int(began * 1000), int(seconds * 1000), records))

    def latest(self) -> list[CheckpointInfo]:
        """The checkpoints, the oldest first."""
        found = list(self._latest)
        sizes = self.state_sizes() if found and self.state_sizes is not None else {}
        found = [replace(each, state_size_bytes=sizes.get(each.checkpoint_id)) for each in found]
        if found:
            found[-1] = replace(found[-1], source_positions=dict(self.source_positions))
        return found
