"""Operators without keys: map, flat_map, filter, process and the connected-stream variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.failure import last_taken, operator_error
from scurry.runtime.functions.context import ProcessContext, TimerService, method
from scurry.runtime.functions.fields import tuple_of_fields
from scurry.runtime.operators.base import RuntimeOperator
from scurry.runtime.operators.record_by_record import PerRecordOperator, followers, process_each
from scurry.runtime.state.store import StateStore


class _OneHookOperator(PerRecordOperator):
    """Call the one hook of a function for each record."""

    hook = ""

    def open(self) -> None:
        super().open()
        self._function = method(self.plan.operator.function, self.hook)


class MapOperator(_OneHookOperator):
    """Emit one result per record."""

    hook = "map"
    one_to_one = True

    def open(self) -> None:
        super().open()
        self._picks = tuple_of_fields(self._function)

    def process(self, values: Values, timestamps: Timestamps) -> None:
        if followers(self.collector):
            super().process(values, timestamps)
            return
        if self._picks is not None and (picked := self._picks(values)) is not None:
            uncopied, _ = self.collector.handing_over()
            self.collector.emit(picked if uncopied is tuple else self.collector.handed_over(picked), timestamps)
            return
        source = iter(values)
        try:
            block = self.collector.handed_over(map(self._function, source))
            if len(block) < len(values):
                raise StopIteration("it was not raised by a generator; next(iterator, default) does not raise it")
        except Exception as error:
            raise operator_error(self.plan, error, last_taken(values, source)) from error
        self.collector.emit(block, timestamps)

    def results(self, source: Iterator[Any], counts: bool) -> Iterator[Any]:
        function, count = self._function, 0
        for value in source:
            try:
                result = function(value)
            except Exception as error:
                raise operator_error(self.plan, error, value) from error
            count += 1
            yield result
        if counts:
            self.collector.count += count


class FilterOperator(_OneHookOperator):
    """Keep accepted records."""

    hook = "filter"

    def open(self) -> None:
        super().open()
        if self.dead_letters is not None:
            self._function = self.dead_letters.guarded_test(self._function)

    def process(self, values: Values, timestamps: Timestamps) -> None:
        if followers(self.collector):
            super().process(values, timestamps)
            return
        function, source = self._function, iter(values)
        try:  # what is kept was handed over before: it is not copied
            if timestamps is None:
                kept, times = [value for value in source if function(value)], None
            else:
                pairs = [pair for pair in zip(source, timestamps, strict=False) if function(pair[0])]
                kept, times = [value for value, _ in pairs], [time for _, time in pairs]
        except Exception as error:
            raise operator_error(self.plan, error, last_taken(values, source)) from error
        self.collector.emit(kept, times)
        if self.dead_letters is not None:
            self.dead_letters.send(timestamps)

    def results(self, source: Iterator[Any], counts: bool) -> Iterator[Any]:
        function, count = self._function, 0
        for value in source:
            try:
                accepted = function(value)
            except Exception as error:
                raise operator_error(self.plan, error, value) from error
            if accepted:
                count += 1
                yield value
        if counts:
            self.collector.count += count


class FlatMapOperator(_OneHookOperator):
    """Emit any number of results per record."""

    hook = "flat_map"

    def open(self) -> None:
        super().open()
        function, letters = self._function, self.dead_letters
        if letters is not None:
            self._function = letters.guarded(lambda value: iter(function(value)))

    def results(self, source: Iterator[Any], counts: bool) -> Iterator[Any]:
        function, guarded, count = self.watched(0, self._function), self.dead_letters is not None, 0
        for value in source:
            try:
                some = function(value)
                if guarded and some is None:  # the record failed
                    continue
                for result in some:
                    count += 1
                    yield result
            except Exception as error:
                raise operator_error(self.plan, error, value) from error
        if counts:
            self.collector.count += count


class MapOrDeadLetterOperator(FlatMapOperator):
    """Run a map that may have no result, because it has dead letters."""

    hook = "map"

    def open(self) -> None:
        _OneHookOperator.open(self)
        function = self._function
        self._function = self.guarded(lambda value: (function(value),))


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
        process_each(self, self.watched(index, self._hooks[index]), None, values, timestamps)


class CoFlatMapOperator(CoMapOperator):
    """Run a CoFlatMapFunction."""

    hooks = ("flat_map1", "flat_map2")

    def _hook(self, hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return hook
