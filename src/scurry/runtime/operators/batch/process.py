"""The keyed process function of BATCH, where a key with few records costs little more than these."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
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


class _LookedUp(ProcessContext):
    """The context of the records of a key, whose times are only looked up when a function asks for one.

    Attributes:
        asked: Whether a function has asked for the time of a record, or has returned results, which have it.
    """

    __slots__ = ("_source", "_times", "asked")

    def __init__(self, service: TimerService) -> None:
        self._service, self.domain = service, None
        self._source: Any = iter(())
        self._times: array[int] | None = None
        self.asked = False

    def over(self, source: Iterator[Any], times: array[int] | None) -> None:
        """Have the times of the records that are taken from a list iterator, which knows how many are left."""
        self._source, self._times = source, times

    @property
    def time(self) -> int | None:  # type: ignore[override]
        self.asked, times = True, self._times
        return None if times is None else times[len(times) - self._source.__length_hint__() - 1]


class BatchKeyedProcessOperator(KeyedProcessOperator):
    """Call the function with the records of many keys, and fire the timers of each key after its last record."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._looked_up = _LookedUp(self.service)

    def bind(self, backend: KeyedStateBackend, watermark: int) -> None:
        super().bind(backend, watermark)
        if isinstance(backend, SingleKeyBackend):
            register: Any = backend.times[EVENT].__getitem__
            self.service.register_event_time_timer = register  # type: ignore[method-assign]

    def process_keys(self, records: KeyRecords, begin: Callable[[Any], None], watermark: int) -> None:
        origins = records.origins
        if not isinstance(origins, int) or followers(self.collector) or self.dead_letters is not None:
            super().process_keys(records, begin, watermark)
            return
        hook, start, times = self.watched(0, self._hooks[0]), 0, None
        for key, end in zip(records.keys, records.ends, strict=True):
            begin(key)
            if origins & 1:
                times = records.times[start:end]
            results, result_times = self._results(hook, records.values[start:end], times)
            if results:
                self.collector.look_at(results[0])
                self.collector.emit_tagged(results, result_times)
            self.end_of_key(watermark)
            start = end

    def _results(
        self, hook: Callable[..., Any], values: Values, times: array[int] | None
    ) -> tuple[Values, list[int] | None]:
        """Call the function with the records of a key; return its results and their times."""
        context, looked_up, source = self.context, self._looked_up, iter(values)
        uncopied, copy = self.collector.handing_over()
        results: Values = []
        result_times: list[Any] = []
        value: Any = None
        try:
            if times is not None and looked_up.asked:
                for value, context.time in zip(source, times, strict=True):
                    some = hook(value, context)
                    if some is not None:
                        for result in some:
                            results.append(result if type(result) is uncopied else copy(result))
                            result_times.append(context.time)
            else:
                looked_up.over(source, times)
                for value in source:
                    some = hook(value, looked_up)
                    if some is not None:
                        for result in some:
                            results.append(result if type(result) is uncopied else copy(result))
                            if times is not None:
                                result_times.append(looked_up.time)
        except Exception as error:
            raise operator_error(self.plan, error, value) from error
        return results, None if times is None else result_times
