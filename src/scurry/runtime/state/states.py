"""Create the state objects of descriptors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.divided import DividedListState, DividedMapState, DividedTtlListState, DividedTtlMapState
from scurry.runtime.state.primitives import AggregatingState, ListState, MapState, ReducingState, ValueState, reducer
from scurry.runtime.state.ttl import (
    TtlAggregatingState,
    TtlListState,
    TtlMapState,
    TtlReducingState,
    TtlValueState,
)

if TYPE_CHECKING:
    from scurry.runtime.functions.state_descriptor import StateDescriptor

#: The classes of states without and with a time to live; of those of a key, and of those of a key and a window.
_STATES: dict[str, Any] = {"value": ValueState, "list": DividedListState, "map": DividedMapState}
_OF_WINDOWS: dict[str, Any] = {"value": ValueState, "list": ListState, "map": MapState}
_TTL_STATES: dict[str, Any] = {"value": TtlValueState, "list": DividedTtlListState, "map": DividedTtlMapState}
_TTL_OF_WINDOWS: dict[str, Any] = {"value": TtlValueState, "list": TtlListState, "map": TtlMapState}


def create_state(backend: KeyedStateBackend, descriptor: StateDescriptor, slot: Any, now: Callable[[], int]) -> Any:
    """Create the state object of a descriptor, with time to live if the descriptor asks for it."""
    kind, of_key = descriptor.kind, type(slot) is str
    if descriptor.ttl_config is not None:
        common = (backend, slot, descriptor.ttl_config, now)
        if kind == "reducing":
            return TtlReducingState(reducer(descriptor.function), *common)
        if kind == "aggregating":
            return TtlAggregatingState(descriptor.function, *common)
        return (_TTL_STATES if of_key else _TTL_OF_WINDOWS)[kind](*common)
    if kind == "reducing":
        return ReducingState(backend, slot, reducer(descriptor.function))
    if kind == "aggregating":
        return AggregatingState(backend, slot, descriptor.function)
    return (_STATES if of_key else _OF_WINDOWS)[kind](backend, slot)
