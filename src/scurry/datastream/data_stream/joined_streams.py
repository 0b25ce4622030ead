"""Joined streams: pairs of records of two streams with the same key and window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, overload

from scurry.common._type_variables import R, T1_co, T2_co
from scurry.datastream._adapters import FunctionWrapper
from scurry.datastream._functions import require_function
from scurry.datastream._type_info import DeclaredType
from scurry.datastream._typing import JoinLike
from scurry.datastream.data_stream._windows import Windows
from scurry.datastream.data_stream.co_grouped_streams import Pairing
from scurry.datastream.data_stream.stream import DataStream
from scurry.datastream.functions import CoGroupFunction, FlatJoinFunction, JoinFunction
from scurry.graph import operators as ops

__all__ = ["JoinedStreams", "JoinedWindows"]


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
