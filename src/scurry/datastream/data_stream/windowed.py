"""Windowed streams: keyed or whole streams cut into windows, to which a function is applied."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Self, overload

from scurry.common._type_variables import ACC, K_co, R, T_co, V, W_co
from scurry.common.typeinfo import TypeInformation
from scurry.datastream._functions import require_function, require_reduce
from scurry.datastream._type_info import DeclaredType, declared_type
from scurry.datastream._typing import ReduceLike, WindowFunctionLike
from scurry.datastream.data_stream._windows import Windows
from scurry.datastream.data_stream.stream import DataStream
from scurry.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from scurry.datastream.output_tag import OutputTag
from scurry.datastream.window import WindowAssigner
from scurry.errors import ArgumentTypeError
from scurry.graph import operators as ops

__all__ = ["AllWindowedStream", "WindowedStream"]


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
