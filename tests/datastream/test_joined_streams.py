from __future__ import annotations

import datetime
from typing import Any

import pytest

from scurry.common import Duration, Time, Types
from scurry.datastream import (
    CoGroupFunction,
    DataStream,
    FlatJoinFunction,
    JoinFunction,
    MapFunction,
    OutputTag,
    ProcessJoinFunction,
    StreamExecutionEnvironment,
)
from scurry.datastream.window import (
    CountEvictor,
    CountTrigger,
    DeltaEvictor,
    EventTimeTrigger,
    TimeEvictor,
    TumblingEventTimeWindows,
)
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scurry.graph import operators as ops
from scurry.graph.nodes import OperatorNode, PartitionNode
from scurry.testing import plan_of


class Join(JoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        return first, second


class FlatJoin(FlatJoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        yield first, second


class CoGroup(CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Any:
        return None


class Process(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        return None


class Other(MapFunction):
    def map(self, value: Any) -> Any:
        return value


@pytest.fixture
def first(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection(["a"], type_info=Types.STRING())


@pytest.fixture
def second(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([1], type_info=Types.INT())


def operator(stream: DataStream) -> Any:
    node = plan_of(stream)
    assert isinstance(node, OperatorNode)
    return node.operator


def keys(stream: DataStream) -> list[Any]:
    inputs: Any = plan_of(stream).inputs
    assert all(isinstance(node, PartitionNode) for node in inputs)
    return [(node.partitioner.selector, node.partitioner.key_type) for node in inputs]


class TestWindowJoins:
    @pytest.mark.parametrize("function", [Join(), FlatJoin(), lambda one, two: (one, two)])
    def test_the_window_operator_has_both_streams_as_inputs(
        self, first: DataStream, second: DataStream, function: Any
    ) -> None:
        pairs = first.join(second).where(len, Types.INT()).equal_to(abs).window(TumblingEventTimeWindows.of(10))
        joined = pairs.apply(function, Types.STRING())
        spec = operator(joined)
        assert isinstance(spec, ops.Window) and spec.hook is ops.WindowHook.CO_GROUP and spec.aligned == (10, 10, 0)
        assert keys(joined) == [(len, Types.INT()), (abs, Types.INT())]
        assert joined.get_type() == Types.STRING()
        assert joined.get_name() == "TumblingEventTimeWindows"

    def test_windows_take_a_trigger_an_evictor_and_lateness(self, first: DataStream, second: DataStream) -> None:
        trigger, evictor = CountTrigger.of(3), CountEvictor.of(2)
        for pairing in (first.join(second), first.co_group(second)):
            windows: Any = pairing.where(len).equal_to(abs).window(TumblingEventTimeWindows.of(10))
            windows = windows.trigger(trigger).evictor(evictor).allowed_lateness(datetime.timedelta(seconds=1))
            spec = operator(windows.apply(lambda one, two: []))
            assert (spec.trigger, spec.evictor, spec.allowed_lateness) == (trigger, evictor, 1000)

    def test_the_description_names_the_users_function(self, first: DataStream, second: DataStream) -> None:
        windows = TumblingEventTimeWindows.of(10)
        joined = first.join(second).where(len).equal_to(abs).window(windows).apply(Join())
        grouped = first.co_group(second).where(len).equal_to(abs).window(windows).apply(CoGroup())
        assert plan_of(joined).description == "Join(TumblingEventTimeWindows(10, 0), EventTimeTrigger, Join)"
        assert plan_of(grouped).description == "CoGroup(TumblingEventTimeWindows(10, 0), EventTimeTrigger, CoGroup)"

    def test_keyed_streams_are_keyed_again(self, first: DataStream, second: DataStream) -> None:
        pairs = first.key_by(hash).join(second.key_by(hash)).where(len).equal_to(abs)
        assert keys(pairs.window(TumblingEventTimeWindows.of(10)).apply(Join())) == [(len, None), (abs, None)]

    def test_what_does_not_fit_is_refused(self, first: DataStream, second: DataStream) -> None:
        with pytest.raises(ArgumentTypeError, match="DataStream"):
            first.join([1])  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="KeySelector"):
            first.join(second).where("key")  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="WindowAssigner"):
            first.join(second).where(len).equal_to(abs).window(10)  # type: ignore[arg-type]
        windows = TumblingEventTimeWindows.of(10)
        for pairing in (first.join(second), first.co_group(second)):
            applied: Any = pairing.where(len).equal_to(abs).window(windows)
            for function in (Other(), Join, 3):
                with pytest.raises(ArgumentTypeError):
                    applied.apply(function)


class TestIntervalJoins:
    def join(self, first: DataStream, second: DataStream) -> Any:
        return first.key_by(len).interval_join(second.key_by(abs))

    def test_bounds_are_any_amounts_of_time(self, first: DataStream, second: DataStream) -> None:
        for lower, upper in [
            (-1000, 2000),
            (Time.seconds(-1), Time.seconds(2)),
            (Duration.of_seconds(-1), Duration.of_seconds(2)),
            (datetime.timedelta(seconds=-1), datetime.timedelta(seconds=2)),
        ]:
            spec = operator(self.join(first, second).between(lower, upper).process(Process()))
            assert (spec.lower, spec.upper) == (-1000, 2000)

    def test_bounds_may_be_exclusive(self, first: DataStream, second: DataStream) -> None:
        joined = self.join(first, second).in_event_time().between(-10, 20)
        spec = operator(joined.lower_bound_exclusive().upper_bound_exclusive().process(Process()))
        assert (spec.lower, spec.upper) == (-9, 19)

    def test_late_records_may_have_side_outputs(self, first: DataStream, second: DataStream) -> None:
        left, right = OutputTag("left"), OutputTag("right")
        joined = self.join(first, second).between(0, 0)
        joined = joined.side_output_left_late_data(left).side_output_right_late_data(right)
        spec = operator(joined.process(Process()))
        assert (spec.left_late_tag, spec.right_late_tag) == (left, right)

    def test_the_operator_has_both_keyed_streams_as_inputs(self, first: DataStream, second: DataStream) -> None:
        joined = self.join(first, second).between(0, 0).process(Process(), Types.STRING())
        assert keys(joined) == [(len, None), (abs, None)]
        assert (joined.get_name(), joined.get_type()) == ("Interval Join", Types.STRING())

    def test_processing_time_is_refused_as_by_flink(self, first: DataStream, second: DataStream) -> None:
        with pytest.raises(UnsupportedError, match="only supported in event time"):
            self.join(first, second).in_processing_time().between(0, 1)

    def test_what_does_not_fit_is_refused(self, first: DataStream, second: DataStream) -> None:
        with pytest.raises(ArgumentTypeError, match="KeyedStream"):
            first.key_by(len).interval_join(second)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="lowerBound <= upperBound"):
            self.join(first, second).between(1, 0)
        with pytest.raises(ArgumentTypeError, match="OutputTag"):
            self.join(first, second).between(0, 1).side_output_left_late_data("late")
        with pytest.raises(ArgumentTypeError, match="ProcessJoinFunction"):
            self.join(first, second).between(0, 1).process(Join())


class TestEvictors:
    def test_the_operator_knows_its_evictor(self, first: DataStream) -> None:
        windowed = first.key_by(len).window(TumblingEventTimeWindows.of(10))
        evictor = CountEvictor.of(1)
        result = windowed.evictor(evictor).reduce(max)
        assert operator(result).evictor is evictor
        description = "Window(TumblingEventTimeWindows(10, 0), EventTimeTrigger, CountEvictor, max)"
        assert plan_of(result).description == description
        assert isinstance(operator(result).trigger, EventTimeTrigger)

    def test_what_does_not_fit_is_refused(self, first: DataStream) -> None:
        windowed = first.key_by(len).window(TumblingEventTimeWindows.of(10))
        with pytest.raises(ArgumentTypeError, match="Evictor"):
            windowed.evictor(CountTrigger.of(1))  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="at least 0"):
            CountEvictor.of(-1)
        with pytest.raises(ArgumentTypeError, match="DeltaFunction"):
            DeltaEvictor.of(1, "delta")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="amount of time"):
            TimeEvictor.of("5 s")  # type: ignore[arg-type]
