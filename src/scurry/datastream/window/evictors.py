"""Evictors, which remove elements from a window that fires, before or after the window function sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from scurry.common._type_variables import WINDOW
from scurry.common.pickling import of_functions
from scurry.common.time import TimeAmount, to_millis
from scurry.common.window_elements import TimestampedValue
from scurry.datastream.functions.window import DeltaFunction, delta_of
from scurry.datastream.window.windows import Window
from scurry.errors import ArgumentError

if TYPE_CHECKING:
    from scurry.metrics import MetricGroup

__all__ = ["CountEvictor", "DeltaEvictor", "Evictor", "TimeEvictor"]

Elements: TypeAlias = list[TimestampedValue]
Delta: TypeAlias = DeltaFunction | Callable[[Any, Any], float]


@of_functions
class Evictor(ABC, Generic[WINDOW]):
    """Remove elements from a window whenever its trigger fires (Flink's `Evictor`).

    A window with an evictor keeps all of its elements, so that reduce and aggregate functions run over what is left
    each time the window fires. Evicted elements are removed for later firings, too.

    Example:
        >>> class DropNegative(Evictor):
        ...     def evict_before(self, elements, size, window, evictor_context):
        ...         elements[:] = [element for element in elements if element.value >= 0]
        ...
        ...     def evict_after(self, elements, size, window, evictor_context):
        ...         pass
    """

    class EvictorContext(ABC):
        """Time and metrics."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the wall clock in ms."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Return the group in which the evictor registers its metrics."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the current watermark in ms."""

    @abstractmethod
    def evict_before(
        self, elements: Elements, size: int, window: WINDOW, evictor_context: Evictor.EvictorContext
    ) -> None:
        """Remove elements before the window function is called.

        Args:
            elements: The elements in the order they came, to be changed in place (`del elements[:n]`).
            size: Their number.
            window: The window.
            evictor_context: Time and metrics.
        """

    @abstractmethod
    def evict_after(
        self, elements: Elements, size: int, window: WINDOW, evictor_context: Evictor.EvictorContext
    ) -> None:
        """Remove elements after the window function was called; the parameters are those of `evict_before`."""


class _BuiltinEvictor(Evictor[Window]):
    """Evict either before or after the window function."""

    def __init__(self, do_evict_after: bool) -> None:
        self._do_evict_after = do_evict_after

    def evict_before(
        self, elements: Elements, size: int, window: Window, evictor_context: Evictor.EvictorContext
    ) -> None:
        """Evict, unless it is configured for after the window function."""
        if not self._do_evict_after:
            self._evict(elements)

    def evict_after(
        self, elements: Elements, size: int, window: Window, evictor_context: Evictor.EvictorContext
    ) -> None:
        """Evict, if it is configured for after the window function."""
        if self._do_evict_after:
            self._evict(elements)

    def _evict(self, elements: Elements) -> None:
        raise NotImplementedError


class CountEvictor(_BuiltinEvictor):
    """Keep the last `max_count` elements."""

    def __init__(self, max_count: int, do_evict_after: bool = False) -> None:
        """Configure the evictor; see `of`."""
        if not isinstance(max_count, int) or max_count < 0:
            raise ArgumentError(f"the number of elements to keep must be at least 0, not {max_count!r}")
        super().__init__(do_evict_after)
        self._max_count = max_count

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor:
        """Return an evictor that keeps the last elements.

        Args:
            max_count: How many.
            do_evict_after: Whether to evict after the window function instead of before.

        Raises:
            ArgumentError: The number is negative.
        """
        return CountEvictor(max_count, do_evict_after)

    def _evict(self, elements: Elements) -> None:
        del elements[: max(0, len(elements) - self._max_count)]


class TimeEvictor(_BuiltinEvictor):
    """Keep the elements that are younger than a certain time before the latest one."""

    def __init__(self, window_size: TimeAmount, do_evict_after: bool = False) -> None:
        """Configure the evictor; see `of`."""
        super().__init__(do_evict_after)
        self._window_size = to_millis(window_size)

    @staticmethod
    def of(window_size: TimeAmount, do_evict_after: bool = False) -> TimeEvictor:
        """Return an evictor that keeps elements with timestamps above that of the latest one minus `window_size`.

        Nothing is evicted if elements have no timestamps.

        Args:
            window_size: For how long elements are kept (int: ms).
            do_evict_after: Whether to evict after the window function instead of before.
        """
        return TimeEvictor(window_size, do_evict_after)

    def _evict(self, elements: Elements) -> None:
        if elements and elements[0].timestamp is not None:
            cutoff = max(element.get_timestamp() for element in elements) - self._window_size
            elements[:] = [element for element in elements if element.get_timestamp() > cutoff]


class DeltaEvictor(_BuiltinEvictor):
    """Keep the elements that differ less than a threshold from the last one."""

    def __init__(self, threshold: float, delta_function: Delta, do_evict_after: bool = False) -> None:
        """Configure the evictor; see `of`."""
        super().__init__(do_evict_after)
        self._threshold = threshold
        self._delta = delta_of(delta_function)

    @staticmethod
    def of(threshold: float, delta_function: Delta, do_evict_after: bool = False) -> DeltaEvictor:
        """Return an evictor that keeps elements whose delta to the last one is below a threshold.

        Args:
            threshold: The delta from which an element is evicted.
            delta_function: A DeltaFunction or a callable of an element and the last one.
            do_evict_after: Whether to evict after the window function instead of before.

        Raises:
            ArgumentTypeError: `delta_function` is neither.
        """
        return DeltaEvictor(threshold, delta_function, do_evict_after)

    def _evict(self, elements: Elements) -> None:
        if elements:
            last, delta, threshold = elements[-1].value, self._delta, self._threshold
            elements[:] = [element for element in elements if not delta(element.value, last) >= threshold]
