"""Process functions: records, time, timers on keyed streams, and broadcast state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic

from scurry.common._type_variables import IN, IN1, IN2, KEY, OUT, K, K_co, T, V
from scurry.common.pickling import of_functions
from scurry.datastream.functions.base import Function

if TYPE_CHECKING:
    from collections.abc import Callable

    from scurry.datastream.functions.base import Results
    from scurry.datastream.state import BroadcastState, MapStateDescriptor, ReadOnlyBroadcastState, StateDescriptor
    from scurry.datastream.time_domain import TimeDomain
    from scurry.datastream.timerservice import TimerService

__all__ = [
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "CoProcessFunction",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStateFunction",
    "ProcessFunction",
]


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


class BaseBroadcastProcessFunction(Function):
    """Base of the functions that read broadcast state from one side and write it from the other."""

    class BaseContext(ABC):
        """Context of both sides: time."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the record's timestamp in ms."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the wall clock in ms."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the current watermark in ms."""

    class Context(BaseContext):
        """Context of the broadcast side, which may write the state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> BroadcastState[K, V]:
            """Return the broadcast state of that name."""

    class ReadOnlyContext(BaseContext):
        """Context of the other side, which only reads the state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> ReadOnlyBroadcastState[K, V]:
            """Return the broadcast state of that name."""


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """Process a stream without keys connected with a broadcast stream."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """Context of `process_broadcast_element`."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """Context of `process_element`."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Results[OUT]:
        """Return or yield results for a record of the stream that is not broadcast."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: BroadcastProcessFunction.Context) -> Results[OUT]:
        """Return or yield results for a broadcast record; every subtask sees each of them."""


@of_functions
class KeyedStateFunction(ABC, Generic[KEY, IN]):
    """Function that `apply_to_keyed_state` applies to the state of each key (Flink's `KeyedStateFunction`)."""

    @abstractmethod
    def process(self, key: KEY, state: IN) -> None:
        """Read or change the state of a key.

        Args:
            key: The key.
            state: Its state, of the kind the descriptor says.
        """


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[K, IN1, IN2, OUT]):
    """Process a keyed stream connected with a broadcast stream."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """Context of `process_broadcast_element`."""

        @abstractmethod
        def apply_to_keyed_state(
            self, state_descriptor: StateDescriptor[T], function: KeyedStateFunction[K, T] | Callable[[K, T], None]
        ) -> None:
            """Apply a function to a keyed state of all keys. Flink's Java API has it; PyFlink does not.

            It reads all keyed state of the operator, so use it for rare broadcast records. In BATCH broadcast records
            are processed before there are any keys, so it has no effect.

            Args:
                state_descriptor: Describes the keyed state.
                function: A KeyedStateFunction or a callable of the key and its state. It may change the state; it
                    cannot yield, so gather results in a list and yield them from `process_broadcast_element`.
            """

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC, Generic[K_co]):
        """Context of `process_element`."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return the clocks and timers of the current key."""

        @abstractmethod
        def get_current_key(self) -> K_co:
            """Return the key of the record or timer."""

    class OnTimerContext(ReadOnlyContext[K_co], ABC):
        """Context of `on_timer`."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Return the clock of the firing timer."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext[K]) -> Results[OUT]:
        """Return or yield results for a record of the keyed stream."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: KeyedBroadcastProcessFunction.Context) -> Results[OUT]:
        """Return or yield results for a broadcast record; there is no current key here."""

    def on_timer(self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext[K]) -> Results[OUT]:
        """Return or yield results when a timer set for `timestamp` (ms) fires."""
