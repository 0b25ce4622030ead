"""Process functions and asynchronous calls as plain functions. scurry's own."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate

from scurry.common._type_variables import IN, OUT, K
from scurry.datastream.functions import AsyncFunction, KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import (
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    StateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from scurry.errors import ArgumentTypeError

if TYPE_CHECKING:
    from scurry.datastream.functions.base import Results

__all__ = ["StatefulFunction", "asynchronous", "process"]

_DESCRIPTORS: dict[Any, Callable[..., StateDescriptor[Any]]] = {
    ValueState: ValueStateDescriptor,
    ListState: ListStateDescriptor,
    MapState: MapStateDescriptor,
}


class StatefulFunction(KeyedProcessFunction[K, IN, OUT]):
    """A `KeyedProcessFunction` made by `process`; each parameter after the first two is a state."""

    def __init__(self, function: Callable[Concatenate[IN, KeyedProcessFunction.Context[K], ...], Results[OUT]]) -> None:
        """Wrap a function.

        Raises:
            ArgumentTypeError: A parameter after the first two is not annotated with a state.
        """
        self._function = function
        self._descriptors = _states_of(function)
        self._timer: Callable[..., Results[OUT]] | None = None
        self._timer_states: tuple[str, ...] = ()
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def when_timer_fires(self, function: Callable[..., Results[OUT]]) -> Callable[..., Results[OUT]]:
        """Register the function for timers, as a decorator; it gets time, context, and the states that it names.

        Raises:
            ArgumentTypeError: It names a state that the function for records does not have.
        """
        names = tuple(list(inspect.signature(function).parameters)[2:])
        for name in names:
            if name not in self._descriptors:
                raise ArgumentTypeError(
                    f"{function.__name__} asks for the state {name!r}; {self.__name__} has {sorted(self._descriptors)}"
                )
        self._timer, self._timer_states = function, names
        self.__dict__["on_timer"] = self._call_timer  # only functions with timers act on time
        return function

    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the states."""
        getters = {
            ValueStateDescriptor: runtime_context.get_state,
            ListStateDescriptor: runtime_context.get_list_state,
            MapStateDescriptor: runtime_context.get_map_state,
        }
        self._states: dict[str, Any] = {
            name: getters[type(each)](each)  # type: ignore[operator]
            for name, each in self._descriptors.items()
        }

    def process_element(self, value: IN, ctx: KeyedProcessFunction.Context[K]) -> Results[OUT]:
        """Call the function for one record."""
        return self._function(value, ctx, **self._states)

    def _call_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[K]) -> Results[OUT]:
        assert self._timer is not None
        return self._timer(timestamp, ctx, **{name: self._states[name] for name in self._timer_states})


def process(
    function: Callable[Concatenate[IN, KeyedProcessFunction.Context[K], ...], Results[OUT]],
) -> StatefulFunction[K, IN, OUT]:
    """Make a `KeyedProcessFunction` of a function of a record, its context and states.

    A state has the name of its parameter and the type of its annotation: `count: ValueState[int]` is
    `ValueStateDescriptor("count", int)`.

    Args:
        function: The function; it yields or returns results.

    Raises:
        ArgumentTypeError: A parameter after the first two is not annotated with a state.
    """
    return StatefulFunction(function)


class _OneResult(AsyncFunction[IN, OUT]):
    def __init__(self, function: Callable[[IN], Coroutine[Any, Any, OUT]]) -> None:
        self._function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    async def async_invoke(self, value: IN) -> list[OUT]:
        return [await self._function(value)]


def asynchronous(function: Callable[[IN], Coroutine[Any, Any, OUT]]) -> AsyncFunction[IN, OUT]:
    """Make an `AsyncFunction` of a function that is declared `async def`.

    Args:
        function: Returns the one result for a record.

    Raises:
        ArgumentTypeError: It is not declared `async def`.
    """
    if not inspect.iscoroutinefunction(function):
        raise ArgumentTypeError(f"@asynchronous takes a function declared 'async def', got {function!r}")
    return _OneResult(function)


def _states_of(function: Callable[..., Any]) -> dict[str, StateDescriptor[Any]]:
    if inspect.isclass(function) or not inspect.isfunction(function):
        raise ArgumentTypeError(f"@process takes a function, got {function!r}")
    try:
        hints = typing.get_type_hints(function)
    except NameError as error:
        raise ArgumentTypeError(f"@process needs the annotations of {function.__qualname__}: {error}") from None
    names = list(inspect.signature(function).parameters)
    if len(names) < 2:  # noqa: PLR2004
        raise ArgumentTypeError(
            f"{function.__qualname__} takes a record and its context, then states: (value, ctx, ...)"
        )
    return {name: _descriptor(function, name, hints.get(name)) for name in names[2:]}


def _descriptor(function: Callable[..., Any], name: str, hint: Any) -> StateDescriptor[Any]:
    make = _DESCRIPTORS.get(typing.get_origin(hint))
    if make is None:
        raise ArgumentTypeError(
            f"parameter {name!r} of {function.__qualname__} is no state: annotate it as ValueState[int], "
            f"ListState[str] or MapState[str, int], not {hint!r}"
        )
    return make(name, *typing.get_args(hint))
