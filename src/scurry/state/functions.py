"""The functions that read state from savepoints and write it into them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scurry.datastream.functions import Function

if TYPE_CHECKING:
    from scurry.datastream.state import BroadcastState, MapStateDescriptor
    from scurry.datastream.timerservice import TimerService

__all__ = ["BroadcastStateBootstrapFunction", "KeyedStateBootstrapFunction", "KeyedStateReaderFunction"]


class KeyedStateReaderFunction(Function):
    """Reads the state of one key after another (Flink's `KeyedStateReaderFunction`).

    `open` registers the states with descriptors, as the job's function does. State with a time to live shows what was
    alive when the savepoint was taken.
    """

    class Context(ABC):
        """What is known of a key besides its state."""

        @abstractmethod
        def registered_event_time_timers(self) -> set[int]:
            """Return the times of the key's event-time timers, in milliseconds."""

        @abstractmethod
        def registered_processing_time_timers(self) -> set[int]:
            """Return the times of the key's processing-time timers, in milliseconds."""

    @abstractmethod
    def read_key(self, key: Any, ctx: KeyedStateReaderFunction.Context) -> Iterable[Any] | None:
        """Return or yield any number of results for a key; what it does to state goes nowhere."""


class KeyedStateBootstrapFunction(Function):
    """Writes state and timers of the records of each key into a savepoint (Flink's `KeyedStateBootstrapFunction`).

    `open` gets the states by the descriptors of the job's function. There is no output, and no timer fires.
    """

    class Context(ABC):
        """What is known of the record at hand."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Return what sets timers; they fire in the job that starts from the savepoint."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the record's timestamp in milliseconds, -9223372036854775808 if it has none."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """Return the record's key."""

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedStateBootstrapFunction.Context) -> None:
        """Write what there is to keep of a record."""


class BroadcastStateBootstrapFunction(Function):
    """Writes broadcast state into a savepoint (Flink's `BroadcastStateBootstrapFunction`)."""

    class Context(ABC):
        """Gives the state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
            """Return the broadcast state of a descriptor."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the wall clock in milliseconds."""

    @abstractmethod
    def process_element(self, value: Any, ctx: BroadcastStateBootstrapFunction.Context) -> None:
        """Write what there is to keep of a record."""
