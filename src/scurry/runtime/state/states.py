"""Create the state objects of descriptors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.primitives import AggregatingState, ListState, MapState, ReducingState, ValueState, reducer
from scurry.runtime.state.ttl import create_ttl_state

if TYPE_CHECKING:
    from scurry.runtime.functions.state_descriptor import StateDescriptor


def create_state(backend: KeyedStateBackend, descriptor: StateDescriptor, slot: Any, now: Callable[[], int]) -> Any:
    """Create the state object of a descriptor, with time to live if the descriptor asks for it."""
    kind = descriptor.kind
    if descriptor.ttl_config is not None:
        return create_ttl_state(backend, descriptor, slot, now)
    if kind == "reducing":
        return ReducingState(backend, slot, reducer(descriptor.function))
    if kind == "aggregating":
        return AggregatingState(backend, slot, descriptor.function)
    return {"value": ValueState, "list": ListState, "map": MapState}[kind](backend, slot)
