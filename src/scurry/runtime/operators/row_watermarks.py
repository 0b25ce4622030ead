"""The operator that generates the watermarks of tables."""

from __future__ import annotations

from typing import Any

from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.operators.timestamps import AssignTimestampsOperator


class AssignWatermarksOperator(AssignTimestampsOperator):
    """Generate watermarks per row, as Flink's WatermarkAssigner does, for records that are batches of rows.

    The watermark of a row follows it at once where event time has moved by more than the emit interval. A batch is cut
    only in front of rows that are behind such a watermark: no other row can tell whether the watermark came earlier.
    """

    def functions(self) -> list[Any]:
        return [self.plan.operator.function]

    def open(self) -> None:
        self._open(self.plan.operator.function)
        self._batch = -1
        self.last = self._before = MIN_TIME
        self.begin()

    def begin(self) -> None:
        """Begin a batch, so that a replay generates the same watermarks."""
        if self.info.batch_id != self._batch:
            self._batch, self._before = self.info.batch_id, self.last
        self.last = self._highest = self._in_force = self._before
        self.idle = False

    def process(self, values: Values, timestamps: Timestamps) -> None:
        function, value = self.plan.operator.function, None
        try:
            for value in values:
                self._process(value, *function.progress(value, self._highest, self.last))
        except Exception as error:
            raise operator_error(self.plan, error, value) from error

    def _process(self, rows: Any, cuts: list[tuple[int, int]], emitted: int, highest: int) -> None:
        """Emit rows.

        Args:
            rows: The rows.
            cuts: Positions of rows that are behind a watermark, with that watermark.
            emitted: The last watermark that a row has caused.
            highest: The highest watermark of a row.
        """
        start = 0
        for position, watermark in cuts:
            if watermark > self._in_force:
                if position > start:
                    self.collector.emit([rows.slice(start, position - start)], None)
                    start = position
                self._forward(watermark)
                if self.punctuate is not None:
                    self.punctuate()
                self._in_force = watermark
        self.collector.emit([rows.slice(start) if start else rows], None)
        self._forward(emitted)
        self._highest = highest

    def emit_periodic(self) -> None:
        """Emit the current watermark; called when the auto-watermark interval has passed."""
        self._forward(self._highest)
