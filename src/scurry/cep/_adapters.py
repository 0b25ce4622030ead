"""Process functions made of select functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scurry.cep.functions import Match, PatternProcessFunction, TimedOutPartialMatchHandler
from scurry.common.output_tag import OutputTag
from scurry.datastream.functions.base import RuntimeContext


class Select(PatternProcessFunction[Any, Any]):
    """Call a select function."""

    def __init__(self, function: Any, method: str, flat: bool) -> None:
        """Wrap an object with a method of that name, or a callable."""
        self.functions = [function]
        self._method = method
        self._flat = flat

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the functions."""
        for function in self.functions:
            if hasattr(function, "open"):
                function.open(runtime_context)

    def close(self) -> None:
        """Close the functions."""
        for function in self.functions:
            if hasattr(function, "close"):
                function.close()

    def process_match(self, match: Match[Any], ctx: Any) -> Iterable[Any] | None:
        """Return the function's result."""
        result = _hook(self.functions[0], self._method)(match)
        return result if self._flat else (result,)


class SelectWithTimeouts(Select, TimedOutPartialMatchHandler[Any]):
    """Call a select function, and another one for partial matches that time out."""

    def __init__(self, function: Any, method: str, flat: bool, tag: OutputTag[Any], timeout: Any) -> None:
        """Wrap two objects or callables; the results of the second one go to a side output."""
        super().__init__(function, method, flat)
        self.functions.append(timeout)
        self._tag = tag

    def process_timed_out_match(self, match: Match[Any], ctx: Any) -> Iterable[Any]:
        """Return the results of the second function, for the side output."""
        result = _hook(self.functions[1], "timeout")(match, ctx.timestamp())
        return [(self._tag, each) for each in (result or () if self._flat else (result,))]


def _hook(function: Any, method: str) -> Callable[..., Any]:
    return getattr(function, method, function)  # type: ignore[no-any-return]
