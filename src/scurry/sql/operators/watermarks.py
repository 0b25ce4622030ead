"""The watermarks of a table, computed from its definition for each row."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from scurry.errors import EvaluationError
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import milliseconds
from scurry.sql.operators.calc import Calc, SelectColumns

_NONE = -(2**63)


class RowWatermarks:
    """Compute watermarks of rows: a watermark strategy of batches.

    Attributes:
        idle_timeout_ms: After which time without rows a reader does not hold back the watermark; None for never.
    """

    generates_watermarks = True
    timestamp_assigner = None
    max_out_of_orderness_ms = None
    alignment = None

    def __init__(
        self,
        select: SelectColumns,
        calc: Calc,
        interval_ms: int,
        idle_timeout_ms: int | None,
        each_is_seen: bool = False,
        takes_null: bool = False,
    ) -> None:
        """Describe the watermarks.

        Args:
            select: Selects the columns that the definition refers to.
            calc: Computes the time of each row and its watermark.
            interval_ms: By how much event time moves until a watermark is emitted at once.
            idle_timeout_ms: As the attribute.
            each_is_seen: Whether rows can tell which watermark is before them even if they are not late.
            takes_null: Whether rows without a time pass.
        """
        self._select = select
        self._calc = calc
        self._interval = interval_ms
        self.idle_timeout_ms = idle_timeout_ms
        self._each_is_seen = each_is_seen
        self._takes_null = takes_null

    def open(self, context: Any) -> None:
        """Compile the definition."""
        self._calc.open(context)

    def progress(self, rows: Changes, highest: int, last: int) -> tuple[list[tuple[int, int]], int, int]:
        """Return the effect of rows on the watermark.

        Args:
            highest: The highest watermark of the rows before.
            last: The watermark that was emitted last.

        Returns:
            Positions of rows that are behind an emitted watermark, with that watermark; the last watermark that is
            emitted; the highest watermark of a row.

        Raises:
            EvaluationError: A row has no time.
        """
        (computed,) = self._calc.flat_map(self._select.map(rows))
        times, marks = map(milliseconds, computed.batch.columns)
        if not self._takes_null and (times == _NONE).any():
            raise EvaluationError("RowTime field should not be null, please convert it to a non-null long value.")
        reached = np.maximum.accumulate(np.maximum(marks, highest))
        after, values = [-1], [last]
        steps = reached.tolist()
        position = self._next(steps, last)
        while position < len(steps):
            last = steps[position]
            after.append(position)
            values.append(last)
            position = self._next(steps, last, position)
        if self._each_is_seen:
            cuts = [(row + 1, watermark) for row, watermark in zip(after, values, strict=True) if row + 1 < len(times)]
            return cuts, last, steps[-1]
        if not (times[1:] <= reached[:-1]).any() and times[0] > values[0]:
            return [], last, steps[-1]
        before = np.asarray(values)[np.searchsorted(after, np.arange(len(times)), side="left") - 1]
        behind = np.flatnonzero((times <= before) & (times != _NONE))
        cuts = [(int(each), int(before[each])) for each in behind]
        return cuts, last, steps[-1]

    def _next(self, reached: list[int], last: int, start: int = 0) -> int:
        """Return the position of the first row that causes a watermark after the last one."""
        return bisect_right(reached, last + self._interval if last != _NONE else last, start)
