"""InputDependencyConstraint: when Flink schedules a task; it has no effect here."""

from __future__ import annotations

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Whether a task waits for any of its inputs or for all; no method accepts it, in PyFlink neither."""

    ANY = 0
    ALL = 1
