"""WithinType: which times the window of a pattern bounds."""

from __future__ import annotations

from enum import Enum


class WithinType(Enum):
    """Events that the time limit of a pattern applies to: the first and last, or each and the one before."""

    PREVIOUS_AND_CURRENT = "PREVIOUS_AND_CURRENT"
    """The time between an event and the one before it."""
    FIRST_AND_LAST = "FIRST_AND_LAST"
    """The time between the first event of a match and its last."""
