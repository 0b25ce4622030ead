"""Functions applied to the contents of a window that fires."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Generic

from scurry.common._type_variables import IN, KEY, OUT, WINDOW, T, W_co
from scurry.common.pickling import of_functions
from scurry.datastream.functions.base import Function, KeyedStateStore
from scurry.errors import ArgumentTypeError

if TYPE_CHECKING:
    from scurry.datastream.functions.base import Results

__all__ = [
    "AllWindowFunction",
    "DeltaFunction",
    "ProcessAllWindowFunction",
    "ProcessWindowFunction",
    "WindowFunction",
    "delta_of",
]


class WindowFunction(Function, Generic[IN, OUT, KEY, WINDOW]):
    """Evaluate a window of one key."""

    @abstractmethod
    def apply(self, key: KEY, window: WINDOW, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return or yield the results for the elements of a window."""


class AllWindowFunction(Function, Generic[IN, OUT, WINDOW]):
    """Evaluate a window over all records of a stream."""

    @abstractmethod
    def apply(self, window: WINDOW, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return or yield the results for the elements of a window."""


class _WindowStates(ABC, Generic[W_co]):
    """The window being evaluated, and its state."""

    @abstractmethod
    def window(self) -> W_co:
        """Return the window."""

    @abstractmethod
    def window_state(self) -> KeyedStateStore:
        """Return state that belongs to this key and this window; clear it in the function's `clear`."""

    @abstractmethod
    def global_state(self) -> KeyedStateStore:
        """Return state that belongs to this key and is shared by all its windows."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, WINDOW]):
    """Evaluate a window of one key, with access to the window itself, to time and to state."""

    class Context(_WindowStates[W_co]):
        """Context of `process`."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the wall clock in ms."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the current watermark in ms."""

    @abstractmethod
    def process(self, key: KEY, context: ProcessWindowFunction.Context[WINDOW], elements: Iterable[IN]) -> Results[OUT]:
        """Return or yield the results for the elements of a window."""

    def clear(self, context: ProcessWindowFunction.Context[WINDOW]) -> None:
        """Clear the state the function has for the window; called when the window expires."""


class ProcessAllWindowFunction(Function, Generic[IN, OUT, WINDOW]):
    """Evaluate a window over all records, with access to the window itself and to state."""

    class Context(_WindowStates[W_co]):
        """Context of `process`."""

    @abstractmethod
    def process(self, context: ProcessAllWindowFunction.Context[WINDOW], elements: Iterable[IN]) -> Results[OUT]:
        """Return or yield the results for the elements of a window."""

    def clear(self, context: ProcessAllWindowFunction.Context[WINDOW]) -> None:
        """Clear the state the function has for the window; called when the window expires."""


@of_functions
class DeltaFunction(ABC, Generic[IN]):
    """Measure the distance between two records, for `DeltaTrigger` and `DeltaEvictor`."""

    @abstractmethod
    def get_delta(self, old_data_point: IN, new_data_point: IN) -> float:
        """Return the distance between an earlier record and a later one."""


def delta_of(function: DeltaFunction[T] | Callable[[T, T], float]) -> Callable[[T, T], float]:
    """Return the callable of a DeltaFunction, or the callable itself.

    Raises:
        ArgumentTypeError: `function` is neither.
    """
    if isinstance(function, DeltaFunction):
        return function.get_delta
    if callable(function) and not isinstance(function, type):
        return function
    raise ArgumentTypeError(f"expected a DeltaFunction or a callable of two records, got {function!r}")
