"""Windowed streams: keyed or whole streams cut into windows, waiting for a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from scurry.common.time import TimeAmount, to_millis
from scurry.common.typeinfo import TypeInformation
from scurry.datastream._functions import function_name, require_function, require_reduce
from scurry.datastream._type_info import declared_type
from scurry.datastream.data_stream.stream import DataStream, operator_stream
from scurry.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from scurry.datastream.output_tag import OutputTag
from scurry.datastream.window import (
    EventTimeSessionWindows,
    EventTimeTrigger,
    MergingWindowAssigner,
    SlidingEventTimeWindows,
    Trigger,
    TumblingEventTimeWindows,
    WindowAssigner,
)
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.graph import operators as ops

if TYPE_CHECKING:
    from scurry.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["AllWindowedStream", "WindowedStream"]

Self = TypeVar("Self", bound="_Windowed")


class _Windowed:
    """What windows per key and windows over all records have in common."""

    _apply_kind: ClassVar[type]
    _process_kind: ClassVar[type]
    _over_all: ClassVar[bool]

    def __init__(self, stream: DataStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        if not isinstance(window_assigner, WindowAssigner):
            raise ArgumentTypeError(
                f"expected a WindowAssigner such as TumblingEventTimeWindows.of(...), got {window_assigner!r}"
            )
        self._stream = stream
        self._assigner = window_assigner
        self._trigger: Trigger[Any, Any] = window_assigner.get_default_trigger(stream._env)
        self._allowed_lateness = 0
        self._late_tag: OutputTag | None = None

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment the stream belongs to."""
        return self._stream.get_execution_environment()

    def get_input_type(self) -> TypeInformation:
        """Return the declared type of the records in the windows."""
        return self._stream.get_type()

    def trigger(self: Self, trigger: Trigger[Any, Any]) -> Self:
        """Set what fires the windows, instead of the assigner's default.

        Raises:
            ArgumentTypeError: It is no Trigger, or one that cannot handle windows that merge where they do.
        """
        if not isinstance(trigger, Trigger):
            raise ArgumentTypeError(f"expected a Trigger, got {trigger!r}")
        if isinstance(self._assigner, MergingWindowAssigner) and not trigger.can_merge():
            raise ArgumentTypeError(
                "A merging window assigner cannot be used with a trigger that does not support merging: "
                f"{type(trigger).__name__} needs can_merge() to return True and on_merge(...)"
            )
        self._trigger = trigger
        return self

    def allowed_lateness(self: Self, time_ms: TimeAmount) -> Self:
        """Keep windows of event time for a while after they fired, and fire them again for records that come late.

        Args:
            time_ms: How long (int: ms of event time).
        """
        lateness = to_millis(time_ms)
        if lateness < 0:
            raise ArgumentError(f"The allowed lateness cannot be negative: {lateness} ms")
        self._allowed_lateness = lateness
        return self

    def side_output_late_data(self: Self, output_tag: OutputTag) -> Self:
        """Emit records that come too late for all their windows to a side output of the result."""
        if not isinstance(output_tag, OutputTag):
            raise ArgumentTypeError(f"expected an OutputTag, got {output_tag!r}")
        self._late_tag = output_tag
        return self

    def reduce(self, reduce_function: Any, window_function: Any = None, output_type: Any = None) -> DataStream:
        """Combine the records of each window as they come.

        Args:
            reduce_function: A ReduceFunction or a callable of the result so far and the next record.
            window_function: Called with the one result of each fired window; None emits it as it is.
            output_type: Declared type of the results, the input's without `window_function`.
        """
        function = require_reduce(reduce_function)
        if window_function is None and output_type is None:
            output_type = self._stream._node.output_type
        return self._window(function, "reduce", window_function, output_type)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: Any = None,
        accumulator_type: Any = None,
        output_type: Any = None,
    ) -> DataStream:
        """Fold the records of each window into an accumulator as they come.

        Args:
            aggregate_function: The AggregateFunction.
            window_function: Called with the one result of each fired window; None emits it as it is.
            accumulator_type: Declared type of accumulators; they are kept as the function made them.
            output_type: Declared type of the results.
        """
        require_function(aggregate_function, (AggregateFunction,))
        declared_type(accumulator_type, "accumulator_type")
        return self._window(aggregate_function, "aggregate", window_function, output_type)

    def apply(self, window_function: Any, output_type: Any = None) -> DataStream:
        """Evaluate each fired window from all of its records."""
        require_function(window_function, (self._apply_kind,))
        return self._window(None, None, window_function, output_type)

    def process(self, process_window_function: Any, output_type: Any = None) -> DataStream:
        """Evaluate each fired window from all of its records, with access to time and state."""
        require_function(process_window_function, (self._process_kind,))
        return self._window(None, None, process_window_function, output_type)

    def _window(self, folding: Any, pre_kind: str | None, function: Any, output_type: Any) -> DataStream:
        if function is not None:
            require_function(function, (self._apply_kind, self._process_kind))
        assigner, trigger = self._assigner, self._trigger
        operator = ops.Window(
            function,
            assigner=assigner,
            trigger=trigger,
            allowed_lateness=self._allowed_lateness,
            late_tag=self._late_tag,
            pre_aggregate=folding,
            pre_kind=pre_kind,
            kind=None if function is None else "process" if isinstance(function, self._process_kind) else "apply",
            over_all=self._over_all,
            merging=isinstance(assigner, MergingWindowAssigner),
            aligned=_alignment(assigner, trigger),
            session_gap=_session_gap(assigner, trigger),
        )
        functions = ", ".join(function_name(f) for f in (folding, function) if f is not None)
        result = operator_stream(
            self._stream._env, (self._stream._node,), operator, type(assigner).__name__, output_type
        )
        kind = type(self).__name__.removesuffix("edStream")
        return result.set_description(f"{kind}({assigner}, {type(trigger).__name__}, {functions})")


def _alignment(assigner: Any, trigger: Any) -> tuple[int, int, int] | None:
    """Size, slide and offset of plain event-time windows that fire once, at their end."""
    if type(assigner) in (TumblingEventTimeWindows, SlidingEventTimeWindows) and type(trigger) is EventTimeTrigger:
        return assigner._size, assigner._slide, assigner._offset
    return None


def _session_gap(assigner: Any, trigger: Any) -> int | None:
    """The gap of plain event-time sessions that fire once, at their end."""
    if type(assigner) is EventTimeSessionWindows and type(trigger) is EventTimeTrigger:
        return assigner._session_gap
    return None


class WindowedStream(_Windowed):
    """The records of each key in windows (Flink's `WindowedStream`)."""

    _apply_kind = WindowFunction
    _process_kind = ProcessWindowFunction
    _over_all = False


class AllWindowedStream(_Windowed):
    """All records in windows (Flink's `AllWindowedStream`); one subtask does all the work."""

    _apply_kind = AllWindowFunction
    _process_kind = ProcessAllWindowFunction
    _over_all = True

    def __init__(self, data_stream: DataStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        """Cut a stream into windows; programs call `window_all`."""
        super().__init__(data_stream._partition(ops.Global()), window_assigner)
