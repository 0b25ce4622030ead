"""`CEP.dynamic_patterns`: patterns that come, change and go while the job runs."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from typing import Any

import pytest

from scurry.cep import (
    CEP,
    AfterMatchSkipStrategy,
    Pattern,
    PatternMatch,
    PatternProcessFunction,
    TimedOutPartialMatchHandler,
)
from scurry.common import Types
from scurry.common.watermark_strategy import WatermarkStrategy
from scurry.datastream import DataStream, OutputTag, StreamExecutionEnvironment
from scurry.errors import ArgumentTypeError, MalformedPatternError, OperatorError, ValidationError
from scurry.testing import Snapshot, TestHarness
from support.runners import Runner

EVENT = Types.ROW_NAMED(["k", "name", "n"], [Types.STRING(), Types.STRING(), Types.LONG()])
INVALID = OutputTag("invalid")
TIMED_OUT = OutputTag("timed-out")


def pattern(first: str, then: str, within: int | None = None) -> str:
    begin = Pattern.begin("a").where(f"name = '{first}'")
    return begin.followed_by("b").where(f"name = '{then}'").within(within).to_json()


def shown(match: Any) -> Any:
    return match.pattern_id, match.pattern_version, [event[2] for events in match.values() for event in events]


class Found(PatternProcessFunction[Any, Any], TimedOutPartialMatchHandler[Any]):
    def process_match(self, match: Any, ctx: Any) -> Iterator[Any]:
        yield shown(match)

    def process_timed_out_match(self, match: Any, ctx: Any) -> Iterator[Any]:
        yield TIMED_OUT, shown(match)


def found(events: DataStream, patterns: DataStream) -> DataStream:
    keyed = events.key_by(lambda event: event[0], key_type=Types.STRING())
    return CEP.dynamic_patterns(keyed, patterns).side_output_invalid_patterns(INVALID).process(Found())


def harness(build: Any = found, **arguments: Any) -> TestHarness:
    return TestHarness.of(build, input_types=[EVENT], **arguments)


def feed(run: TestHarness, *names: str, at: int, key: str = "k") -> None:
    """Send events, one per millisecond, and the watermark of the last one."""
    for time, name in enumerate(names, at):
        run.process((key, name, time), time)
    run.advance_watermark(at + len(names) - 1, input=1)


# ---------------------------------------------------------------- changes


def test_matches_have_the_id_and_version_of_their_pattern() -> None:
    with harness() as run:
        run.process(("p", 1, pattern("a", "b")), input=2)
        run.process(("q", 7, pattern("b", "c")), input=2)
        feed(run, "a", "b", "c", at=1)
        assert run.outputs() == [("p", 1, [1, 2]), ("q", 7, [2, 3])]


def test_nothing_is_found_before_there_is_a_pattern() -> None:
    with harness() as run:
        feed(run, "a", "b", at=1)
        run.process(("p", 1, pattern("a", "b")), input=2)
        feed(run, "a", "b", at=3)
        assert run.outputs() == [("p", 1, [3, 4])]


def test_a_change_keeps_the_partial_matches_of_other_patterns_and_drops_its_own() -> None:
    with harness() as run:
        run.process(("p", 1, pattern("a", "b")), input=2)
        run.process(("q", 1, pattern("a", "c")), input=2)
        feed(run, "a", at=1)
        run.process(("p", 2, pattern("a", "c")), input=2)
        feed(run, "b", "c", at=2)
        assert run.outputs() == [("q", 1, [1, 3])]
        feed(run, "a", "c", at=4)
        assert sorted(run.outputs()) == [("p", 2, [4, 5]), ("q", 1, [1, 3]), ("q", 1, [4, 5])]


def test_a_removed_pattern_leaves_no_state() -> None:
    with harness() as run:
        run.process(("p", 1, pattern("a", "b")), input=2)
        for key in "klmn":
            run.process((key, "a", 1), 1)
        run.advance_watermark(1, input=1)
        assert run.num_keyed_state_entries() == 4
        run.process(("p", 1, None), input=2)
        assert run.num_keyed_state_entries() == 0
        feed(run, "b", at=2)
        assert run.outputs() == []


@pytest.mark.parametrize(
    ("record", "counts"),
    [
        (("p", 2, pattern("a", "b")), False),  # the version is known
        (("p", 1, pattern("a", "b")), False),
        (("p", 1, None), False),
        (("p", 2, None), True),
        (("p", 3, pattern("a", "b")), True),
    ],
)
def test_a_record_counts_if_its_version_is_new(record: Any, counts: bool) -> None:
    with harness() as run:
        run.process(("p", 2, pattern("a", "x")), input=2)
        feed(run, "a", at=1)
        run.process(record, input=2)
        feed(run, "x", at=2)
        assert run.outputs() == ([] if counts else [("p", 2, [1, 2])])


def test_a_removed_version_does_not_come_back() -> None:
    with harness() as run:
        for record in [("p", 1, pattern("a", "b")), ("p", 1, None), ("p", 1, pattern("a", "b"))]:
            run.process(record, input=2)
        feed(run, "a", "b", at=1)
        assert run.outputs() == []
        run.process(("p", 2, pattern("a", "b")), input=2)
        feed(run, "a", "b", at=3)
        assert run.outputs() == [("p", 2, [3, 4])]


def test_a_change_with_a_timestamp_takes_effect_between_the_events_around_it() -> None:
    with harness() as run:
        run.process(("p", 1, pattern("a", "b")), input=2)
        run.process(("p", 2, pattern("a", "c")), 4, input=2)
        with run.batch():
            for time, name in enumerate("abacbc", 1):  # the events arrive at once, and the change is older than some
                run.process(("k", name, time), time)
            run.advance_watermark(6, input=1)
        assert run.outputs() == [("p", 1, [1, 2])]
        feed(run, "a", "c", at=7)
        assert run.outputs() == [("p", 1, [1, 2]), ("p", 2, [7, 8])]


def test_a_change_behind_the_watermark_takes_effect_at_once() -> None:
    with harness() as run:
        feed(run, "x", at=10)
        run.process(("p", 1, pattern("a", "b")), 3, input=2)
        feed(run, "a", "b", at=11)
        assert run.outputs() == [("p", 1, [11, 12])]


def test_partial_matches_that_end_before_a_removal_time_out() -> None:
    with harness() as run:
        run.process(("p", 1, pattern("a", "b", within=5)), input=2)
        run.process(("p", 1, None), 20, input=2)
        with run.batch():
            for time in (1, 18):
                run.process(("k", "a", time), time)
            run.advance_watermark(30, input=1)
        assert run.side_output(TIMED_OUT) == [("p", 1, [1])]


def test_patterns_do_not_hold_back_the_watermark_of_events_if_they_have_none() -> None:
    with harness() as run:
        run.process(("p", 1, pattern("a", "b")), input=2)
        run.advance_processing_time(10)
        feed(run, "a", "b", at=1)
        assert run.outputs() == [("p", 1, [1, 2])]


def test_patterns_with_watermarks_and_events_wait_for_each_other() -> None:
    by_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda record, _: record[3])

    def build(events: DataStream, patterns: DataStream) -> DataStream:
        return found(events, patterns.assign_timestamps_and_watermarks(by_time).map(lambda record: record[:3]))

    with harness(build) as run:
        feed(run, "a", "b", "a", at=1)
        run.process(("p", 1, pattern("a", "b"), 0), input=2)
        assert run.outputs() == []
        run.process(("p", 2, pattern("a", "c"), 3), input=2)
        run.process(("p", 3, pattern("a", "b"), 10), input=2)
        assert run.outputs() == [("p", 1, [1, 2])]
        feed(run, "c", at=4)
        assert run.outputs() == [("p", 1, [1, 2]), ("p", 2, [3, 4])]


def test_streams_without_keys_and_processing_time_have_dynamic_patterns_too() -> None:
    def build(events: DataStream, patterns: DataStream) -> DataStream:
        return CEP.dynamic_patterns(events, patterns).in_processing_time().select(shown)

    with harness(build, parallelism=2) as run:
        run.process(("p", 1, pattern("a", "b")), input=2)
        run.process(("k", "a", 1))
        run.process(("l", "b", 2))
        run.process(("p", 1, None), input=2)
        run.process(("k", "a", 3))
        run.process(("l", "b", 4))
        assert run.outputs() == [("p", 1, [1, 2])]


# ---------------------------------------------------------------- conditions


def test_conditions_see_the_earlier_events_of_the_match_as_in_define() -> None:
    skip = AfterMatchSkipStrategy.skip_past_last_event()
    rising = (
        Pattern.begin("up", skip)
        .where("LAST(up.n, 1) IS NULL OR n > LAST(up.n, 1)")
        .one_or_more()
        .consecutive()
        .next("down")
        .where("n < LAST(up.n) AND COUNT(up.n) >= 2")
    )
    with harness() as run:
        run.process(("p", 1, rising.to_json()), input=2)
        for time, value in enumerate([10, 12, 15, 11, 9, 13], 1):
            run.process(("k", "x", value), time)
        run.end_input()
        assert run.outputs() == [("p", 1, [10, 12, 15, 11])]


def test_the_event_that_ends_a_loop_is_compared_with_those_in_it() -> None:
    loop = (
        Pattern.begin("a").where("name = 'a'").one_or_more().until("n > SUM(a.n)").followed_by("b").where("name = 'b'")
    )
    with harness() as run:
        run.process(("p", 1, loop.to_json()), input=2)
        for time, (name, value) in enumerate([("a", 1), ("a", 1), ("a", 3), ("b", 0)], 1):
            run.process(("k", name, value), time)
        run.end_input()
        assert [each[2] for each in run.outputs()] == [[1, 1, 0], [1, 0], [1, 0], [3, 0]]


def test_patterns_of_programs_may_have_expressions_too() -> None:
    def build(events: DataStream) -> DataStream:
        given = Pattern.begin("a").where("name = 'a'").next("b").where(lambda event: event[1] == "b")
        return CEP.pattern(events, given).select(lambda match: [match["a"][0][2], match["b"][0][2]])

    with harness(build) as run:
        feed(run, "a", "b", "a", at=1)
        assert run.outputs() == [[1, 2]]


# ---------------------------------------------------------------- restarts


def steps(chance: random.Random) -> list[tuple[int, Any, int | None]]:
    """Records of both inputs, with timestamps; None is a watermark of the events."""
    result: list[tuple[int, Any, int | None]] = [(2, ("p", 0, pattern("a", "b", 40)), None)]
    version = 0
    for number in range(150):
        time = number * 3
        result.append((1, (chance.choice("klmn"), chance.choice("aabcx"), number), time + chance.randrange(12)))
        if chance.random() < 0.1:
            version += 1
            first, then = chance.sample("abc", 2)
            text = None if chance.random() < 0.2 else pattern(first, then, chance.choice([None, 40]))
            result.append((2, (chance.choice("pq"), version, text), time + 20))
        if chance.random() < 0.2:
            result.append((0, None, time))
    return result


def play(run: TestHarness, number: int, record: Any, time: int | None) -> None:
    if number:
        run.process(record, time, input=number)
    else:
        assert time is not None
        run.advance_watermark(time, input=1)


@pytest.mark.parametrize("seed", range(3))
def test_batch_cuts_savepoints_and_parallelism_change_nothing(seed: int) -> None:
    chance = random.Random(seed)
    inputs = steps(chance)
    with harness() as run:
        with run.batch():
            for step in inputs:
                play(run, *step)
            run.end_input()
        expected = [*run.outputs(), *(("timed out", *each) for each in run.side_output(TIMED_OUT))]
    assert len({each[-3:-1] for each in expected}) > 3

    results: list[Any] = []
    snapshot: Snapshot | None = None

    def collect(run: TestHarness) -> None:
        results.extend(run.outputs() + [("timed out", *each) for each in run.side_output(TIMED_OUT)])

    run = harness(parallelism=2)
    for step in inputs:
        play(run, *step)
        if chance.random() < 0.05:
            snapshot = run.snapshot()
            collect(run)
            run.close()
            run = harness(parallelism=chance.choice([1, 2, 3]), snapshot=snapshot)
    run.end_input()
    collect(run)
    run.close()
    assert snapshot is not None
    assert sorted(map(repr, results)) == sorted(map(repr, expected))


def program(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
    events = [(f"k{number % 7}", "abx"[number % 3 if number % 11 else 0], number) for number in range(300)]
    by_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[2])
    stream = env.from_collection(events, EVENT).assign_timestamps_and_watermarks(by_time)
    at = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda record, _: record[3])
    changes = [("p", 1, pattern("a", "b", 50), 0), ("q", 1, pattern("b", "a"), 90), ("p", 2, None, 150)]
    patterns = env.from_collection(changes).assign_timestamps_and_watermarks(at).map(lambda record: record[:3])
    return {"matches": found(stream, patterns)}


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_runtime_mode_and_parallelism_change_nothing(mode: str, parallelism: int) -> None:
    expected = sorted(Runner("local", "STREAMING").run(program)["matches"])
    assert {each[:2] for each in expected} == {("p", 1), ("q", 1)}
    assert sorted(Runner("local", mode).run(program, parallelism)["matches"]) == expected


@pytest.mark.spark
def test_spark_finds_what_this_process_finds() -> None:
    assert sorted(Runner("spark", "STREAMING").run(program, 2)["matches"]) == sorted(
        Runner("local", "STREAMING").run(program)["matches"]
    )


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (("p", 1, "{"), "the JSON of a pattern cannot be read"),
        (("p", 1, '{"nodes": []}'), r"pattern\.nodes is \[\]"),
        (
            ("p", 1, pattern("a", "b").replace("name =", "nope =")),
            "is wrong: .*line 1, column 1 to .*Column 'nope' not",
        ),
        (("p", 1, pattern("a", "b").replace("name = 'a'", "n + 1")), "it is of type BIGINT, not BOOLEAN"),
        (("p", 1, pattern("a", "b").replace("name = 'a'", "TRUE, FALSE")), "more than one expression"),
        (("p", 1, pattern("a", "b").replace('"b"', '"a"')), "with different names"),
        (("p", "1", pattern("a", "b")), "its version is '1', not an int"),
        (("p", 1, {}), r"its pattern is \{\}, not a text"),
        ((None, 1, None), "its id is None"),
        ("p", "a record of the stream of patterns is"),
    ],
)
def test_an_invalid_pattern_goes_to_the_side_output_and_changes_nothing(record: Any, reason: str) -> None:
    with harness(parallelism=2) as run:
        run.process(("p", 0, pattern("a", "b")), input=2)
        feed(run, "a", at=1)
        run.process(record, input=2)
        feed(run, "b", at=2)
        ((refused, why),) = run.side_output(INVALID)
        assert refused == record
        with pytest.raises(MalformedPatternError, match=reason):
            raise MalformedPatternError(why)
        assert run.outputs() == [("p", 0, [1, 2])]


def test_an_invalid_pattern_fails_the_job_without_a_side_output() -> None:
    def build(events: DataStream, patterns: DataStream) -> DataStream:
        return CEP.dynamic_patterns(events, patterns).select(shown)

    with pytest.raises(OperatorError, match=r"(?s)cannot be read.*'p', 1.*side_output_invalid_patterns"):
        with harness(build) as run:
            run.process(("p", 1, "{"), input=2)


def test_a_failing_condition_names_pattern_stage_and_event() -> None:
    with pytest.raises(OperatorError, match="(?s)/ by zero.*name='a', n=0.*stage 'a' of pattern 'p', version 1"):
        with harness() as run:
            run.process(("p", 1, pattern("a", "b").replace("name = 'a'", "10 / n > 1")), input=2)
            run.process(("k", "a", 0), 1)
            run.end_input()


def test_events_need_a_type() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.raises(ValidationError, match="declare the type of its records"):
        CEP.dynamic_patterns(env.from_collection([1]), env.from_collection([2]))


def test_patterns_are_a_stream() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.raises(ArgumentTypeError, match="takes two DataStreams"):
        CEP.dynamic_patterns(env.from_collection([1], Types.LONG()), [("p", 1, "")])  # type: ignore[arg-type]


def test_a_pattern_match_keeps_its_pattern_in_pickles() -> None:
    match = pickle.loads(pickle.dumps(PatternMatch({"a": [1]}, "p", 3)))
    assert (match, match.pattern_id, match.pattern_version) == ({"a": [1]}, "p", 3)
