"""with_dead_letters: records on which a function fails go to a side output, and the job goes on."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scurry.common import Configuration, Types
from scurry.common.time import Time
from scurry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from scurry.datastream import DataStream, DeadLetter, OutputTag, StreamExecutionEnvironment
from scurry.datastream.functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    RuntimeContext,
)
from scurry.datastream.state import MapStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.errors import ArgumentError, JobError, TopologyError, UnsupportedError

DEAD = OutputTag("dead")
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
NUMBERS = [1, 2, 0, 4, 0, 5]


@pytest.fixture(params=["STREAMING", "BATCH"])
def env(request: pytest.FixtureRequest) -> StreamExecutionEnvironment:
    settings = {"scurry.runner": "local", "execution.runtime-mode": str(request.param)}
    configuration = Configuration.from_dict(settings)
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


class At(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value) + 100


def stamped(stream: DataStream) -> DataStream:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(At())
    return stream.assign_timestamps_and_watermarks(strategy)


class TimeOf(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterator[Any]:
        yield value, ctx.timestamp()


def outcome(stream: DataStream) -> tuple[list[Any], list[Any]]:
    """The results and the records of the dead letters, each sorted."""
    tagged = stream.map(lambda result: ("result", result)).union(
        stream.get_side_output(DEAD).map(lambda letter: ("dead", letter.record))
    )
    with tagged.execute_and_collect() as records:
        found = list(records)
    return tuple(sorted(value for kind, value in found if kind == wanted) for wanted in ("result", "dead"))  # type: ignore[return-value]


# ------------------------------------------------------------------ functions that fail on 0


class Inverse(MapFunction):
    def map(self, value: Any) -> Any:
        return 60 // value


class Halves(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterator[Any]:
        yield -1 - value
        yield 60 // value


class KeyedHalves(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        yield -1 - value
        yield 60 // value


class BothInverse(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return 60 // value

    def map2(self, value: Any) -> Any:
        return None


class BothHalves(CoFlatMapFunction):
    def flat_map1(self, value: Any) -> Iterator[Any]:
        yield -1 - value
        yield 60 // value

    def flat_map2(self, value: Any) -> None:
        return None


class BothProcessed(CoProcessFunction):
    def process_element1(self, value: Any, ctx: CoProcessFunction.Context) -> Iterator[Any]:
        yield -1 - value
        yield 60 // value

    def process_element2(self, value: Any, ctx: CoProcessFunction.Context) -> None:
        return None


class BothKeyed(KeyedCoProcessFunction):
    process_element1: Any = BothProcessed.process_element1
    process_element2: Any = BothProcessed.process_element2


class Ruled(BroadcastProcessFunction):
    process_element: Any = BothProcessed.process_element1

    def process_broadcast_element(self, value: Any, ctx: BroadcastProcessFunction.Context) -> None:
        return None


class KeyedRuled(KeyedBroadcastProcessFunction):
    process_element: Any = BothProcessed.process_element1

    def process_broadcast_element(self, value: Any, ctx: KeyedBroadcastProcessFunction.Context) -> None:
        return None


def same(value: Any) -> Any:
    return value


def other(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([7])


INVERSE = [12, 15, 30, 60]
HALVES = [-6, -5, -3, -2, *INVERSE]

Build = Callable[[StreamExecutionEnvironment, DataStream], DataStream]
OPERATORS: dict[str, tuple[Build, list[int]]] = {
    "map": (lambda env, numbers: numbers.map(Inverse()), INVERSE),
    "flat_map": (lambda env, numbers: numbers.flat_map(lambda n: (yield from (-1 - n, 60 // n))), HALVES),
    "filter": (lambda env, numbers: numbers.filter(lambda n: 60 // n > 12), [1, 2, 4]),
    "process": (lambda env, numbers: numbers.process(Halves()), HALVES),
    "keyed map": (lambda env, numbers: numbers.key_by(same).map(Inverse()), INVERSE),
    "keyed filter": (lambda env, numbers: numbers.key_by(same).filter(lambda n: 60 // n > 12), [1, 2, 4]),
    "keyed process": (lambda env, numbers: numbers.key_by(same).process(KeyedHalves()), HALVES),
    "co-map": (lambda env, numbers: numbers.connect(other(env)).map(BothInverse()), INVERSE),
    "co-flat-map": (lambda env, numbers: numbers.connect(other(env)).flat_map(BothHalves()), HALVES),
    "co-process": (lambda env, numbers: numbers.connect(other(env)).process(BothProcessed()), HALVES),
    "keyed co-process": (
        lambda env, numbers: numbers.connect(other(env)).key_by(same, same).process(BothKeyed()),
        HALVES,
    ),
    "broadcast process": (lambda env, numbers: numbers.connect(other(env).broadcast(RULES)).process(Ruled()), HALVES),
    "keyed broadcast process": (
        lambda env, numbers: numbers.key_by(same).connect(other(env).broadcast(RULES)).process(KeyedRuled()),
        HALVES,
    ),
}


@pytest.mark.parametrize("timed", [False, True], ids=["no timestamps", "timestamps"])
@pytest.mark.parametrize("kind", OPERATORS)
def test_a_record_has_all_its_results_or_is_a_dead_letter(
    env: StreamExecutionEnvironment, kind: str, timed: bool
) -> None:
    build, expected = OPERATORS[kind]
    numbers = env.from_collection(NUMBERS)
    stream = build(env, stamped(numbers) if timed else numbers)
    assert outcome(stream.with_dead_letters(DEAD)) == (expected, [0, 0])


@pytest.mark.parametrize("kind", OPERATORS)
def test_results_and_dead_letters_keep_the_timestamps_of_their_records(
    env: StreamExecutionEnvironment, kind: str
) -> None:
    stream = OPERATORS[kind][0](env, stamped(env.from_collection([1, 2, 0, 4, 5]))).with_dead_letters(DEAD)
    results = stream.process(TimeOf()).filter(lambda pair: isinstance(pair[0], int))
    dead = stream.get_side_output(DEAD).process(TimeOf())
    with results.map(lambda pair: pair[1]).union(dead.map(lambda pair: pair[1])).execute_and_collect() as times:
        found = set(times)
    assert found == ({100, 101, 102, 104} if "filter" in kind else {100, 101, 102, 104, 105})


def test_a_dead_letter_says_what_went_wrong_where(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection([0]).map(Inverse()).name("invert").uid("inv").with_dead_letters(DEAD)
    stream.print()
    with stream.get_side_output(DEAD).execute_and_collect() as letters:
        (letter,) = letters
    assert isinstance(letter, DeadLetter) and pickle.loads(pickle.dumps(letter)) == letter
    assert (letter.record, letter.error, letter.operator, letter.uid) == (0, "ZeroDivisionError", "invert", "inv")
    assert "division" in letter.message
    assert "return 60 // value" in letter.traceback


def test_dead_letters_are_counted_even_if_nobody_takes_them(env: StreamExecutionEnvironment) -> None:
    env.from_collection(NUMBERS).map(Inverse()).name("invert").with_dead_letters(DEAD).print()
    client = env.execute_async()
    assert client.get_job_execution_result().result().get_metrics()["invert.numDeadLetters"] == 2
    assert client.execution.totals.dead_letters == {"invert": 2}  # type: ignore[attr-defined]


class Counting(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        self.count.update((self.count.value() or 0) + 1)
        yield self.count.value() + 0 // value


def test_state_changed_before_the_failure_stays_changed(env: StreamExecutionEnvironment) -> None:
    stream = env.from_collection([1, 0, 2]).key_by(lambda _: "all").process(Counting()).with_dead_letters(DEAD)
    assert outcome(stream) == ([1, 3], [0])


def test_without_dead_letters_a_failing_record_fails_the_job(env: StreamExecutionEnvironment) -> None:
    env.from_collection(NUMBERS).map(Inverse()).print()
    with pytest.raises(JobError, match="record: 0"):
        env.execute()


def test_a_result_that_does_not_fit_its_declared_type_fails_the_job(env: StreamExecutionEnvironment) -> None:
    env.from_collection([1]).map(str, Types.INT()).with_dead_letters(DEAD).print()
    with pytest.raises(JobError, match="declared type"):
        env.execute()


# ------------------------------------------------------------------ where there can be none


def test_operators_whose_results_come_from_many_records_refuse(env: StreamExecutionEnvironment) -> None:
    keyed = env.from_collection([1]).key_by(same)
    windowed = keyed.window(TumblingEventTimeWindows.of(Time.seconds(1)))
    for stream in (keyed.reduce(lambda a, b: a), windowed.reduce(lambda a, b: a)):
        with pytest.raises(UnsupportedError, match="come from many records"):
            stream.with_dead_letters(DEAD)
    with pytest.raises(UnsupportedError, match="before it"):
        stamped(env.from_collection([1])).with_dead_letters(DEAD)


def test_streams_that_are_no_operator_refuse(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1])
    for stream in (numbers, numbers.rebalance(), numbers.key_by(same), numbers.union(numbers)):
        with pytest.raises(TopologyError, match="no function that could fail"):
            stream.with_dead_letters(DEAD)


def test_the_tag_has_no_type_of_its_own(env: StreamExecutionEnvironment) -> None:
    with pytest.raises(ArgumentError, match="DeadLetter objects"):
        env.from_collection([1]).map(same).with_dead_letters(OutputTag("dead", Types.STRING()))  # type: ignore[arg-type]
