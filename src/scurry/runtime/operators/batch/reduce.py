"""The rolling reduce of BATCH, which emits the last value of each key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce as fold_left
from typing import Any

from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.exchange.key_records import KeyRecords
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.failure import last_taken, operator_error
from scurry.runtime.operators.keyed import KeyedReduceOperator
from scurry.runtime.state.slots import REDUCED


class BatchReduceOperator(KeyedReduceOperator):
    """Fold the records of a key at once; its last value is emitted when it ends."""

    def process_keys(self, records: KeyRecords, begin: Callable[[Any], None], watermark: int) -> None:
        if self._reaching_state:
            super().process_keys(records, begin, watermark)
            return
        reduce, check, start = self._reduce, self._check, 0
        results: Values = []
        some: Values = []
        source: Iterator[Any] = iter(some)
        try:
            for end in records.ends:
                some = records.values[start:end]
                source, start = iter(some), end
                value = next(source)
                if check is not None:
                    check(value)
                results.append(fold_left(reduce, source, value))
        except Exception as error:
            raise operator_error(self.plan, error, last_taken(some, source)) from error
        self.collector.emit(self.collector.handed_over(results), [MAX_TIME] * len(results))

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
