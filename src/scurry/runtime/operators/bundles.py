"""The operator that hands whole blocks of records to its function."""

from __future__ import annotations

from typing import Any

from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.failure import NO_RECORD, operator_error
from scurry.runtime.operators.base import RuntimeOperator


class BundleOperator(RuntimeOperator):
    """Run `ops.Bundle` and `ops.BroadcastBundle`."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        self.process_input(0, None, values, timestamps)

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        try:
            results = list(self.plan.operator.function.bundle(index, values))
        except Exception as error:
            raise operator_error(self.plan, error, NO_RECORD) from error
        self.collector.emit_tagged(results, None)
