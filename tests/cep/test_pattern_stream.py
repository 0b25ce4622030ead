"""`CEP.pattern`: patterns on streams."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from scurry.cep import (
    CEP,
    AfterMatchSkipStrategy,
    Pattern,
    PatternProcessFunction,
    RichIterativeCondition,
    TimedOutPartialMatchHandler,
)
from scurry.common import Types
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.datastream import DataStream, OutputTag, StreamExecutionEnvironment
from scurry.datastream.state import ValueStateDescriptor
from scurry.errors import ArgumentTypeError, MalformedPatternError, OperatorError
from scurry.testing import TestHarness
from support.runners import Runner

Event = tuple[str, str, int]
LATE = OutputTag("late")
TIMED_OUT = OutputTag("timed-out")


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


def key(event: Event) -> str:
    return event[0]


def named(name: str) -> Any:
    return lambda event: event[1] == name


def a_then_b(within: int | None = None) -> Pattern:
    return Pattern.begin("a").where(named("a")).followed_by("b").where(named("b")).within(within)


def numbers(match: dict[str, list[Event]]) -> list[int]:
    return [event[2] for events in match.values() for event in events]


class Found(PatternProcessFunction[Event, Any], TimedOutPartialMatchHandler[Event]):
    def process_match(self, match: dict[str, list[Event]], ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), numbers(match), ctx.timestamp()

    def process_timed_out_match(self, match: dict[str, list[Event]], ctx: Any) -> Iterator[Any]:
        yield TIMED_OUT, (numbers(match), ctx.timestamp())


def on_keys(pattern: Pattern) -> Any:
    return lambda stream: CEP.pattern(stream.key_by(key), pattern).side_output_late_data(LATE).process(Found())


def test_events_are_matched_by_time_when_the_watermark_reaches_them() -> None:
    with TestHarness.of(on_keys(a_then_b())) as harness:
        harness.process(("k", "b", 2), 20)
        harness.process(("k", "a", 1), 10)
        harness.process(("other", "a", 3), 10)
        assert harness.outputs() == []
        harness.advance_watermark(20)
        assert harness.records()[0].value == ("k", [1, 2], 20)
        assert harness.records()[0].timestamp == 20


def test_records_behind_the_watermark_go_to_the_side_output() -> None:
    with TestHarness.of(on_keys(a_then_b())) as harness:
        harness.advance_watermark(10)
        harness.process(("k", "a", 1), 10)
        harness.process(("k", "a", 2), 11)
        harness.process(("k", "b", 3), 12)
        harness.end_input()
        assert (harness.side_output(LATE), harness.outputs()) == ([("k", "a", 1)], [("k", [2, 3], 12)])


def test_records_behind_the_watermark_are_counted_without_a_side_output() -> None:
    with TestHarness.of(lambda stream: CEP.pattern(stream.key_by(key), a_then_b()).process(Found())) as harness:
        harness.advance_watermark(10)
        harness.process(("k", "a", 1), 10)
        assert harness.num_late_records_dropped() == 1


def test_partial_matches_time_out_when_the_watermark_passes() -> None:
    with TestHarness.of(on_keys(a_then_b(within=100))) as harness:
        harness.process(("k", "a", 1), 10)
        harness.advance_watermark(109)
        assert harness.side_output(TIMED_OUT) == []
        harness.advance_watermark(110)
        assert harness.side_output(TIMED_OUT) == [([1], 110)]
        assert harness.num_keyed_state_entries() == 0


def test_no_state_is_kept_of_keys_on_which_nothing_has_begun() -> None:
    with TestHarness.of(on_keys(a_then_b())) as harness:
        harness.process(("k", "b", 1), 10)
        harness.advance_watermark(10)
        assert harness.num_keyed_state_entries() == 0


def test_nothing_is_left_of_a_key_behind_its_last_match() -> None:
    skip = AfterMatchSkipStrategy.skip_past_last_event()
    pattern = Pattern.begin("a", skip).where(named("a")).next("b").where(named("b")).within(1000)
    with TestHarness.of(on_keys(pattern)) as harness:
        harness.process(("k", "a", 1), 10)
        harness.process(("k", "b", 2), 11)
        harness.advance_watermark(10)
        assert harness.num_keyed_state_entries() > 0
        harness.advance_watermark(11)
        assert (harness.outputs(), harness.num_keyed_state_entries()) == ([("k", [1, 2], 11)], 0)


def test_events_wait_in_state_at_another_parallelism_of_a_savepoint() -> None:
    def feed(harness: TestHarness, name: str, time: int) -> None:
        for number in range(50):
            harness.process((f"k{number}", name, number), time + number)

    with TestHarness.of(on_keys(a_then_b(within=1000)), parallelism=2) as harness:
        feed(harness, "a", 10)
        harness.advance_watermark(30)
        snapshot = harness.snapshot()
    with TestHarness.of(on_keys(a_then_b(within=1000)), parallelism=3, snapshot=snapshot) as harness:
        feed(harness, "b", 100)
        harness.end_input()
        assert sorted(harness.outputs()) == sorted((f"k{n}", [n, n], 100 + n) for n in range(50))


def test_a_stream_without_keys_is_matched_as_a_whole() -> None:
    with TestHarness.of(lambda stream: CEP.pattern(stream, a_then_b()).select(numbers), parallelism=2) as harness:
        harness.process(("k", "a", 1), 10)
        harness.process(("other", "b", 2), 11)
        harness.end_input()
        assert harness.outputs() == [[1, 2]]


def test_processing_time_takes_events_as_they_arrive_and_times_out_by_the_clock() -> None:
    def build(stream: DataStream) -> DataStream:
        return CEP.pattern(stream.key_by(key), a_then_b(within=100)).in_processing_time().process(Found())

    with TestHarness.of(build, processing_time=1000) as harness:
        harness.process(("k", "a", 1))
        harness.process(("k", "b", 2))
        harness.process(("k", "a", 3))
        harness.advance_processing_time(1101)
        assert [record.value[1] for record in harness.records()] == [[1, 2]]
        assert harness.side_output(TIMED_OUT) == [([3], 1100)]


def test_a_comparator_orders_events_of_equal_times() -> None:
    def build(stream: DataStream) -> DataStream:
        return CEP.pattern(stream, a_then_b(), lambda one, other: one[2] - other[2]).select(numbers)

    with TestHarness.of(build) as harness:
        harness.process(("k", "b", 2), 10)
        harness.process(("k", "a", 1), 10)
        harness.end_input()
        assert harness.outputs() == [[1, 2]]


def test_select_functions_see_matches_and_partial_matches_that_time_out() -> None:
    def build(stream: DataStream) -> DataStream:
        found = CEP.pattern(stream.key_by(key), a_then_b(within=10))
        return found.select(TIMED_OUT, lambda match, time: (numbers(match), time), numbers)

    with TestHarness.of(build) as harness:
        harness.process(("k", "a", 1), 10)
        harness.process(("k", "b", 2), 11)
        harness.process(("k", "a", 3), 12)
        harness.end_input()
        assert (harness.outputs(), harness.side_output(TIMED_OUT)) == ([[1, 2]], [([3], 22)])


def test_flat_select_emits_any_number_of_results() -> None:
    with TestHarness.of(lambda stream: CEP.pattern(stream, a_then_b()).flat_select(numbers)) as harness:
        harness.process(("k", "a", 1), 10)
        harness.process(("k", "b", 2), 11)
        harness.end_input()
        assert harness.outputs() == [1, 2]


# ---------------------------------------------------------------- errors


def test_a_malformed_pattern_is_refused_where_it_is_applied(env: StreamExecutionEnvironment) -> None:
    pattern = Pattern.begin("a").followed_by("a")
    with pytest.raises(MalformedPatternError, match=r"Duplicate pattern name: a\. Names must be unique") as caught:
        CEP.pattern(env.from_collection([1]), pattern)
    assert f"{__file__}:" in caught.value.report()


def test_a_condition_that_is_no_function_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="where of stage 'a' takes a function of the event, .* not 3"):
        Pattern.begin("a").where(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("stage", ["a", "b"])
def test_a_failing_condition_names_operator_stage_and_event(stage: str) -> None:
    def fails(event: Event) -> bool:
        raise ValueError("no such thing")

    pattern = Pattern.begin("a").where(fails if stage == "a" else named("a")).next("b").where(fails)
    build = lambda stream: CEP.pattern(stream.key_by(key), pattern).select(numbers).name("alarms")  # noqa: E731
    with pytest.raises(OperatorError, match=f"(?s)no such thing.*'alarms'.*'a', 1.*stage '{stage}'"):
        with TestHarness.of(build) as harness:
            harness.process(("k", "a", 1), 10)
            if stage == "b":
                harness.process(("k", "a", 1), 11)
            harness.end_input()


def test_a_record_without_timestamp_needs_processing_time() -> None:
    with TestHarness.of(on_keys(a_then_b())) as harness:
        with pytest.raises(OperatorError, match=r"(?s)no timestamp.*in_processing_time\(\)"):
            harness.process(("k", "a", 1))


def test_conditions_have_no_state() -> None:
    class Stateful(RichIterativeCondition):
        def open(self, runtime_context: Any) -> None:
            runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

        def filter(self, value: Any, ctx: Any) -> bool:
            return True

    with pytest.raises(OperatorError, match="State is not supported"):
        TestHarness.of(on_keys(Pattern.begin("a").where(Stateful())))


def test_results_of_time_outs_need_a_side_output() -> None:
    class Wrong(Found):
        def process_timed_out_match(self, match: Any, ctx: Any) -> Iterator[Any]:
            yield numbers(match)

    build = lambda stream: CEP.pattern(stream.key_by(key), a_then_b(within=5)).process(Wrong())  # noqa: E731
    with pytest.raises(OperatorError, match="side outputs only"):
        with TestHarness.of(build) as harness:
            harness.process(("k", "a", 1), 10)
            harness.end_input()


# ---------------------------------------------------------------- runners


def alarms(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
    events = [(f"k{number % 7}", "axb"[number % 3 if number % 11 else 0], number) for number in range(300)]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[2])
    stream = env.from_collection(events).assign_timestamps_and_watermarks(strategy)
    found = CEP.pattern(stream.key_by(key), a_then_b(within=50)).process(Found())
    return {"matches": found, "timed out": found.get_side_output(TIMED_OUT)}


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_runtime_mode_and_parallelism_change_nothing(mode: str, parallelism: int) -> None:
    expected = Runner("local", "STREAMING").run(alarms)
    assert expected["matches"] and expected["timed out"]
    found = Runner("local", mode).run(alarms, parallelism)
    assert {name: sorted(each) for name, each in found.items()} == {
        name: sorted(each) for name, each in expected.items()
    }


def test_pyflink_has_it_under_its_name() -> None:
    import scurry.pyflink_alias  # noqa: F401

    assert importlib.import_module("pyflink.cep").CEP is CEP
