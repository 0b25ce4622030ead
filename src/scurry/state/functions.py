"""Base classes of functions that read state from savepoints or write it into them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scurry.common._type_variables import K, V
from scurry.datastream.functions import Function

if TYPE_CHECKING:
    from scurry.datastream.state import BroadcastState, MapStateDescriptor
    from scurry.datastream.timerservice import TimerService

__all__ = ["BroadcastStateBootstrapFunction", "KeyedStateBootstrapFunction", "KeyedStateReaderFunction"]


class KeyedStateReaderFunction(Function):
    """Read the state of one key after another (Flink's `KeyedStateReaderFunction`).

    `open` registers the states with descriptors, as the job's function does. State that had expired when the savepoint
    was taken is not shown.
    """

    class Context(ABC):
        """The timers of a key."""

        @abstractmethod
        def registered_event_time_timers(self) -> set[int]:
            """Return the times of the key's event-time timers, in milliseconds."""

        @abstractmethod
        def registered_processing_time_timers(self) -> set[int]:
            """Return the times of the key's processing-time timers, in milliseconds."""

    @abstractmethod
    def read_key(self, key: Any, ctx: KeyedStateReaderFunction.Context) -> Iterable[Any] | None:
        """Return or yield any number of results for a key; changes of state are discarded."""


class KeyedStateBootstrapFunction(Function):
    """Write state and timers for records of a key into a savepoint (Flink's `KeyedStateBootstrapFunction`).

    `open` gets the states with the descriptors of the job's function. There is no output, and no timer fires.
    """

    class Context(ABC):
        """The key, timestamp and timers of the current record."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return the timer service; its timers fire in the job that starts from the savepoint."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the record's timestamp in milliseconds, -9223372036854775808 if it has none."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the record's key."""

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedStateBootstrapFunction.Context) -> None:
        """Write the state for a record."""


class BroadcastStateBootstrapFunction(Function):
    """Write broadcast state into a savepoint (Flink's `BroadcastStateBootstrapFunction`)."""

    class Context(ABC):
        """Provide the broadcast state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> BroadcastState[K, V]:
            """Return the broadcast state of a descriptor."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the wall clock in milliseconds."""

    @abstractmethod
    def process_element(self, value: Any, ctx: BroadcastStateBootstrapFunction.Context) -> None:
        """Write the state for a record."""
