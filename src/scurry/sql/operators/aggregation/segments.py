"""Rows sorted by group, the input of running aggregates."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

import numpy as np

from scurry._dataclasses import dataclass

_WIDE = Context(prec=80)
_OVERFLOW = Decimal("NaN")


@dataclass(frozen=True)
class Segments:
    """Rows sorted by group. A group whose last row was taken back ends; later rows of its key are a new group.

    Running values are computed for places: each segment has one for what was before its rows, then one for each row.

    Attributes:
        starts: For each segment the position of its first row.
        stops: For each segment the position after its last row.
        signs: For each row 1 if it is added, -1 if it is taken back; None if all are added.
    """

    starts: Any
    stops: Any
    of_row: Any
    signs: Any

    @property
    def rows(self) -> int:
        return len(self.of_row)

    @property
    def places(self) -> int:
        return len(self.of_row) + len(self.starts)

    @property
    def heads(self) -> Any:
        """For each segment the index of the value before its rows."""
        return self.starts + np.arange(len(self.starts))

    @property
    def ends(self) -> Any:
        """For each segment the place of its last row."""
        return self.heads + self.stops - self.starts

    @property
    def place_of_row(self) -> Any:
        return np.arange(len(self.of_row)) + self.of_row + 1

    @property
    def rows_before(self) -> Any:
        """For each place how many places of its segment are before it."""
        lengths = self.stops - self.starts + 1
        return np.arange(self.places) - np.repeat(self.heads, lengths)


def segments_of(group_ids: Any, ends: Any, signs: Any) -> Segments:
    """Divide rows, which are sorted by the ids of their groups.

    Args:
        group_ids: For each row the id of its group.
        ends: For each row whether its group ends with it; None if none does.
        signs: As the attribute of `Segments`.
    """
    new = np.ones(len(group_ids), dtype=bool)
    new[1:] = group_ids[1:] != group_ids[:-1]
    if ends is not None:
        new[1:] |= ends[:-1]
    starts = np.flatnonzero(new)
    return Segments(starts, np.append(starts, len(group_ids))[1:], np.cumsum(new) - 1, signs)


def running_sums(values: Any, starts: Any, stops: Any) -> Any:
    """Return the sums of the values of each run up to each value, added one after the other."""
    if values.dtype.kind in "iu":
        total = np.cumsum(values, dtype=values.dtype)
        before = total[starts] - values[starts]
        return total - np.repeat(before, stops - starts)
    found = np.empty_like(values)
    lengths = stops - starts
    longest = int(lengths.max(initial=0))
    with np.errstate(all="ignore"):
        if longest > len(starts):
            for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
                found[start:stop] = np.add.accumulate(values[start:stop])
            return found
        found[starts] = values[starts]
        for step in range(1, longest):
            at = starts[lengths > step] + step
            found[at] = found[at - 1] + values[at]
    return found


def decimal_running_sums(values: Any, starts: Any, stops: Any, digits: int, restarts: bool) -> Any:
    """Return the same of decimals, NaN from where a sum is too large.

    Args:
        starts: Where runs begin.
        stops: Where they end.
        digits: How many digits a sum has before the point at most.
        restarts: Whether the value after a sum that is too large begins a new one.
    """
    limit, found = Decimal(10) ** digits, values.copy()
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        for at in range(start + 1, stop):
            before = found[at - 1]
            if before.is_nan():
                found[at] = values[at] if restarts and values[at] else before
                continue
            total = _WIDE.add(before, values[at])
            found[at] = total if total.copy_abs() < limit else _OVERFLOW
    return found
