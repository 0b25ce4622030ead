"""KeyedStream: a stream partitioned by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NoReturn, overload

from scurry.common._type_variables import K, K_co, R, T_co, W
from scurry.datastream import _aggregations as aggregations
from scurry.datastream._adapters import KeyedFilter, KeyedFlatMap, KeyedMap
from scurry.datastream._functions import (
    DeclaredType,
    FilterLike,
    FlatMapLike,
    KeySelectorLike,
    MapLike,
    ReduceLike,
    require_function,
    require_reduce,
)
from scurry.datastream.data_stream._refused import KEYED_STREAM_METHODS, refused, refuses_settings
from scurry.datastream.data_stream.joins import IntervalJoin
from scurry.datastream.data_stream.stream import DataStream
from scurry.datastream.data_stream.windowed import WindowedStream
from scurry.datastream.functions import FilterFunction, FlatMapFunction, KeyedProcessFunction, MapFunction
from scurry.datastream.window import CountSlidingWindowAssigner, CountTumblingWindowAssigner, CountWindow
from scurry.errors import ArgumentTypeError, TopologyError
from scurry.graph import operators as ops
from scurry.graph.nodes import PartitionNode

if TYPE_CHECKING:
    from scurry.datastream.window import WindowAssigner

__all__ = ["KeyedStream"]


@refuses_settings(
    "it is no operator; make the setting on the stream that map(...), process(...), reduce(...) etc. return"
)
class KeyedStream(DataStream[T_co], Generic[T_co, K_co]):
    """A stream partitioned by key: functions on it keep state and timers for each key.

    Mirrors Flink's `KeyedStream`. It is not an operator: set names, uids and parallelism on the operator that follows.
    """

    _instead = KEYED_STREAM_METHODS

    def __init__(self, origin_stream: DataStream[T_co], partitioner: ops.Hash) -> None:
        """Partition a stream; programs call `key_by`."""
        node = PartitionNode(
            inputs=(origin_stream._node,),
            name="KeyBy",
            output_type=origin_stream._node.output_type,
            partitioner=partitioner,
        )
        origin_stream._env._capture(node)
        super().__init__(origin_stream._env, node)
        self._origin_stream = origin_stream

    # ------------------------------------------------------------------ one record at a time

    @overload
    def map(self, func: MapLike[T_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def map(self, func: MapLike[T_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def map(self, func: MapLike[T_co, Any], output_type: DeclaredType[Any] | None = None) -> DataStream[Any]:
        """Turn each record into another; a MapFunction may use state of the key through its runtime context."""
        require_function(func, (MapFunction,), or_callable=True)
        return self._transform(ops.KeyedProcess(KeyedMap(func)), "Map", output_type)

    @overload
    def flat_map(self, func: FlatMapLike[T_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def flat_map(self, func: FlatMapLike[T_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def flat_map(self, func: FlatMapLike[T_co, Any], output_type: DeclaredType[Any] | None = None) -> DataStream[Any]:
        """Turn each record into any number of others; a FlatMapFunction may use state of the key."""
        require_function(func, (FlatMapFunction,), or_callable=True)
        return self._transform(ops.KeyedProcess(KeyedFlatMap(func)), "FlatMap", output_type)

    def filter(self, func: FilterLike[T_co]) -> DataStream[T_co]:
        """Keep the records that a function accepts; a FilterFunction may use state of the key."""
        require_function(func, (FilterFunction,), or_callable=True)
        return self._transform(ops.KeyedProcess(KeyedFilter(func)), "Filter", self._node.output_type)

    @overload  # type: ignore[override]
    def process(self, func: KeyedProcessFunction[K_co, T_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def process(self, func: KeyedProcessFunction[K_co, T_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def process(
        self, func: KeyedProcessFunction[K_co, T_co, Any], output_type: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Process each record with state and timers of its key.

        Args:
            func: A KeyedProcessFunction.
            output_type: Declared type of the main output.
        """
        hint = "KeyedProcessFunction is required for KeyedStream"
        require_function(func, (KeyedProcessFunction,), hint=hint)
        return self._transform(ops.KeyedProcess(func), "KEYED PROCESS", output_type)

    # ------------------------------------------------------------------ rolling aggregates

    def reduce(self, func: ReduceLike[T_co]) -> DataStream[T_co]:
        """Combine the records of each key, emitting the result so far for each record (in BATCH: the last only).

        Args:
            func: A ReduceFunction or a callable of the result so far and the next record.
        """
        return self._transform(ops.KeyedReduce(require_reduce(func)), "Reduce", self._node.output_type)

    def sum(self, position_to_sum: int | str = 0) -> DataStream[T_co]:
        """Add up one field per key, keeping the other fields of the key's first record.

        Args:
            position_to_sum: Index of the field, or its name in named rows.
        """
        return self._aggregate(aggregations.SumField, position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream[T_co]:
        """Keep the smallest value of one field per key, and the other fields of the key's first record."""
        return self._aggregate(aggregations.MinField, position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream[T_co]:
        """Keep the largest value of one field per key, and the other fields of the key's first record."""
        return self._aggregate(aggregations.MaxField, position_to_max)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream[T_co]:
        """Keep the record with the smallest value of one field per key, the first of equals."""
        return self._aggregate(aggregations.MinBy, position_to_min_by)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream[T_co]:
        """Keep the record with the largest value of one field per key, the first of equals."""
        return self._aggregate(aggregations.MaxBy, position_to_max_by)

    def _aggregate(self, kind: type[aggregations.FieldReduce], position: int | str) -> DataStream[T_co]:
        aggregations.check_field(self._node.output_type, position)
        return self.reduce(kind(position))

    # ------------------------------------------------------------------ windows

    def window(self, window_assigner: WindowAssigner[T_co, W]) -> WindowedStream[T_co, K_co, W]:
        """Put the records of each key into windows."""
        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream[T_co, K_co, CountWindow]:
        """Put the records of each key into windows of `size` records.

        Args:
            size: Records per window; a window fires only when it is full.
            slide: A window begins every `slide` records; 0 means every `size`.
        """
        if slide == 0:
            return self.window(CountTumblingWindowAssigner(size))
        return self.window(CountSlidingWindowAssigner(size, slide))

    # ------------------------------------------------------------------ joins

    def interval_join(self, other_stream: KeyedStream[R, K_co]) -> IntervalJoin[T_co, R]:
        """Join the records of two keyed streams that have equal keys and are close in time.

        Example:
            orders.key_by(...).interval_join(payments.key_by(...)).between(Time.minutes(0), Time.minutes(5))
            .process(ProcessJoinFunction)
        """
        if not isinstance(other_stream, KeyedStream):
            raise ArgumentTypeError(f"interval_join takes a KeyedStream, got {other_stream!r}; call key_by(...) on it")
        return IntervalJoin(self, other_stream)

    # ------------------------------------------------------------------ partitioning is settled

    def key_by(
        self, key_selector: KeySelectorLike[T_co, K], key_type: DeclaredType[Any] | None = None
    ) -> KeyedStream[T_co, K]:
        """Partition the records by another key instead."""
        return self._origin_stream.key_by(key_selector, key_type)

    def _cannot_repartition(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TopologyError(
            "Cannot override partitioning for KeyedStream: partition the stream before key_by(...), or what follows"
        )

    shuffle = rebalance = rescale = forward = global_ = broadcast = partition_custom = _cannot_repartition

    cache = refused("Cache for", "call cache() before key_by(...)")
