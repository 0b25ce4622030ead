"""Connected streams: two streams of different types processed together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, overload

from scurry.common._api import ApiObject
from scurry.common._type_variables import K, R, T1_co, T2_co, T_co
from scurry.datastream._adapters import KeyedCoFlatMap, KeyedCoMap
from scurry.datastream._functions import (
    BroadcastProcessLike,
    CoProcessLike,
    DeclaredType,
    KeySelectorLike,
    require_function,
)
from scurry.datastream.data_stream.keyed import KeyedStream
from scurry.datastream.data_stream.stream import DataStream, operator_stream
from scurry.datastream.functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
)
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, PartitionNode

if TYPE_CHECKING:
    from scurry.datastream.state import MapStateDescriptor

__all__ = ["BroadcastConnectedStream", "BroadcastStream", "ConnectedStreams"]


class ConnectedStreams(ApiObject, Generic[T1_co, T2_co]):
    """Two streams, possibly of different types, that one function processes and that share its state.

    Mirrors Flink's `ConnectedStreams`. If both are keyed, records with equal keys use the same state.
    """

    def __init__(self, stream1: DataStream[T1_co], stream2: DataStream[T2_co]) -> None:
        """Connect two streams; programs call `connect`."""
        self.stream1 = stream1
        self.stream2 = stream2

    def key_by(
        self,
        key_selector1: KeySelectorLike[T1_co, K],
        key_selector2: KeySelectorLike[T2_co, K],
        key_type: DeclaredType[Any] | None = None,
    ) -> ConnectedStreams[T1_co, T2_co]:
        """Partition both streams by key.

        Args:
            key_selector1: A KeySelector or callable for the first stream.
            key_selector2: A KeySelector or callable for the second stream.
            key_type: Declared type of the keys of both.
        """
        return ConnectedStreams(
            self.stream1.key_by(key_selector1, key_type), self.stream2.key_by(key_selector2, key_type)
        )

    @overload
    def map(self, func: CoMapFunction[T1_co, T2_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def map(self, func: CoMapFunction[T1_co, T2_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def map(
        self, func: CoMapFunction[T1_co, T2_co, Any], output_type: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Turn each record of either stream into one result; None is dropped."""
        require_function(func, (CoMapFunction,))
        operator = ops.KeyedCoProcess(KeyedCoMap(func)) if self._is_keyed_stream() else ops.CoMap(func)
        return self._transform(operator, "Co-Map", output_type)

    @overload
    def flat_map(self, func: CoFlatMapFunction[T1_co, T2_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def flat_map(self, func: CoFlatMapFunction[T1_co, T2_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def flat_map(
        self, func: CoFlatMapFunction[T1_co, T2_co, Any], output_type: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Turn each record of either stream into any number of results."""
        require_function(func, (CoFlatMapFunction,))
        operator = ops.KeyedCoProcess(KeyedCoFlatMap(func)) if self._is_keyed_stream() else ops.CoFlatMap(func)
        return self._transform(operator, "Co-Flat Map", output_type)

    @overload
    def process(self, func: CoProcessLike[T1_co, T2_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def process(self, func: CoProcessLike[T1_co, T2_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def process(
        self, func: CoProcessLike[T1_co, T2_co, Any], output_type: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Process each record of either stream, with state and timers if both streams are keyed.

        Args:
            func: A KeyedCoProcessFunction for keyed streams, else a CoProcessFunction. As in PyFlink, keyed streams
                also take a CoProcessFunction, which can then use state, but sets no timers.
            output_type: Declared type of the main output.
        """
        if self._is_keyed_stream():
            require_function(func, (KeyedCoProcessFunction, CoProcessFunction))
            return self._transform(ops.KeyedCoProcess(func), "Keyed Co-Process", output_type)
        hint = "a KeyedCoProcessFunction needs key_by(...) on both streams"
        require_function(func, (CoProcessFunction,), hint=hint)
        return self._transform(ops.CoProcess(func), "Co-Process", output_type)

    def _is_keyed_stream(self) -> bool:
        return isinstance(self.stream1, KeyedStream) and isinstance(self.stream2, KeyedStream)

    def _transform(self, operator: ops.Operator, name: str, output_type: Any) -> DataStream:
        inputs = (_partitioned(self.stream1), _partitioned(self.stream2))
        return operator_stream(self.stream1._env, inputs, operator, name, output_type)


def _partitioned(stream: DataStream) -> Node:
    """Return the stream's node as an input of an operator that is never chained to its inputs."""
    node = stream._node
    return node if isinstance(node, PartitionNode) else stream.forward()._node


class BroadcastStream(ApiObject, Generic[T_co]):
    """A stream whose records all reach every subtask, and the broadcast states it may write.

    Mirrors Flink's `BroadcastStream`. The descriptors declare the states; functions access a state by a descriptor
    of the same name.
    """

    def __init__(self, input_stream: DataStream[T_co], broadcast_state_descriptors: list[MapStateDescriptor]) -> None:
        """Describe a broadcast stream; programs call `broadcast(descriptor)`."""
        self.input_stream = input_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors


class BroadcastConnectedStream(ApiObject, Generic[T1_co, T2_co]):
    """A stream connected with a broadcast one, whose states it reads."""

    def __init__(
        self,
        non_broadcast_stream: DataStream[T1_co],
        broadcast_stream: BroadcastStream[T2_co],
        broadcast_state_descriptors: list[MapStateDescriptor],
    ) -> None:
        """Connect the streams; programs call `connect`."""
        self.non_broadcast_stream = non_broadcast_stream
        self.broadcast_stream = broadcast_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors

    @overload
    def process(self, func: BroadcastProcessLike[T1_co, T2_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def process(self, func: BroadcastProcessLike[T1_co, T2_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def process(
        self, func: BroadcastProcessLike[T1_co, T2_co, Any], output_type: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Process the records of both streams: one reads the broadcast state that the other writes.

        In BATCH all broadcast records come before the first of the other stream, as in Flink. In STREAMING they are
        processed in the order in which their sources read them.

        Args:
            func: A KeyedBroadcastProcessFunction if the stream is keyed, else a BroadcastProcessFunction.
            output_type: Declared type of the main output.

        Raises:
            ArgumentTypeError: The function is of the other kind, or of neither.
        """
        inputs = (_partitioned(self.non_broadcast_stream), self.broadcast_stream.input_stream._node)
        env, descriptors = self.non_broadcast_stream._env, tuple(self.broadcast_state_descriptors)
        if isinstance(self.non_broadcast_stream, KeyedStream):
            hint = "BroadcastProcessFunction should be applied to non-keyed DataStream, and this one is keyed"
            require_function(func, (KeyedBroadcastProcessFunction,), hint=hint)
            operator: ops.Operator = ops.KeyedBroadcastProcess(func, descriptors)
            return operator_stream(env, inputs, operator, "Keyed-Co-Process-Broadcast", output_type)
        hint = "KeyedBroadcastProcessFunction should be applied to keyed DataStream, and this one is not keyed"
        require_function(func, (BroadcastProcessFunction,), hint=hint)
        operator = ops.BroadcastProcess(func, descriptors)
        return operator_stream(env, inputs, operator, "Co-Process-Broadcast", output_type)
