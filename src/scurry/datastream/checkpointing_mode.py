"""CheckpointingMode: the guarantee of checkpoints."""

from __future__ import annotations

from enum import Enum

__all__ = ["CheckpointingMode"]


class CheckpointingMode(Enum):
    """Guarantee after a recovery; scurry always gives EXACTLY_ONCE, which covers both."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
