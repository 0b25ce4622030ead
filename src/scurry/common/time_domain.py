"""TimeDomain: the clock of a timer."""

from __future__ import annotations

from enum import Enum


class TimeDomain(Enum):
    """Time that a timer fires in: event time or processing time (Flink's TimeDomain)."""

    EVENT_TIME = 0
    PROCESSING_TIME = 1
