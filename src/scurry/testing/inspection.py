"""Inspection of the state and timers that operators keep between micro-batches."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from scurry.datastream.window import TimeWindow
from scurry.errors import ArgumentError
from scurry.graph import operators as ops
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.keys import canonical_keys
from scurry.runtime.local.streaming import Levels
from scurry.runtime.state.backend import KeyedStateBackend, stored_entries
from scurry.runtime.state.broadcast import BroadcastStates
from scurry.runtime.state.layout import Entry, Timer, timers_in
from scurry.runtime.state.primitives import plain_value
from scurry.runtime.state.slots import window_state
from scurry.runtime.state.states import create_state
from scurry.runtime.state.store import DictStore

if TYPE_CHECKING:
    from scurry.datastream.state import StateDescriptor

__all__ = [
    "Timer",
    "broadcast_operators",
    "entries_of",
    "keyed_operators",
    "read_broadcast_state",
    "read_state",
    "the_operator",
    "timers_of",
]


def keyed_operators(plan: JobPlan) -> list[OperatorPlan]:
    """Return the operators with keyed state, including windows."""
    return [op for op in plan.operators.values() if op.operator.keyed]


def broadcast_operators(plan: JobPlan) -> list[OperatorPlan]:
    """Return the operators with broadcast state."""
    kinds = (ops.BroadcastProcess, ops.KeyedBroadcastProcess)
    return [op for op in plan.operators.values() if isinstance(op.operator, kinds)]


def the_operator(operators: list[OperatorPlan], name: str | None) -> OperatorPlan:
    """Return the operator with a name or uid, or the only one.

    Raises:
        ArgumentError: No operator has the name, or several do.
    """
    found = [op for op in operators if name is None or name in (op.name, op.uid)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"{op.name!r} (uid {op.uid!r})" for op in operators) or "none"
    if found:
        raise ArgumentError(f"which operator is meant? Pass operator=..., a name or uid that only one has: {known}")
    raise ArgumentError(f"no operator with such state has the name or uid {name!r}; there are: {known}")


def entries_of(operator: OperatorPlan, levels: Levels) -> dict[Any, Entry]:
    """Return the non-empty entries of an operator by (canonical) key."""
    stores = [store for (level, _), store in levels.stores.items() if level == operator.level]
    entries = {key: entry for store in stores for key, entry in stored_entries(operator.uid, store).items()}
    return {key: entry for key, entry in entries.items() if entry}


def read_state(
    operator: OperatorPlan, levels: Levels, descriptor: StateDescriptor, key: Any, window: Any, now: int
) -> Any:
    """Return the content of a state for a key and, optionally, a window, as plain Python."""
    (canonical,) = [0] if getattr(operator.operator, "over_all", False) else canonical_keys([key])
    backend = KeyedStateBackend(operator.uid, DictStore())
    backend.entry = entries_of(operator, levels).get(canonical, {})
    slot = descriptor.name if window is None else window_state(descriptor.name, window)
    return plain_value(descriptor.kind, create_state(backend, descriptor, slot, lambda: now))


def read_broadcast_state(operator: OperatorPlan, levels: Levels, descriptor: StateDescriptor) -> dict[Any, Any]:
    """Return the content of a broadcast state, which is the same in all subtasks."""
    states = BroadcastStates(operator.uid)
    states.begin_batch(levels.store(operator.level, 0))
    return dict(states.readable(descriptor).items())


def timers_of(operators: Iterable[OperatorPlan], levels: Levels) -> list[Timer]:
    """Return the timers of operators, the earliest first."""
    found = [
        timer
        for operator in operators
        for key, entry in entries_of(operator, levels).items()
        for timer in timers_in(key, entry, partial(_window, operator))
    ]
    return sorted(found, key=lambda timer: (timer.time, timer.domain.value, repr(timer.key), repr(timer.window)))


def _window(operator: OperatorPlan, time: int, namespace: Any) -> Any:
    """Return the window of a timer; aligned windows are stored by their start."""
    window = operator.operator
    if not isinstance(window, ops.AlignedWindow):
        return namespace
    assert window.aligned is not None
    return TimeWindow(namespace, namespace + window.aligned[0])
