"""A job that fails says first what went wrong where: the user's function, file and line, the operator, the record.

The guilty line of each program is marked with `# cause`.
"""

from __future__ import annotations

import linecache
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Encoder, Types
from scurry.common.time import Time
from scurry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from scurry.datastream.formats.csv import CsvReaderFormat, CsvSchema
from scurry.datastream.functions import (
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
    SinkFunction,
)
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.errors import (
    JobError,
    ScurryError,
    SourceNotFoundError,
    TypeMismatchError,
    UnknownConfigError,
    UnpicklableFunctionError,
)

Build = Callable[[StreamExecutionEnvironment], DataStream]

STREAMING, BATCH = "STREAMING", "BATCH"


@pytest.fixture(params=[STREAMING, BATCH])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def environment(mode: str, runner: str = "local") -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("scurry.runner", runner)
    configuration.set_string("execution.runtime-mode", mode)
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)


def failure(build: Build, mode: str, runner: str = "local") -> str:
    """What the failing job says."""
    env = environment(mode, runner)
    build(env).print()
    with pytest.raises(JobError) as failed:
        env.execute("doomed")
    text = str(failed.value)
    assert text.startswith("Job 'doomed' failed.\n")
    assert not re.search(r"py4j|java\.|org\.apache|scala\.|^\s+at \S+\(\S+\)$|Traceback", text, re.MULTILINE)
    return text


def assert_guilty(text: str, function: str) -> None:
    """The first place named is the line marked `# cause`, in the user's function."""
    place = re.search(r"^  at (.+?):(\d+) in (\S+):", text, re.MULTILINE)
    assert place is not None, text
    assert linecache.getline(place[1], int(place[2])).rstrip().endswith("# cause"), text
    assert place[3] == function


def assert_operator(text: str, name: str) -> None:
    """The operator is named with the line of this file that built it."""
    place = re.search(rf"in operator '{re.escape(name)}' built at (.+?):\d+", text)
    assert place is not None, text
    assert Path(place[1]).name == Path(__file__).name


def assert_record(text: str, record: object) -> None:
    assert f"\n  record: {record!r}" in text or f"\n  record: {record}" in text, text


# ------------------------------------------------------------------ the user's functions


class Inverse(MapFunction):
    def map(self, value: Any) -> Any:
        return 1 / value  # cause


class Unopenable(MapFunction):
    def open(self, runtime_context: Any) -> None:
        raise ConnectionError("no database")  # cause

    def map(self, value: Any) -> Any:
        return value


class FailingTimer(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(7)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        raise LookupError("no such price")  # cause


class FailingWindow(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield sum(elements)  # cause


class FailingSink(SinkFunction):
    def invoke(self, value: Any, context: Any = None) -> None:
        raise OSError("disk full")  # cause


class Keeps(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.state = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.state.update("many")


class Identity(MapFunction):
    def __init__(self, *held: Any) -> None:
        self.held = held

    def map(self, value: Any) -> Any:
        return value


class At(TimestampAssigner):
    def __init__(self, time: Any) -> None:
        self.time = time

    def extract_timestamp(self, value: Any, record_timestamp: int) -> Any:
        return self.time


class FailingAssigner(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> Any:
        return value["time"]  # cause


def nested(value: Any) -> Any:
    return inner(value)


def inner(value: Any) -> Any:
    return value.missing  # cause


def stamped(env: StreamExecutionEnvironment, values: list[Any], time: Any = 5) -> DataStream:
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    return env.from_collection(values).assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(At(time)))


# ------------------------------------------------------------------ failing functions


class TestFunctions:
    def test_a_failing_map_names_its_line_the_operator_and_the_record(self, mode: str) -> None:
        text = failure(lambda env: env.from_collection([2, 0, 1]).map(Inverse()).name("invert"), mode)
        assert "\nZeroDivisionError: division by zero\n" in text
        assert_guilty(text, "map")
        assert_operator(text, "invert")
        assert_record(text, 0)

    def test_a_failing_lambda_names_its_line(self, mode: str) -> None:
        def build(env: StreamExecutionEnvironment) -> DataStream:
            return env.from_collection(["a", ""]).map(
                lambda word: word[0]  # cause
            )

        text = failure(build, mode)
        assert_guilty(text, "<lambda>")
        assert_record(text, "")

    def test_the_innermost_line_comes_first(self, mode: str) -> None:
        text = failure(lambda env: env.from_collection([1]).map(nested), mode)
        assert_guilty(text, "inner")
        assert text.index("in inner") < text.index("in nested")

    @pytest.mark.parametrize("position", [0, 4_000, 9_999])
    def test_the_record_is_the_one_that_failed_wherever_it_is(self, position: int) -> None:
        values = [0 if number == position else number + 1 for number in range(10_000)]
        assert_record(failure(lambda env: env.from_collection(values).map(Inverse()), STREAMING), 0)

    @pytest.mark.parametrize("step", ["filter", "flat_map"])
    def test_filters_and_flat_maps_do_so_too(self, step: str, mode: str) -> None:
        text = failure(lambda env: getattr(env.from_collection([3]), step)(nested), mode)
        assert_guilty(text, "inner")
        assert_record(text, 3)

    def test_a_long_record_is_cut(self, mode: str) -> None:
        text = failure(lambda env: env.from_collection(["x" * 5_000]).map(nested), mode)
        assert len(text) < 1_500
        assert "(5002 characters)" in text

    def test_a_failing_open_names_its_line_and_the_operator(self, mode: str) -> None:
        text = failure(lambda env: env.from_collection([1]).map(Unopenable()).name("lookup"), mode)
        assert "\nConnectionError: no database\n" in text
        assert_guilty(text, "open")
        assert_operator(text, "lookup")

    def test_a_failing_key_selector_names_its_line_and_the_record(self, mode: str) -> None:
        def build(env: StreamExecutionEnvironment) -> DataStream:
            return (
                env.from_collection([{"id": 1}, {}])
                .key_by(
                    lambda order: order["id"]  # cause
                )
                .map(Identity())
            )

        text = failure(build, mode)
        assert_guilty(text, "<lambda>")
        assert "key selector" in text
        assert_record(text, {})

    def test_a_failing_reduce_names_its_line_and_the_record(self, mode: str) -> None:
        def build(env: StreamExecutionEnvironment) -> DataStream:
            return (
                env.from_collection([1, "one"])
                .key_by(lambda value: 0)
                .reduce(
                    lambda a, b: a + b  # type: ignore[operator]  # cause
                )
            )

        text = failure(build, mode)
        assert_guilty(text, "<lambda>")
        assert_record(text, "one")

    def test_a_failing_on_timer_names_its_line_the_time_and_the_key(self, mode: str) -> None:
        text = failure(lambda env: stamped(env, ["a"]).key_by(lambda v: v).process(FailingTimer()).name("prices"), mode)
        assert "\nLookupError: no such price\n" in text
        assert_guilty(text, "on_timer")
        assert_operator(text, "prices")
        assert "timer 7 of key 'a'" in text

    def test_a_failing_window_function_names_its_line_the_key_and_the_window(self, mode: str) -> None:
        def build(env: StreamExecutionEnvironment) -> DataStream:
            keyed = stamped(env, ["a"]).key_by(lambda v: v)
            return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(FailingWindow())

        text = failure(build, mode)
        assert_guilty(text, "process")
        assert "key 'a'" in text and "TimeWindow" in text

    def test_a_failing_sink_function_names_its_line_and_the_record(self, mode: str) -> None:
        env = environment(mode)
        env.from_collection(["a"]).add_sink(FailingSink()).name("archive")
        with pytest.raises(JobError) as failed:
            env.execute("doomed")
        assert_guilty(str(failed.value), "invoke")
        assert_operator(str(failed.value), "archive")
        assert_record(str(failed.value), "a")

    def test_a_failing_timestamp_assigner_names_its_line_and_the_record(self, mode: str) -> None:
        def build(env: StreamExecutionEnvironment) -> DataStream:
            strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(FailingAssigner())
            return env.from_collection([{}]).assign_timestamps_and_watermarks(strategy)

        text = failure(build, mode)
        assert_guilty(text, "extract_timestamp")
        assert_record(text, {})

    def test_a_function_that_cannot_be_sent_fails_where_it_is_given(self, mode: str) -> None:
        with pytest.raises(UnpicklableFunctionError) as refused:
            environment(mode).from_collection([1]).map(Identity(threading.Lock()))
        text = str(refused.value)
        assert "operator 'Map' built at" in text and Path(__file__).name in text
        assert "lock" in text and "open()" in text

    def test_the_whole_story_is_kept_for_those_who_ask(self) -> None:
        env = environment(STREAMING)
        env.from_collection([0]).map(Inverse()).print()
        with pytest.raises(JobError) as failed:
            env.execute("doomed")
        assert "Traceback" in failed.value.details


# ------------------------------------------------------------------ types


class TestTypes:
    def test_a_result_of_another_type_than_declared(self, mode: str) -> None:
        text = failure(lambda env: env.from_collection([1, 2]).map(str, Types.INT()).name("lengths"), mode)
        assert "declared type" in text and "Int" in text
        assert_operator(text, "lengths")
        assert_record(text, "1")

    def test_a_key_of_another_type_than_declared(self, mode: str) -> None:
        text = failure(lambda env: env.from_collection(["a"]).key_by(lambda v: v, Types.INT()).map(Identity()), mode)
        assert "declared type" in text and "key_type" in text
        assert_record(text, "a")

    def test_an_element_of_a_collection_of_another_type_than_declared_at_once(self) -> None:
        with pytest.raises(TypeMismatchError, match="'two'"):
            environment(STREAMING).from_collection([1, "two"], Types.INT())

    def test_a_state_value_of_another_type_than_declared(self) -> None:
        def build(env: StreamExecutionEnvironment) -> DataStream:
            return env.from_collection(["a"]).key_by(lambda v: v).process(Keeps()).name("kept")

        text = failure(build, STREAMING)
        assert "declared type" in text and "'many'" in text
        assert_operator(text, "kept")

    @pytest.mark.parametrize("time", [1.5, "now", None, True])
    def test_a_timestamp_that_is_no_int_says_what_to_return(self, time: Any, mode: str) -> None:
        text = failure(lambda env: stamped(env, ["a"], time), mode)
        assert "a timestamp must be an int (milliseconds since the epoch)" in text and repr(time) in text
        assert_record(text, "a")

    def test_an_event_time_window_without_timestamps_says_what_to_call(self, mode: str) -> None:
        def build(env: StreamExecutionEnvironment) -> DataStream:
            keyed = env.from_collection(["a"]).key_by(lambda v: v)
            return keyed.window(TumblingEventTimeWindows.of(Time.seconds(1))).process(FailingWindow())

        text = failure(build, mode)
        assert "assign_timestamps_and_watermarks" in text
        assert_record(text, "a")


# ------------------------------------------------------------------ files and configuration


class TestInput:
    def test_a_file_that_is_missing_is_named(self, tmp_path: Path, mode: str) -> None:
        path = str(tmp_path / "orders.txt")

        def build(env: StreamExecutionEnvironment) -> DataStream:
            source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), path).build()
            return env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")

        try:
            text = failure(build, mode)
        except SourceNotFoundError as error:
            text = str(error)
        assert path in text

    def test_a_malformed_csv_line_is_named_with_its_file_and_number(self, tmp_path: Path, mode: str) -> None:
        file = tmp_path / "orders.csv"
        file.write_text("1,a\n2,b\nthree,c\n")
        schema = CsvSchema.builder().add_number_column("id", number_type=_bigint()).add_string_column("name").build()

        def build(env: StreamExecutionEnvironment) -> DataStream:
            source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), str(file)).build()
            return env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")

        text = failure(build, mode)
        assert f"{file}:3: malformed record 'three,c'" in text
        assert_operator(text, "orders")


def _bigint() -> Any:
    from scurry.table import DataTypes

    return DataTypes.BIGINT()


def test_an_unknown_configuration_key_names_the_closest_one() -> None:
    configuration = Configuration()
    configuration.set_string("parallelism.defualt", "2")
    with pytest.raises(UnknownConfigError, match=r"parallelism\.defualt is unknown: did you mean parallelism\.default"):
        StreamExecutionEnvironment.get_execution_environment(configuration)


def test_an_error_of_the_program_is_an_error_of_scurry() -> None:
    assert issubclass(JobError, ScurryError) and issubclass(JobError, RuntimeError)


# ------------------------------------------------------------------ what a failing job leaves behind


def visible(directory: Path) -> list[str]:
    return sorted(p.name for p in directory.rglob("*") if p.is_file() and not p.name.startswith("."))


def test_nothing_is_committed_half_way(tmp_path: Path, mode: str) -> None:
    env = environment(mode)
    numbers = env.from_collection([*range(1, 500), 0, *range(1, 500)])
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    numbers.sink_to(sink)
    numbers.map(Inverse()).sink_to(sink)
    with pytest.raises(JobError):
        env.execute("doomed")
    assert visible(tmp_path) == []


# ------------------------------------------------------------------ late records


class Element(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


def test_late_records_are_counted_per_operator() -> None:
    env = environment(STREAMING).set_parallelism(1)
    env._configuration.set_string("scurry.batch.max-records", "3")  # time moves between micro-batches at the latest
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Element())
    elements = [("a", 1), ("a", 2), ("b", 1_000), ("a", 3), ("b", 4), ("b", 1_001)]
    keyed = env.from_collection(elements).assign_timestamps_and_watermarks(strategy).key_by(lambda e: e[0])
    for name, size in [("narrow", 10), ("wide", 5_000)]:
        windowed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(size)))
        windowed.reduce(lambda a, b: a).name(name).print()
    client = env.execute_async("late")
    result = client.get_job_execution_result().result()
    totals = client.execution.totals  # type: ignore[attr-defined]
    assert (totals.late, totals.late_records) == ({"narrow": 2}, 2)
    assert result.get_metrics()["narrow.numLateRecordsDropped"] == 2


# ------------------------------------------------------------------ the same through Spark and py4j


@pytest.mark.spark
class TestOnSpark:
    def test_a_failing_map_in_streaming(self) -> None:
        text = failure(lambda env: env.from_collection([2, 0, 1]).map(Inverse()).name("invert"), STREAMING, "spark")
        assert_guilty(text, "map")
        assert_operator(text, "invert")
        assert_record(text, 0)

    def test_a_failing_map_in_batch(self) -> None:
        text = failure(lambda env: env.from_collection([2, 0, 1]).map(Inverse()).name("invert"), BATCH, "spark")
        assert_guilty(text, "map")
        assert_operator(text, "invert")
        assert_record(text, 0)

    def test_a_failing_timer_of_a_stateful_stage(self) -> None:
        def build(env: StreamExecutionEnvironment) -> DataStream:
            return stamped(env, ["a"]).key_by(lambda v: v).process(FailingTimer()).name("prices")

        text = failure(build, STREAMING, "spark")
        assert_guilty(text, "on_timer")
        assert_operator(text, "prices")
        assert "timer 7 of key 'a'" in text
