"""RuntimeExecutionMode: how a job is executed."""

from __future__ import annotations

from enum import Enum

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """Execution mode of a job.

    STREAMING emits results as records come. BATCH processes bounded inputs key by key and emits final results.
    AUTOMATIC means BATCH if every source is bounded, else STREAMING.
    """

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2
