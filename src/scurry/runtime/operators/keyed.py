"""Keyed process functions and rolling reduce."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from scurry.common.time import TimeDomain
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import ProcessContext, TaskInfo, TimerService
from scurry.runtime.operators.base import KeyedOperator
from scurry.runtime.operators.record_by_record import RecordTime, emit_each, followers, is_tagged, process_each
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.primitives import reducer
from scurry.runtime.state.slots import REDUCED

#: Looked up once: an attribute of an Enum costs more than the call that it is passed to.
_EVENT_TIME, _PROCESSING_TIME = TimeDomain.EVENT_TIME, TimeDomain.PROCESSING_TIME


class KeyedProcessOperator(KeyedOperator):
    """Run a KeyedProcessFunction."""

    hooks: tuple[str, ...] = ("process_element",)

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self.service = TimerService(info.clock)
        self.context = ProcessContext(self.service)
        self._hooks = [self.guarded(getattr(plan.operator.function, hook)) for hook in self.hooks]
        self._on_timer = getattr(plan.operator.function, "on_timer", None)

    def bind(self, backend: KeyedStateBackend, watermark: int) -> None:
        super().bind(backend, watermark)
        self.service.backend = backend
        self.service.watermark = watermark

    def set_watermark(self, watermark: int) -> None:
        self.current_watermark = self.service.watermark = watermark

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        assert keys is not None
        hook, context, backend = self.watched(index, self._hooks[index]), self.context, self.backend
        if followers(self.collector):
            process_each(self, self._by_key(hook, keys), context, values, timestamps)
            return
        found = backend.found(keys)
        results: Values = []
        append = results.append
        uncopied, copy = self.collector.handing_over()
        value: Any = None
        try:
            if timestamps is None:
                context.time = times = None
                for backend.key, value, backend.entry in zip(keys, values, found, strict=True):
                    some = hook(value, context)
                    if some is not None:
                        for result in some:
                            append(result if type(result) is uncopied else copy(result))
            else:
                times = []
                for backend.key, value, backend.entry, context.time in zip(
                    keys, values, found, timestamps, strict=True
                ):
                    some = hook(value, context)
                    if some is not None:
                        for result in some:
                            append(result if type(result) is uncopied else copy(result))
                            times.append(context.time)
        except Exception as error:
            raise operator_error(self.plan, error, value) from error
        if results:
            self.collector.look_at(results[0])
        self.collector.emit_tagged(results, times)
        if self.dead_letters is not None:
            self.dead_letters.send(timestamps)

    def _by_key(self, hook: Callable[..., Any], keys: list[Any]) -> Callable[..., Any]:
        """Return the hook for records with these keys; each call makes the next key the current one."""
        following, backend = iter(keys), self.backend

        def call(value: Any, context: Any) -> Any:
            backend.select(next(following))
            return hook(value, context)

        return call

    def on_event_time(self, time: int, namespace: Any) -> None:
        self._fire(time, _EVENT_TIME)

    def on_processing_time(self, time: int, namespace: Any) -> None:
        self._fire(time, _PROCESSING_TIME)

    def _fire(self, time: int, domain: TimeDomain) -> None:
        context, on_timer = self.context, self._on_timer
        if on_timer is None:
            return
        context.time, context.domain = time, domain
        if followers(self.collector):
            emit_each(self.collector, self._timer_results, [time], [time], RecordTime())
            return
        try:
            results = on_timer(time, context)
            block = self.collector.handed_over(results) if results else ()
        except Exception as error:
            raise self._timer_error(time, error) from error
        if block:
            self.collector.emit_tagged(block, [time] * len(block))

    def _timer_results(self, source: Iterator[int], counts: bool) -> Iterator[Any]:
        count = 0
        for time in source:
            try:
                for result in self._on_timer(time, self.context) or ():  # type: ignore[misc]
                    if not (counts and is_tagged(result)):
                        count += 1
                        yield result
            except Exception as error:
                raise self._timer_error(time, error) from error
        if counts:
            self.collector.count += count

    def _timer_error(self, time: int, error: Exception) -> Exception:
        return operator_error(self.plan, error, f"timer {time} of key {self.context.get_current_key()!r}")


class KeyedCoProcessOperator(KeyedProcessOperator):
    """Run a KeyedCoProcessFunction."""

    hooks = ("process_element1", "process_element2")


class KeyedReduceOperator(KeyedOperator):
    """Reduce a stream by key: emit each running value (STREAMING) or the last one of each key (BATCH)."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._reduce = reducer(plan.operator.function)
        #: raises an error for the first record of a key if the function cannot reduce it
        self._check = getattr(plan.operator.function, "_check_record", None)
        self._final_only = info.mode == "BATCH"
        self._last_time: int | None = None

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        assert keys is not None
        if self._final_only:
            deque(self._running(keys, iter(values)), maxlen=0)
            self._last_time = timestamps[-1] if timestamps is not None else None
        else:
            results = partial(self._running, keys)
            emit_each(self.collector, results, values, timestamps, RecordTime(), one_to_one=True)

    def _running(self, keys: list[Any], source: Iterator[Any], counts: bool = False) -> Iterator[Any]:
        """Yield the running value of each record's key."""
        reduce, slot, check = self._reduce, REDUCED, self._check
        found = self.found(keys, self.plan.operator.function)
        for value, entry in zip(source, found, strict=True):
            try:
                if slot in entry:
                    value = reduce(entry[slot], value)  # noqa: PLW2901
                elif check is not None:
                    check(value)
            except Exception as error:
                raise operator_error(self.plan, error, value) from error
            entry[slot] = value
            yield value
        if counts:
            self.collector.count += len(keys)

    def end_of_key(self, watermark: int) -> None:
        # Flink's BatchGroupedReduceOperator emits from a timer at the end of time, and results carry its timestamp;
        # if time does not end, they carry that of the last record, as in STREAMING
        entry, time = self.backend.entry, MAX_TIME if watermark == MAX_TIME else self._last_time
        if self._final_only and REDUCED in entry:
            self.collector.emit(self.collector.handed_over([entry[REDUCED]]), None if time is None else [time])
