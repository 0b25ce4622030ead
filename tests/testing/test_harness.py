"""The test harness shows what a pipeline does, step by step."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Time, Types, WatermarkStrategy
from scurry.common.output_tag import OutputTag
from scurry.common.time import TimeDomain
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import DataStream
from scurry.datastream.functions import (
    CoMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessWindowFunction,
)
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from scurry.datastream.window import CountTrigger, TimeWindow, TumblingEventTimeWindows, TumblingProcessingTimeWindows
from scurry.errors import ArgumentError, OperatorError
from scurry.testing import Snapshot, SnapshotMismatchError, StreamRecord, TestHarness, Timer, Watermark

REJECTED = OutputTag("rejected")
LATE = OutputTag("late")
COUNT = ValueStateDescriptor("count")
MAX_WATERMARK = 2**63 - 1


def first(value: Any) -> Any:
    return value[0]


class Count(KeyedProcessFunction):
    """Counts the records of a key; reports at the end of every 10 ms of event time."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(COUNT)

    def process_element(self, value: Any, ctx: Any) -> Any:
        if value[1] < 0:
            yield REJECTED, value
            return
        self.count.update((self.count.value() or 0) + value[1])
        time = ctx.timestamp()
        ctx.timer_service().register_event_time_timer(time - time % 10 + 9)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), self.count.value()
        self.count.clear()


class Timeout(KeyedProcessFunction):
    """Names keys that have been silent for 100 ms of processing time."""

    def process_element(self, value: Any, ctx: Any) -> None:
        service = ctx.timer_service()
        service.register_processing_time_timer(service.current_processing_time() + 100)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), timestamp, ctx.timer_service().current_processing_time()


def counts(stream: DataStream) -> DataStream:
    return stream.key_by(first).process(Count()).uid("counts")


def ten_ms(stream: DataStream) -> Any:
    return stream.key_by(first).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))


# ---------------------------------------------------------------- records and watermarks


def test_records_come_out_with_their_timestamps() -> None:
    with TestHarness.of(lambda numbers: numbers.map(lambda n: n * 2).filter(lambda n: n > 2)) as harness:
        harness.process(1, 10)
        harness.process(2, 20)
        harness.process(3)
        assert harness.records() == [StreamRecord(4, 20), StreamRecord(6, None)]
        assert harness.outputs() == [4, 6]


def test_records_and_watermarks_keep_their_order() -> None:
    with TestHarness.of(counts) as harness:
        harness.process(("a", 1), 3)
        harness.advance_watermark(5)
        harness.process(("a", 2), 7)
        harness.advance_watermark(9)
        assert harness.events() == [Watermark(5), StreamRecord(("a", 3), 9), Watermark(9)]
        assert harness.watermarks() == [5, 9]


def test_several_steps_may_be_one_batch() -> None:
    with TestHarness.of(counts) as harness:
        with harness.batch():
            harness.process(("a", 1), 3)
            harness.process(("a", 2), 4)
            harness.advance_watermark(9)
            harness.process(("a", 5), 12)
            harness.advance_watermark(19)
            assert harness.events() == []
        assert harness.records() == [StreamRecord(("a", 3), 9), StreamRecord(("a", 5), 19)]


def test_the_clock_may_move_within_a_batch() -> None:
    with TestHarness.of(lambda stream: stream.key_by(first).process(Timeout())) as harness:
        with harness.batch():
            harness.process(("a", 1))
            harness.advance_processing_time(150)
            harness.process(("b", 1))
            harness.advance_processing_time(200)
        assert harness.outputs() == [("a", 100, 150)]


def test_outputs_can_be_forgotten() -> None:
    with TestHarness.of(counts) as harness:
        harness.process(("a", -1), 0)
        harness.advance_watermark(1)
        harness.clear_outputs()
        harness.advance_watermark(2)
        assert harness.events() == [Watermark(2)]
        assert harness.side_output(REJECTED) == []


def test_the_end_of_input_fires_all_event_time_timers_and_no_others() -> None:
    class Both(Timeout):
        def process_element(self, value: Any, ctx: Any) -> None:
            super().process_element(value, ctx)
            ctx.timer_service().register_event_time_timer(77)

    with TestHarness.of(lambda stream: stream.key_by(first).process(Both())) as harness:
        harness.process(("a", 1))
        harness.end_input()
        assert harness.outputs() == [("a", 77, 0)]
        assert harness.watermarks() == [MAX_WATERMARK]


def test_any_side_output_can_be_read_whether_the_pipeline_uses_it_or_not() -> None:
    with TestHarness.of(counts) as harness:
        harness.process(("a", -1), 4)
        assert harness.outputs() == []
        assert harness.side_output(REJECTED) == [("a", -1)]
        assert harness.side_output_records(REJECTED) == [StreamRecord(("a", -1), 4)]

    with TestHarness.of(lambda stream: counts(stream).get_side_output(REJECTED).map(first)) as harness:
        harness.process(("a", -1), 4)
        assert harness.outputs() == ["a"]
        assert harness.side_output(REJECTED) == [("a", -1)]


def test_watermark_strategies_of_the_pipeline_see_the_whole_test() -> None:
    class Second(TimestampAssigner):
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value[1])

    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    with TestHarness.of(lambda stream: stream.assign_timestamps_and_watermarks(strategy)) as harness:
        harness.process(("a", 10))
        harness.process(("a", 4))
        harness.advance_watermark(100)  # ends at the strategy
        harness.process(("a", 12))
        assert [record.timestamp for record in harness.records()] == [10, 4, 12]
        assert harness.watermarks() == [9, 11]


def test_declared_input_types_are_those_of_records() -> None:
    def total(stream: DataStream) -> DataStream:
        return stream.key_by(lambda row: row.name).sum("n")

    with TestHarness.of(total, input_types=[Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])]) as harness:
        harness.process(("a", 1))
        harness.process(("a", 2))
        assert [row.n for row in harness.outputs()] == [1, 3]


# ---------------------------------------------------------------- several inputs


class Enrich(KeyedCoProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.name = runtime_context.get_state(ValueStateDescriptor("name"))

    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield value[0], self.name.value(), ctx.timer_service().current_watermark()

    def process_element2(self, value: Any, ctx: Any) -> None:
        self.name.update(value[1])


def test_inputs_of_a_connected_stream_are_numbered_as_in_the_function() -> None:
    def enriched(orders: DataStream, names: DataStream) -> DataStream:
        return orders.connect(names).key_by(first, first).process(Enrich())

    with TestHarness.of(enriched) as harness:
        harness.process((1, "Ann"), 5, input=2)
        harness.advance_watermark(10, input=1)
        assert harness.watermarks() == []
        harness.advance_watermark(7, input=2)
        harness.process((1, 99), 6, input=1)
        assert harness.outputs() == [(1, "Ann", 7)]
        assert harness.watermarks() == [7]


RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Limit(KeyedBroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value[0], min(value[1], ctx.get_broadcast_state(RULES).get("limit") or 0)

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(*value)


def limited(numbers: DataStream, rules: DataStream) -> DataStream:
    return numbers.key_by(first).connect(rules.broadcast(RULES)).process(Limit())


def test_broadcast_state_can_be_read_and_reaches_every_subtask_of_a_snapshot() -> None:
    with TestHarness.of(limited) as harness:
        harness.process(("limit", 10), input=2)
        assert harness.broadcast_state(RULES) == {"limit": 10}
        snapshot = harness.snapshot()
    with TestHarness.of(limited, parallelism=3, snapshot=snapshot) as harness:
        for key in "abcdef":
            harness.process((key, 99), input=1)
        assert harness.outputs() == [(key, 10) for key in "abcdef"]


def test_unkeyed_connected_streams_work_too() -> None:
    class Sides(CoMapFunction):
        def map1(self, value: Any) -> Any:
            return "left", value

        def map2(self, value: Any) -> Any:
            return "right", value

    with TestHarness.of(lambda left, right: left.connect(right).map(Sides())) as harness:
        harness.process(1, input=2)
        harness.process(2)
        assert harness.outputs() == [("right", 1), ("left", 2)]


def test_the_watermark_of_a_union_is_the_lower_one() -> None:
    with TestHarness.of(lambda left, right: left.map(lambda v: v).union(right)) as harness:
        harness.advance_watermark(10, input=1)
        harness.advance_watermark(4, input=2)
        harness.advance_watermark(12)
        assert harness.watermarks() == [4, 12]


# ---------------------------------------------------------------- processing time


def test_processing_time_stands_still_unless_the_test_moves_it() -> None:
    with TestHarness.of(lambda stream: stream.key_by(first).process(Timeout()), processing_time=1000) as harness:
        harness.process(("a", 1))
        harness.advance_processing_time(1099)
        assert harness.outputs() == []
        harness.advance_processing_time(1105)
        assert harness.outputs() == [("a", 1100, 1105)]
        assert harness.processing_time == 1105


def test_functions_without_keys_see_the_clock_and_the_watermark() -> None:
    class Now(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield ctx.timer_service().current_processing_time(), ctx.timer_service().current_watermark()

    with TestHarness.of(lambda stream: stream.process(Now())) as harness:
        harness.advance_watermark(3)
        harness.advance_processing_time(50)
        harness.process("x")
        assert harness.outputs() == [(50, 3)]


def test_windows_of_processing_time_close_when_the_clock_says_so() -> None:
    def sums(stream: DataStream) -> DataStream:
        windows = TumblingProcessingTimeWindows.of(Time.milliseconds(10))
        return stream.key_by(first).window(windows).reduce(lambda a, b: (a[0], a[1] + b[1]))

    with TestHarness.of(sums) as harness:
        harness.process(("a", 1))
        harness.advance_processing_time(8)
        harness.process(("a", 2))
        harness.advance_processing_time(9)
        assert harness.records() == [StreamRecord(("a", 3), 9)]


# ---------------------------------------------------------------- windows


class Sums(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        state = context.window_state().get_state(COUNT)
        state.update((state.value() or 0) + 1)
        yield key, context.window().start, sum(n for _, n in elements)


def test_windows_fire_with_their_last_timestamp_and_leave_nothing_behind() -> None:
    with TestHarness.of(lambda stream: ten_ms(stream).process(Sums())) as harness:
        harness.process(("a", 1), 12)
        harness.process(("a", 2), 17)
        assert harness.timers() == [Timer(19, "a", TimeDomain.EVENT_TIME, TimeWindow(10, 20))]
        harness.advance_watermark(19)
        assert harness.records() == [StreamRecord(("a", 10, 3), 19)]
        assert (harness.timers(), harness.num_event_time_timers()) == ([], 0)


def test_late_records_are_seen_or_counted() -> None:
    with TestHarness.of(lambda stream: ten_ms(stream).side_output_late_data(LATE).process(Sums())) as harness:
        harness.advance_watermark(20)
        harness.process(("a", 1), 12)
        assert harness.side_output(LATE) == [("a", 1)]
        assert harness.num_late_records_dropped() == 0

    with TestHarness.of(lambda stream: ten_ms(stream).process(Sums())) as harness:
        harness.advance_watermark(20)
        harness.process(("a", 1), 12)
        assert harness.num_late_records_dropped() == 1


def test_state_of_a_window_can_be_read() -> None:
    with TestHarness.of(lambda stream: ten_ms(stream).allowed_lateness(5).process(Sums())) as harness:
        harness.process(("a", 1), 12)
        harness.advance_watermark(19)
        harness.process(("a", 1), 13)
        assert harness.state(COUNT, "a", window=TimeWindow(10, 20)) == 2
        assert harness.state(COUNT, "a", window=TimeWindow(20, 30)) is None


def test_state_of_a_trigger_can_be_read() -> None:
    trigger: Any = CountTrigger(3)
    with TestHarness.of(lambda stream: ten_ms(stream).trigger(trigger).process(Sums())) as harness:
        harness.process(("a", 1), 2)
        harness.process(("a", 1), 3)
        assert harness.state(trigger._count, "a", window=TimeWindow(0, 10)) == 2


def test_windows_over_all_records_have_no_key() -> None:
    class All(ProcessAllWindowFunction):
        def process(self, context: Any, elements: Any) -> Any:
            total = context.global_state().get_state(COUNT)
            total.update((total.value() or 0) + len(elements))
            yield sorted(elements)

    def build(stream: DataStream) -> DataStream:
        return stream.window_all(TumblingEventTimeWindows.of(Time.milliseconds(10))).process(All())

    with TestHarness.of(build, parallelism=2) as harness:
        harness.process(2, 1)
        harness.process(1, 2)
        harness.advance_watermark(10)
        assert harness.outputs() == [[1, 2]]
        assert harness.state(COUNT) == 2


# ---------------------------------------------------------------- state and timers


class Remember(KeyedProcessFunction):
    """Adds every value to the state of a descriptor."""

    def __init__(self, descriptor: Any) -> None:
        self.descriptor = descriptor

    def open(self, runtime_context: Any) -> None:
        kinds = {"value": "get_state", "list": "get_list_state", "map": "get_map_state",
                 "reducing": "get_reducing_state", "aggregating": "get_aggregating_state"}  # fmt: skip
        self.state = getattr(runtime_context, kinds[self.descriptor.kind])(self.descriptor)

    def process_element(self, value: Any, ctx: Any) -> None:
        put: dict[str, Callable[[], Any]] = {
            "value": lambda: self.state.update(value[1]),
            "map": lambda: self.state.put(value[1], True),
        }
        put.get(self.descriptor.kind, lambda: self.state.add(value[1]))()


class Mean:
    def create_accumulator(self) -> Any:
        return 0, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0] / accumulator[1]


def descriptors() -> dict[str, tuple[Any, Any, Any]]:
    from scurry.datastream.functions import AggregateFunction

    mean = type("MeanFunction", (Mean, AggregateFunction), {"merge": lambda self, a, b: (a[0] + b[0], a[1] + b[1])})()
    return {
        "value": (ValueStateDescriptor("s"), 4, None),
        "list": (ListStateDescriptor("s"), [2, 4], []),
        "map": (MapStateDescriptor("s"), {2: True, 4: True}, {}),
        "reducing": (ReducingStateDescriptor("s", lambda a, b: a + b), 6, None),
        "aggregating": (AggregatingStateDescriptor("s", mean), 3.0, None),
    }


@pytest.mark.parametrize("kind", descriptors())
def test_state_of_every_kind_is_shown_as_plain_python(kind: str) -> None:
    descriptor, some, nothing = descriptors()[kind]
    with TestHarness.of(lambda stream: stream.key_by(first).process(Remember(descriptor))) as harness:
        harness.process((("k", 1.5), 2))
        harness.process((("k", 1.5), 4))
        assert harness.state(descriptor, ("k", 1.5)) == some
        assert harness.state(descriptor, "another") == nothing
        assert harness.num_keyed_state_entries() == 1


def test_state_expires_by_the_clock_of_the_test() -> None:
    descriptor = ValueStateDescriptor("s")
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(100)).build())
    with TestHarness.of(lambda stream: stream.key_by(first).process(Remember(descriptor))) as harness:
        harness.process(("a", 1))
        harness.advance_processing_time(99)
        assert harness.state(descriptor, "a") == 1
        harness.advance_processing_time(100)
        assert harness.state(descriptor, "a") is None


def test_timers_are_listed_by_time_key_and_domain() -> None:
    with TestHarness.of(counts) as harness:
        harness.process(("b", 1), 5)
        harness.process(("a", 1), 25)
        harness.process(("b", 1), 7)
        assert harness.timers() == [
            Timer(9, "b", TimeDomain.EVENT_TIME, None),
            Timer(29, "a", TimeDomain.EVENT_TIME, None),
        ]
        assert [timer.time for timer in harness.timers("a")] == [29]
        assert (harness.num_event_time_timers(), harness.num_processing_time_timers()) == (2, 0)


# ---------------------------------------------------------------- several levels


def two_levels(stream: DataStream) -> DataStream:
    """Sums per key, then the sums of all keys whose sum is odd or even."""
    sums = counts(stream).name("first").map(lambda pair: (pair[1] % 2, pair[1]))
    return sums.key_by(first).process(Count()).name("second")


@pytest.mark.parametrize("parallelism", [1, 2, 5])
def test_a_watermark_passes_through_several_keyed_levels_in_one_step(parallelism: int) -> None:
    with TestHarness.of(two_levels, parallelism=parallelism) as harness:
        for key in "abcdef":
            harness.process((key, 1), 4)
        harness.advance_watermark(20)
        assert sorted(harness.outputs()) == [(1, 6)]
        assert harness.watermarks() == [20]
        assert harness.timers() == []


def test_with_several_keyed_operators_the_one_meant_is_named() -> None:
    with TestHarness.of(two_levels) as harness:
        harness.process(("a", 3), 4)
        assert harness.state(COUNT, "a", operator="first") == 3
        assert harness.state(COUNT, "a", operator="counts") == 3
        assert harness.state(COUNT, 1, operator="second") is None
        with pytest.raises(ArgumentError, match="'first'.*'second'"):
            harness.state(COUNT, "a")
        with pytest.raises(ArgumentError, match="no operator with such state has the name or uid 'third'"):
            harness.timers(operator="third")


# ---------------------------------------------------------------- snapshots


@pytest.mark.parametrize(("before", "after"), [(1, 1), (1, 4), (4, 1), (3, 5)])
def test_a_snapshot_goes_on_at_any_parallelism(before: int, after: int) -> None:
    keys = [f"key{i}" for i in range(50)]
    with TestHarness.of(counts, parallelism=before) as harness:
        for key in keys:
            harness.process((key, 1), 5)
        harness.advance_watermark(7)
        harness.advance_processing_time(1234)
        snapshot = pickle.loads(pickle.dumps(harness.snapshot()))
        harness.end_input()

    with TestHarness.of(counts, parallelism=after, snapshot=snapshot) as harness:
        assert harness.processing_time == 1234
        assert harness.num_event_time_timers() == len(keys)
        for key in keys:
            harness.process((key, 2), 6)
        harness.advance_watermark(9)
        assert sorted(harness.outputs()) == sorted((key, 3) for key in keys)


def test_a_snapshot_of_several_levels_keeps_the_watermark() -> None:
    with TestHarness.of(two_levels, parallelism=2) as harness:
        harness.advance_watermark(50)
        snapshot = harness.snapshot()
    with TestHarness.of(lambda s: ten_ms(s).process(Sums()).uid("counts"), snapshot=strip(snapshot)) as harness:
        harness.process(("a", 1), 40)
        assert harness.num_late_records_dropped() == 1


def strip(snapshot: Snapshot) -> Snapshot:
    """Only the state of the operator that has a uid of its own."""
    return Snapshot(snapshot.processing_time, snapshot.max_parallelism, {"counts": snapshot.operators["counts"]})


def test_a_snapshot_must_fit_the_pipeline() -> None:
    with TestHarness.of(counts) as harness:
        harness.process(("a", 1), 5)
        snapshot = harness.snapshot()
    with pytest.raises(SnapshotMismatchError, match="'counts'"):
        TestHarness.of(lambda stream: stream.key_by(first).process(Timeout()), snapshot=snapshot)
    with pytest.raises(SnapshotMismatchError, match="max_parallelism=128, not 64"):
        TestHarness.of(counts, max_parallelism=64, snapshot=snapshot)


# ---------------------------------------------------------------- functions


def test_functions_are_opened_at_once_used_as_they_are_and_closed_at_the_end() -> None:
    class Watched(KeyedProcessFunction):
        calls: list[str]

        def __init__(self) -> None:
            self.calls = []

        def open(self, runtime_context: Any) -> None:
            self.calls.append(f"open {runtime_context.get_job_parameter('who', '?')}")

        def process_element(self, value: Any, ctx: Any) -> None:
            self.calls.append(value)

        def close(self) -> None:
            self.calls.append("close")

    function = Watched()
    with TestHarness.of(lambda s: s.key_by(lambda v: v).process(function), job_parameters={"who": "me"}) as harness:
        assert function.calls == ["open me"]
        harness.process("x")
    assert function.calls == ["open me", "x", "close"]


@pytest.mark.parametrize("own", [True, False], ids=["of the operator", "of the harness"])
def test_subtasks_share_no_functions_wherever_their_number_comes_from(own: bool) -> None:
    class Numbering(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.subtask = runtime_context.get_index_of_this_subtask()

        def process_element(self, value: Any, ctx: Any) -> Any:
            yield value, self.subtask

    def build(stream: DataStream) -> DataStream:
        processed = stream.key_by(lambda value: value).process(Numbering())
        return processed.set_parallelism(2) if own else processed

    with TestHarness.of(build, parallelism=1 if own else 2) as harness:
        for value in range(20):
            harness.process(value)
        assert {subtask for _, subtask in harness.outputs()} == {0, 1}


def test_metrics_of_functions_can_be_read() -> None:
    class Counting(ProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.seen = runtime_context.get_metrics_group().counter("seen")

        def process_element(self, value: Any, ctx: Any) -> None:
            self.seen.inc(value)

    with TestHarness.of(lambda stream: stream.process(Counting()).name("counting")) as harness:
        harness.process(2)
        harness.process(3)
        assert harness.metrics()["counting.seen"] == 5


def test_a_failing_function_is_named_with_its_record() -> None:
    def divide(value: int) -> float:
        return 1 / value

    with TestHarness.of(lambda stream: stream.map(divide).name("divide")) as harness:
        with pytest.raises(OperatorError, match="(?s)ZeroDivisionError.*'divide'.*record: 0"):
            harness.process(0)


def test_a_pipeline_may_end_in_a_sink() -> None:
    found: list[Any] = []
    with TestHarness.of(lambda s: s.map(lambda n: n + 1)._sink(CollectSink(found.extend), "sink")) as harness:
        harness.process(1)
        assert found == [2]
        assert harness.outputs() == []


# ---------------------------------------------------------------- misuse


def test_time_never_goes_back() -> None:
    with TestHarness.of(counts) as harness:
        harness.advance_watermark(5)
        harness.advance_processing_time(5)
        with pytest.raises(ArgumentError, match="never falls"):
            harness.advance_watermark(4)
        with pytest.raises(ArgumentError, match="never goes back"):
            harness.advance_processing_time(4)


def test_a_stream_that_is_not_there_is_refused() -> None:
    with TestHarness.of(counts) as harness, pytest.raises(ArgumentError, match="inputs 1 to 1, not 2"):
        harness.process(("a", 1), input=2)
    with pytest.raises(ArgumentError, match="1 of the 2 streams"):
        TestHarness.of(lambda used, unused: used.map(first))
    with pytest.raises(ArgumentError, match="one stream per input"):
        TestHarness.of(lambda: None)
