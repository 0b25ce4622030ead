"""Windowed streams: the base of those of one and two streams, and those of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, overload

from scurry.common._api import ApiObject
from scurry.common._type_variables import ACC, K_co, R, T_co, V, W_co
from scurry.common.time import TimeAmount, to_millis
from scurry.common.typeinfo import TypeInformation
from scurry.datastream._functions import (
    DeclaredType,
    ReduceLike,
    WindowFunctionLike,
    function_name,
    require_function,
    require_reduce,
)
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
    Evictor,
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


class Windows(ApiObject):
    """Partitioned streams cut into windows: assigner, trigger, evictor and lateness."""

    def __init__(self, streams: tuple[DataStream[Any], ...], window_assigner: WindowAssigner[Any, Any]) -> None:
        """Cut streams into windows; programs call `window` or `window_all`."""
        if not isinstance(window_assigner, WindowAssigner):
            raise ArgumentTypeError(
                f"expected a WindowAssigner such as TumblingEventTimeWindows.of(...), got {window_assigner!r}"
            )
        self._streams = streams
        self._assigner = window_assigner
        self._trigger: Trigger[Any, Any] = window_assigner.get_default_trigger(streams[0]._env)
        self._evictor: Evictor[Any] | None = None
        self._allowed_lateness = 0

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment the stream belongs to."""
        return self._streams[0].get_execution_environment()

    def trigger(self, trigger: Trigger[Any, Any]) -> Self:
        """Set the trigger, which fires the windows, instead of the assigner's default.

        Raises:
            ArgumentTypeError: It is not a Trigger, or the windows merge and it cannot handle that.
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

    def evictor(self, evictor: Evictor[Any]) -> Self:
        """Set the evictor, which removes elements from a window whenever it fires.

        Windows with an evictor keep all of their elements: reduce and aggregate functions run over what is left each
        time a window fires.

        Args:
            evictor: `CountEvictor`, `TimeEvictor`, `DeltaEvictor` or a custom one.

        Raises:
            ArgumentTypeError: It is not an Evictor.
        """
        if not isinstance(evictor, Evictor):
            raise ArgumentTypeError(f"expected an Evictor such as CountEvictor.of(...), got {evictor!r}")
        self._evictor = evictor
        return self

    def allowed_lateness(self, time_ms: TimeAmount) -> Self:
        """Keep event-time windows for some time after they fired, and fire them again for late records.

        Args:
            time_ms: How long (int: ms of event time).
        """
        lateness = to_millis(time_ms)
        if lateness < 0:
            raise ArgumentError(f"The allowed lateness cannot be negative: {lateness} ms")
        self._allowed_lateness = lateness
        return self

    def _operator(self, label: str, described: tuple[Any, ...], output_type: Any, **details: Any) -> DataStream[Any]:
        """Return the results of the window operator.

        Args:
            label: Name of the operator in its description.
            described: Functions to name there.
            output_type: Declared type of the results.
            **details: The fields of `ops.Window` that say what is done with the windows.
        """
        assigner, trigger, evictor = self._assigner, self._trigger, self._evictor
        operator = ops.Window(
            assigner=assigner,
            trigger=trigger,
            evictor=evictor,
            allowed_lateness=self._allowed_lateness,
            merging=isinstance(assigner, MergingWindowAssigner),
            aligned=_alignment(assigner, trigger),
            session_gap=_session_gap(assigner, trigger),
            **details,
        )
        inputs = tuple(stream._node for stream in self._streams)
        result = operator_stream(self._streams[0]._env, inputs, operator, type(assigner).__name__, output_type)
        parts = [str(assigner), type(trigger).__name__]
        parts += [type(evictor).__name__] if evictor is not None else []
        parts += [function_name(function) for function in described if function is not None]
        return result.set_description(f"{label}({', '.join(parts)})")


def _alignment(assigner: Any, trigger: Any) -> tuple[int, int, int] | None:
    """Return size, slide and offset of plain event-time windows that fire once, at their end, else None."""
    if type(assigner) in (TumblingEventTimeWindows, SlidingEventTimeWindows) and type(trigger) is EventTimeTrigger:
        return assigner._size, assigner._slide, assigner._offset
    return None


def _session_gap(assigner: Any, trigger: Any) -> int | None:
    """Return the gap of plain event-time sessions that fire once, at their end, else None."""
    if type(assigner) is EventTimeSessionWindows and type(trigger) is EventTimeTrigger:
        return assigner._session_gap
    return None


class _Windowed(Windows, Generic[T_co, K_co, W_co]):
    """Base of windows per key and windows over all records."""

    _apply_kind: ClassVar[type]
    _process_kind: ClassVar[type]
    _over_all: ClassVar[bool]

    def __init__(self, stream: DataStream[T_co], window_assigner: WindowAssigner[T_co, W_co]) -> None:
        super().__init__((stream,), window_assigner)
        self._late_tag: OutputTag[Any] | None = None

    def get_input_type(self) -> TypeInformation[T_co]:
        """Return the declared type of the records in the windows."""
        return self._streams[0].get_type()

    def side_output_late_data(self, output_tag: OutputTag[Any]) -> Self:
        """Emit records that come too late for all their windows to a side output of the result."""
        if not isinstance(output_tag, OutputTag):
            raise ArgumentTypeError(f"expected an OutputTag, got {output_tag!r}")
        self._late_tag = output_tag
        return self

    @overload
    def reduce(
        self, reduce_function: ReduceLike[T_co], window_function: None = None, output_type: None = None
    ) -> DataStream[T_co]: ...
    @overload
    def reduce(
        self,
        reduce_function: ReduceLike[T_co],
        window_function: WindowFunctionLike[T_co, R, K_co, W_co],
        output_type: None = None,
    ) -> DataStream[R]: ...
    @overload
    def reduce(
        self,
        reduce_function: ReduceLike[T_co],
        window_function: WindowFunctionLike[T_co, Any, K_co, W_co] | None = None,
        output_type: DeclaredType[R] = ...,
    ) -> DataStream[R]: ...
    def reduce(
        self,
        reduce_function: ReduceLike[T_co],
        window_function: WindowFunctionLike[T_co, Any, K_co, W_co] | None = None,
        output_type: DeclaredType[Any] | None = None,
    ) -> DataStream[Any]:
        """Combine the records of each window as they come.

        Args:
            reduce_function: A ReduceFunction or a callable of the result so far and the next record.
            window_function: Called with the one result of each fired window; None emits it as it is.
            output_type: Declared type of the results, the input's without `window_function`.
        """
        function = require_reduce(reduce_function)
        if window_function is None and output_type is None:
            output_type = self._streams[0]._node.output_type
        return self._window(function, ops.PreAggregation.REDUCE, window_function, output_type)

    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T_co, ACC, R],
        window_function: None = None,
        accumulator_type: DeclaredType[ACC] | None = None,
        output_type: None = None,
    ) -> DataStream[R]: ...
    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T_co, ACC, V],
        window_function: WindowFunctionLike[V, R, K_co, W_co],
        accumulator_type: DeclaredType[ACC] | None = None,
        output_type: None = None,
    ) -> DataStream[R]: ...
    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T_co, ACC, V],
        window_function: WindowFunctionLike[V, Any, K_co, W_co] | None = None,
        accumulator_type: DeclaredType[ACC] | None = None,
        output_type: DeclaredType[R] = ...,
    ) -> DataStream[R]: ...
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T_co, Any, Any],
        window_function: WindowFunctionLike[Any, Any, K_co, W_co] | None = None,
        accumulator_type: DeclaredType[Any] | None = None,
        output_type: DeclaredType[Any] | None = None,
    ) -> DataStream[Any]:
        """Fold the records of each window into an accumulator as they come.

        Args:
            aggregate_function: The AggregateFunction.
            window_function: Called with the one result of each fired window; None emits it as it is.
            accumulator_type: Declared type of accumulators; they are stored as the function returns them.
            output_type: Declared type of the results.
        """
        require_function(aggregate_function, (AggregateFunction,))
        accumulator = declared_type(accumulator_type, "accumulator_type")
        return self._window(aggregate_function, ops.PreAggregation.AGGREGATE, window_function, output_type, accumulator)

    def _window(
        self,
        folding: Any,
        pre_aggregation: ops.PreAggregation | None,
        function: Any,
        output_type: Any,
        accumulator_type: Any = None,
    ) -> DataStream[Any]:
        hook = None
        if function is not None:
            require_function(function, (self._apply_kind, self._process_kind))
            hook = ops.WindowHook.PROCESS if isinstance(function, self._process_kind) else ops.WindowHook.APPLY
        return self._operator(
            type(self).__name__.removesuffix("edStream"),
            (folding, function),
            output_type,
            function=function,
            hook=hook,
            late_tag=self._late_tag,
            pre_aggregate=folding,
            pre_aggregation=pre_aggregation,
            accumulator_type=accumulator_type,
            over_all=self._over_all,
        )


class WindowedStream(_Windowed[T_co, K_co, W_co]):
    """The records of each key in windows (Flink's `WindowedStream`)."""

    _apply_kind = WindowFunction
    _process_kind = ProcessWindowFunction
    _over_all = False

    @overload
    def apply(
        self, window_function: WindowFunction[T_co, R, K_co, W_co], output_type: None = None
    ) -> DataStream[R]: ...
    @overload
    def apply(
        self, window_function: WindowFunction[T_co, Any, K_co, W_co], output_type: DeclaredType[R]
    ) -> DataStream[R]: ...
    def apply(
        self, window_function: WindowFunction[T_co, Any, K_co, W_co], output_type: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Evaluate each fired window from all of its records."""
        require_function(window_function, (self._apply_kind,))
        return self._window(None, None, window_function, output_type)

    @overload
    def process(
        self, process_window_function: ProcessWindowFunction[T_co, R, K_co, W_co], output_type: None = None
    ) -> DataStream[R]: ...
    @overload
    def process(
        self, process_window_function: ProcessWindowFunction[T_co, Any, K_co, W_co], output_type: DeclaredType[R]
    ) -> DataStream[R]: ...
    def process(
        self,
        process_window_function: ProcessWindowFunction[T_co, Any, K_co, W_co],
        output_type: DeclaredType[Any] | None = None,
    ) -> DataStream[Any]:
        """Evaluate each fired window from all of its records, with access to time and state."""
        require_function(process_window_function, (self._process_kind,))
        return self._window(None, None, process_window_function, output_type)


class AllWindowedStream(_Windowed[T_co, Any, W_co], Generic[T_co, W_co]):
    """All records in windows (Flink's `AllWindowedStream`); one subtask processes all of them."""

    _apply_kind = AllWindowFunction
    _process_kind = ProcessAllWindowFunction
    _over_all = True

    def __init__(self, data_stream: DataStream[T_co], window_assigner: WindowAssigner[T_co, W_co]) -> None:
        """Cut a stream into windows; programs call `window_all`."""
        super().__init__(data_stream._partition(ops.Global()), window_assigner)

    @overload
    def apply(self, window_function: AllWindowFunction[T_co, R, W_co], output_type: None = None) -> DataStream[R]: ...
    @overload
    def apply(
        self, window_function: AllWindowFunction[T_co, Any, W_co], output_type: DeclaredType[R]
    ) -> DataStream[R]: ...
    def apply(
        self, window_function: AllWindowFunction[T_co, Any, W_co], output_type: DeclaredType[Any] | None = None
    ) -> DataStream[Any]:
        """Evaluate each fired window from all of its records."""
        require_function(window_function, (self._apply_kind,))
        return self._window(None, None, window_function, output_type)

    @overload
    def process(
        self, process_window_function: ProcessAllWindowFunction[T_co, R, W_co], output_type: None = None
    ) -> DataStream[R]: ...
    @overload
    def process(
        self, process_window_function: ProcessAllWindowFunction[T_co, Any, W_co], output_type: DeclaredType[R]
    ) -> DataStream[R]: ...
    def process(
        self,
        process_window_function: ProcessAllWindowFunction[T_co, Any, W_co],
        output_type: DeclaredType[Any] | None = None,
    ) -> DataStream[Any]:
        """Evaluate each fired window from all of its records, with access to time and state."""
        require_function(process_window_function, (self._process_kind,))
        return self._window(None, None, process_window_function, output_type)
