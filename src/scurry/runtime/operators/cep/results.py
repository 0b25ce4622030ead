"""The context of process functions of patterns, and the collector of their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.common.output_tag import OutputTag
from scurry.errors import UnsupportedError
from scurry.runtime.exchange.collector import Collector, Values
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.functions.context import RuntimeContext
from scurry.runtime.keys import original_key


class Emitted:
    """Results that functions have emitted and the operator has not forwarded yet."""

    def __init__(self, context: MatchContext, collector: Collector) -> None:
        self.results: Values = []
        self._collector = collector
        self.times: list[int] = []
        self._context = context
        context.emitted = self

    def add(self, results: Any) -> None:
        """Add the results of a function."""
        if results is not None:
            uncopied, copy = self._collector.handing_over()
            for each in results:  # a generator may emit to side outputs meanwhile
                self.results.append(each if type(each) is uncopied else copy(each))
            self.times += [self._context.time] * (len(self.results) - len(self.times))

    def clear(self) -> None:
        """Clear the results."""
        self.results, self.times = [], []


class MatchContext:
    """Flink's PatternProcessFunction.Context."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self.time = MIN_TIME
        self.key: Any = None
        self.emitted: Any = None
        self._clock = clock

    def timestamp(self) -> int:
        """Return the time of the match, in ms."""
        return self.time

    def current_processing_time(self) -> int:
        """Return the processing time, in ms."""
        return self._clock()

    def get_current_key(self) -> Any:
        """Return the key of the match."""
        return original_key(self.key)

    def output(self, output_tag: OutputTag, value: Any) -> None:
        """Emit a value to a side output."""
        self.emitted.add(((output_tag, value),))


class StatelessContext(RuntimeContext):
    """The runtime context of functions and conditions of patterns, which have no state in Flink either."""

    def get_state(self, state_descriptor: Any) -> Any:
        """Refuse."""
        raise UnsupportedError("State is not supported in functions and conditions of patterns.")

    get_list_state = get_map_state = get_reducing_state = get_aggregating_state = get_state
