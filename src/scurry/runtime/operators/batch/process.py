"""The keyed process function of BATCH, where a key with few records costs little more than these."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Values
from scurry.runtime.exchange.key_records import KeyRecords
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import ProcessContext, TaskInfo, TimerService
from scurry.runtime.operators.keyed import KeyedProcessOperator
from scurry.runtime.operators.record_by_record import followers
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.single_key import SingleKeyBackend
from scurry.runtime.state.slots import EVENT


class _TimerService(TimerService):
    """The timer service of a key at a time, most of whose records ask for a timer that it has."""

    #: the times of the current key's event-time timers
    times: Container[int] = ()

    def register_event_time_timer(self, timestamp: int) -> None:
        if timestamp not in self.times:
            (self.backend or self._keyed()).register_timer(EVENT, timestamp, None)


class BatchKeyedProcessOperator(KeyedProcessOperator):
    """Call the function with the records of many keys, and fire the timers of each key after its last record."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self.service: _TimerService = _TimerService(info.clock)
        self.context = ProcessContext(self.service)

    def bind(self, backend: KeyedStateBackend, watermark: int) -> None:
        super().bind(backend, watermark)
        if isinstance(backend, SingleKeyBackend):
            self.service.times = backend.times[EVENT]

    def process_keys(self, records: KeyRecords, begin: Callable[[Any], None], watermark: int) -> None:
        origins = records.origins
        if not isinstance(origins, int) or followers(self.collector) or self.dead_letters is not None:
            super().process_keys(records, begin, watermark)
            return
        if not origins & 1:
            self._process_untimed(records, begin, watermark)
            return
        hook, context, start = self.watched(0, self._hooks[0]), self.context, 0
        uncopied, copy = self.collector.handing_over()
        value: Any = None
        for key, end in zip(records.keys, records.ends, strict=True):
            begin(key)
            results: Values = []
            times: list[int] = []
            try:
                for value, context.time in zip(records.values[start:end], records.times[start:end], strict=True):
                    some = hook(value, context)
                    if some is not None:
                        for result in some:
                            results.append(result if type(result) is uncopied else copy(result))
                            times.append(context.time)
            except Exception as error:
                raise operator_error(self.plan, error, value) from error
            if results:
                self.collector.look_at(results[0])
                self.collector.emit_tagged(results, times)
            self.end_of_key(watermark)
            start = end

    def _process_untimed(self, records: KeyRecords, begin: Callable[[Any], None], watermark: int) -> None:
        """Call the function with records that have no timestamps."""
        hook, context, start = self.watched(0, self._hooks[0]), self.context, 0
        uncopied, copy = self.collector.handing_over()
        value: Any = None
        for key, end in zip(records.keys, records.ends, strict=True):
            begin(key)
            context.time = None
            results: Values = []
            append = results.append
            try:
                for value in records.values[start:end]:
                    some = hook(value, context)
                    if some is not None:
                        for result in some:
                            append(result if type(result) is uncopied else copy(result))
            except Exception as error:
                raise operator_error(self.plan, error, value) from error
            if results:
                self.collector.look_at(results[0])
                self.collector.emit_tagged(results, None)
            self.end_of_key(watermark)
            start = end
