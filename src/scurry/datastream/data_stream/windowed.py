"""Windowed streams: keyed or whole streams cut into windows, to which a function is applied."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from scurry.common.typeinfo import TypeInformation
from scurry.datastream._functions import require_function, require_reduce
from scurry.datastream._type_info import declared_type
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

Self = TypeVar("Self", bound="_Windowed")


class _Windowed(Windows):
    """Base of windows per key and windows over all records."""

    _apply_kind: ClassVar[type]
    _process_kind: ClassVar[type]
    _over_all: ClassVar[bool]

    def __init__(self, stream: DataStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        super().__init__((stream,), window_assigner)
        self._late_tag: OutputTag | None = None

    def get_input_type(self) -> TypeInformation:
        """Return the declared type of the records in the windows."""
        return self._streams[0].get_type()

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
            output_type = self._streams[0]._node.output_type
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
            accumulator_type: Declared type of accumulators; they are stored as the function returns them.
            output_type: Declared type of the results.
        """
        require_function(aggregate_function, (AggregateFunction,))
        accumulator = declared_type(accumulator_type, "accumulator_type")
        return self._window(aggregate_function, "aggregate", window_function, output_type, accumulator)

    def apply(self, window_function: Any, output_type: Any = None) -> DataStream:
        """Evaluate each fired window from all of its records."""
        require_function(window_function, (self._apply_kind,))
        return self._window(None, None, window_function, output_type)

    def process(self, process_window_function: Any, output_type: Any = None) -> DataStream:
        """Evaluate each fired window from all of its records, with access to time and state."""
        require_function(process_window_function, (self._process_kind,))
        return self._window(None, None, process_window_function, output_type)

    def _window(
        self, folding: Any, pre_kind: str | None, function: Any, output_type: Any, accumulator_type: Any = None
    ) -> DataStream:
        if function is not None:
            require_function(function, (self._apply_kind, self._process_kind))
        return self._operator(
            type(self).__name__.removesuffix("edStream"),
            (folding, function),
            output_type,
            function=function,
            kind=None if function is None else "process" if isinstance(function, self._process_kind) else "apply",
            late_tag=self._late_tag,
            pre_aggregate=folding,
            pre_kind=pre_kind,
            accumulator_type=accumulator_type,
            over_all=self._over_all,
        )


class WindowedStream(_Windowed):
    """The records of each key in windows (Flink's `WindowedStream`)."""

    _apply_kind = WindowFunction
    _process_kind = ProcessWindowFunction
    _over_all = False


class AllWindowedStream(_Windowed):
    """All records in windows (Flink's `AllWindowedStream`); one subtask processes all of them."""

    _apply_kind = AllWindowFunction
    _process_kind = ProcessAllWindowFunction
    _over_all = True

    def __init__(self, data_stream: DataStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        """Cut a stream into windows; programs call `window_all`."""
        super().__init__(data_stream._partition(ops.Global()), window_assigner)
