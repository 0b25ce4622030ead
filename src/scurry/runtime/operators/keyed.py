"""Keyed process functions and rolling reduce."""

from __future__ import annotations

from typing import Any

from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import ProcessContext, TaskInfo, TimerService
from scurry.runtime.operators.base import KeyedOperator
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.primitives import reducer
from scurry.runtime.state.slots import EVENT, PROCESSING, REDUCED
from scurry.runtime.state.timer import time_domain


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
        found, load = map(backend.entries.get, keys), backend.load  # each is found when its record is
        results: Values = []
        extend = results.extend
        value: Any = None
        try:
            if timestamps is None:
                context.time = times = None
                for key, value, entry in zip(keys, values, found, strict=True):
                    backend.entry = load(key) if entry is None else entry
                    backend.key = key
                    some = hook(value, context)
                    if some is not None:
                        extend(some)
            else:
                times = []
                for key, value, entry, context.time in zip(keys, values, found, timestamps, strict=True):
                    backend.entry = load(key) if entry is None else entry
                    backend.key = key
                    some = hook(value, context)
                    if some is not None:
                        before = len(results)
                        extend(some)
                        times += [context.time] * (len(results) - before)
        except Exception as error:
            raise operator_error(self.plan, error, value) from error
        self.collector.emit_tagged(results, times)
        if self.dead_letters is not None:
            self.dead_letters.send(timestamps)

    def on_event_time(self, time: int, namespace: Any) -> None:
        self._fire(time, EVENT)

    def on_processing_time(self, time: int, namespace: Any) -> None:
        self._fire(time, PROCESSING)

    def _fire(self, time: int, domain: int) -> None:
        context = self.context
        context.time, context.domain = time, time_domain(domain)
        try:
            some = self._on_timer(time, context) if self._on_timer is not None else None
            results = list(some) if some is not None else []
        except Exception as error:
            key = context.get_current_key()
            raise operator_error(self.plan, error, f"timer {time} of key {key!r}") from error
        if results:
            self.collector.emit_tagged(results, [time] * len(results))


class KeyedCoProcessOperator(KeyedProcessOperator):
    """Run a KeyedCoProcessFunction."""

    hooks = ("process_element1", "process_element2")


class KeyedReduceOperator(KeyedOperator):
    """Reduce a stream by key: emit each running value (STREAMING) or the last one of each key (BATCH)."""

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._reduce = reducer(plan.operator.function)
        self._final_only = info.mode == "BATCH"
        self._last_time: int | None = None

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        assert keys is not None
        reduce, slot = self._reduce, REDUCED
        find, load = self.finder(self.plan.operator.function), self.backend.load
        results: Values = []
        append = results.append
        value: Any = None
        try:
            for key, value in zip(keys, values, strict=True):
                entry = find(key)
                if entry is None:
                    entry = load(key)
                if slot in entry:
                    value = reduce(entry[slot], value)
                entry[slot] = value
                append(value)
        except Exception as error:
            raise operator_error(self.plan, error, value) from error
        if self._final_only:
            self._last_time = timestamps[-1] if timestamps is not None else None
        else:
            self.collector.emit(results, timestamps)

    def end_of_key(self, watermark: int) -> None:
        # Flink's BatchGroupedReduceOperator emits from a timer at the end of time, and results carry its timestamp;
        # if time does not end, they carry that of the last record, as in STREAMING
        entry, time = self.backend.entry, MAX_TIME if watermark == MAX_TIME else self._last_time
        if self._final_only and REDUCED in entry:
            self.collector.emit([entry[REDUCED]], None if time is None else [time])
