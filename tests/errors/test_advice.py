"""What a failing job says besides the error: the record, even if it is None, and one hint."""

from __future__ import annotations

import bdb
import datetime
import re
import resource
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from scurry.common import Configuration, Row, Types
from scurry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from scurry.datastream import DataStream, RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction, MapFunction, ProcessFunction
from scurry.datastream.state import MapStateDescriptor, ValueStateDescriptor
from scurry.errors import JobError, UnpicklableFunctionError

Build = Callable[[StreamExecutionEnvironment], DataStream]


def environment() -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict({"scurry.runner": "local"})
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


def failure(build: Build) -> str:
    env = environment()
    build(env).print()
    with pytest.raises(JobError) as failed:
        env.execute("doomed")
    return str(failed.value)


def hint_of(text: str) -> str:
    return text.partition("\n  hint: ")[2]


def forgets(value: Any) -> None:
    value * 2


# ------------------------------------------------------------------ None


class TestNone:
    def test_a_record_of_none_is_shown(self) -> None:
        text = failure(lambda env: env.from_collection([None]).map(lambda value: value["x"]))  # type: ignore[index]
        assert "\n  record: None" in text

    def test_where_no_record_is_to_blame_none_is_shown(self) -> None:
        class Unopenable(MapFunction):
            def open(self, runtime_context: Any) -> None:
                raise LookupError("no")

            def map(self, value: Any) -> Any:
                return value

        assert "record:" not in failure(lambda env: env.from_collection([1]).map(Unopenable()))

    @pytest.mark.parametrize("between", [lambda stream: stream, lambda stream: stream.filter(lambda value: True)])
    def test_the_function_that_returned_nothing_is_named(self, between: Any) -> None:
        text = failure(lambda env: between(env.from_collection([1]).map(forgets)).map(lambda value: value["x"]))
        found = (
            r"did the function of 'Map' \(.*test_advice\.py:\d+: def forgets\(value: Any\) -> None:\) return nothing\?"
        )
        assert re.search(found, hint_of(text)), text

    def test_it_is_when_a_key_selector_meets_none_too(self) -> None:
        text = failure(lambda env: env.from_collection([1]).map(forgets).key_by(lambda v: v[0]).reduce(max))  # type: ignore[arg-type, index]
        assert "did the function of 'Map'" in hint_of(text)

    def test_and_when_a_declared_type_does(self) -> None:
        text = failure(lambda env: env.from_collection([1]).map(forgets, Types.INT()))
        assert "did the function of 'Map' return nothing?" in hint_of(text)

    def test_none_goes_through_as_in_flink(self) -> None:
        stream = environment().from_collection([1]).map(forgets)
        assert list(stream.execute_and_collect()) == [None]

    def test_a_source_of_none_blames_no_function(self) -> None:
        text = failure(lambda env: env.from_collection([None]).map(lambda value: value["x"]))  # type: ignore[index]
        assert "return nothing" not in text


# ------------------------------------------------------------------ state and contexts


class TestStateAndContexts:
    def failure_of(self, hooks: dict[str, Any]) -> str:
        hooks.setdefault("process_element", lambda self, value, ctx: [value])
        function = type("Stateful", (KeyedProcessFunction,), hooks)()
        return failure(lambda env: env.from_collection([1]).key_by(lambda value: value).process(function))

    def test_state_has_no_current_key_in_open(self) -> None:
        def open(self: Any, runtime_context: Any) -> None:
            runtime_context.get_state(ValueStateDescriptor("count", Types.INT())).update(1)

        text = self.failure_of({"open": open})
        assert "KeyedStateError: there is no current key yet: open() creates states" in text
        assert re.search(r"at .*test_advice\.py:\d+ in open: runtime_context", text)

    def test_a_value_of_another_type_is_named_with_its_state(self) -> None:
        def open(self: Any, runtime_context: Any) -> None:
            self.state = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

        text = self.failure_of({"open": open, "process_element": lambda self, value, ctx: self.state.update("one")})
        assert "declared type" in text and "in state 'count'; return a matching value" in text

    def test_a_name_is_no_descriptor(self) -> None:
        text = self.failure_of({"open": lambda self, runtime_context: runtime_context.get_state("count")})
        assert "ArgumentTypeError: state is asked for by its descriptor, such as ValueStateDescriptor(" in text

    @pytest.mark.parametrize(
        ("hook", "hint"),
        [
            (lambda self, value, ctx: ctx.get_state(None), "states are those of the runtime context"),
            (lambda self, value, ctx: ctx.output(None, value), "yield results; `yield tag, value` emits to the side"),
        ],
    )
    def test_what_contexts_do_not_have_is_elsewhere(self, hook: Any, hint: str) -> None:
        assert hint_of(self.failure_of({"process_element": hook})).startswith(hint)

    @pytest.mark.parametrize("name", ["stream", "environment"])
    def test_streams_and_environments_stay_in_the_program(self, name: str) -> None:
        env = environment()
        held = env if name == "environment" else env.from_collection([1])
        with pytest.raises(UnpicklableFunctionError) as refused:
            env.from_collection([1]).map(lambda value: str(held))
        text = str(refused.value)
        assert re.search(f"cannot be sent to workers: variable 'held': (a|the) {name} cannot be used inside", text)


# ------------------------------------------------------------------ what functions return


class Plain(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return 2


class Keyed(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return 2


class TestResults:
    @pytest.mark.parametrize(
        "build",
        [
            lambda env: env.from_collection([1]).process(Plain()),
            lambda env: env.from_collection([1]).key_by(lambda value: value).process(Keyed()),
        ],
    )
    def test_process_element_that_returns_an_int_is_named_with_its_line(self, build: Build) -> None:
        text = failure(build)
        assert "TypeError: process_element returned a value of type int, not an iterable of results" in text
        assert re.search(r"at .*test_advice\.py:\d+ in process_element: def process_element", text)
        assert hint_of(text) == "yield the results or return a list of them"
        assert "\n  record: 1" in text

    def test_a_flat_map_function_is_too(self) -> None:
        text = failure(lambda env: env.from_collection([1]).flat_map(lambda value: value))  # type: ignore[arg-type, return-value]
        assert "TypeError: <lambda> returned a value of type int, not an iterable of results" in text

    def test_a_method_with_other_parameters_is_named_with_its_line_and_how_it_is_called(self) -> None:
        class OfJava(KeyedProcessFunction):
            def process_element(self, value: Any, ctx: Any, out: Any) -> Any:  # type: ignore[override]
                out.collect(value)

        class Unopened(KeyedProcessFunction):
            def open(self) -> None:  # type: ignore[override]
                pass

            def process_element(self, value: Any, ctx: Any) -> Any:
                return [value]

        text = failure(lambda env: env.from_collection([1]).key_by(lambda value: value).process(OfJava()))
        assert re.search(r"at .*test_advice\.py:\d+ in process_element: def process_element", text)
        assert hint_of(text) == "process_element is called as process_element(value, ctx)"
        text = failure(lambda env: env.from_collection([1]).key_by(lambda value: value).process(Unopened()))
        assert hint_of(text) == "open is called as open(runtime_context)"

    @pytest.mark.parametrize("timed", [False, True])
    def test_a_flat_map_function_that_returns_nothing_is_refused_as_in_pyflink(self, timed: bool) -> None:
        def build(env: Any) -> Any:
            numbers = env.from_collection([1, 2], type_info=Types.INT())
            if timed:
                strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
                numbers = numbers.assign_timestamps_and_watermarks(strategy)
            return numbers.flat_map(lambda value: [value] if value > 1 else None)

        text = failure(build)
        assert "TypeError: <lambda> returned None, not an iterable of results" in text
        assert "\n  record: 1" in text
        assert hint_of(text) == "yield the results or return a list of them"

    def test_the_same_error_within_a_function_is_its_own(self) -> None:
        text = failure(lambda env: env.from_collection([1]).map(lambda value: list(value)))  # type: ignore[call-overload]
        assert "TypeError: 'int' object is not iterable" in text


# ------------------------------------------------------------------ attributes


class Counter(MapFunction):
    def map(self, value: Any) -> Any:
        return self.count + value  # type: ignore[attr-defined]


class Updates(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.INT(), Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.seen.update({value: 1})


class Misspelt(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        runtime_context.get_mapstate(MapStateDescriptor("seen", Types.INT(), Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        return None


class TestAttributes:
    @pytest.mark.parametrize("key", [None, lambda value: value])
    def test_what_a_function_has_not_set_up_is_to_be_set_in_open(self, key: Any) -> None:
        def build(env: StreamExecutionEnvironment) -> DataStream:
            stream = env.from_collection([1])
            return (stream if key is None else stream.key_by(key)).map(Counter())

        assert hint_of(failure(build)) == "nothing has set self.count: set it in open() or __init__"

    def test_map_state_has_put(self) -> None:
        text = failure(lambda env: env.from_collection([1]).key_by(lambda value: value).process(Updates()))
        assert hint_of(text) == "put(key, value) sets one entry, put_all(dict) several"

    def test_the_runtime_context_names_what_is_close(self) -> None:
        text = failure(lambda env: env.from_collection([1]).key_by(lambda value: value).process(Misspelt()))
        assert hint_of(text) == "did you mean get_map_state?"


class Counts(KeyedProcessFunction):
    """Counts, with what `open` asks for state by."""

    def __init__(self, descriptor: Any) -> None:
        self.descriptor = descriptor

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(self.descriptor)

    def process_element(self, value: Any, ctx: Any) -> Any:
        count = self.count.value()
        self.count.update(count + 1)
        return []


class TestStates:
    def test_a_name_in_place_of_a_descriptor_is_named(self) -> None:
        text = failure(lambda env: env.from_collection([1]).key_by(lambda value: value).process(Counts("count")))
        assert "by its descriptor, such as ValueStateDescriptor('count', Types.INT()), got 'count'" in text

    def test_a_value_is_none_until_it_is_updated(self) -> None:
        descriptor = ValueStateDescriptor("count", Types.INT())
        text = failure(lambda env: env.from_collection([1]).key_by(lambda value: value).process(Counts(descriptor)))
        assert hint_of(text) == "value() of a ValueState is None until the first update(...): value() or 0, for example"

    def test_none_in_a_field_of_a_value_is_not_a_value_that_is_none(self) -> None:
        class Levels(Counts):
            def process_element(self, value: Any, ctx: Any) -> Any:
                self.count.update(Row(level=None))
                row = self.count.value()
                return [row.level + 1]

        descriptor = ValueStateDescriptor("row", Types.ROW_NAMED(["level"], [Types.INT()]))
        text = failure(lambda env: env.from_collection([1]).key_by(lambda value: value).process(Levels(descriptor)))
        assert "until the first update" not in text


class TestCalls:
    def test_an_operator_that_passes_too_little_says_how_to_bind_the_rest(self) -> None:
        def scaled(value: int, factor: int) -> int:
            return value * factor

        text = failure(lambda env: env.from_collection([1]).map(scaled))  # type: ignore[arg-type]
        assert hint_of(text) == (
            "'Map' passes no more arguments: give the others defaults, or bind them with functools.partial"
        )

    def test_a_call_within_a_function_is_its_own(self) -> None:
        def paired(value: int) -> Any:
            pair: Any = lambda first, second: (first, second)  # noqa: E731
            return pair(value)

        text = failure(lambda env: env.from_collection([1]).map(paired))
        assert hint_of(text) == ""


# ------------------------------------------------------------------ time


class At(TimestampAssigner):
    def __init__(self, time: Any) -> None:
        self.time = time

    def extract_timestamp(self, value: Any, record_timestamp: int) -> Any:
        return self.time


class OneArgument(TimestampAssigner):
    def extract_timestamp(self, value: Any) -> Any:  # type: ignore[override]
        return 1


def stamped(assigner: Any) -> Build:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(assigner)
    return lambda env: env.from_collection([1]).assign_timestamps_and_watermarks(strategy)


class TestTime:
    @pytest.mark.parametrize(
        ("time", "hint"),
        [
            (None, "extract_timestamp returned nothing"),
            (datetime.datetime(2024, 1, 1), "return int(x.timestamp() * 1000)"),
            (1.5, "or int(x * 1000) if x is seconds"),
            ("2024-01-01", "parse text with datetime.fromisoformat(x)"),
        ],
    )
    def test_a_timestamp_of_another_kind_says_how_to_convert_it(self, time: Any, hint: str) -> None:
        assert hint in hint_of(failure(stamped(At(time))))

    def test_an_assigner_of_one_argument_says_what_it_gets(self) -> None:
        assert hint_of(failure(stamped(OneArgument()))) == (
            "extract_timestamp is called as extract_timestamp(value, record_timestamp)"
        )


# ------------------------------------------------------------------ keys, debuggers


def test_a_failing_key_selector_names_the_key_by() -> None:
    text = failure(lambda env: env.from_collection([{}]).key_by(lambda value: value["user"]).reduce(max))  # type: ignore[arg-type, index]
    assert re.search(r"in operator 'KeyBy' built at .*test_advice\.py:\d+", text), text


def test_breakpoint_without_a_terminal_says_where_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(value: Any) -> Any:
        raise bdb.BdbQuit

    monkeypatch.setitem(sys.modules, "pyspark", sys)  # as in a worker of Spark
    text = failure(lambda env: env.from_collection([1]).map(stops))
    assert hint_of(text) == "breakpoint() needs a terminal: use --runner local"


# ------------------------------------------------------------------ memory


def exhausted(value: Any) -> Any:
    raise pa.ArrowMemoryError("malloc of size 64 failed")


class TestMemory:
    def test_a_limit_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(resource, "getrlimit", lambda kind: (800 << 20, resource.RLIM_INFINITY))
        hint = hint_of(failure(lambda env: env.from_collection([1]).map(exhausted)))
        assert hint.startswith("the memory of this process is limited to 800 MB, and restarts do not change it")
        assert "spark.executor.pyspark.memory" in hint

    def test_without_a_limit_the_settings_are_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        infinite = resource.RLIM_INFINITY
        monkeypatch.setattr(resource, "getrlimit", lambda kind: (infinite, infinite))
        hint = hint_of(failure(lambda env: env.from_collection([1]).map(exhausted)))
        assert "spark.executor.memoryOverhead" in hint


# ------------------------------------------------------------------ fields that records lack


class TestFields:
    @pytest.mark.parametrize("mode", list(RuntimeExecutionMode))
    @pytest.mark.parametrize("method", ["sum", "min", "max", "min_by", "max_by"])
    @pytest.mark.parametrize("record", [("a", 1), ["a", 1], 5], ids=["tuple", "list", "number"])
    def test_the_first_record_of_a_key_says_that_it_has_no_fields_with_names(
        self, method: str, record: Any, mode: RuntimeExecutionMode
    ) -> None:
        def build(env: StreamExecutionEnvironment) -> Any:
            keyed = env.set_runtime_mode(mode).from_collection([record]).key_by(lambda each: 1)
            return getattr(keyed, method)("amount")

        text = failure(build)
        assert f"{method}('amount') cannot select field 'amount'" in text
        assert "record: " in text
