"""Programs and the plans they become: tests/fixtures/plans/<program>.txt, in words `scurry explain` prints.

`SCURRY_RECORD_PLANS=1 pytest tests/graph` writes the fixtures anew; read the difference before you keep it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.cep import CEP, Pattern
from scurry.common import Configuration, Types
from scurry.common.output_tag import OutputTag
from scurry.common.time import Time
from scurry.common.watermark_strategy import WatermarkGenerator, WatermarkStrategy
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.functions import (
    CoMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
)
from scurry.datastream.state import MapStateDescriptor
from scurry.datastream.window import (
    ContinuousProcessingTimeTrigger,
    EventTimeSessionWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from scurry.errors import ScurryError, TopologyError
from scurry.testing import job_plan_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "plans"
EVEN, LATE = OutputTag("even"), OutputTag("late")


class Split(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield (EVEN, value) if value % 2 == 0 else value


class Keyed(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield timestamp


class Periodic(WatermarkGenerator):
    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        pass

    def on_periodic_emit(self, output: Any) -> None:
        pass


class Both(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return value

    def map2(self, value: Any) -> Any:
        return value


class Ruled(KeyedBroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(MapStateDescriptor("rules")).put(value, value)


class KeyedBoth(KeyedCoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield value

    def process_element2(self, value: Any, ctx: Any) -> Any:
        yield value


def environment(parallelism: int) -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("execution.runtime-mode", "STREAMING")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    return env.set_parallelism(parallelism)


def numbers(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([1, 2, 3], type_info=Types.LONG())


# ------------------------------------------------------------------ the programs


def chain(env: StreamExecutionEnvironment) -> None:
    numbers(env).map(abs).filter(bool).flat_map(range).print()


def fork(env: StreamExecutionEnvironment) -> None:
    mapped = numbers(env).map(abs)
    mapped.filter(bool).print()
    mapped.key_by(abs).reduce(max).print()


def diamond(env: StreamExecutionEnvironment) -> None:
    source = numbers(env)
    left, right = source.map(abs, Types.LONG()), source.filter(bool)
    left.union(right).key_by(abs).process(Keyed()).print()


def diamond_across_levels(env: StreamExecutionEnvironment) -> None:
    keyed = numbers(env).key_by(abs)
    counted = keyed.reduce(max)
    keyed.process(Keyed()).union(counted.key_by(abs).process(Keyed())).key_by(str).reduce(max).print()


def union_of_two_sources(env: StreamExecutionEnvironment) -> None:
    numbers(env).union(numbers(env)).map(abs).print()


def union_with_itself(env: StreamExecutionEnvironment) -> None:
    source = numbers(env)
    source.union(source).map(abs).print()


def keyed_union_with_itself(env: StreamExecutionEnvironment) -> None:
    source = numbers(env)
    source.union(source).key_by(abs).reduce(max).print()


def several_sources_and_sinks(env: StreamExecutionEnvironment) -> None:
    first, second = numbers(env), numbers(env)
    first.print()
    first.connect(second).map(Both()).print()
    second.print()


def side_output(env: StreamExecutionEnvironment) -> None:
    split = numbers(env).process(Split())
    split.print()
    split.get_side_output(EVEN).map(abs).print()
    split.get_side_output(EVEN).key_by(abs).reduce(max).print()


def late_side_output(env: StreamExecutionEnvironment) -> None:
    stamped = numbers(env).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps())
    windowed = stamped.key_by(abs).window(TumblingEventTimeWindows.of(Time.seconds(1))).side_output_late_data(LATE)
    fired = windowed.reduce(max)
    fired.print()
    fired.get_side_output(LATE).print()


def three_levels(env: StreamExecutionEnvironment) -> None:
    numbers(env).key_by(abs).reduce(max).map(abs).key_by(str).process(Keyed()).key_by(abs).reduce(min).print()


def window_all(env: StreamExecutionEnvironment) -> None:
    stamped = numbers(env).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps())
    stamped.window_all(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(max).print()


def connected(env: StreamExecutionEnvironment) -> None:
    numbers(env).connect(numbers(env).map(abs)).map(Both()).print()


def connected_keyed(env: StreamExecutionEnvironment) -> None:
    numbers(env).key_by(abs).connect(numbers(env).key_by(str)).process(KeyedBoth()).print()


def broadcast_state(env: StreamExecutionEnvironment) -> None:
    rules = numbers(env).broadcast(MapStateDescriptor("rules"))
    numbers(env).key_by(abs).connect(rules).process(Ruled()).print()


def connected_with_itself(env: StreamExecutionEnvironment) -> None:
    keyed = numbers(env).key_by(abs)
    keyed.connect(keyed).process(KeyedBoth()).print()


def rebalance(env: StreamExecutionEnvironment) -> None:
    numbers(env).rebalance().map(abs).print()


def forward(env: StreamExecutionEnvironment) -> None:
    numbers(env).forward().map(abs).print()


def other_partitioners(env: StreamExecutionEnvironment) -> None:
    source = numbers(env)
    source.broadcast().map(abs).print()
    source.shuffle().map(abs).print()
    source.rescale().map(abs).print()
    source.global_().map(abs).print()
    source.partition_custom(lambda key, count: key % count, abs).map(abs).print()


def last_partitioner_counts(env: StreamExecutionEnvironment) -> None:
    numbers(env).rebalance().key_by(abs).reduce(max).print()


PROGRAMS: list[Callable[[StreamExecutionEnvironment], None]] = [
    chain, fork, diamond, diamond_across_levels, union_of_two_sources, union_with_itself, keyed_union_with_itself,
    several_sources_and_sinks, side_output, late_side_output, three_levels, window_all, connected, connected_keyed,
    broadcast_state, connected_with_itself, rebalance, forward, other_partitioners, last_partitioner_counts,
]  # fmt: skip
CASES = [(program, 1) for program in PROGRAMS] + [(p, 2) for p in (rebalance, forward, other_partitioners, window_all)]


@pytest.mark.parametrize(("program", "parallelism"), CASES, ids=lambda case: getattr(case, "__name__", str(case)))
def test_plan(program: Callable[[StreamExecutionEnvironment], None], parallelism: int) -> None:
    env = environment(parallelism)
    program(env)
    text = re.sub(r"[^ (]*/(\w+\.py):\d+", r"\1", job_plan_of(env, program.__name__).describe()) + "\n"
    suffix = "" if parallelism == 1 else f"_parallelism_{parallelism}"
    fixture = FIXTURES / f"{program.__name__}{suffix}.txt"
    if os.environ.get("SCURRY_RECORD_PLANS"):
        fixture.write_text(text, encoding="utf-8")
    assert text == fixture.read_text(encoding="utf-8")


def test_every_fixture_has_its_program() -> None:
    names = {p.__name__ + ("" if n == 1 else f"_parallelism_{n}") for p, n in CASES}
    assert {file.stem for file in FIXTURES.glob("*.txt")} == names


def test_two_operators_with_one_uid_are_refused_with_both_lines() -> None:
    env = environment(1)
    stream = numbers(env).map(abs).uid("mine")  # first
    stream.map(abs).uid("mine").print()  # second
    source = list(enumerate(Path(__file__).read_text(encoding="utf-8").splitlines(), 1))
    first, second = (next(n for n, line in source if line.endswith(f"# {word}")) for word in ("first", "second"))
    with pytest.raises(ScurryError, match="uid 'mine' is given to two operators") as error:
        job_plan_of(env, "job")
    assert f"{__file__}:{first}" in str(error.value)
    assert f"{__file__}:{second}" in str(error.value)


def test_generated_uids_do_not_change_with_the_parallelism() -> None:
    uids = []
    for parallelism in (1, 4):
        env = environment(parallelism)
        side_output(env)
        uids.append([op.uid for op in job_plan_of(env, "job").operators.values()])
    assert uids[0] == uids[1]


def test_the_plan_as_json_has_every_task() -> None:
    import json

    env = environment(2)
    three_levels(env)
    plan = job_plan_of(env, "job")
    nodes = json.loads(plan.to_json())["nodes"]
    assert {node["id"] for node in nodes} == {*plan.sources, *plan.operators}
    shipped = {each["ship_strategy"] for node in nodes for each in node.get("predecessors", ())}
    assert "HASH" in shipped and max(node["level"] for node in nodes) == 3


def test_inputs_that_meet_in_order_are_told_the_time_but_an_idle_job_does_not_tick() -> None:
    env = environment(1)
    broadcast_state(env)
    plan = job_plan_of(env, "job")
    assert all(edge.progress for edge in plan.edges.values())
    assert not plan.ticks


def test_a_job_with_timers_ticks() -> None:
    env = environment(1)
    numbers(env).key_by(abs).process(Keyed()).print()
    assert job_plan_of(env, "job").ticks


BOUNDED = WatermarkStrategy.for_bounded_out_of_orderness(1000)
BY_EVENT_TIME = TumblingEventTimeWindows.of(Time.seconds(1))


@pytest.mark.parametrize(
    ("ticks", "strategy", "windows"),
    [
        (False, BOUNDED, lambda keyed: keyed.window(BY_EVENT_TIME)),
        (False, BOUNDED, lambda keyed: keyed.window(EventTimeSessionWindows.with_gap(Time.seconds(1)))),
        (True, BOUNDED.with_idleness(1000), lambda keyed: keyed.window(BY_EVENT_TIME)),
        (True, WatermarkStrategy.for_generator(Periodic), lambda keyed: keyed.window(BY_EVENT_TIME)),
        (True, BOUNDED, lambda keyed: keyed.window(TumblingProcessingTimeWindows.of(Time.seconds(1)))),
        (True, BOUNDED, lambda keyed: keyed.window(BY_EVENT_TIME).trigger(ContinuousProcessingTimeTrigger(1000))),
        (False, WatermarkStrategy.no_watermarks(), lambda keyed: keyed.window(BY_EVENT_TIME)),
    ],
)
def test_a_job_ticks_if_something_can_happen_without_records(ticks: bool, strategy: Any, windows: Any) -> None:
    env = environment(1)
    timed = numbers(env).assign_timestamps_and_watermarks(strategy)
    windows(timed.key_by(abs)).reduce(max).print()
    assert job_plan_of(env, "job").ticks is ticks


@pytest.mark.parametrize("event_time", [True, False])
def test_a_pattern_in_processing_time_waits_for_the_clock(event_time: bool) -> None:
    env = environment(1)
    events = CEP.pattern(numbers(env), Pattern.begin("a").next("b").within(Time.seconds(1)))
    events = events.in_event_time() if event_time else events.in_processing_time()
    events.select(len).print()
    assert job_plan_of(env, "job").ticks is not event_time


def test_forward_between_different_parallelisms_is_refused_with_both_lines() -> None:
    env = environment(2)
    numbers(env).map(abs).forward().map(abs).name("Alone").set_parallelism(1).print()
    with pytest.raises(TopologyError, match=r"'Map' \(.*\) has 2 and 'Alone' \(.*\) has 1; use rebalance"):
        job_plan_of(env, "job")
