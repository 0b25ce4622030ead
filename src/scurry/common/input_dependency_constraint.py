"""InputDependencyConstraint: when Flink schedules a task; it has no effect here."""

from __future__ import annotations

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Number of inputs that a task waits for, any or all; no method accepts it, as in PyFlink."""

    ANY = 0
    ALL = 1
