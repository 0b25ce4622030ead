"""Mistakes in calls of the API are answered where they are made, with what to write instead."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.common.serialization import Encoder
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSink, FileSource, OutputFileConfig, StreamFormat
from scurry.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from scurry.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink, KafkaSource
from scurry.datastream.data_stream import DataStream
from scurry.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from scurry.datastream.formats.json import JsonReaderFormat, JsonRowDeserializationSchema
from scurry.datastream.functions import KeyedProcessFunction, MapFunction
from scurry.datastream.state import StateTtlConfig, ValueStateDescriptor
from scurry.datastream.window import CountTrigger
from scurry.errors import (
    ArgumentTypeError,
    ConfigError,
    JobError,
    MissingAttributeError,
    ScurryError,
    UnknownConfigError,
    UnpicklableFunctionError,
)
from scurry.table import EnvironmentSettings, Schema, StreamTableEnvironment, TableDescriptor, TableEnvironment
from scurry.testing import TestHarness


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))


@pytest.fixture
def stream(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([1, 2])


def message(error: type[Exception], call: Callable[[], object]) -> str:
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


# ------------------------------------------------------------------ arguments


class TestArguments:
    @pytest.mark.parametrize(
        ("call", "expected"),
        [
            (lambda env: env.set_parallelism("4"), "parallelism must be int, got '4' (str)"),
            (lambda env: env.set_parallelism(2.0), "parallelism must be int, got 2.0 (float)"),
            (lambda env: env.set_parallelism(True), "parallelism must be int, got True (bool)"),
            (lambda env: env.set_parallelism(None), "parallelism must be int, got None (NoneType)"),
            (lambda env: env.set_max_parallelism(max_parallelism="8"), "max_parallelism must be int, got '8' (str)"),
            (lambda env: env.enable_changelog_state_backend("yes"), "enabled must be bool, got 'yes' (str)"),
            (lambda env: env.execute(5), "job_name must be str or None, got 5 (int)"),
            (lambda env: env.from_source(None, None, 5), "source_name must be str, got 5 (int)"),
            (lambda env: env.from_collection([1]).name(1), "DataStream.name: name must be str, got 1 (int)"),
            (lambda env: env.from_collection([1]).uid(1), "DataStream.uid: uid must be str, got 1 (int)"),
        ],
    )
    def test_of_another_kind_are_named_with_their_value(
        self, env: StreamExecutionEnvironment, call: Any, expected: str
    ) -> None:
        assert expected in message(ArgumentTypeError, lambda: call(env))

    def test_what_counts_as_an_int_is_one(self, env: StreamExecutionEnvironment) -> None:
        class Four:
            def __index__(self) -> int:
                return 4

            def __lt__(self, other: int) -> bool:
                return 4 < other  # noqa: PLR2004

        env.enable_changelog_state_backend(True)
        env.set_parallelism(Four())  # type: ignore[arg-type]

    def test_the_error_is_one_line_of_the_users(self, env: StreamExecutionEnvironment) -> None:
        with pytest.raises(ArgumentTypeError) as caught:
            env.set_parallelism("4")  # type: ignore[arg-type]
        lines = caught.value.report().splitlines()
        assert len(lines) == 2 and re.fullmatch(r"  at .*test_api_mistakes\.py:\d+: env\.set_par.*", lines[1])


# ------------------------------------------------------------------ attributes


class TestAttributes:
    @pytest.mark.parametrize(
        ("call", "expected"),
        [
            (lambda stream: stream.mapp, "'DataStream' object has no attribute 'mapp'; did you mean map?"),
            (lambda stream: stream.window, "call key_by(...) before window(...), or window_all(...)"),
            (lambda stream: stream.reduce, "call key_by(...) before reduce(...)"),
            (lambda stream: stream.count(), "key_by(...) and sum(1)"),
            (lambda stream: stream.key_by(max).intervaljoin, "did you mean interval_join?"),
            (lambda stream: stream.key_by(max).aggregate, "call window(...) before aggregate(...)"),
            (lambda stream: stream.print().uidd, "did you mean uid?"),
            (lambda stream: stream.get_execution_environment().executes, "did you mean execute"),
            (lambda stream: stream.get_execution_environment().from_elements, "call from_collection([...])"),
            (lambda stream: stream.get_execution_environment().get_config().set_paralelism, "set_parallelism?"),
            (lambda stream: Configuration().set_int, "did you mean set_integer"),  # type: ignore[attr-defined]
            (lambda stream: KafkaSource.builder().set_topic, "did you mean set_topics?"),  # type: ignore[attr-defined]
            (lambda stream: ValueStateDescriptor("s", Types.INT()).enable_ttl, "enable_time_to_live?"),  # type: ignore[attr-defined]
            (lambda stream: OutputFileConfig.builder().with_prefix, "did you mean with_part_prefix"),  # type: ignore[attr-defined]
        ],
    )
    def test_unknown_ones_name_what_could_be_meant(self, stream: DataStream, call: Any, expected: str) -> None:
        assert expected in message(MissingAttributeError, lambda: call(stream))

    def test_one_that_is_like_nothing_says_so(self, stream: DataStream) -> None:
        expected = "'DataStream' object has no attribute 'qqqqqq'"
        assert message(AttributeError, lambda: stream.qqqqqq) == expected  # type: ignore[attr-defined]

    def test_hasattr_and_getattr_with_a_default_work(self, stream: DataStream) -> None:
        assert not hasattr(stream, "mapp") and hasattr(stream, "map")
        assert getattr(stream, "mapp", None) is None

    @pytest.mark.parametrize(
        "value",
        [
            Configuration.from_dict({"a": "1"}),
            WatermarkStrategy.for_monotonous_timestamps(),
            OutputFileConfig.builder().build(),
            ValueStateDescriptor("s", Types.INT()),
        ],
    )
    def test_objects_can_be_copied_and_pickled(self, value: Any) -> None:
        assert type(copy.copy(value)) is type(copy.deepcopy(value)) is type(pickle.loads(pickle.dumps(value)))

    def test_what_users_derive_keeps_its_own_ways(self) -> None:
        class Own(DataStream):
            def scale(self, by: int) -> int:
                return by

        assert Own.scale(None, "3") == "3"  # type: ignore[arg-type, comparison-overlap]


# ------------------------------------------------------------------ builders, keys, types


ROW: Any = Types.ROW([Types.INT()])
TEXT_FILES: Any = FileSink.for_row_format("out", Encoder.simple_string_encoder())


class TestThings:
    def test_a_source_that_was_not_built(self, env: StreamExecutionEnvironment) -> None:
        builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "orders")
        text = message(ArgumentTypeError, lambda: env.from_source(builder, WatermarkStrategy.no_watermarks(), "orders"))  # type: ignore[arg-type]
        assert text == "StreamExecutionEnvironment.from_source: the FileSourceBuilder is not built: call .build() on it"

    def test_a_ttl_that_was_not_built(self) -> None:
        descriptor = ValueStateDescriptor("s", Types.INT())
        builder: Any = StateTtlConfig.new_builder(5)
        assert "call .build() on it" in message(ArgumentTypeError, lambda: descriptor.enable_time_to_live(builder))

    @pytest.mark.parametrize(
        "call",
        [
            lambda env: env.from_collection([1]).sink_to(KafkaSink.builder()),
            lambda env: KafkaSource.builder().set_value_only_deserializer(JsonRowDeserializationSchema.builder()),  # type: ignore[arg-type]
            lambda env: KafkaSink.builder().set_record_serializer(KafkaRecordSerializationSchema.builder()),  # type: ignore[arg-type]
            lambda env: TEXT_FILES.with_output_file_config(OutputFileConfig.builder()),
            lambda env: JdbcSink.sink("", ROW, JdbcConnectionOptions.JdbcConnectionOptionsBuilder(), None),  # type: ignore[arg-type]
            lambda env: JdbcSink.sink("", ROW, None, JdbcExecutionOptions.builder()),  # type: ignore[arg-type]
            lambda env: TableEnvironment.create(EnvironmentSettings.new_instance()),  # type: ignore[arg-type]
            lambda env: TableDescriptor.for_connector("print").schema(Schema.new_builder()),  # type: ignore[arg-type]
            lambda env: StreamTableEnvironment.create(env).create_table("t", TableDescriptor.for_connector("print")),  # type: ignore[arg-type]
            lambda env: StreamTableEnvironment.create(env).from_data_stream(None, Schema.new_builder()),
            lambda env: StreamTableEnvironment.create(env).to_changelog_stream(None, Schema.new_builder()),  # type: ignore[arg-type]
            lambda env: CsvReaderFormat.for_schema(CsvSchema.builder()),  # type: ignore[arg-type]
            lambda env: CsvBulkWriters.for_schema(CsvSchema.builder()),  # type: ignore[arg-type]
            lambda env: JsonReaderFormat.for_schema(JsonRowDeserializationSchema.builder()),  # type: ignore[arg-type]
        ],
    )
    def test_whatever_takes_what_is_built_names_the_builder(self, env: StreamExecutionEnvironment, call: Any) -> None:
        assert re.search(
            r": the \S*Builder is not built: call \.build\(\) on it$", message(ArgumentTypeError, lambda: call(env))
        )

    @pytest.mark.parametrize("key", ["user", 0])
    def test_a_field_as_key(self, stream: DataStream, key: Any) -> None:
        text = message(ArgumentTypeError, lambda: stream.key_by(key))
        assert text.endswith(f"pass a function: lambda record: record[{key!r}]")

    def test_a_type_that_was_not_called(self, stream: DataStream) -> None:
        text = message(ArgumentTypeError, lambda: stream.map(str, output_type=Types.STRING))  # type: ignore[call-overload]
        assert text == "output_type is the method Types.STRING: call it, Types.STRING()"

    def test_a_trigger_where_a_window_belongs(self, stream: DataStream) -> None:
        text = message(ArgumentTypeError, lambda: stream.key_by(max).window(CountTrigger.of(1)))  # type: ignore[arg-type]
        assert "expected a WindowAssigner such as" in text


# ------------------------------------------------------------------ the harness


def test_state_of_a_harness_is_asked_for_by_its_descriptor() -> None:
    class Counts(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            return None

    with TestHarness.of(lambda stream: stream.key_by(lambda value: value).process(Counts())) as harness:
        text = message(ArgumentTypeError, lambda: harness.state("count", 1))  # type: ignore[arg-type]
    assert "ValueStateDescriptor('count', Types.INT())" in text


# ------------------------------------------------------------------ configuration


class TestConfiguration:
    @pytest.mark.parametrize(("key", "value"), [("parallelism.default", "zwei"), ("pipeline.max-parallelism", "x")])
    def test_a_number_that_is_none(self, key: str, value: str) -> None:
        configuration = Configuration.from_dict({key: value})
        text = message(ConfigError, lambda: StreamExecutionEnvironment.get_execution_environment(configuration))
        assert text.startswith(f"configuration {key} = {value!r} cannot be used: expected a whole number")

    def test_all_unknown_keys_are_named(self) -> None:
        configuration = Configuration.from_dict({"paralelism.default": "2", "pipeline.nam": "x"})
        text = message(UnknownConfigError, lambda: StreamExecutionEnvironment.get_execution_environment(configuration))
        assert "did you mean parallelism.default?" in text and "did you mean pipeline.name?" in text
        assert len(text.splitlines()) == 2


# ------------------------------------------------------------------ functions that cannot travel

LOCK = threading.Lock()


class Holds(MapFunction):
    def __init__(self) -> None:
        self.connection = threading.Lock()

    def map(self, value: Any) -> Any:
        return value


def closes_over() -> Callable[[Any], Any]:
    guard = threading.Lock()
    return lambda value: (guard, value)


class TestUnpicklable:
    @pytest.mark.parametrize(("function", "name"), [(Holds(), "self.connection"), (closes_over(), "variable 'guard'")])
    @pytest.mark.parametrize("keyed", [False, True])
    def test_what_cannot_be_pickled_is_named(
        self, env: StreamExecutionEnvironment, function: Any, name: str, keyed: bool
    ) -> None:
        stream = env.from_collection([1])
        text = message(
            UnpicklableFunctionError,
            lambda: (stream.key_by(lambda value: value) if keyed else stream).map(function),
        )
        assert f"cannot be sent to workers: {name}: cannot pickle '_thread.lock' object" in text

    def test_a_global_of_the_program_is_named(self, env: StreamExecutionEnvironment) -> None:
        names: dict[str, Any] = {"LOCK": LOCK, "__name__": "__main__"}
        exec("def takes(value):\n    return LOCK", names)
        stream = env.from_collection([1])
        assert "variable 'LOCK'" in message(UnpicklableFunctionError, lambda: stream.map(names["takes"]))


def test_errors_of_scurry_are_in_one_tree() -> None:
    assert issubclass(MissingAttributeError, ScurryError) and issubclass(JobError, ScurryError)
