"""Errors of conditions, with the stage and the event that caused them."""

from __future__ import annotations

from typing import Any


class ConditionFailedError(Exception):
    """A condition of the user has failed; the error is the cause.

    Attributes:
        stage: The stage of the condition.
        event: The event it was called with.
    """

    def __init__(self, stage: str, event: Any) -> None:
        """Describe a failure."""
        super().__init__(f"a condition of stage {stage!r} failed")
        self.stage = stage
        self.event = event
