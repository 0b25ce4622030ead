"""Co-grouped streams: the records of two streams with the same key and window, evaluated together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, overload

from scurry.common._api import ApiObject
from scurry.common._type_variables import K, K_co, R, T1_co, T2_co, W_co
from scurry.datastream._functions import require_function
from scurry.datastream._type_info import DeclaredType
from scurry.datastream._typing import CoGroupLike, KeySelectorLike
from scurry.datastream.data_stream._windows import Windows
from scurry.datastream.data_stream.stream import DataStream
from scurry.datastream.functions import CoGroupFunction
from scurry.errors import ArgumentTypeError
from scurry.graph import operators as ops

if TYPE_CHECKING:
    from scurry.datastream.data_stream.keyed import KeyedStream
    from scurry.datastream.window import WindowAssigner

__all__ = ["CoGroupedStreams", "CoGroupedWindows", "EqualTo", "Pairing", "Where"]


class Pairing(ApiObject, Generic[T1_co, T2_co, W_co]):
    """Two streams whose keys are not set yet."""

    def __init__(self, first: DataStream[T1_co], second: DataStream[T2_co], windows: Callable[..., W_co]) -> None:
        """Pair two streams; programs call `join` or `co_group`."""
        if not isinstance(second, DataStream):
            raise ArgumentTypeError(f"expected a DataStream, got {second!r}")
        self._first = first
        self._second = second
        self._windows = windows

    def where(
        self, key_selector: KeySelectorLike[T1_co, K], key_type: DeclaredType[Any] | None = None
    ) -> Where[T2_co, K, W_co]:
        """Set the key of the first stream's records.

        Args:
            key_selector: A KeySelector or a callable that returns the key of a record.
            key_type: Declared type of the keys of both streams.
        """
        return Where(self._first.key_by(key_selector, key_type), self._second, key_type, self._windows)


class Where(ApiObject, Generic[T2_co, K_co, W_co]):
    """Two streams, of which only the first has a key."""

    def __init__(
        self,
        first: KeyedStream[Any, K_co],
        second: DataStream[T2_co],
        key_type: DeclaredType[Any] | None,
        windows: Callable[..., W_co],
    ) -> None:
        """Key the first stream; programs call `where`."""
        self._first = first
        self._second = second
        self._key_type = key_type
        self._windows = windows

    def equal_to(self, key_selector: KeySelectorLike[T2_co, K_co]) -> EqualTo[W_co]:
        """Set the key of the second stream's records, a KeySelector or a callable that returns it."""
        return EqualTo(self._first, self._second.key_by(key_selector, self._key_type), self._windows)


class EqualTo(ApiObject, Generic[W_co]):
    """Two streams with keys whose windows are not set yet."""

    def __init__(self, first: KeyedStream, second: KeyedStream, windows: Callable[..., W_co]) -> None:
        """Key the second stream; programs call `equal_to`."""
        self._keyed = (first, second)
        self._windows = windows

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> W_co:
        """Put the records of both streams into windows; only records in the same window meet."""
        return self._windows(self._keyed, window_assigner)


class CoGroupedWindows(Windows, Generic[T1_co, T2_co]):
    """The records of two streams in windows (Flink's `CoGroupedStreams.WithWindow`).

    Triggers, evictors and window assigners are given the records as `TaggedUnion`.
    """

    @overload
    def apply(self, function: CoGroupLike[T1_co, T2_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def apply(self, function: CoGroupLike[T1_co, T2_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def apply(
        self, function: CoGroupLike[T1_co, T2_co, Any], output_type: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Evaluate each key and window in which at least one of the streams has records.

        Args:
            function: A CoGroupFunction, or a callable of the first and the second stream's records that returns or
                yields the results.
            output_type: Declared type of the results.

        Returns:
            The results; their timestamp is the last one of the window.
        """
        require_function(function, (CoGroupFunction,), or_callable=True)
        return self._operator("CoGroup", (function,), output_type, function=function, hook=ops.WindowHook.CO_GROUP)


class CoGroupedStreams(Pairing[T1_co, T2_co, CoGroupedWindows[T1_co, T2_co]], Generic[T1_co, T2_co]):
    """Two streams to be evaluated together (Flink's `CoGroupedStreams`): `where`, `equal_to`, `window`, `apply`."""

    def __init__(self, input1: DataStream[T1_co], input2: DataStream[T2_co]) -> None:
        """Co-group two streams; programs call `co_group`."""
        super().__init__(input1, input2, CoGroupedWindows)
