"""Base of all windowed streams, of one or two streams and for any function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scurry.common._api import ApiObject
from scurry.common.time import TimeAmount, to_millis
from scurry.datastream._functions import function_name
from scurry.datastream.data_stream.stream import DataStream, operator_stream
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
