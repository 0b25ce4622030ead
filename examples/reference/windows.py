"""Windows: assigners, triggers, evictors, window functions."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator
from datetime import timedelta
from typing import Any

from scurry.common import Time, Types, WatermarkStrategy
from scurry.datastream import AggregateFunction, DataStream, OutputTag, ReduceFunction, StreamExecutionEnvironment
from scurry.datastream.functions import (
    AllWindowFunction,
    DeltaFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from scurry.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountEvictor,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    CountWindow,
    CountWindowSerializer,
    DeltaEvictor,
    DeltaTrigger,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    Evictor,
    GlobalWindow,
    GlobalWindows,
    GlobalWindowSerializer,
    MergingWindowAssigner,
    ProcessingTimeoutTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TaggedUnion,
    TimeEvictor,
    TimestampedValue,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)

env = StreamExecutionEnvironment.get_execution_environment()
in_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[1])
Event = tuple[str, int]


def results(stream: DataStream[Any]) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


events = env.from_collection([("a", 0), ("a", 400), ("a", 1_200)]).assign_timestamps_and_watermarks(in_time)
by_key = events.key_by(lambda event: event[0])


class Times(WindowFunction):
    """The timestamps of a window's events."""

    def apply(self, key: str, window: Any, inputs: Iterable[Event]) -> Iterator[list[int]]:
        yield [time for _, time in inputs]


# Assigners

second = TumblingEventTimeWindows.of(Time.seconds(1))
assert results(by_key.window(second).apply(Times())) == [[0, 400], [1200]]
sliding = SlidingEventTimeWindows.of(Time.seconds(2), Time.seconds(1))
assert results(by_key.window(sliding).apply(Times())) == [[0, 400], [0, 400, 1200], [1200]]
sessions = EventTimeSessionWindows.with_gap(timedelta(milliseconds=500))
assert sessions.get_window_serializer() is None
assert results(by_key.window(sessions).apply(Times())) == [[0, 400], [1200]]
assert results(by_key.window(CountTumblingWindowAssigner.of(2)).apply(Times())) == [[0, 400]]
assert results(by_key.window(CountSlidingWindowAssigner.of(2, 1)).apply(Times()))[-1][-1] == 1200
at_the_end = GlobalWindows.create_with_end_of_stream_trigger()
assert results(by_key.window(at_the_end).apply(Times())) == [[0, 400, 1200]]
assert results(by_key.window(GlobalWindows.create()).trigger(CountTrigger.of(3)).apply(Times())) == [[0, 400, 1200]]


class Gap(SessionWindowTimeGapExtractor):
    """Sessions of `a` end after half a second, others after one."""

    def extract(self, element: Event) -> int:
        return 500 if element[0] == "a" else 1_000


assert results(by_key.window(EventTimeSessionWindows.with_dynamic_gap(Gap())).apply(Times())) == [[0, 400], [1200]]
assert results(by_key.window(DynamicEventTimeSessionWindows.with_dynamic_gap(Gap())).apply(Times()))[0] == [0, 400]
for by_the_clock in (
    TumblingProcessingTimeWindows.of(Time.hours(1)),
    SlidingProcessingTimeWindows.of(Time.hours(2), Time.hours(1)),
    ProcessingTimeSessionWindows.with_gap(Time.hours(1)),
    ProcessingTimeSessionWindows.with_dynamic_gap(Gap()),
    DynamicProcessingTimeSessionWindows.with_dynamic_gap(Gap()),
):
    assert not by_the_clock.is_event_time()
    assert by_key.window(by_the_clock).apply(Times()).get_name()


class Days(WindowAssigner):
    """Windows of a day; an assigner of your own says these four things."""

    def assign_windows(
        self, element: Event, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        assert context.get_current_processing_time() > timestamp
        assert context.get_runtime_context().get_index_of_this_subtask() == 0
        start = TimeWindow.get_window_start_with_offset(timestamp, 0, 86_400_000)
        return [TimeWindow(start, start + 86_400_000)]

    def get_default_trigger(self, env: StreamExecutionEnvironment) -> Trigger:
        return EventTimeTrigger.create()

    def get_window_serializer(self) -> TimeWindowSerializer:
        return TimeWindowSerializer()

    def is_event_time(self) -> bool:
        return True


class Visits(MergingWindowAssigner):
    """Sessions, written by hand."""

    def assign_windows(
        self, element: Event, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        return [TimeWindow(timestamp, timestamp + 500)]

    def merge_windows(self, windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback) -> None:
        together: list[TimeWindow] = []
        for window in sorted(windows, key=lambda window: window.start):
            if together and together[0].intersects(window):
                cover = together[0].cover(window)
                callback.merge([together.pop(), window], cover)
                window = cover
            together = [window]

    def get_default_trigger(self, env: StreamExecutionEnvironment) -> Trigger:
        return EventTimeTrigger.create()

    def get_window_serializer(self) -> TimeWindowSerializer:
        return TimeWindowSerializer()

    def is_event_time(self) -> bool:
        return True


assert results(by_key.window(Days()).apply(Times())) == [[0, 400, 1200]]
assert results(by_key.window(Visits()).apply(Times())) == [[0, 400], [1200]]

# Windows themselves

window = TimeWindow(0, 1_000)
assert window.max_timestamp() == 999
TimeWindow.merge_windows([TimeWindow(0, 2), TimeWindow(1, 3)], type("Merge", (), {"merge": lambda *merged: None})())
assert GlobalWindow.get().max_timestamp() > 10**15
for serializer, some in (
    (TimeWindowSerializer(), window),
    (CountWindowSerializer(), CountWindow(7)),
    (GlobalWindowSerializer(), GlobalWindow.get()),
):
    stream = io.BytesIO()
    serializer.serialize(some, stream)
    stream.seek(0)
    assert serializer.deserialize(stream) == some

left, right = TaggedUnion(0, "order"), TaggedUnion(1, "payment")
assert left.is_one() and right.is_two()
assert (left.get_one(), right.get_two()) == ("order", "payment")
stamped = TimestampedValue("order", 1_000)
assert stamped.has_timestamp()
assert (stamped.get_value(), stamped.get_timestamp()) == ("order", 1_000)

# Window functions


class Larger(ReduceFunction):
    def reduce(self, value1: Event, value2: Event) -> Event:
        return max(value1, value2)


class Mean(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: Event, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return a[0] + b[0], a[1] + b[1]


assert Mean().merge((0, 1), (4, 1)) == (4, 2)  # when sessions become one


class Described(ProcessWindowFunction):
    """Number of a window, its start and its size; the number is state of the key, the size of the window."""

    def process(
        self, key: str, context: ProcessWindowFunction.Context, elements: Iterable[Event]
    ) -> Iterator[tuple[int, int, int]]:
        number = context.global_state().get_state(ValueStateDescriptor("number", Types.INT()))
        number.update((number.value() or 0) + 1)
        size = context.window_state().get_state(ValueStateDescriptor("size", Types.INT()))
        size.update(len(list(elements)))
        assert context.current_watermark() >= context.window().max_timestamp()
        assert context.current_processing_time() > 0
        yield number.value(), context.window().start, size.value()

    def clear(self, context: ProcessWindowFunction.Context) -> None:
        context.window_state().get_state(ValueStateDescriptor("size", Types.INT())).clear()


class First(AllWindowFunction):
    def apply(self, window: TimeWindow, inputs: Iterable[Event]) -> Iterator[Event]:
        yield next(iter(inputs))


class Counted(ProcessAllWindowFunction):
    def process(self, context: ProcessAllWindowFunction.Context, elements: Iterable[Event]) -> Iterator[Any]:
        windows = context.global_state().get_state(ValueStateDescriptor("windows", Types.INT()))
        windows.update((windows.value() or 0) + 1)
        context.window_state().get_state(ValueStateDescriptor("size", Types.INT())).update(1)
        yield context.window().start, len(list(elements)), windows.value()

    def clear(self, context: ProcessAllWindowFunction.Context) -> None:
        context.window_state().get_state(ValueStateDescriptor("size", Types.INT())).clear()


assert results(by_key.window(second).reduce(Larger())) == [("a", 400), ("a", 1200)]
assert results(by_key.window(second).aggregate(Mean())) == [200.0, 1200.0]
assert results(by_key.window(sessions).aggregate(Mean())) == [200.0, 1200.0]
assert results(by_key.window(second).process(Described())) == [(1, 0, 2), (2, 1000, 1)]
everything = events.window_all(second)
assert results(everything.apply(First())) == [("a", 0), ("a", 1200)]
assert results(everything.process(Counted())) == [(0, 2, 1), (1000, 1, 2)]
assert results(everything.reduce(Larger())) == [("a", 400), ("a", 1200)]
assert results(everything.aggregate(Mean())) == [200.0, 1200.0]
assert by_key.window(second).get_execution_environment() is env
assert by_key.window(second).get_input_type() is not None

# Late records

late = OutputTag("late", Types.PICKLED_BYTE_ARRAY())
disorder = env.from_collection([("a", 0), ("a", 5_000), ("a", 100), ("a", 3_900)])
windowed = disorder.assign_timestamps_and_watermarks(in_time).key_by(lambda event: event[0]).window(second)
counted = windowed.allowed_lateness(2_000).side_output_late_data(late).apply(Times())
assert results(counted)[0] == [0, 100]
assert isinstance(results(counted.get_side_output(late)), list)

# Triggers and evictors


class Distance(DeltaFunction):
    def get_delta(self, old_data_point: Event, new_data_point: Event) -> float:
        return abs(new_data_point[1] - old_data_point[1])


class LastTwo(Evictor):
    def evict_before(self, elements: list, size: int, window: Any, evictor_context: Evictor.EvictorContext) -> None:
        assert evictor_context.get_current_processing_time() > 0
        assert evictor_context.get_current_watermark() > 0
        evictor_context.get_metric_group().counter("evictions").inc()
        del elements[:-2]

    def evict_after(self, elements: list, size: int, window: Any, evictor_context: Evictor.EvictorContext) -> None:
        pass


class EverySecondAndAtTheEnd(Trigger):
    """Fire on each second element and at the end of the window."""

    def on_element(
        self, element: Event, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        ctx.register_event_time_timer(window.max_timestamp())
        ctx.register_processing_time_timer(ctx.get_current_processing_time() + 3_600_000)
        ctx.delete_processing_time_timer(ctx.get_current_processing_time() + 3_600_000)
        assert ctx.get_current_watermark() < window.max_timestamp()
        ctx.get_metric_group().counter("elements").inc()
        count = ctx.get_partitioned_state(self.count)
        count.add(1)
        return TriggerResult.FIRE if count.get() % 2 == 0 else TriggerResult.CONTINUE

    count = ReducingStateDescriptor("count", lambda a, b: a + b, Types.LONG())

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        ctx.merge_partitioned_state(self.count)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(self.count).clear()


assert TriggerResult.FIRE_AND_PURGE.is_fire()
assert TriggerResult.FIRE_AND_PURGE.is_purge()
assert results(by_key.window(Days()).trigger(EverySecondAndAtTheEnd()).apply(Times())) == [[0, 400], [0, 400, 1200]]
assert results(by_key.window(sessions).trigger(EverySecondAndAtTheEnd()).apply(Times()))[0] == [0, 400]


def fired(trigger: Trigger) -> list[list[int]]:
    return results(by_key.window(Days()).trigger(trigger).apply(Times()))


assert fired(EventTimeTrigger.create()) == [[0, 400, 1200]]
assert fired(CountTrigger.of(2)) == [[0, 400]]
assert fired(PurgingTrigger.of(CountTrigger.of(1))) == [[0], [400], [1200]]
assert len(fired(ContinuousEventTimeTrigger.of(Time.hours(12)))) > 1
assert fired(DeltaTrigger.of(1_000, Distance())) == [[0, 400, 1200]]
assert fired(ProcessingTimeoutTrigger.of(CountTrigger.of(2), Time.hours(1))) == [[0, 400], [0, 400, 1200]]
assert isinstance(fired(ContinuousProcessingTimeTrigger.of(Time.hours(1))), list)
assert by_key.window(Days()).trigger(ProcessingTimeTrigger.create()).apply(Times()).get_name()


def kept(evictor: Evictor) -> list[list[int]]:
    return results(by_key.window(Days()).evictor(evictor).apply(Times()))


assert kept(CountEvictor.of(2)) == [[400, 1200]]
assert kept(TimeEvictor.of(Time.milliseconds(500))) == [[1200]]
assert kept(DeltaEvictor.of(900, Distance())) == [[400, 1200]]
assert kept(LastTwo()) == [[400, 1200]]
