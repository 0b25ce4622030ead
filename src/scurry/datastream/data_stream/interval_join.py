"""Interval joins: pairs of records of two keyed streams that are close in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Self, overload

from scurry.common._api import ApiObject
from scurry.common._type_variables import R, T1_co, T2_co
from scurry.common.time import TimeAmount, to_millis
from scurry.datastream._functions import require_function
from scurry.datastream._type_info import DeclaredType
from scurry.datastream.data_stream.stream import DataStream, operator_stream
from scurry.datastream.functions import ProcessJoinFunction
from scurry.datastream.output_tag import OutputTag
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scurry.graph import operators as ops

if TYPE_CHECKING:
    from scurry.datastream.data_stream.keyed import KeyedStream

__all__ = ["IntervalJoin", "IntervalJoined"]


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
