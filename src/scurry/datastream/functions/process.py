"""Process functions: records, time and, on keyed streams, timers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic

from scurry.common._type_variables import IN, IN1, IN2, OUT, K, K_co
from scurry.datastream.functions.base import Function

if TYPE_CHECKING:
    from scurry.datastream.functions.base import Results
    from scurry.datastream.time_domain import TimeDomain
    from scurry.datastream.timerservice import TimerService

__all__ = ["CoProcessFunction", "KeyedCoProcessFunction", "KeyedProcessFunction", "ProcessFunction"]


class _Context(ABC):
    """Information about the record being processed."""

    @abstractmethod
    def timer_service(self) -> TimerService:
        """Return the clocks; timers can only be set on keyed streams."""

    @abstractmethod
    def timestamp(self) -> int:
        """Return the record's (or firing timer's) timestamp in ms, -9223372036854775808 if it has none."""


class _KeyedContext(_Context, Generic[K_co]):
    """Information about the record being processed and its key."""

    @abstractmethod
    def get_current_key(self) -> K_co:
        """Return the key of the record or timer."""


class ProcessFunction(Function, Generic[IN, OUT]):
    """Turn each record of a stream without keys into any number of others, with access to time.

    Yield `(output_tag, value)` to emit to a side output.
    """

    class Context(_Context):
        """Context of `process_element`."""

    @abstractmethod
    def process_element(self, value: IN, ctx: ProcessFunction.Context) -> Results[OUT]:
        """Return or yield results for one record; None means no results."""


class KeyedProcessFunction(Function, Generic[K, IN, OUT]):
    """Process the records of a keyed stream with state and timers per key."""

    class Context(_KeyedContext[K_co]):
        """Context of `process_element`."""

    class OnTimerContext(Context[K_co]):
        """Context of `on_timer`."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return the clock of the firing timer."""

    @abstractmethod
    def process_element(self, value: IN, ctx: KeyedProcessFunction.Context[K]) -> Results[OUT]:
        """Return or yield results for one record; None means no results."""

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[K]) -> Results[OUT]:
        """Return or yield results when a timer set for `timestamp` (ms) fires."""


class CoProcessFunction(Function, Generic[IN1, IN2, OUT]):
    """Process two connected streams without keys."""

    class Context(_Context):
        """Context of the process methods."""

    @abstractmethod
    def process_element1(self, value: IN1, ctx: CoProcessFunction.Context) -> Results[OUT]:
        """Return or yield results for a record of the first stream."""

    @abstractmethod
    def process_element2(self, value: IN2, ctx: CoProcessFunction.Context) -> Results[OUT]:
        """Return or yield results for a record of the second stream."""


class KeyedCoProcessFunction(Function, Generic[K, IN1, IN2, OUT]):
    """Process two connected keyed streams that share state and timers per key."""

    class Context(_KeyedContext[K_co]):
        """Context of the process methods."""

    class OnTimerContext(Context[K_co]):
        """Context of `on_timer`."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return the clock of the firing timer."""

    @abstractmethod
    def process_element1(self, value: IN1, ctx: KeyedCoProcessFunction.Context[K]) -> Results[OUT]:
        """Return or yield results for a record of the first stream."""

    @abstractmethod
    def process_element2(self, value: IN2, ctx: KeyedCoProcessFunction.Context[K]) -> Results[OUT]:
        """Return or yield results for a record of the second stream."""

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext[K]) -> Results[OUT]:
        """Return or yield results when a timer set for `timestamp` (ms) fires."""
