"""When Flink schedules a task; Spark schedules by itself."""

from __future__ import annotations

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Whether a task waits for any of its inputs or for all; nothing takes it, in PyFlink neither."""

    ANY = 0
    ALL = 1
