"""The operators between streams, whose records are single values, and tables, whose records are batches of rows."""

from __future__ import annotations

from scurry.graph import operators as ops
from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.failure import NO_RECORD, operator_error
from scurry.runtime.operators.base import RuntimeOperator


class RecordsToRowsOperator(RuntimeOperator):
    """Run `ops.RecordsToRows`."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        try:
            rows = self.plan.operator.function.rows(values, timestamps)
        except Exception as error:
            index = getattr(error, "index", None)
            raise operator_error(self.plan, error, NO_RECORD if index is None else values[index]) from error
        self.collector.emit([rows], None)

    def watermark(self, watermark: int) -> None:
        operator = self.plan.operator
        assert isinstance(operator, ops.RecordsToRows)
        if watermark == MAX_TIME or operator.watermarks:
            self.collector.watermark(watermark)


class RowsToRecordsOperator(RuntimeOperator):
    """Run `ops.RowsToRecords`."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        function = self.plan.operator.function
        for batch in values:
            try:
                records, times = function.records(batch)
            except Exception as error:
                raise operator_error(self.plan, error, batch) from error
            self.collector.emit(records, times)
