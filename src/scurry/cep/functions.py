"""Functions on matches: process functions, and the older select functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias

from scurry.common._type_variables import IN, OUT
from scurry.common.output_tag import OutputTag
from scurry.common.pickling import of_functions
from scurry.datastream.functions.base import Function, Results, RuntimeContext

__all__ = [
    "EventComparator",
    "Match",
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternTimeoutFunction",
    "TimedOutPartialMatchHandler",
]

#: The events of a match by stage; stages are in the order of their first events, and those without events are absent.
Match: TypeAlias = dict[str, list[IN]]


class _Context(ABC):
    """The time of a match, its key, and side outputs."""

    @abstractmethod
    def timestamp(self) -> int:
        """Return the time of the match in ms: of its last event, or of the watermark that released it.

        Of a partial match that timed out, it is the end of its window.
        """

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the processing time, in ms."""

    @abstractmethod
    def get_current_key(self) -> Any:
        """Return the key of the match."""

    @abstractmethod
    def output(self, output_tag: OutputTag[Any], value: Any) -> None:
        """Emit a value to a side output."""


class PatternProcessFunction(Function, Generic[IN, OUT]):
    """Turn each match of a pattern into any number of results.

    It has no state. With `TimedOutPartialMatchHandler` as another base, it sees partial matches that time out.
    """

    class Context(_Context):
        """Context of `process_match`."""

    @abstractmethod
    def process_match(self, match: Match[IN], ctx: PatternProcessFunction.Context) -> Results[OUT]:
        """Return or yield results for one match; None means no results.

        Args:
            match: The events of the match by stage.
            ctx: The time of the match, and side outputs.
        """


class TimedOutPartialMatchHandler(ABC, Generic[IN]):
    """A base of process functions that see partial matches that time out."""

    @abstractmethod
    def process_timed_out_match(self, match: Match[IN], ctx: PatternProcessFunction.Context) -> Results[Any]:
        """Yield `(output_tag, value)` for a partial match that timed out.

        Args:
            match: The events of the partial match by stage.
            ctx: Its time is that of the end of the window.
        """


@of_functions
class EventComparator(ABC, Generic[IN]):
    """The order of events with equal times."""

    @abstractmethod
    def compare(self, o1: IN, o2: IN) -> int:
        """Return a negative number if `o1` comes first, a positive one if `o2` does, else 0.

        Args:
            o1: An event.
            o2: Another one of the same time.
        """


class PatternSelectFunction(Function, Generic[IN, OUT]):
    """Turn each match into one result."""

    @abstractmethod
    def select(self, match: Match[IN]) -> OUT:
        """Return the result for a match.

        Args:
            match: The events of the match by stage.
        """


class PatternFlatSelectFunction(Function, Generic[IN, OUT]):
    """Turn each match into any number of results."""

    @abstractmethod
    def flat_select(self, match: Match[IN]) -> Results[OUT]:
        """Return or yield the results for a match.

        Args:
            match: The events of the match by stage.
        """


class PatternTimeoutFunction(Function, Generic[IN, OUT]):
    """Turn each partial match that times out into one result."""

    @abstractmethod
    def timeout(self, match: Match[IN], timeout_timestamp: int) -> OUT:
        """Return the result for a partial match.

        Args:
            match: The events of the partial match by stage.
            timeout_timestamp: The end of its window, in ms.
        """


class PatternFlatTimeoutFunction(Function, Generic[IN, OUT]):
    """Turn each partial match that times out into any number of results."""

    @abstractmethod
    def timeout(self, match: Match[IN], timeout_timestamp: int) -> Results[OUT]:
        """Return or yield the results for a partial match.

        Args:
            match: The events of the partial match by stage.
            timeout_timestamp: The end of its window, in ms.
        """


class Select(PatternProcessFunction[Any, Any]):
    """Call a select function."""

    def __init__(self, function: Any, method: str, flat: bool) -> None:
        """Wrap an object with a method of that name, or a callable."""
        self.functions = [function]
        self._method = method
        self._flat = flat

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the functions."""
        for function in self.functions:
            if hasattr(function, "open"):
                function.open(runtime_context)

    def close(self) -> None:
        """Close the functions."""
        for function in self.functions:
            if hasattr(function, "close"):
                function.close()

    def process_match(self, match: Match[Any], ctx: Any) -> Iterable[Any] | None:
        """Return the function's result."""
        result = _hook(self.functions[0], self._method)(match)
        return result if self._flat else (result,)


class SelectWithTimeouts(Select, TimedOutPartialMatchHandler[Any]):
    """Call a select function, and another one for partial matches that time out."""

    def __init__(self, function: Any, method: str, flat: bool, tag: OutputTag[Any], timeout: Any) -> None:
        """Wrap two objects or callables; the results of the second one go to a side output."""
        super().__init__(function, method, flat)
        self.functions.append(timeout)
        self._tag = tag

    def process_timed_out_match(self, match: Match[Any], ctx: Any) -> Iterable[Any]:
        """Return the results of the second function, for the side output."""
        result = _hook(self.functions[1], "timeout")(match, ctx.timestamp())
        return [(self._tag, each) for each in (result or () if self._flat else (result,))]


def _hook(function: Any, method: str) -> Callable[..., Any]:
    return getattr(function, method, function)  # type: ignore[no-any-return]
