"""WithinType: which times the window of a pattern bounds."""

from __future__ import annotations

from enum import Enum


class WithinType(Enum):
    """What a window of a pattern bounds."""

    PREVIOUS_AND_CURRENT = "PREVIOUS_AND_CURRENT"
    """The time between an event and the one before it."""
    FIRST_AND_LAST = "FIRST_AND_LAST"
    """The time between the first event of a match and its last."""
