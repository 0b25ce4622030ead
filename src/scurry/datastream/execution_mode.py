"""How a job is executed."""

from __future__ import annotations

from enum import Enum

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """How a job is executed.

    STREAMING keeps emitting as records come, BATCH works key by key over bounded inputs and emits final results,
    AUTOMATIC means BATCH exactly when every source is bounded.
    """

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2
