"""The rolling reduce of BATCH, which emits the last value of each key."""

from __future__ import annotations

from functools import reduce as fold_left
from typing import Any

from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.failure import last_taken, operator_error
from scurry.runtime.operators.keyed import KeyedReduceOperator
from scurry.runtime.state.slots import REDUCED


class BatchReduceOperator(KeyedReduceOperator):
    """Fold the records of the current key at once; the last value is emitted when the key ends."""

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        source, entry = iter(values), self.backend.entry
        try:
            if REDUCED in entry:
                value = entry[REDUCED]
            else:
                value = next(source)
                if self._check is not None:
                    self._check(value)
            entry[REDUCED] = fold_left(self._reduce, source, value)
        except Exception as error:
            raise operator_error(self.plan, error, last_taken(values, source)) from error
