"""The contents that a window keeps of its elements, and the results that it emits when it fires."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce as fold_left
from typing import TYPE_CHECKING, Any, Protocol

from scurry.errors import KeyedStateError
from scurry.graph import operators as ops
from scurry.runtime.exchange.collector import Values
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.functions.context import method
from scurry.runtime.keys import original_key
from scurry.runtime.state.primitives import reducer

if TYPE_CHECKING:
    from scurry.runtime.functions.state_descriptor import StateDescriptor


class WindowFold(Protocol):
    """Turn elements into window contents."""

    def first(self, value: Any) -> Any:
        """Return the contents of a window with one element."""

    def more(self, contents: Any, value: Any) -> Any:
        """Return the contents with an element added."""

    def all(self, values: Iterator[Any]) -> Any:
        """Return the contents of a window with these elements, at least one."""

    def further(self, contents: Any, values: Iterator[Any]) -> Any:
        """Return the contents with these elements added."""

    def merge(self, contents: list[Any]) -> Any:
        """Return the contents of several windows merged into one."""

    def elements(self, contents: Any) -> Values:
        """Return the elements that the window function receives."""

    def elements_of(self, values: Values) -> Values:
        """Return the elements that it receives for elements that were kept individually, possibly none."""


class ListFold:
    """Keep all elements."""

    def first(self, value: Any) -> Any:
        return [value]

    def more(self, contents: Any, value: Any) -> Any:
        contents.append(value)
        return contents

    def all(self, values: Iterator[Any]) -> Any:
        return list(values)

    def further(self, contents: Any, values: Iterator[Any]) -> Any:
        contents += values
        return contents

    def merge(self, contents: list[Any]) -> Any:
        return [value for values in contents for value in values]

    def elements(self, contents: Any) -> Values:
        return list(contents)

    def elements_of(self, values: Values) -> Values:
        return values


class CoGroupFold:
    """Keep all elements, separated by stream; an element arrives as (side, value)."""

    def first(self, value: Any) -> Any:
        return self.more(([], []), value)

    def more(self, contents: Any, value: Any) -> Any:
        contents[value[0]].append(value[1])
        return contents

    def all(self, values: Iterator[Any]) -> Any:
        return self.further(([], []), values)

    def further(self, contents: Any, values: Iterator[Any]) -> Any:
        for side, value in values:
            contents[side].append(value)
        return contents

    def merge(self, contents: list[Any]) -> Any:
        return tuple([value for sides in contents for value in sides[side]] for side in (0, 1))

    def elements(self, contents: Any) -> Values:
        return [list(values) for values in contents]

    def elements_of(self, values: Values) -> Values:
        return [[value for of, value in values if of == side] for side in (0, 1)]


class ReduceFold:
    """Reduce elements as they arrive."""

    def __init__(self, function: Any) -> None:
        self.more = reducer(function)

    def first(self, value: Any) -> Any:
        return value

    def all(self, values: Iterator[Any]) -> Any:
        return fold_left(self.more, values)

    def further(self, contents: Any, values: Iterator[Any]) -> Any:
        return fold_left(self.more, values, contents)

    def merge(self, contents: list[Any]) -> Any:
        return fold_left(self.more, contents)

    def elements(self, contents: Any) -> Values:
        return [contents]

    def elements_of(self, values: Values) -> Values:
        return [fold_left(self.more, values)] if values else []


class AggregateFold:
    """Add elements to an accumulator as they arrive."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def first(self, value: Any) -> Any:
        return self._function.add(value, self._function.create_accumulator())

    def more(self, contents: Any, value: Any) -> Any:
        return self._function.add(value, contents)

    def all(self, values: Iterator[Any]) -> Any:
        add = self._function.add
        contents = add(next(values), self._function.create_accumulator())
        for value in values:
            contents = add(value, contents)
        return contents

    def further(self, contents: Any, values: Iterator[Any]) -> Any:
        add = self._function.add
        for value in values:
            contents = add(value, contents)
        return contents

    def merge(self, contents: list[Any]) -> Any:
        return fold_left(self._function.merge, contents)

    def elements(self, contents: Any) -> Values:
        return [self._function.get_result(contents)]

    def elements_of(self, values: Values) -> Values:
        contents = self._function.create_accumulator()
        for value in values:
            contents = self._function.add(value, contents)
        return self.elements(contents)


def fold_of(spec: ops.Window) -> WindowFold:
    if spec.hook is ops.WindowHook.CO_GROUP:
        return CoGroupFold()
    if spec.pre_aggregation is ops.PreAggregation.REDUCE:
        return ReduceFold(spec.pre_aggregate)
    if spec.pre_aggregation is ops.PreAggregation.AGGREGATE:
        return AggregateFold(spec.pre_aggregate)
    return ListFold()


class WindowEmitter:
    """Call the window function on fired windows and gather its results into blocks."""

    def __init__(self, operator: Any) -> None:
        self._operator = operator
        spec: ops.Window = operator.spec
        self._fold = operator.fold
        self._over_all = spec.over_all
        self._hook = method(spec.function, spec.hook.value) if spec.hook is not None else None
        self._with_context = spec.hook is ops.WindowHook.PROCESS
        self._of_two_inputs = spec.hook is ops.WindowHook.CO_GROUP
        self._context = WindowContext(operator)
        self._clear = getattr(spec.function, "clear", None) if self._with_context else None
        self._results: Values = []
        self._times: list[int] = []

    def emit(self, window: Any, contents: Any, time: int) -> None:
        """Evaluate a window that fires; results have the timestamp of the element or timer that makes it fire."""
        self.evaluate(window, self._fold.elements(contents), time)

    def evaluate(self, window: Any, elements: Values, time: int) -> None:
        """Evaluate a window over the elements that its function receives."""
        if self._hook is None:
            some: Any = elements
        elif self._of_two_inputs:
            some = self._hook(*elements)
        else:
            self._context.of = window
            key = () if self._over_all else (original_key(self._operator.backend.key),)
            about = self._context if self._with_context else window
            some = self._hook(*key, about, elements)
        results = [] if some is None else self._operator.collector.handed_over(some)
        self._results += results
        self._times += [time] * len(results)

    def clear(self, window: Any) -> None:
        """Let the window function clear its per-window state, because the window has ended."""
        if self._clear is not None:
            self._context.of = window
            self._clear(self._context)

    def flush(self, at_least: int = 1) -> None:
        """Pass the emitted records to the collector, if they are so many."""
        if len(self._results) >= at_least:
            results, times = self._results, self._times
            self._results, self._times = [], []
            timeless = times[0] == MIN_TIME  # as are all elements of a block, then
            self._operator.collector.emit_tagged(results, None if timeless else times)


class WindowContext:
    """Flink's ProcessWindowFunction.Context and ProcessAllWindowFunction.Context."""

    def __init__(self, operator: Any) -> None:
        self._operator = operator
        self.of: Any = None

    def window(self) -> Any:
        """Return the window being evaluated."""
        return self.of

    def current_processing_time(self) -> int:
        """Return the processing time in milliseconds."""
        return int(self._operator.info.clock.now())

    def current_watermark(self) -> int:
        """Return the operator's watermark."""
        return int(self._operator.current_watermark)

    def window_state(self) -> Any:
        """Return the state of this key and window."""
        return WindowStateStore(self._operator, self.of)

    def global_state(self) -> Any:
        """Return the state of this key, shared by its windows."""
        return WindowStateStore(self._operator, None)


class WindowStateStore:
    """Flink's KeyedStateStore as a window function sees it."""

    def __init__(self, operator: Any, window: Any) -> None:
        self._operator = operator
        self._window = window

    def get_state(self, state_descriptor: StateDescriptor) -> Any:
        """Return the state of a descriptor.

        Raises:
            KeyedStateError: It would belong to a window that may still be merged into another (as in Flink).
        """
        if self._window is not None and self._operator.spec.merging:
            raise KeyedStateError(
                f"windows that merge have no state of their own such as {state_descriptor.name!r}: keep it for the "
                "key, with context.global_state()"
            )
        return self._operator.states.get(state_descriptor, self._window)

    get_list_state = get_map_state = get_reducing_state = get_aggregating_state = get_state
