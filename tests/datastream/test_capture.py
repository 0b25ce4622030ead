"""Functions and elements are captured when they are given: what the program changes later does not reach the job."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import scurry.cep
import scurry.common
import scurry.datastream
from scurry.cep import CEP, EventComparator, Pattern
from scurry.common import Configuration, Duration, Row, Time, Types, WatermarkStrategy
from scurry.common._api import ApiObject
from scurry.common.watermark_strategy import WatermarkGenerator
from scurry.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    DataStream,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    SinkFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from scurry.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from scurry.datastream.state import MapStateDescriptor
from scurry.datastream.window import (
    DeltaTrigger,
    EventTimeSessionWindows,
    Evictor,
    GlobalWindows,
    Trigger,
    TumblingEventTimeWindows,
)
from scurry.errors import JobError, UnpicklableFunctionError

#: What a function uses: the one element of a list, which the program changes later.
Variable = list[int]
Build = Callable[[StreamExecutionEnvironment, Variable], DataStream]

WINDOW = TumblingEventTimeWindows.of(Time.milliseconds(10))


def environment() -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    configuration.set_string("execution.runtime-mode", "STREAMING")
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


def numbers(env: StreamExecutionEnvironment) -> DataStream[int]:
    return env.from_collection([1, 2, 3, 4])


def timed(env: StreamExecutionEnvironment) -> DataStream[int]:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value * 5)
    return numbers(env).assign_timestamps_and_watermarks(strategy)


def keyed(env: StreamExecutionEnvironment) -> Any:
    return timed(env).key_by(lambda value: 0)


def made(base: type, method: str, function: Callable[..., Any], **others: Callable[..., Any]) -> Any:
    """An instance of a function class with one method, and others."""
    members = {method: lambda self, *arguments: function(*arguments), **others}
    return type("Made", (base,), members)()


def add(v: Variable) -> Callable[..., Any]:
    return lambda value, *_: value + v[0]


def several(v: Variable) -> Callable[..., Any]:
    return lambda *_: [v[0]]


def total(v: Variable) -> Any:
    return made(
        AggregateFunction,
        "add",
        lambda value, accumulator: accumulator + value * v[0],
        create_accumulator=lambda self: 0,
        get_result=lambda self, accumulator: accumulator,
        merge=lambda self, a, b: a + b,
    )


def comodels(base: type, v: Variable) -> Any:
    return made(base, "map1", add(v), map2=lambda self, value: value)


def ones(stream: DataStream) -> Any:
    return stream.key_by(lambda value: 0)


def two(env: StreamExecutionEnvironment) -> Any:
    return numbers(env).connect(numbers(env))


def waiting(v: Variable) -> Any:
    async def call(self: Any, value: int) -> list[int]:
        return [value + v[0]]

    return type("Waiting", (AsyncFunction,), {"async_invoke": call})()


class FailsOnce(AsyncFunction):
    def open(self, runtime_context: Any) -> None:
        self.calls = 0

    async def async_invoke(self, value: int) -> list[int]:
        self.calls += 1
        return [self.calls]


def retries(v: Variable) -> Any:
    return AsyncRetryStrategy.fixed_delay(3, 1, lambda results: results[0] < v[0] * 2, None)


def broadcast(env: StreamExecutionEnvironment, function: Any) -> Any:
    rules = numbers(env).broadcast(MapStateDescriptor("rules", Types.INT(), Types.INT()))
    return numbers(env).connect(rules).process(function)


def joined(env: StreamExecutionEnvironment, first: Any = None, second: Any = None) -> Any:
    zero = lambda value: 0  # noqa: E731
    return timed(env).join(timed(env)).where(first or zero).equal_to(second or zero).window(WINDOW)


def matches(env: StreamExecutionEnvironment, pattern: Pattern, *comparator: Any) -> DataStream:
    return CEP.pattern(keyed(env), pattern, *comparator).select(lambda match: str(sorted(match.items())))


def fires(v: Variable) -> Any:
    return made(Trigger, "on_element", lambda value, *_: fire(value >= v[0] * 2), **_QUIET)


def fire(fires: bool) -> Any:
    from scurry.datastream.window import TriggerResult

    return TriggerResult.FIRE if fires else TriggerResult.CONTINUE


def _quiet(self: Any, *_: Any) -> Any:
    return fire(False)


_QUIET = {"on_event_time": _quiet, "on_processing_time": _quiet, "on_merge": _quiet, "clear": _quiet}


def evicts(v: Variable) -> Any:
    def before(self: Any, elements: Any, size: int, window: Any, context: Any) -> None:
        del elements[: v[0]]

    return type("Evicts", (Evictor,), {"evict_before": before, "evict_after": lambda self, *_: None})()


def generator(v: Variable) -> Callable[[], WatermarkGenerator]:
    def on_event(value: Any, timestamp: int, output: Any) -> None:
        from scurry.common.watermark_strategy import Watermark

        output.emit_watermark(Watermark(timestamp + v[0]))

    return lambda: made(WatermarkGenerator, "on_event", on_event, on_periodic_emit=lambda self, output: None)


class Times(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


class All(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield list(elements)


def session(v: Variable) -> Any:
    return EventTimeSessionWindows.with_dynamic_gap(lambda value: v[0] * 3)


def with_times(strategy: WatermarkStrategy) -> Build:
    return lambda env, v: numbers(env).assign_timestamps_and_watermarks(strategy).process(Times())


def sums(windows: Any, v: Variable) -> Any:
    return windows.reduce(lambda a, b: a + b * v[0])


#: Class.method.parameter -> a program whose results depend on the variable that what is passed there uses.
PROGRAMS: dict[str, Build] = {
    "DataStream.map.func": lambda env, v: numbers(env).map(add(v)),
    "DataStream.flat_map.func": lambda env, v: numbers(env).flat_map(several(v)),
    "DataStream.filter.func": lambda env, v: numbers(env).filter(lambda value: value > v[0]),
    "DataStream.process.func": lambda env, v: numbers(env).process(
        made(ProcessFunction, "process_element", several(v))
    ),
    "DataStream.key_by.key_selector": lambda env, v: (
        numbers(env).key_by(lambda value: value % (v[0] + 1)).reduce(lambda a, b: a + b)
    ),
    "DataStream.partition_custom.key_selector": lambda env, v: (
        numbers(env).partition_custom(lambda key, n: key % n, lambda value: v[0]).process(Index()).set_parallelism(2)
    ),
    "DataStream.partition_custom.partitioner": lambda env, v: (
        numbers(env).partition_custom(lambda key, n: v[0] % n, lambda value: value).process(Index()).set_parallelism(2)
    ),
    "DataStream.assign_timestamps_and_watermarks.watermark_strategy": lambda env, v: (
        numbers(env)
        .assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(add(v)))
        .process(Times())
    ),
    "DataStream.window_all.window_assigner": lambda env, v: (
        timed(env).window_all(session(v)).reduce(lambda a, b: a + b)
    ),
    "KeyedStream.map.func": lambda env, v: keyed(env).map(add(v)),
    "KeyedStream.flat_map.func": lambda env, v: keyed(env).flat_map(several(v)),
    "KeyedStream.filter.func": lambda env, v: keyed(env).filter(lambda value: value > v[0]),
    "KeyedStream.process.func": lambda env, v: keyed(env).process(
        made(KeyedProcessFunction, "process_element", several(v))
    ),
    "KeyedStream.reduce.func": lambda env, v: sums(keyed(env), v),
    "KeyedStream.key_by.key_selector": lambda env, v: (
        keyed(env).key_by(lambda value: value % (v[0] + 1)).reduce(lambda a, b: a + b)
    ),
    "KeyedStream.window.window_assigner": lambda env, v: keyed(env).window(session(v)).process(All()),
    "_Windowed.reduce.reduce_function": lambda env, v: sums(keyed(env).window(WINDOW), v),
    "_Windowed.reduce.window_function": lambda env, v: (
        keyed(env).window(WINDOW).reduce(max, made(ProcessWindowFunction, "process", several(v)))
    ),
    "_Windowed.aggregate.aggregate_function": lambda env, v: keyed(env).window(WINDOW).aggregate(total(v)),
    "_Windowed.aggregate.window_function": lambda env, v: (
        keyed(env).window(WINDOW).aggregate(total([1]), made(WindowFunction, "apply", several(v)))
    ),
    "WindowedStream.apply.window_function": lambda env, v: (
        keyed(env).window(WINDOW).apply(made(WindowFunction, "apply", several(v)))
    ),
    "WindowedStream.process.process_window_function": lambda env, v: (
        keyed(env).window(WINDOW).process(made(ProcessWindowFunction, "process", several(v)))
    ),
    "AllWindowedStream.apply.window_function": lambda env, v: (
        timed(env).window_all(WINDOW).apply(made(AllWindowFunction, "apply", several(v)))
    ),
    "AllWindowedStream.process.process_window_function": lambda env, v: (
        timed(env).window_all(WINDOW).process(made(ProcessAllWindowFunction, "process", several(v)))
    ),
    "Windows.trigger.trigger": lambda env, v: (
        keyed(env).window(GlobalWindows.create()).trigger(fires(v)).process(All())
    ),
    "Windows.evictor.evictor": lambda env, v: keyed(env).window(WINDOW).evictor(evicts(v)).process(All()),
    "DeltaTrigger.of.delta_function": lambda env, v: (
        keyed(env)
        .window(GlobalWindows.create())
        .trigger(DeltaTrigger.of(2, lambda a, b: (b - a) * v[0]))
        .process(All())
    ),
    "PurgingTrigger.of.nested_trigger": lambda env, v: (
        keyed(env).window(GlobalWindows.create()).trigger(purging(fires(v))).process(All())
    ),
    "ProcessingTimeoutTrigger.of.nested_trigger": lambda env, v: (
        keyed(env).window(GlobalWindows.create()).trigger(timing_out(fires(v))).process(All())
    ),
    "EventTimeSessionWindows.with_dynamic_gap.extractor": lambda env, v: keyed(env).window(session(v)).process(All()),
    "ConnectedStreams.map.func": lambda env, v: two(env).map(comodels(CoMapFunction, v)),
    "ConnectedStreams.flat_map.func": lambda env, v: two(env).flat_map(
        made(CoFlatMapFunction, "flat_map1", several(v), flat_map2=lambda self, value: [])
    ),
    "ConnectedStreams.process.func": lambda env, v: two(env).process(
        made(CoProcessFunction, "process_element1", several(v), process_element2=lambda self, *_: [])
    ),
    "ConnectedStreams.key_by.key_selector1": lambda env, v: (
        two(env).key_by(lambda _: v[0], lambda _: 0).process(Keys())
    ),
    "ConnectedStreams.key_by.key_selector2": lambda env, v: (
        two(env).key_by(lambda _: 0, lambda _: v[0]).process(Keys())
    ),
    "BroadcastConnectedStream.process.func": lambda env, v: broadcast(
        env,
        made(BroadcastProcessFunction, "process_element", several(v), process_broadcast_element=lambda self, *_: []),
    ),
    "IntervalJoined.process.process_join_function": lambda env, v: (
        keyed(env)
        .interval_join(keyed(env))
        .between(Time.milliseconds(0), Time.milliseconds(0))
        .process(made(ProcessJoinFunction, "process_element", several(v)))
    ),
    "Pairing.where.key_selector": lambda env, v: joined(env, first=lambda _: v[0] - 1).apply(lambda a, b: a),
    "Where.equal_to.key_selector": lambda env, v: joined(env, second=lambda _: v[0] - 1).apply(lambda a, b: a),
    "EqualTo.window.window_assigner": lambda env, v: (
        timed(env).join(timed(env)).where(lambda _: 0).equal_to(lambda _: 0).window(session(v)).apply(lambda a, b: a)
    ),
    "JoinedWindows.apply.function": lambda env, v: joined(env).apply(lambda a, b: v[0]),
    "CoGroupedWindows.apply.function": lambda env, v: (
        timed(env).co_group(timed(env)).where(lambda _: 0).equal_to(lambda _: 0).window(WINDOW).apply(several(v))
    ),
    "AsyncDataStream.ordered_wait.async_function": lambda env, v: AsyncDataStream.ordered_wait(
        numbers(env), waiting(v), Time.seconds(9)
    ),
    "AsyncDataStream.unordered_wait.async_function": lambda env, v: AsyncDataStream.unordered_wait(
        numbers(env), waiting(v), Time.seconds(9)
    ),
    "AsyncDataStream.ordered_wait_with_retry.async_function": lambda env, v: AsyncDataStream.ordered_wait_with_retry(
        numbers(env), waiting(v), Time.seconds(9), retries([0])
    ),
    "AsyncDataStream.unordered_wait_with_retry.async_function": lambda env, v: (
        AsyncDataStream.unordered_wait_with_retry(numbers(env), waiting(v), Time.seconds(9), retries([0]))
    ),
    "AsyncDataStream.ordered_wait_with_retry.async_retry_strategy": lambda env, v: (
        AsyncDataStream.ordered_wait_with_retry(env.from_collection([1]), FailsOnce(), Time.seconds(9), retries(v))
    ),
    "AsyncDataStream.unordered_wait_with_retry.async_retry_strategy": lambda env, v: (
        AsyncDataStream.unordered_wait_with_retry(env.from_collection([1]), FailsOnce(), Time.seconds(9), retries(v))
    ),
    "WatermarkStrategy.for_generator.supplier": lambda env, v: (
        timed(env).assign_timestamps_and_watermarks(WatermarkStrategy.for_generator(generator(v))).process(Times())
    ),
    "WatermarkStrategy.with_timestamp_assigner.timestamp_assigner": lambda env, v: (
        numbers(env)
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(1)).with_timestamp_assigner(add(v))
        )
        .process(Times())
    ),
    "CEP.pattern.comparator": lambda env, v: CEP.pattern(
        equal_times(env), Pattern.begin("a").next("b"), lambda a, b: (a - b) * (3 - 2 * v[0])
    ).select(lambda match: (match["a"][0], match["b"][0])),
    "PatternStream.with_comparator.comparator": lambda env, v: (
        CEP.pattern(equal_times(env), Pattern.begin("a").next("b"))
        .with_comparator(made(EventComparator, "compare", lambda a, b: (a - b) * (3 - 2 * v[0])))
        .select(lambda match: (match["a"][0], match["b"][0]))
    ),
    "PatternStream.process.pattern_process_function": lambda env, v: CEP.pattern(keyed(env), Pattern.begin("a")).select(
        lambda match: v[0]
    ),
    "PatternStream.select.functions": lambda env, v: CEP.pattern(keyed(env), Pattern.begin("a")).select(several(v)),
    "PatternStream.flat_select.functions": lambda env, v: CEP.pattern(keyed(env), Pattern.begin("a")).flat_select(
        several(v)
    ),
    "Pattern.where.condition": lambda env, v: matches(env, Pattern.begin("a").where(lambda value: value > v[0])),
    "Pattern.or_.condition": lambda env, v: matches(
        env, Pattern.begin("a").where(lambda value: value == 4).or_(lambda value: value == v[0])
    ),
    "Pattern.until.condition": lambda env, v: matches(
        env, Pattern.begin("a").one_or_more().until(lambda value: value == v[0] + 1)
    ),
    "DataStream.add_sink.sink_func": lambda env, v: written(env, v),
    "StreamExecutionEnvironment.from_source.watermark_strategy": lambda env, v: env.from_source(
        source(), WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(add(v)), "numbers"
    ).process(Times()),
}

#: Parameters of the same kind that need no program of their own, and why.
ELSEWHERE = {
    r"AsyncRetryStrategy\..*": "the strategy is captured with its operator",
    r"(Dynamic)?(EventTime|ProcessingTime)SessionWindows\..*": "as EventTimeSessionWindows",
    r"(Kafka|Kinesis|Mongo|Mqtt|Nats|Prometheus|PubSub|RedisStream)\w+Builder\..*|.*Builder\.set_\w+_schema": (
        "captured by source and sink_to"
    ),
    r"FlinkKinesisConsumer\..*": "captured by add_source",
    r"HybridSourceBuilder\.add_source\.source": "tested below",
    r"ReadingShortcuts\..*|StreamExecutionEnvironment\.from_spark\..*": "call from_source",
    r"GroupPattern\..*": "those of Pattern",
    r"StateDescriptor\.with_migration\.convert": "made in open(), in the task",
    r"StatefulFunction\..*": "captured with its operator",
    r"CompletableFuture\.add_done_callback\.function": "called in the program",
}

_KINDS = re.compile(
    r"Callable|\w((?<!Path)Like|Function|Selector|Partitioner|Evictor|Trigger|Assigner|WatermarkStrategy|RetryStrategy"
    r"|Condition|Comparator|Extractor)\b(?!\.)"
)


class Index(ProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.index = runtime_context.get_index_of_this_subtask()

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value, self.index


class Keys(scurry.datastream.KeyedCoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield 1, ctx.get_current_key()

    def process_element2(self, value: Any, ctx: Any) -> Any:
        yield 2, ctx.get_current_key()


def purging(trigger: Any) -> Any:
    from scurry.datastream.window import PurgingTrigger

    return PurgingTrigger.of(trigger)


def timing_out(trigger: Any) -> Any:
    from scurry.datastream.window import ProcessingTimeoutTrigger

    return ProcessingTimeoutTrigger.of(trigger, Duration.of_minutes(9))


def equal_times(env: StreamExecutionEnvironment) -> Any:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: 1)
    return ones(numbers(env).assign_timestamps_and_watermarks(strategy))


def source() -> Any:
    from scurry.datastream.connectors.number_seq import NumberSequenceSource

    return NumberSequenceSource(1, 3)


def written(env: StreamExecutionEnvironment, v: Variable) -> DataStream[Any]:
    def invoke(value: int, *_: Any) -> None:
        if v[0] == 2:
            raise ValueError("not what was given")

    numbers(env).add_sink(made(SinkFunction, "invoke", invoke))
    return numbers(env)


def results(build: Build, before: int, after: int) -> Any:
    """Results of a program whose variable has another value once it is built."""
    variable, env = [before], environment()
    stream = build(env, variable)
    variable[0] = after
    try:
        with stream.execute_and_collect() as records:
            return sorted(map(repr, records))
    except JobError as error:
        return str(error)


@pytest.mark.parametrize("build", PROGRAMS.values(), ids=PROGRAMS)
def test_a_function_sees_the_variables_of_the_moment_when_it_is_given(build: Build) -> None:
    given = results(build, 1, 1)
    assert results(build, 2, 2) != given, "the program does not depend on the variable"
    assert results(build, 1, 2) == given


def test_no_method_that_takes_a_function_is_left_out() -> None:
    left_out = [
        name
        for name in _parameters()
        if name not in PROGRAMS and not any(re.fullmatch(pattern, name) for pattern in ELSEWHERE)
    ]
    assert left_out == []


def _parameters() -> list[str]:
    """Class.method.parameter of all functions that methods of the API take."""
    found: set[str] = set()
    for package in (scurry.common, scurry.datastream, scurry.cep):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for cls in vars(importlib.import_module(module.name)).values():
                if inspect.isclass(cls) and cls.__module__.startswith("scurry.") and _is_for_programs(cls):
                    found.update(_parameters_of(cls))
    return sorted(found)


def _is_for_programs(cls: type) -> bool:
    return issubclass(cls, ApiObject) or cls.__name__ in {"DeltaTrigger", "PurgingTrigger", "ProcessingTimeoutTrigger"}


def _parameters_of(cls: type) -> Iterator[str]:
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        method = inspect.unwrap(method)
        if name.startswith("_") or name.startswith("on_"):
            continue
        for parameter in inspect.signature(method).parameters.values():
            if _KINDS.search(str(parameter.annotation)):
                yield f"{method.__qualname__}.{parameter.name}"


def test_elements_are_those_of_the_moment_when_they_are_given() -> None:
    env, element, row = environment(), {"a": 1}, Row(1, ["x"])
    stream = env.from_collection([element, row, [element]])
    element["a"], row[0] = 2, 2
    row[1].append("y")
    with stream.execute_and_collect() as records:
        assert list(records) == [{"a": 1}, Row(1, ["x"]), [{"a": 1}]]


def test_rows_of_a_declared_type_are_those_of_the_moment_when_they_are_given() -> None:
    env, row = environment(), Row(1, ["x"])
    stream = env.from_collection([row], Types.ROW([Types.INT(), Types.LIST(Types.STRING())]))
    row[0] = 2
    row[1].append("y")
    with stream.execute_and_collect() as records:
        assert [record.as_dict() for record in records] == [{"f0": 1, "f1": ["x"]}]


def test_an_element_that_cannot_be_pickled_is_refused_where_it_is_given() -> None:
    with pytest.raises(UnpicklableFunctionError, match="an element of the collection cannot be sent to workers"):
        environment().from_collection([threading.Lock()])


def test_one_function_given_twice_is_two() -> None:
    class Counts(MapFunction[Any, Any]):
        count = 0

        def map(self, value: Any) -> Any:
            self.count += 1
            return self.count

    env, counts = environment(), Counts()
    stream = env.from_collection([7, 7]).map(counts).map(counts)
    with stream.execute_and_collect() as records:
        assert list(records) == [1, 2]
    assert counts.count == 0


MAIN_PROGRAM = """
from scurry.common import Types
from scurry.datastream import MapFunction, StreamExecutionEnvironment

class Scale(MapFunction):
    def map(self, value):
        return helper(value) * factor

class Base:
    def __eq__(self, other):
        return type(other) is Base

def helper(value):
    return value

env = StreamExecutionEnvironment.get_execution_environment()
numbers = env.from_collection([3])
for factor in (1, 10):
    numbers.map(Scale()).print(f"by {factor}")

def helper(value):
    return -value

numbers.map(Scale()).print("negative")
env.from_collection([Base()]).map(lambda value: isinstance(value, Base)).print("a Base")
method = Scale.map
env.execute()
factor = 100
assert Scale.map is method
numbers = env.from_collection([3])
numbers.map(Scale()).print("again")
env.execute()
"""


def test_classes_of_the_main_module_have_the_variables_of_the_moment_and_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(MAIN_PROGRAM)
    run = [sys.executable, "-m", "scurry", "run", "--runner", "local", "-p", "1", str(tmp_path / "program.py")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["by 1> 3", "by 10> 30", "negative> -30", "a Base> True", "again> -300"]
