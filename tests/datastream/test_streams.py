from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Duration, Row, Types, WatermarkStrategy
from scurry.connectors.collection import CollectionSource
from scurry.connectors.function_sink import FunctionSink
from scurry.connectors.print_sink import PrintSink
from scurry.connectors.spark_sink import SparkSink
from scurry.datastream import (
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    DataStream,
    FilterFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    Partitioner,
    ProcessFunction,
    SinkFunction,
    StreamExecutionEnvironment,
)
from scurry.datastream._adapters import KeyedCoFlatMap, KeyedCoMap, KeyedFilter, KeyedFlatMap, KeyedMap
from scurry.datastream.data_stream import BroadcastConnectedStream, BroadcastStream, ConnectedStreams, KeyedStream
from scurry.datastream.state import MapStateDescriptor, ValueStateDescriptor
from scurry.errors import ArgumentError, ArgumentTypeError, TopologyError
from scurry.graph import operators as ops
from scurry.graph.nodes import OperatorNode, PartitionNode, SideOutputNode, SourceNode, UnionNode
from scurry.testing import plan_of

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Double(MapFunction):
    def map(self, value: Any) -> Any:
        return value * 2


class Nothing(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return None


class KeyedNothing(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return None


@pytest.fixture
def pairs(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([("a", 1), ("b", 2)], type_info=PAIR)


@pytest.fixture
def keyed(pairs: DataStream) -> KeyedStream:
    return pairs.key_by(lambda pair: pair[0], key_type=Types.STRING())


def operator(stream: Any, kind: type[ops.Operator]) -> Any:
    node = plan_of(stream)
    assert isinstance(node, OperatorNode)
    assert type(node.operator) is kind
    return node.operator


def partitioner(stream: DataStream) -> Any:
    node = plan_of(stream)
    assert isinstance(node, PartitionNode)
    return node.partitioner


class TestRecordWise:
    def test_map_takes_a_function_object_or_a_callable(self, pairs: DataStream) -> None:
        for function in (Double(), lambda pair: pair):
            assert operator(pairs.map(function), ops.Map).function is function

    def test_results_have_the_declared_type_or_none(self, pairs: DataStream) -> None:
        assert pairs.map(Double(), output_type=Types.STRING()).get_type() == Types.STRING()
        assert pairs.map(Double()).get_type() == Types.PICKLED_BYTE_ARRAY()
        assert plan_of(pairs.map(Double())).output_type is None

    @pytest.mark.parametrize(
        ("declared", "expected"),
        [
            (int, Types.LONG()),
            (tuple[int, str], Types.TUPLE([Types.LONG(), Types.STRING()])),
            ([Types.INT()], Types.ROW([Types.INT()])),
        ],
    )
    def test_types_can_be_hints_and_lists(self, pairs: DataStream, declared: Any, expected: Any) -> None:
        assert pairs.map(Double(), output_type=declared).get_type() == expected

    def test_annotations_of_functions_declare_nothing(self, pairs: DataStream) -> None:
        def length(pair: tuple[str, int]) -> int:
            return len(pair)

        assert plan_of(pairs.map(length)).output_type is None

    def test_a_type_that_is_none_is_refused(self, pairs: DataStream) -> None:
        with pytest.raises(ArgumentTypeError, match="output_type is 'STRING'"):
            pairs.map(Double(), output_type="STRING")  # type: ignore[call-overload]

    def test_filter_keeps_the_type(self, pairs: DataStream) -> None:
        kept = pairs.filter(lambda pair: pair[1] > 1)
        operator(kept, ops.Filter)
        assert kept.get_type() == PAIR

    def test_flat_map_and_process(self, pairs: DataStream) -> None:
        operator(pairs.flat_map(lambda pair: pair), ops.FlatMap)
        assert operator(pairs.process(Nothing()), ops.Process).timed

    def test_project_picks_fields_and_their_types(self, pairs: DataStream) -> None:
        projected = pairs.project(1, 0)
        assert operator(projected, ops.Map).function.map(("a", 1)) == (1, "a")
        assert projected.get_type() == Types.TUPLE([Types.INT(), Types.STRING()])

    def test_project_needs_tuples_and_existing_fields(self, pairs: DataStream) -> None:
        with pytest.raises(TopologyError, match="Only Tuple DataStreams can be projected"):
            pairs.map(Double()).project(0)
        with pytest.raises(ArgumentError, match="no field 2"):
            pairs.project(0, 2)

    def test_timestamps_keep_the_type(self, pairs: DataStream) -> None:
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
        stamped = pairs.assign_timestamps_and_watermarks(strategy)
        assert operator(stamped, ops.AssignTimestamps).function is strategy
        assert stamped.get_type() == PAIR

    @pytest.mark.parametrize(
        "build",
        [
            lambda ds: ds.map(3),
            lambda ds: ds.flat_map(Double()),
            lambda ds: ds.filter(Double()),
            lambda ds: ds.key_by("0"),
            lambda ds: ds.process(lambda value: value),
            lambda ds: ds.partition_custom(Double(), lambda value: value),
            lambda ds: ds.add_sink(print),
            lambda ds: ds.sink_to(print),
            lambda ds: ds.assign_timestamps_and_watermarks(None),
            lambda ds: ds.connect(3),
            lambda ds: ds.union(3),
            lambda ds: ds.get_side_output("late"),
        ],
    )
    def test_arguments_of_the_wrong_kind_are_refused_at_once(
        self, pairs: DataStream, build: Callable[[DataStream], Any]
    ) -> None:
        with pytest.raises(ArgumentTypeError):
            build(pairs)

    def test_a_class_instead_of_an_instance_is_told_apart(self, pairs: DataStream) -> None:
        with pytest.raises(ArgumentTypeError, match=r"pass an instance of it: Double\(\)"):
            pairs.map(Double)  # type: ignore[arg-type]

    def test_process_points_from_keyed_functions_to_key_by(self, pairs: DataStream) -> None:
        with pytest.raises(ArgumentTypeError, match="call key_by"):
            pairs.process(KeyedNothing())  # type: ignore[call-overload]


class TestKeyed:
    def test_key_by_partitions_by_hash_of_the_key(self, pairs: DataStream) -> None:
        keyed = pairs.key_by(len, key_type=Types.INT())
        assert (partitioner(keyed).selector, partitioner(keyed).key_type) == (len, Types.INT())
        assert plan_of(keyed).inputs == (plan_of(pairs),)
        assert keyed.get_type() == PAIR

    def test_key_by_again_starts_from_the_original_stream(self, pairs: DataStream, keyed: KeyedStream) -> None:
        assert plan_of(keyed.key_by(len)).inputs == (plan_of(pairs),)

    def test_simple_functions_become_keyed_operators(self, keyed: KeyedStream) -> None:
        for stream, adapter in [
            (keyed.map(Double()), KeyedMap),
            (keyed.flat_map(lambda pair: pair), KeyedFlatMap),
            (keyed.filter(lambda pair: True), KeyedFilter),
        ]:
            assert type(operator(stream, ops.KeyedProcess).function) is adapter

    def test_adapters_open_call_and_close_the_function(self) -> None:
        calls: list[Any] = []

        class Positive(FilterFunction):
            def open(self, runtime_context: Any) -> None:
                calls.append(runtime_context)

            def filter(self, value: Any) -> bool:
                return bool(value > 0)

            def close(self) -> None:
                calls.append("closed")

        adapter = KeyedFilter(Positive())
        adapter.open("context")  # type: ignore[arg-type]
        context: Any = None
        assert list(adapter.process_element(1, context)) == [1]
        assert list(adapter.process_element(-1, context)) == []
        adapter.close()
        assert calls == ["context", "closed"]

    def test_process_needs_a_keyed_function(self, keyed: KeyedStream) -> None:
        function = KeyedNothing()
        assert operator(keyed.process(function), ops.KeyedProcess).function is function
        with pytest.raises(ArgumentTypeError, match="KeyedProcessFunction is required for KeyedStream"):
            keyed.process(Nothing())  # type: ignore[call-overload]

    def test_reduce_keeps_the_type(self, keyed: KeyedStream) -> None:
        reduced = keyed.reduce(lambda a, b: a)
        assert operator(reduced, ops.KeyedReduce).function.reduce(1, 2) == 1
        assert reduced.get_type() == PAIR

    @pytest.mark.parametrize("method", ["shuffle", "rebalance", "rescale", "forward", "broadcast", "partition_custom"])
    def test_partitioning_cannot_be_overridden(self, keyed: KeyedStream, method: str) -> None:
        with pytest.raises(TopologyError, match="Cannot override partitioning for KeyedStream"):
            getattr(keyed, method)()

    @pytest.mark.parametrize("method", ["name", "uid", "set_parallelism", "set_max_parallelism", "set_buffer_timeout"])
    def test_a_keyed_stream_is_no_operator(self, keyed: KeyedStream, method: str) -> None:
        with pytest.raises(TopologyError, match="no operator"):
            getattr(keyed, method)(1)

    def test_keyed_streams_can_be_printed_and_united(self, keyed: KeyedStream, pairs: DataStream) -> None:
        assert plan_of(keyed.print("id")).inputs == (plan_of(keyed),)
        assert plan_of(keyed.union(pairs)).inputs == (plan_of(keyed), plan_of(pairs))


class TestSeveralStreams:
    def test_union_holds_all_streams(self, pairs: DataStream) -> None:
        united = pairs.union(pairs, pairs.filter(lambda pair: True))
        assert isinstance(plan_of(united), UnionNode) and len(plan_of(united).inputs) == 3
        assert united.get_type() == PAIR

    def test_union_refuses_other_types(self, pairs: DataStream) -> None:
        with pytest.raises(TopologyError, match="Cannot union streams of different types"):
            pairs.union(pairs.map(Double()))

    def test_connected_streams_are_never_chained(self, pairs: DataStream) -> None:
        class Join(CoMapFunction):
            def map1(self, value: Any) -> Any:
                return value

            map2 = map1

        node = plan_of(pairs.connect(pairs.map(Double())).map(Join()))
        assert all(isinstance(each, PartitionNode) for each in node.inputs)
        assert all(isinstance(each.partitioner, ops.Forward) for each in node.inputs)  # type: ignore[attr-defined]

    def test_connected_keyed_streams_share_keyed_state(self, keyed: KeyedStream, pairs: DataStream) -> None:
        class Maps(CoMapFunction):
            def map1(self, value: Any) -> Any:
                return value

            def map2(self, value: Any) -> Any:
                return None

        class FlatMaps(CoFlatMapFunction):
            def flat_map1(self, value: Any) -> Any:
                return [value]

            flat_map2 = flat_map1

        for connected in (keyed.connect(keyed), pairs.connect(keyed).key_by(len, len, Types.INT())):
            mapped = connected.map(Maps())
            adapter = operator(mapped, ops.KeyedCoProcess).function
            assert type(adapter) is KeyedCoMap
            assert [isinstance(i.partitioner, ops.Hash) for i in plan_of(mapped).inputs] == [True, True]  # type: ignore[attr-defined]
            context: Any = None
            assert list(adapter.process_element1(1, context)) == [1]
            assert list(adapter.process_element2(1, context)) == []
            flat = connected.flat_map(FlatMaps())
            assert type(operator(flat, ops.KeyedCoProcess).function) is KeyedCoFlatMap

    def test_functions_must_suit_the_keys(self, keyed: KeyedStream, pairs: DataStream) -> None:
        class Plain(CoProcessFunction):
            def process_element1(self, value: Any, ctx: Any) -> Any:
                return None

            process_element2 = process_element1

        class Keyed(KeyedCoProcessFunction):
            process_element1 = process_element2 = Plain.process_element1

        operator(pairs.connect(pairs).process(Plain()), ops.CoProcess)
        operator(keyed.connect(keyed).process(Keyed()), ops.KeyedCoProcess)
        operator(keyed.connect(keyed).process(Plain()), ops.KeyedCoProcess)
        with pytest.raises(ArgumentTypeError, match="The input must be a KeyedCoProcessFunction or CoProcessFunction"):
            keyed.connect(keyed).process(lambda value: value)  # type: ignore[call-overload]
        with pytest.raises(ArgumentTypeError, match="key_by"):
            keyed.connect(pairs).process(Keyed())

    def test_side_outputs_have_the_type_of_their_tag(self, pairs: DataStream) -> None:
        side = pairs.process(Nothing()).get_side_output(OutputTag("words", Types.STRING()))
        node = plan_of(side)
        assert isinstance(node, SideOutputNode) and node.tag_id == "words"
        assert side.get_type() == Types.STRING()

    def test_only_operators_have_side_outputs(self, pairs: DataStream) -> None:
        with pytest.raises(TopologyError, match="emits no side outputs"):
            pairs.rebalance().get_side_output(OutputTag("words"))


class TestPartitioning:
    def test_each_way_has_its_partitioner(self, pairs: DataStream) -> None:
        for stream, kind in [
            (pairs.rebalance(), ops.Rebalance),
            (pairs.rescale(), ops.Rebalance),
            (pairs.shuffle(), ops.Rebalance),
            (pairs.forward(), ops.Forward),
            (pairs.global_(), ops.Global),
            (pairs.broadcast(), ops.Broadcast),
        ]:
            assert type(partitioner(stream)) is kind
            assert stream.get_type() == PAIR

    def test_partition_custom_keeps_function_and_selector(self, pairs: DataStream) -> None:
        class First(Partitioner):
            def partition(self, key: Any, num_partitions: int) -> int:
                return 0

        function = First()
        custom = partitioner(pairs.partition_custom(function, len))
        assert (custom.partitioner, custom.selector) == (function, len)

    def test_parallelism_belongs_to_the_next_operator(self, pairs: DataStream) -> None:
        with pytest.raises(TopologyError, match="on the operator that follows"):
            pairs.rebalance().set_parallelism(2)


class Plain(BroadcastProcessFunction[Any, Any, Any]):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return None

    process_broadcast_element = process_element


class Keyed(KeyedBroadcastProcessFunction[Any, Any, Any, Any]):
    process_element = process_broadcast_element = Plain.process_element


class TestBroadcastState:
    @pytest.fixture
    def rules(self, pairs: DataStream) -> BroadcastStream:
        return pairs.broadcast(MapStateDescriptor("rules", Types.STRING(), Types.INT()), MapStateDescriptor("other"))

    def test_a_stream_broadcast_with_descriptors_keeps_them(self, pairs: DataStream, rules: BroadcastStream) -> None:
        assert [descriptor.name for descriptor in rules.broadcast_state_descriptors] == ["rules", "other"]
        connected = pairs.connect(rules)
        assert isinstance(connected, BroadcastConnectedStream)
        assert connected.broadcast_state_descriptors == rules.broadcast_state_descriptors

    def test_only_map_states_can_be_broadcast(self, pairs: DataStream) -> None:
        with pytest.raises(ArgumentTypeError, match="must be MapStateDescriptor"):
            pairs.broadcast(ValueStateDescriptor("rule"))  # type: ignore[call-overload]

    def test_process_has_the_broadcast_stream_as_second_input(
        self, keyed: KeyedStream, pairs: DataStream, rules: BroadcastStream
    ) -> None:
        cases: list[tuple[DataStream, Any, type]] = [
            (pairs, Plain(), ops.BroadcastProcess),
            (keyed, Keyed(), ops.KeyedBroadcastProcess),
        ]
        for stream, function, kind in cases:
            processed: Any = stream.connect(rules).process(function, output_type=Types.STRING())
            assert operator(processed, kind).function is function
            assert processed.get_type() == Types.STRING()
            assert type(plan_of(processed).inputs[1].partitioner) is ops.Broadcast  # type: ignore[attr-defined]

    def test_the_function_must_fit_the_stream(
        self, keyed: KeyedStream, pairs: DataStream, rules: BroadcastStream
    ) -> None:
        with pytest.raises(ArgumentTypeError, match="should be applied to non-keyed DataStream"):
            keyed.connect(rules).process(Plain())
        with pytest.raises(ArgumentTypeError, match="should be applied to keyed DataStream"):
            pairs.connect(rules).process(Keyed())


class TestAsyncFunctions:
    class Ask(AsyncFunction[Any, Any]):
        async def async_invoke(self, value: Any) -> list[Any]:
            return [value]

    retry = AsyncRetryStrategy.fixed_delay(1, 1, None, None)

    def test_arguments_are_kept(self, pairs: DataStream) -> None:
        function = self.Ask()
        second = datetime.timedelta(seconds=1)
        stream = AsyncDataStream.ordered_wait_with_retry(pairs, function, second, self.retry, 7, Types.INT())
        planned = operator(stream, ops.AsyncWait)
        assert isinstance(planned, ops.AsyncWait) and planned.function is function
        assert (planned.timeout, planned.capacity, planned.ordered) == (1_000, 7, True)
        assert planned.retry_strategy is self.retry
        assert stream.get_type() == Types.INT() and stream.get_name() == "async wait operator"

    def test_without_retries_there_is_no_strategy(self, pairs: DataStream) -> None:
        planned = operator(AsyncDataStream.unordered_wait(pairs, self.Ask(), 0), ops.AsyncWait)
        assert isinstance(planned, ops.AsyncWait)
        assert (planned.timeout, planned.capacity, planned.ordered) == (0, 100, False)
        assert planned.retry_strategy is None

    def test_other_functions_are_refused(self, pairs: DataStream) -> None:
        class Forgot(AsyncFunction[Any, Any]):
            def async_invoke(self, value: Any) -> list[Any]:  # type: ignore[override]
                return [value]

        with pytest.raises(ArgumentTypeError, match="async def"):
            AsyncDataStream.ordered_wait(pairs, Forgot(), 1_000)
        with pytest.raises(ArgumentTypeError, match="The input must be an AsyncFunction"):
            AsyncDataStream.ordered_wait(pairs, Double(), 1_000)  # type: ignore[call-overload]

    def test_numbers_must_make_sense(self, pairs: DataStream) -> None:
        with pytest.raises(ArgumentError, match="capacity must be at least 1, not 0"):
            AsyncDataStream.unordered_wait(pairs, self.Ask(), 1_000, 0)
        with pytest.raises(ArgumentError, match="need a timeout above 0 ms"):
            AsyncDataStream.unordered_wait_with_retry(pairs, self.Ask(), 0, self.retry)
        with pytest.raises(ArgumentTypeError, match="expected an AsyncRetryStrategy"):
            AsyncDataStream.unordered_wait_with_retry(pairs, self.Ask(), 1, None)  # type: ignore[call-overload]


class TestCache:
    def test_only_outputs_of_operators_can_be_cached(self, keyed: KeyedStream, pairs: DataStream) -> None:
        with pytest.raises(TopologyError, match="Cache for KeyedStream is not supported"):
            keyed.cache()
        for stream in (pairs.union(pairs), pairs.rebalance(), pairs.cache()):
            with pytest.raises(TopologyError, match="keeps the output of an operator"):
                stream.cache()

    def test_it_is_no_operator(self, pairs: DataStream) -> None:
        cached = pairs.cache()
        assert cached.get_type() == PAIR
        for configure in (cached.name, cached.uid, cached.set_parallelism):
            with pytest.raises(TopologyError, match="for CachedDataStream is not supported.*before cache"):
                configure(1)  # type: ignore[arg-type]


class TestSinks:
    def test_print_has_an_identifier_and_the_type_of_the_records(self, pairs: DataStream) -> None:
        sink = pairs.print("id")
        printer = operator(sink, ops.Sink).function
        assert isinstance(printer, PrintSink) and printer.identifier == "id"
        assert plan_of(sink).output_type == PAIR

    def test_add_sink_wraps_a_sink_function(self, pairs: DataStream) -> None:
        class Keep(SinkFunction):
            def invoke(self, value: Any, context: Any) -> None:
                pass

        function = Keep()
        sink = operator(pairs.add_sink(function), ops.Sink).function
        assert isinstance(sink, FunctionSink) and sink.function is function

    def test_sinks_can_be_configured(self, pairs: DataStream) -> None:
        node = plan_of(pairs.print().name("out").uid("u").set_description("d").set_parallelism(3).disable_chaining())
        assert (node.name, node.uid, node.description, node.parallelism) == ("out", "u", "d", 3)

    def test_to_spark_takes_columns_from_the_declared_type(self, pairs: DataStream) -> None:
        sink = operator(pairs.to_spark("parquet", {"path": "/out"}), ops.Sink).function
        assert sink == SparkSink("parquet", {"path": "/out"}, "append", (("f0", "STRING"), ("f1", "INT")))
        named = operator(pairs.to_spark("parquet", columns=["word", "n"]), ops.Sink).function
        assert named.schema == (("word", "STRING"), ("n", "INT"))

    def test_to_spark_knows_nested_types(self, pairs: DataStream) -> None:
        row = Types.ROW_NAMED(["tags", "at"], [Types.LIST(Types.LONG()), Types.SQL_TIMESTAMP()])
        nested = Types.ROW_NAMED(["id", "data"], [Types.DOUBLE(), Types.MAP(Types.STRING(), row)])
        sink = operator(pairs.map(Double(), output_type=nested).to_spark("delta"), ops.Sink).function
        assert dict(sink.schema)["data"] == "MAP<STRING, STRUCT<tags: ARRAY<BIGINT>, at: TIMESTAMP>>"

    def test_to_spark_needs_to_know_the_columns(self, pairs: DataStream) -> None:
        untyped = pairs.map(Double())
        with pytest.raises(ArgumentError, match="the columns are not known"):
            untyped.to_spark("parquet")
        assert operator(untyped.to_spark("parquet", columns={"n": "INT"}), ops.Sink).function.schema == (("n", "INT"),)


class TestSettings:
    def test_names_ids_and_parallelism_are_kept(self, pairs: DataStream) -> None:
        mapped = pairs.map(Double()).name("twice").uid("u1").set_description("d").set_parallelism(3)
        node = plan_of(mapped.set_max_parallelism(64))
        assert mapped.get_name() == "twice"
        assert (node.uid, node.description, node.parallelism, node.max_parallelism) == ("u1", "d", 3, 64)

    def test_operators_have_flinks_names(self, pairs: DataStream, keyed: KeyedStream) -> None:
        streams = [pairs.map(len), pairs.flat_map(len), pairs.filter(len), pairs.process(Nothing()), keyed.sum(1)]  # type: ignore[arg-type]
        assert [stream.get_name() for stream in streams] == ["Map", "FlatMap", "Filter", "PROCESS", "Reduce"]
        assert pairs.get_name() == "Collection Source"

    @pytest.mark.parametrize(
        ("parallelism", "error", "message"),
        [(0, ArgumentError, "must be at least 1"), (-1, ArgumentError, "must be at least 1"),
         ("2", ArgumentTypeError, "parallelism must be int, got '2' [(]str[)]"), (None, ArgumentTypeError, "got None")],
    )  # fmt: skip
    def test_parallelism_is_at_least_one(
        self, pairs: DataStream, parallelism: Any, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            pairs.map(Double()).set_parallelism(parallelism)

    @pytest.mark.parametrize("max_parallelism", [0, 32769])
    def test_max_parallelism_has_limits(self, pairs: DataStream, max_parallelism: int) -> None:
        with pytest.raises(ArgumentError, match="between 1 and 32768"):
            pairs.map(Double()).set_max_parallelism(max_parallelism)

    def test_what_is_not_parallel_stays_so(self, pairs: DataStream) -> None:
        for stream in (pairs, pairs.map(Double()).force_non_parallel()):
            stream.set_parallelism(1)
            with pytest.raises(ArgumentError, match="The parallelism of non parallel operator must be 1"):
                stream.set_parallelism(2)

    def test_hints_about_flinks_machinery_are_accepted(self, pairs: DataStream) -> None:
        mapped = pairs.map(Double())
        assert mapped.start_new_chain().disable_chaining().slot_sharing_group("g").set_buffer_timeout(5) is mapped
        with pytest.raises(ArgumentError, match="buffer timeout"):
            mapped.set_buffer_timeout(-2)

    def test_nodes_remember_the_line_that_built_them(self, pairs: DataStream, keyed: KeyedStream) -> None:
        built: list[Any] = [pairs.map(Double()), keyed.sum(1), pairs.rebalance(), pairs.print()]  # cause
        with open(__file__) as file:
            line = next(number for number, text in enumerate(file, 1) if text.rstrip().endswith("# cause"))
        assert {str(plan_of(stream).origin) for stream in built} == {f"{__file__}:{line}"}

    def test_a_stream_is_shown_as_its_records_and_the_line_that_built_it(self, env: StreamExecutionEnvironment) -> None:
        typed = env.from_collection([("a", 1)], type_info=PAIR)
        mapped = typed.map(Double())
        assert repr(typed.key_by(lambda pair: pair[0])).startswith(f"<KeyedStream of {PAIR}, from 'KeyBy' ({__file__}:")
        assert repr(mapped) == f"<DataStream of Python objects, from 'Map' ({plan_of(mapped).origin})>"


class TestSources:
    def test_collection_elements_are_converted_at_once(self, env: StreamExecutionEnvironment) -> None:
        rows = env.from_collection([("a", 1)], type_info=Types.ROW_NAMED(["k", "n"], [Types.STRING(), Types.INT()]))
        node = plan_of(rows)
        assert isinstance(node, SourceNode) and isinstance(node.source, CollectionSource)
        assert node.source._values == [Row(k="a", n=1)]
        with pytest.raises(TypeError, match="does not accept 'x'"):
            env.from_collection(["x"], type_info=Types.INT())

    def test_from_source_takes_sources_only(self, env: StreamExecutionEnvironment) -> None:
        source = CollectionSource([1, 2], Types.INT())
        strategy = WatermarkStrategy.for_monotonous_timestamps()
        stream = env.from_source(source, strategy, "numbers")
        assert (stream.get_name(), stream.get_type()) == ("numbers", Types.INT())
        assert plan_of(stream).watermark_strategy is strategy  # type: ignore[attr-defined]
        with pytest.raises(ArgumentTypeError, match="takes a source"):
            env.from_source([1, 2], strategy, "numbers")  # type: ignore[arg-type]

    def test_from_spark_describes_a_dataframe_without_spark(self, env: StreamExecutionEnvironment) -> None:
        class Frame:
            isStreaming = True
            columns = ["k", "n"]

        source = plan_of(env.from_spark(Frame())).source  # type: ignore[arg-type, attr-defined]
        assert (source.columns, source.bounded) == (("k", "n"), False)
        with pytest.raises(TypeError, match="DataFrame"):
            env.from_spark([1])  # type: ignore[arg-type]

    def test_connect_types(self, pairs: DataStream) -> None:
        assert isinstance(pairs.connect(pairs), ConnectedStreams)
