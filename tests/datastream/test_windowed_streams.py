from __future__ import annotations

import datetime
from typing import Any

import pytest

from scurry.common import Types
from scurry.datastream import (
    AggregateFunction,
    OutputTag,
    ProcessWindowFunction,
    ReduceFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from scurry.datastream.data_stream import AllWindowedStream, DataStream, WindowedStream
from scurry.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from scurry.datastream.window import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    EventTimeTrigger,
    NeverTrigger,
    TumblingEventTimeWindows,
)
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.graph import operators as ops
from scurry.graph.nodes import OperatorNode, PartitionNode
from scurry.testing import plan_of

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a


class Process(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        return []


class Apply(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Any) -> Any:
        return []


class ProcessAll(ProcessAllWindowFunction[Any, Any, Any]):
    def process(self, context: Any, elements: Any) -> Any:
        return []


class ApplyAll(AllWindowFunction[Any, Any, Any]):
    def apply(self, window: Any, inputs: Any) -> Any:
        return []


@pytest.fixture
def pairs(env: StreamExecutionEnvironment) -> DataStream:
    return env.from_collection([("a", 1)], type_info=PAIR)


@pytest.fixture
def windowed(pairs: DataStream) -> WindowedStream:
    return pairs.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(1000))


def window(stream: DataStream) -> ops.Window:
    node = plan_of(stream)
    assert isinstance(node, OperatorNode) and isinstance(node.operator, ops.Window)
    return node.operator


def kinds(stream: DataStream) -> tuple[str | None, str | None]:
    folding, hook = window(stream).pre_aggregation, window(stream).hook
    return folding and folding.value, hook and hook.value


class TestFunctions:
    def test_each_method_says_what_folds_and_what_evaluates(self, windowed: WindowedStream) -> None:
        assert kinds(windowed.process(Process())) == (None, "process")
        assert kinds(windowed.apply(Apply())) == (None, "apply")
        assert kinds(windowed.reduce(max)) == ("reduce", None)
        assert kinds(windowed.reduce(max, Process())) == ("reduce", "process")
        assert kinds(windowed.aggregate(Mean())) == ("aggregate", None)
        assert kinds(windowed.aggregate(Mean(), Apply())) == ("aggregate", "apply")

    def test_reduce_emits_its_input_type_unless_a_window_function_follows(self, windowed: WindowedStream) -> None:
        assert windowed.reduce(max).get_type() == PAIR
        assert windowed.reduce(max, output_type=Types.STRING()).get_type() == Types.STRING()
        assert windowed.reduce(max, Process()).get_type() == Types.PICKLED_BYTE_ARRAY()

    def test_aggregate_emits_what_is_declared(self, windowed: WindowedStream) -> None:
        result = windowed.aggregate(Mean(), accumulator_type=Types.LONG(), output_type=Types.DOUBLE())
        assert result.get_type() == Types.DOUBLE()

    def test_callables_become_reduce_functions(self, windowed: WindowedStream) -> None:
        function = window(windowed.reduce(lambda a, b: a + b)).pre_aggregate
        assert isinstance(function, ReduceFunction) and function.reduce(1, 2) == 3

    def test_functions_must_suit_the_kind_of_window(self, windowed: WindowedStream, pairs: DataStream) -> None:
        all_windows = pairs.window_all(TumblingEventTimeWindows.of(1000))
        cases: list[tuple[Any, Any]] = [(windowed, ProcessAll()), (all_windows, Process()), (windowed, Apply())]
        for stream, function in cases:
            with pytest.raises(ArgumentTypeError):
                stream.process(function)
        with pytest.raises(ArgumentTypeError):
            windowed.reduce(max, ProcessAll())
        with pytest.raises(ArgumentTypeError):
            windowed.aggregate(max)  # type: ignore[call-overload]


class TestWindows:
    def test_the_trigger_is_the_assigners_unless_set(self, windowed: WindowedStream) -> None:
        assert isinstance(window(windowed.process(Process())).trigger, EventTimeTrigger)
        trigger = CountTrigger.of(3)
        assert window(windowed.trigger(trigger).process(Process())).trigger is trigger

    def test_lateness_and_late_data(self, windowed: WindowedStream) -> None:
        late = OutputTag("late", PAIR)
        spec = window(
            windowed.allowed_lateness(datetime.timedelta(seconds=2)).side_output_late_data(late).process(Process())
        )
        assert (spec.allowed_lateness, spec.late_tag) == (2000, late)
        with pytest.raises(ArgumentError, match="cannot be negative"):
            windowed.allowed_lateness(-1)

    def test_sessions_merge(self, pairs: DataStream) -> None:
        sessions = pairs.key_by(len).window(EventTimeSessionWindows.with_gap(10))
        assert window(sessions.process(Process())).merging
        with pytest.raises(ArgumentTypeError, match="does not support merging"):
            sessions.trigger(NeverTrigger())

    def test_count_windows(self, pairs: DataStream) -> None:
        keyed = pairs.key_by(len)
        tumbling, sliding = window(keyed.count_window(3).reduce(max)), window(keyed.count_window(4, 2).reduce(max))
        assert repr(tumbling.assigner) == repr(CountTumblingWindowAssigner(3))
        assert repr(sliding.assigner) == repr(CountSlidingWindowAssigner(4, 2))

    def test_all_windows_have_one_partition(self, pairs: DataStream) -> None:
        all_windows = pairs.window_all(TumblingEventTimeWindows.of(1000))
        assert isinstance(all_windows, AllWindowedStream)
        assert all_windows.get_input_type() == PAIR
        for result in (all_windows.process(ProcessAll()), all_windows.apply(ApplyAll()), all_windows.reduce(max)):
            assert window(result).over_all
            (input_node,) = plan_of(result).inputs
            assert isinstance(input_node, PartitionNode) and isinstance(input_node.partitioner, ops.Global)

    def test_the_operator_is_named_after_its_assigner(self, windowed: WindowedStream) -> None:
        result = windowed.reduce(max, Process())
        assert result.get_name() == "TumblingEventTimeWindows"
        description = "Window(TumblingEventTimeWindows(1000, 0), EventTimeTrigger, max, Process)"
        assert plan_of(result).description == description

    def test_what_is_no_assigner_or_trigger_is_refused(self, pairs: DataStream, windowed: WindowedStream) -> None:
        with pytest.raises(ArgumentTypeError, match="WindowAssigner"):
            pairs.key_by(len).window(1000)  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="Trigger"):
            windowed.trigger(3)  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="OutputTag"):
            windowed.side_output_late_data("late")  # type: ignore[arg-type]
