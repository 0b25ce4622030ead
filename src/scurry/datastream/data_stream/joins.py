"""Joins of two streams: joined and co-grouped by key and window, and interval joins of keyed streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Self, overload

from scurry.common._api import ApiObject
from scurry.common._type_variables import K, K_co, R, T1_co, T2_co, W_co
from scurry.common.time import TimeAmount, to_millis
from scurry.datastream._adapters import FunctionWrapper
from scurry.datastream._functions import CoGroupLike, DeclaredType, JoinLike, KeySelectorLike, require_function
from scurry.datastream.data_stream.stream import DataStream, operator_stream
from scurry.datastream.data_stream.windowed import Windows
from scurry.datastream.functions import CoGroupFunction, FlatJoinFunction, JoinFunction, ProcessJoinFunction
from scurry.datastream.output_tag import OutputTag
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scurry.graph import operators as ops

if TYPE_CHECKING:
    from scurry.datastream.data_stream.keyed import KeyedStream
    from scurry.datastream.window import WindowAssigner

__all__ = [
    "CoGroupedStreams",
    "CoGroupedWindows",
    "EqualTo",
    "IntervalJoin",
    "IntervalJoined",
    "JoinedStreams",
    "JoinedWindows",
    "Pairing",
    "Where",
]


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


class JoinedWindows(Windows, Generic[T1_co, T2_co]):
    """The records of two streams in windows (Flink's `JoinedStreams.WithWindow`).

    Triggers, evictors and window assigners are given the records as `TaggedUnion`.
    """

    @overload
    def apply(self, function: JoinLike[T1_co, T2_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def apply(self, function: JoinLike[T1_co, T2_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def apply(
        self, function: JoinLike[T1_co, T2_co, Any], output_type: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Join each record of the first stream with each of the second that has the same key and window.

        Args:
            function: A JoinFunction, a FlatJoinFunction, or a callable of a record of the first and one of the second
                stream that returns one result.
            output_type: Declared type of the results.

        Returns:
            The results; their timestamp is the last one of the window.
        """
        require_function(function, (JoinFunction, FlatJoinFunction), or_callable=True)
        flat = isinstance(function, FlatJoinFunction)
        join = function.join if isinstance(function, (JoinFunction, FlatJoinFunction)) else function
        pairs = FlatPairs(function, join) if flat else Pairs(function, join)
        return self._operator("Join", (function,), output_type, function=pairs, hook=ops.WindowHook.CO_GROUP)


class JoinedStreams(Pairing[T1_co, T2_co, JoinedWindows[T1_co, T2_co]], Generic[T1_co, T2_co]):
    """Two streams to be joined (Flink's `JoinedStreams`): `where`, `equal_to`, `window`, `apply`."""

    def __init__(self, input1: DataStream[T1_co], input2: DataStream[T2_co]) -> None:
        """Join two streams; programs call `join`."""
        super().__init__(input1, input2, JoinedWindows)


class _AllPairs(FunctionWrapper, CoGroupFunction):
    """Base of adapters of join functions to co-group functions."""

    def __init__(self, function: Any, join: Callable[[Any, Any], Any]) -> None:
        super().__init__(function)
        self.join = join


class Pairs(_AllPairs):
    """One result for each pair."""

    def co_group(self, first: Any, second: Any) -> Any:
        """Join each first record with each second one."""
        join = self.join
        return [join(one, two) for one in first for two in second]


class FlatPairs(_AllPairs):
    """Any number of results for each pair."""

    def co_group(self, first: Any, second: Any) -> Any:
        """Join each first record with each second one."""
        join = self.join
        return [result for one in first for two in second for result in join(one, two) or ()]


class IntervalJoin(ApiObject, Generic[T1_co, T2_co]):
    """Two keyed streams whose join has no bounds yet (Flink's `KeyedStream.IntervalJoin`)."""

    def __init__(self, left: KeyedStream[T1_co, Any], right: KeyedStream[T2_co, Any]) -> None:
        """Join two keyed streams; programs call `interval_join`."""
        self._left = left
        self._right = right
        self._event_time = True

    def in_event_time(self) -> Self:
        """Compare the timestamps of records, which is the default."""
        self._event_time = True
        return self

    def in_processing_time(self) -> Self:
        """Compare the times when records are processed; as in Flink, `between` refuses this."""
        self._event_time = False
        return self

    def between(self, lower_bound: TimeAmount, upper_bound: TimeAmount) -> IntervalJoined[T1_co, T2_co]:
        """Join a left record at t with the right records from t + lower_bound to t + upper_bound, both inclusive.

        Args:
            lower_bound: Start of the interval relative to the left record (int: ms), negative for before it.
            upper_bound: End of the interval relative to the left record.

        Raises:
            ArgumentError: The lower bound is above the upper one.
            UnsupportedError: The join is in processing time.
        """
        if not self._event_time:
            raise UnsupportedError(
                "Time-bounded stream joins are only supported in event time; leave in_processing_time() out, or "
                "connect the streams and keep records with timers in a KeyedCoProcessFunction"
            )
        lower, upper = to_millis(lower_bound), to_millis(upper_bound)
        if lower > upper:
            raise ArgumentError(f"lowerBound <= upperBound must be fulfilled: {lower} ms is above {upper} ms")
        return IntervalJoined(self._left, self._right, lower, upper)


class IntervalJoined(ApiObject, Generic[T1_co, T2_co]):
    """An interval join that has no function yet (Flink's `KeyedStream.IntervalJoined`)."""

    def __init__(
        self, left: KeyedStream[T1_co, Any], right: KeyedStream[T2_co, Any], lower_bound: int, upper_bound: int
    ) -> None:
        """Bound a join, in ms; programs call `between`."""
        self._left = left
        self._right = right
        self._lower = lower_bound
        self._upper = upper_bound
        self._lower_open = self._upper_open = False
        self._left_late_tag: OutputTag | None = None
        self._right_late_tag: OutputTag | None = None

    def lower_bound_exclusive(self) -> Self:
        """Exclude the lower bound."""
        self._lower_open = True
        return self

    def upper_bound_exclusive(self) -> Self:
        """Exclude the upper bound."""
        self._upper_open = True
        return self

    def side_output_left_late_data(self, output_tag: OutputTag) -> Self:
        """Emit late left records (behind the watermark) to a side output of the result, instead of dropping them."""
        self._left_late_tag = _tag(output_tag)
        return self

    def side_output_right_late_data(self, output_tag: OutputTag) -> Self:
        """Emit late right records (behind the watermark) to a side output of the result, instead of dropping them."""
        self._right_late_tag = _tag(output_tag)
        return self

    @overload
    def process(
        self, process_join_function: ProcessJoinFunction[T1_co, T2_co, R], output_type: None = None
    ) -> DataStream[R]: ...
    @overload
    def process(
        self, process_join_function: ProcessJoinFunction[T1_co, T2_co, Any], output_type: DeclaredType[R]
    ) -> DataStream[R]: ...
    def process(
        self,
        process_join_function: ProcessJoinFunction[T1_co, T2_co, Any],
        output_type: DeclaredType[Any] | None = None,
    ) -> DataStream[Any]:
        """Process each pair of records that the join finds.

        Args:
            process_join_function: The ProcessJoinFunction.
            output_type: Declared type of the results.

        Returns:
            The results; their timestamp is the later one of the pair.
        """
        require_function(process_join_function, (ProcessJoinFunction,))
        operator = ops.IntervalJoin(
            process_join_function,
            lower=self._lower + self._lower_open,
            upper=self._upper - self._upper_open,
            left_late_tag=self._left_late_tag,
            right_late_tag=self._right_late_tag,
        )
        inputs = (self._left._node, self._right._node)
        return operator_stream(self._left._env, inputs, operator, "Interval Join", output_type)


def _tag(output_tag: OutputTag) -> OutputTag:
    if not isinstance(output_tag, OutputTag):
        raise ArgumentTypeError(f"expected an OutputTag, got {output_tag!r}")
    return output_tag
