"""FunctionSink: calls a function for every record."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.sink import Sink, SinkWriter, WriterContext
from scurry.errors import ArgumentTypeError


@dataclass(frozen=True)
class SinkContext:
    """Information about a record, for sink functions.

    Attributes:
        record_timestamp: The record's timestamp in milliseconds, or None.
    """

    record_timestamp: int | None

    def timestamp(self) -> int | None:
        """Return the record's timestamp in milliseconds, None if it has none."""
        return self.record_timestamp

    def current_processing_time(self) -> int:
        """Return the wall clock in milliseconds."""
        return time.time_ns() // 1_000_000


class FunctionSink(Sink):
    """Call a function, or an object's `invoke`, for every record in the task.

    At least once: a repeated task calls the function again for the same records. An object has `invoke(value)` or
    `invoke(value, context)`, and optionally `open()` and `close()`, called before and after the records of each
    micro-batch.
    """

    def __init__(self, function: Any) -> None:
        """Create a sink from a callable or an object with a method `invoke`.

        Raises:
            ArgumentTypeError: It is neither.
        """
        if not callable(getattr(function, "invoke", function)):
            raise ArgumentTypeError(f"a sink function is a callable or has a method invoke(value); got {function!r}")
        self.function = function

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that calls the function."""
        return _CallingWriter(self.function)


class _CallingWriter(SinkWriter):
    def __init__(self, function: Any) -> None:
        self._function = function
        self._invoke: Callable[..., Any] = getattr(function, "invoke", function)
        self._with_context = _accepts_two(self._invoke)
        getattr(function, "open", _do_nothing)()

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        if not self._with_context:
            for value in values:
                self._invoke(value)
            return
        for index, value in enumerate(values):
            self._invoke(value, SinkContext(None if timestamps is None else timestamps[index]))

    def prepare_commit(self) -> list[Any]:
        self._close()
        return []

    def abort(self) -> None:
        self._close()

    def _close(self) -> None:
        getattr(self._function, "close", _do_nothing)()


def _do_nothing() -> None:
    return


def _accepts_two(function: Callable[..., Any]) -> bool:
    """Return whether to pass the context; builtins without a signature get the value only."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 2:
        return False
    return positional[1].default is inspect.Parameter.empty or positional[1].name == "context"
