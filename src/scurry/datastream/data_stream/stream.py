"""DataStream: records on their way from sources through operators to sinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, overload

from scurry.common._config.tuning import BUFFER_TIMEOUT
from scurry.common._type_variables import K, R, T_co, W
from scurry.common.config_options import OPERATOR_CHAINING
from scurry.common.time import TimeAmount, to_millis
from scurry.common.typeinfo import TupleTypeInfo, TypeInformation, Types
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.datastream._adapters import Projection, RenamedFields
from scurry.datastream._functions import (
    DeclaredType,
    FilterLike,
    FlatMapLike,
    KeySelectorLike,
    MapLike,
    PartitionerLike,
    require_function,
)
from scurry.datastream._type_info import declared_type, same_but_for_names
from scurry.datastream.data_stream._refused import STREAM_METHODS
from scurry.datastream.data_stream._settings import OperatorSettings, check_max_parallelism, declare_dead_letters
from scurry.datastream.data_stream._writing import WritingShortcuts
from scurry.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    SinkFunction,
)
from scurry.datastream.output_tag import OutputTag
from scurry.datastream.state import MapStateDescriptor
from scurry.errors import ArgumentError, ArgumentTypeError, TopologyError
from scurry.graph import operators as ops
from scurry.graph.nodes import Node, OperatorNode, PartitionNode, SideOutputNode, UnionNode

if TYPE_CHECKING:
    from scurry.common.execution_config import ExecutionConfig
    from scurry.common.output_tag import DeadLetter
    from scurry.connectors.jdbc.sink import JdbcSink
    from scurry.connectors.sink import Sink
    from scurry.datastream.connectors.file_system import StreamingFileSink
    from scurry.datastream.connectors.rabbitmq import RMQSink
    from scurry.datastream.data_stream.cached import CachedDataStream
    from scurry.datastream.data_stream.connected import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
    from scurry.datastream.data_stream.joins import CoGroupedStreams, JoinedStreams
    from scurry.datastream.data_stream.keyed import KeyedStream
    from scurry.datastream.data_stream.sink import CloseableIterator, DataStreamSink
    from scurry.datastream.data_stream.windowed import AllWindowedStream
    from scurry.datastream.stream_execution_environment import StreamExecutionEnvironment
    from scurry.datastream.window import WindowAssigner

__all__ = ["DataStream"]


class DataStream(WritingShortcuts, OperatorSettings, Generic[T_co]):
    """A stream of records, as a node of the job being built; nothing runs before the environment executes.

    Mirrors Flink's `DataStream`. Records without a declared type are pickled Python objects.
    """

    _instead = STREAM_METHODS

    def __init__(self, env: StreamExecutionEnvironment, node: Node) -> None:
        """Wrap a node; programs get streams from an environment or from other streams."""
        self._env = env
        self._node = node

    # ------------------------------------------------------------------ about the stream

    def __repr__(self) -> str:
        records = self._node.output_type or "Python objects"
        return f"<{type(self).__name__} of {records}, from {self._node.name!r} ({self._node.origin})>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled with a function: a stream is part of the program, not a value."""
        raise TypeError("a stream cannot be used inside a function: connect, join or broadcast it instead")

    def get_name(self) -> str:
        """Return the name of the operator behind the stream."""
        return self._node.name

    def get_type(self) -> TypeInformation[T_co]:
        """Return the declared type of the records."""
        return (self._node.output_type or Types.PICKLED_BYTE_ARRAY())._with_names()

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment the stream belongs to."""
        return self._env

    def get_execution_config(self) -> ExecutionConfig:
        """Return the configuration of the environment."""
        return self._env.get_config()

    # ------------------------------------------------------------------ how the operator runs

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the highest parallelism this operator can be rescaled to, 1 to 32768."""
        self._node.max_parallelism = check_max_parallelism(max_parallelism)
        return self

    def force_non_parallel(self) -> Self:
        """Fix the parallelism of this operator to 1."""
        self._node.parallelism = self._node.max_parallelism = 1
        return self

    def set_buffer_timeout(self, timeout_millis: TimeAmount) -> Self:
        """Accept how long Flink holds back records to fill a network buffer (int: ms), -1 for the default.

        Notes:
            scurry has no network buffers of its own: records leave an operator with their micro-batch.
        """
        if to_millis(timeout_millis) < -1:
            raise ArgumentError(f"a buffer timeout is -1 (default) or at least 0 ms, not {timeout_millis!r}")
        if to_millis(timeout_millis) >= 0:
            self._node.unused.add(f"set_buffer_timeout ({BUFFER_TIMEOUT.instead})")
        return self

    def start_new_chain(self) -> Self:
        """Accept Flink's setting of a thread boundary; it has no effect here.

        Notes:
            Operators without an exchange between them always run in one task here; results are the same.
        """
        self._node.unused.add(f"start_new_chain ({OPERATOR_CHAINING.instead})")
        return self

    # ------------------------------------------------------------------ one record at a time

    @overload
    def map(self, func: MapLike[T_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def map(self, func: MapLike[T_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def map(self, func: MapLike[T_co, Any], output_type: DeclaredType[Any] | None = None) -> DataStream[Any]:
        """Turn each record into another.

        Args:
            func: A MapFunction or a callable of one record.
            output_type: Declared type of the results; values are converted to it.
        """
        require_function(func, (MapFunction,), or_callable=True)
        return self._transform(ops.Map(func), "Map", output_type)

    @overload
    def flat_map(self, func: FlatMapLike[T_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def flat_map(self, func: FlatMapLike[T_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def flat_map(self, func: FlatMapLike[T_co, Any], output_type: DeclaredType[Any] | None = None) -> DataStream[Any]:
        """Turn each record into any number of others.

        Args:
            func: A FlatMapFunction or a callable that returns or yields the results for one record.
            output_type: Declared type of the results.
        """
        require_function(func, (FlatMapFunction,), or_callable=True)
        return self._transform(ops.FlatMap(func), "FlatMap", output_type)

    def filter(self, func: FilterLike[T_co]) -> DataStream[T_co]:
        """Keep the records that a FilterFunction or callable accepts."""
        require_function(func, (FilterFunction,), or_callable=True)
        return self._transform(ops.Filter(func), "Filter", self._node.output_type)

    @overload
    def process(self, func: ProcessFunction[T_co, R], output_type: None = None) -> DataStream[R]: ...
    @overload
    def process(self, func: ProcessFunction[T_co, Any], output_type: DeclaredType[R]) -> DataStream[R]: ...
    def process(
        self, func: ProcessFunction[T_co, Any], output_type: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Process each record with access to time and side outputs.

        Args:
            func: A ProcessFunction.
            output_type: Declared type of the main output.
        """
        hint = "a KeyedProcessFunction needs a keyed stream: call key_by(...) before process(...)"
        require_function(func, (ProcessFunction,), hint=hint)
        return self._transform(ops.Process(func), "PROCESS", output_type)

    def project(self, *field_indexes: int) -> DataStream[tuple[Any, ...]]:
        """Keep some fields of tuples, in the order given.

        Raises:
            TopologyError: The records are not declared to be tuples.
            ArgumentError: There is no such field.
        """
        declared = self._node.output_type
        if not isinstance(declared, TupleTypeInfo):
            raise TopologyError(f"Only Tuple DataStreams can be projected, not {self.get_type()}")
        types = declared.get_field_types()
        for index in field_indexes:
            if not 0 <= index < len(types):
                raise ArgumentError(f"{self.get_type()} has no field {index}; positions are 0 to {len(types) - 1}")
        if not field_indexes:
            raise ArgumentError("project needs at least one field")
        output_type = Types.TUPLE([types[index] for index in field_indexes])
        return self._transform(ops.Map(Projection(field_indexes)), "Projection", output_type)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream[T_co]:
        """Assign event timestamps to the records and generate watermarks from them."""
        if not isinstance(watermark_strategy, WatermarkStrategy):
            raise ArgumentTypeError(f"expected a WatermarkStrategy, got {watermark_strategy!r}")
        operator = ops.AssignTimestamps(watermark_strategy)
        return self._transform(operator, "Timestamps/Watermarks", self._node.output_type)

    def get_side_output(self, output_tag: OutputTag[R]) -> DataStream[R]:
        """Return the records this operator emits under a tag.

        Raises:
            TopologyError: The stream is not an operator, so it has no side outputs.
        """
        if not isinstance(output_tag, OutputTag):
            raise ArgumentTypeError(f"expected an OutputTag, got {output_tag!r}")
        if not isinstance(self._node, OperatorNode) and getattr(self._node, "dead_letters", None) is None:
            raise TopologyError(
                f"{self._node.name or 'this stream'} emits no side outputs; call get_side_output on the stream that "
                "process(...) or a window returned"
            )
        return DataStream(
            self._env,
            SideOutputNode(
                inputs=(self._node,),
                name=f"Side Output {output_tag.tag_id}",
                output_type=output_tag.declared,
                tag_id=output_tag.tag_id,
            ),
        )

    def with_dead_letters(self, output_tag: OutputTag[DeadLetter]) -> Self:
        """Send records on which this operator's function fails to a side output instead of failing the job.

        On the stream of a `FileSource` or `KafkaSource`, send malformed input there.

        scurry's own; Flink has nothing like it. Take them with `get_side_output(output_tag)`: each is a `DeadLetter`
        with the record, the error and its traceback, and the record's timestamp. `numDeadLetters` counts them. A record
        either has all its results or is a dead letter, but changes the function made to state before are not undone.

        Example:
            dead = OutputTag("dead")
            parsed = lines.map(json.loads).with_dead_letters(dead)
            parsed.get_side_output(dead).map(lambda letter: letter.record).sink_to(...)

        Args:
            output_tag: The side output, without a type: its records are `DeadLetter` objects.

        Raises:
            UnsupportedError: The operator does not call its function for one record at a time.
            TopologyError: The stream is neither an operator nor a source that can read past malformed records.
        """
        declare_dead_letters(self._node, output_tag)
        return self

    def cache(self) -> CachedDataStream[T_co]:
        """Store the stream's records for later BATCH jobs of this environment (see `CachedDataStream`).

        Returns:
            The stream, which the first job that uses it computes and later ones read.

        Raises:
            TopologyError: The stream is not an operator but, for example, the result of `union` or `rebalance`.
        """
        from scurry.datastream.data_stream.cached import CachedDataStream

        return CachedDataStream(self, self._env._new_cache())

    # ------------------------------------------------------------------ several streams

    def union(self, *streams: DataStream[T_co]) -> DataStream[T_co]:
        """Return the records of this and other streams of the same type.

        Raises:
            TopologyError: The types differ.
        """
        for stream in streams:
            if not isinstance(stream, DataStream):
                raise ArgumentTypeError(f"union takes DataStreams, got {stream!r}")
            if not same_but_for_names(stream.get_type(), self.get_type()):
                raise TopologyError(
                    f"Cannot union streams of different types: {self.get_type()} and {stream.get_type()}; "
                    "map one of them to the type of the other"
                )
        own = self.get_type()  # rows of one layout may have other names, and get those of the first stream
        renamed = [each if each.get_type() == own else each.map(RenamedFields(), own) for each in streams]
        nodes = tuple(stream._node for stream in (self, *renamed))
        return DataStream(self._env, UnionNode(inputs=nodes, name="Union", output_type=self._node.output_type))

    @overload
    def connect(self, ds: DataStream[R]) -> ConnectedStreams[T_co, R]: ...
    @overload
    def connect(self, ds: BroadcastStream[R]) -> BroadcastConnectedStream[T_co, R]: ...
    def connect(
        self, ds: DataStream[R] | BroadcastStream[R]
    ) -> ConnectedStreams[T_co, R] | BroadcastConnectedStream[T_co, R]:
        """Connect this stream with another, whose type may differ, or with a broadcast one, to process both."""
        from scurry.datastream.data_stream.connected import BroadcastConnectedStream, BroadcastStream, ConnectedStreams

        if isinstance(ds, BroadcastStream):
            return BroadcastConnectedStream(self, ds, ds.broadcast_state_descriptors)
        if not isinstance(ds, DataStream):
            raise ArgumentTypeError(f"connect takes a DataStream or a BroadcastStream, got {ds!r}")
        return ConnectedStreams(self, ds)

    def join(self, other: DataStream[R]) -> JoinedStreams[T_co, R]:
        """Join this stream with another: pairs of records that have the same key and window.

        Example:
            orders.join(payments).where(lambda order: order.id).equal_to(lambda payment: payment.order_id)
            .window(TumblingEventTimeWindows.of(Time.minutes(5))).apply(lambda order, payment: (order, payment))
        """
        from scurry.datastream.data_stream.joins import JoinedStreams

        return JoinedStreams(self, other)

    def co_group(self, other: DataStream[R]) -> CoGroupedStreams[T_co, R]:
        """Evaluate the records of this stream and of another that have the same key and window together.

        Example:
            orders.co_group(payments).where(lambda order: order.id).equal_to(lambda payment: payment.order_id)
            .window(TumblingEventTimeWindows.of(Time.minutes(5))).apply(CoGroupFunction)
        """
        from scurry.datastream.data_stream.joins import CoGroupedStreams

        return CoGroupedStreams(self, other)

    # ------------------------------------------------------------------ partitioning

    def key_by(
        self, key_selector: KeySelectorLike[T_co, K], key_type: DeclaredType[Any] | None = None
    ) -> KeyedStream[T_co, K]:
        """Partition the records by key, so that state, timers and windows are kept for each key.

        Args:
            key_selector: A KeySelector or a callable that returns the key of a record.
            key_type: Declared type of the keys.
        """
        from scurry.datastream.data_stream.keyed import KeyedStream

        require_function(key_selector, (KeySelector,), or_callable=True)
        return KeyedStream(self, ops.Hash(key_selector, declared_type(key_type, "key_type")))

    def window_all(self, window_assigner: WindowAssigner[T_co, W]) -> AllWindowedStream[T_co, W]:
        """Put all records, regardless of keys, into windows; this is not parallel."""
        from scurry.datastream.data_stream.windowed import AllWindowedStream

        return AllWindowedStream(self, window_assigner)

    def shuffle(self) -> DataStream[T_co]:
        """Spread the records over the subtasks of the next operator at random."""
        return self._partition(ops.Rebalance("shuffle"))

    def rebalance(self) -> DataStream[T_co]:
        """Spread the records evenly over the subtasks of the next operator."""
        return self._partition(ops.Rebalance("rebalance"))

    def rescale(self) -> DataStream[T_co]:
        """Spread the records of each subtask evenly over some subtasks of the next operator."""
        return self._partition(ops.Rebalance("rescale"))

    def forward(self) -> DataStream[T_co]:
        """Send the records to the same subtask of the next operator."""
        return self._partition(ops.Forward())

    def global_(self) -> DataStream[T_co]:
        """Send all records to the first subtask of the next operator (Flink's `global`)."""
        return self._partition(ops.Global())

    @overload
    def broadcast(self) -> DataStream[T_co]: ...
    @overload
    def broadcast(
        self, broadcast_state_descriptor: MapStateDescriptor, *other_broadcast_state_descriptors: MapStateDescriptor
    ) -> BroadcastStream[T_co]: ...
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor | None = None,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> DataStream[T_co] | BroadcastStream[T_co]:
        """Send every record to every subtask of the next operator.

        Args:
            broadcast_state_descriptor: With descriptors, the result can be connected to another stream, which then
                reads the broadcast state they describe.
            *other_broadcast_state_descriptors: Further states.
        """
        from scurry.datastream.data_stream.connected import BroadcastStream

        partitioned = self._partition(ops.Broadcast())
        if broadcast_state_descriptor is None:
            return partitioned
        descriptors = [broadcast_state_descriptor, *other_broadcast_state_descriptors]
        for descriptor in descriptors:
            if not isinstance(descriptor, MapStateDescriptor):
                raise ArgumentTypeError(f"broadcast_state_descriptor must be MapStateDescriptor, got {descriptor!r}")
        return BroadcastStream(partitioned, descriptors)

    def partition_custom(
        self, partitioner: PartitionerLike[K], key_selector: KeySelectorLike[T_co, K]
    ) -> DataStream[T_co]:
        """Send each record to the subtask that a function of its key returns.

        Args:
            partitioner: A Partitioner or a callable `(key, num_partitions) -> index`.
            key_selector: A KeySelector or a callable that returns the key of a record.
        """
        require_function(partitioner, (Partitioner,), or_callable=True)
        require_function(key_selector, (KeySelector,), or_callable=True)
        return self._partition(ops.Custom(partitioner, key_selector))

    # ------------------------------------------------------------------ sinks

    def sink_to(self, sink: Sink) -> DataStreamSink:
        """Write the records to a sink from `datastream.connectors`."""
        from scurry.connectors.sink import Sink

        if not isinstance(sink, Sink):
            files = "pass one, such as FileSink.for_row_format(path, Encoder.simple_string_encoder()).build()"
            hint = "use add_sink(...) for a SinkFunction" if isinstance(sink, SinkFunction) else files
            raise ArgumentTypeError(f"sink_to takes a sink from datastream.connectors, got {sink!r}; {hint}")
        return self._sink(sink, type(sink).__name__)

    def add_sink(self, sink_func: SinkFunction[T_co] | JdbcSink | StreamingFileSink | RMQSink) -> DataStreamSink:
        """Write each record with a SinkFunction, at least once, or with a sink such as `JdbcSink` or `RMQSink`."""
        from scurry.connectors.function_sink import FunctionSink
        from scurry.connectors.sink import Sink

        require_function(sink_func, (SinkFunction,))
        if isinstance(sink_func, Sink):
            return self.sink_to(sink_func)
        return self._sink(FunctionSink(sink_func), type(sink_func).__name__)

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print the records to standard output, each after `sink_identifier> ` if there is one."""
        from scurry.connectors.print_sink import PrintSink

        return self._sink(PrintSink(sink_identifier), "Print to Std. Out")

    def to_spark(
        self,
        format: str,  # noqa: A002 - Spark's word for it
        options: dict[str, str] | None = None,
        columns: Sequence[str] | Mapping[str, str] | None = None,
        mode: str = "append",
    ) -> DataStreamSink:
        """Write the records with one of Spark's own data sources. scurry's own; Flink has nothing like it.

        Args:
            format: The data source, for example "parquet", "delta" or "jdbc".
            options: Its options, for example {"path": "/data/out"}.
            columns: Names or, as a dict, names and Spark SQL types of the columns, in the order of the fields. None
                takes the names of a declared row type, or f0, f1, ...
            mode: Spark's save mode.
        """
        from scurry.connectors.spark_sink import SparkSink

        return self._sink(SparkSink.of(format, options, columns, mode, self._node.output_type), f"Spark {format}")

    @overload
    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: None = None
    ) -> CloseableIterator[T_co]: ...
    @overload
    def execute_and_collect(self, job_execution_name: str | None = None, *, limit: int) -> list[T_co]: ...
    @overload
    def execute_and_collect(self, job_execution_name: str | None, limit: int) -> list[T_co]: ...
    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator[T_co] | list[T_co]:
        """Run the job and return the records of this stream; other sinks of the environment run, too.

        Args:
            job_execution_name: Name of the job.
            limit: Stop after that many records and return them as a list.

        Returns:
            An iterator, which should be closed or used in a `with` statement; with `limit` a list.
        """
        from scurry.datastream.data_stream.sink import collect

        if limit is not None and limit <= 0:
            raise ArgumentError(f"limit must be greater than 0, not {limit}")
        records = collect(self, job_execution_name)
        if limit is None:
            return records
        with records:
            return list(islice(records, limit))  # does not wait for a record beyond the limit

    # ------------------------------------------------------------------ building nodes

    def _transform(self, operator: ops.Operator, name: str, output_type: Any) -> DataStream:
        return operator_stream(self._env, (self._node,), operator, name, output_type)

    def _partition(self, partitioner: ops.Partitioner) -> DataStream[T_co]:
        name = getattr(partitioner, "style", type(partitioner).__name__.lower())
        node = PartitionNode(
            inputs=(self._node,), name=name, output_type=self._node.output_type, partitioner=partitioner
        )
        self._env._capture(node)
        return DataStream(self._env, node)

    def _sink(self, sink: Sink, name: str) -> DataStreamSink:
        from scurry.datastream.data_stream.sink import DataStreamSink

        # a sink has no output; its type is that of the records it takes
        node = OperatorNode(
            inputs=(self._node,), name=name, output_type=self._node.output_type, operator=ops.Sink(sink)
        )
        self._env._capture(node)
        self._env._register(node)
        return DataStreamSink(self._env, node)


def operator_stream(
    env: StreamExecutionEnvironment, inputs: tuple[Node, ...], operator: ops.Operator, name: str, output_type: Any
) -> DataStream:
    """Return the output of a new operator of the environment."""
    node = OperatorNode(inputs=inputs, name=name, output_type=declared_type(output_type), operator=operator)
    env._capture(node)
    env._register(node)
    return DataStream(env, node)
