"""Frames of windows of rows: the bounds that `Expression.over` takes."""

from __future__ import annotations

import datetime

from scurry.table._expression.frames import CURRENT_ROW, UNBOUNDED, Bound, checked_distance

__all__ = [
    "CURRENT_ROW",
    "UNBOUNDED",
    "UNBOUNDED_FOLLOWING",
    "UNBOUNDED_PRECEDING",
    "following",
    "preceding",
]

#: The first row of the partition, as the lower bound of a frame.
UNBOUNDED_PRECEDING = Bound("UNBOUNDED_PRECEDING", before=True)
#: The last row of the partition, as the upper bound of a frame.
UNBOUNDED_FOLLOWING = Bound("UNBOUNDED_FOLLOWING", before=False)


def preceding(value: int | str | datetime.timedelta) -> Bound:
    """Return the bound of a frame that is before the current row.

    Args:
        value: How many rows, or how much time: a timedelta, or a text such as `1 hour`.

    Raises:
        TypeError: It is neither.
        ValueError: It is not positive, or no duration.
    """
    return Bound("PRECEDING", checked_distance(value), before=True)


def following(value: int | str | datetime.timedelta) -> Bound:
    """Return the bound of a frame that is behind the current row.

    Args:
        value: How many rows, or how much time: a timedelta, or a text such as `1 hour`.

    Raises:
        TypeError: It is neither.
        ValueError: It is not positive, or no duration.
    """
    return Bound("FOLLOWING", checked_distance(value), before=False)
