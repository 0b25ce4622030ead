"""Operators without keys: map, flat_map, filter, process and the connected-stream variants."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from operator import is_not
from typing import Any

from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.failure import last_taken, operator_error
from scurry.runtime.functions.context import ProcessContext, TimerService, method
from scurry.runtime.operators.base import RuntimeOperator
from scurry.runtime.state.store import StateStore

_IS_SOME = partial(is_not, None)


class _PerRecord(RuntimeOperator):
    """Call one function per record; on failure, the iterator's remaining length shows which record it was."""

    hook = ""

    def open(self) -> None:
        super().open()
        self._function = method(self.plan.operator.function, self.hook)

    def _failed(self, error: Exception, values: Values, source: Any) -> Exception:
        return operator_error(self.plan, error, last_taken(values, source))


class MapOperator(_PerRecord):
    """Emit one result per record."""

    hook = "map"

    def process(self, values: Values, timestamps: Timestamps) -> None:
        function, source = self._function, iter(values)
        try:
            results = [function(value) for value in source]
        except Exception as error:
            raise self._failed(error, values, source) from error
        self.collector.emit(results, timestamps)


class FilterOperator(_PerRecord):
    """Keep accepted records."""

    hook = "filter"

    def open(self) -> None:
        super().open()
        if self.dead_letters is not None:
            self._function = self.dead_letters.guarded_test(self._function)

    def process(self, values: Values, timestamps: Timestamps) -> None:
        function, source = self._function, iter(values)
        try:
            if timestamps is None:
                kept, times = [value for value in source if function(value)], None
            else:
                pairs = [pair for pair in zip(source, timestamps, strict=False) if function(pair[0])]
                kept, times = [value for value, _ in pairs], [time for _, time in pairs]
        except Exception as error:
            raise self._failed(error, values, source) from error
        self.collector.emit(kept, times)
        if self.dead_letters is not None:
            self.dead_letters.send(timestamps)


class FlatMapOperator(_PerRecord):
    """Emit any number of results per record."""

    hook = "flat_map"

    def open(self) -> None:
        super().open()
        function, letters = self._function, self.dead_letters
        if letters is not None:  # a hook with dead letters has None for a record that failed
            self._function = letters.guarded(lambda value: iter(function(value)))

    def process(self, values: Values, timestamps: Timestamps) -> None:
        source = iter(values)
        try:
            expansion = expand if self.dead_letters is not None else expand_each
            results, times = expansion(self.watched(0, self._function), source, timestamps)
        except Exception as error:
            raise self._failed(error, values, source) from error
        self.collector.emit(results, times)
        if self.dead_letters is not None:
            self.dead_letters.send(timestamps)


class MapOrDeadLetterOperator(FlatMapOperator):
    """Run a map that may have no result, because it has dead letters."""

    hook = "map"

    def open(self) -> None:
        _PerRecord.open(self)
        function = self._function
        self._function = self.guarded(lambda value: (function(value),))


def expand(function: Callable[[Any], Any], source: Any, timestamps: Timestamps) -> tuple[Values, Timestamps]:
    """Apply a function that returns an iterable or None; results carry the timestamp of their record."""
    if timestamps is None:
        return list(chain.from_iterable(filter(_IS_SOME, map(function, source)))), None
    results: Values = []
    extend = results.extend
    times: list[int] = []
    for value, time in zip(source, timestamps, strict=False):
        some = function(value)
        if some is not None:
            before = len(results)
            extend(some)
            times += [time] * (len(results) - before)
    return results, times


def expand_each(function: Callable[[Any], Any], source: Any, timestamps: Timestamps) -> tuple[Values, Timestamps]:
    """Apply a function that returns an iterable, as `expand` does; None is none, as in PyFlink's `flat_map`."""
    if timestamps is None:
        return list(chain.from_iterable(map(function, source))), None
    results: Values = []
    extend = results.extend
    times: list[int] = []
    for value, time in zip(source, timestamps, strict=False):
        before = len(results)
        extend(function(value))
        times += [time] * (len(results) - before)
    return results, times


def process_each(
    operator: RuntimeOperator, hook: Callable[[Any, Any], Any], context: ProcessContext, values: Values,
    timestamps: Timestamps,
) -> None:  # fmt: skip
    """Call a process function's hook for each record and emit what it yields."""
    source = iter(values)
    times = iter(timestamps) if timestamps is not None else None

    def call(value: Any) -> Any:
        context.time = next(times) if times is not None else None
        return hook(value, context)

    try:
        results, out_times = expand(call, source, timestamps)
    except Exception as error:
        raise operator_error(operator.plan, error, last_taken(values, source)) from error
    operator.collector.emit_tagged(results, out_times)
    if operator.dead_letters is not None:
        operator.dead_letters.send(timestamps)


class ProcessOperator(RuntimeOperator):
    """Run a ProcessFunction without keys."""

    hooks: tuple[str, ...] = ("process_element",)

    def open(self) -> None:
        super().open()
        self._service = TimerService(self.info.clock)
        self._context = ProcessContext(self._service)
        self._hooks = [self.guarded(method(self.plan.operator.function, hook)) for hook in self.hooks]

    def process(self, values: Values, timestamps: Timestamps) -> None:
        self.process_input(0, None, values, timestamps)

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        process_each(self, self.watched(index, self._hooks[index]), self._context, values, timestamps)

    def begin_batch(self, store: StateStore, watermark: int) -> None:
        self._service.watermark = watermark

    def watermark(self, watermark: int) -> None:
        self._service.watermark = watermark
        self.collector.watermark(watermark)


class CoProcessOperator(ProcessOperator):
    """Run a CoProcessFunction without keys."""

    hooks = ("process_element1", "process_element2")


class CoMapOperator(RuntimeOperator):
    """Run a CoMapFunction; a result of None is dropped."""

    hooks = ("map1", "map2")

    def open(self) -> None:
        super().open()
        self._hooks = [self.guarded(self._hook(method(self.plan.operator.function, hook))) for hook in self.hooks]

    def _hook(self, hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def some(value: Any) -> Any:
            result = hook(value)
            return None if result is None else (result,)

        return some

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        source = iter(values)
        try:
            results, times = expand(self.watched(index, self._hooks[index]), source, timestamps)
        except Exception as error:
            raise operator_error(self.plan, error, last_taken(values, source)) from error
        self.collector.emit(results, times)
        if self.dead_letters is not None:
            self.dead_letters.send(timestamps)


class CoFlatMapOperator(CoMapOperator):
    """Run a CoFlatMapFunction."""

    hooks = ("flat_map1", "flat_map2")

    def _hook(self, hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return hook
