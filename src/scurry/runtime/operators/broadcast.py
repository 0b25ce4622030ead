"""BroadcastProcessFunction and KeyedBroadcastProcessFunction: input 0 reads the state that input 1 writes."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isgeneratorfunction
from typing import TYPE_CHECKING, Any, NoReturn

from scurry.errors import ArgumentTypeError, KeyedStateError
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.functions.context import ProcessContext, StateAccess, TaskInfo, TimerService, method
from scurry.runtime.keys import groups_of, original_key
from scurry.runtime.operators.keyed import KeyedProcessOperator
from scurry.runtime.operators.record_by_record import process_each
from scurry.runtime.operators.stateless import ProcessOperator
from scurry.runtime.state.broadcast import BroadcastStates
from scurry.runtime.state.layout import Entry, NoKey
from scurry.runtime.state.store import StateSize, StateStore

if TYPE_CHECKING:
    from scurry.runtime.functions.state_descriptor import StateDescriptor

BROADCAST = 1


class BroadcastContext(ProcessContext):
    """Context of both sides and of timers; `get_broadcast_state` returns read-only or writable state for the side."""

    __slots__ = ("get_broadcast_state",)

    def __init__(self, service: TimerService, get_broadcast_state: Callable[[Any], Any]) -> None:
        super().__init__(service)
        self.get_broadcast_state = get_broadcast_state

    def current_processing_time(self) -> int:
        """Return the processing time of the current record."""
        return self._service.current_processing_time()

    def current_watermark(self) -> int:
        """Return the lower one of both inputs' watermarks."""
        return self._service.current_watermark()


class BroadcastProcessOperator(ProcessOperator):
    """Run a BroadcastProcessFunction."""

    hooks = ("process_element", "process_broadcast_element")

    def open(self) -> None:
        super().open()
        self._states = BroadcastStates(self.plan.uid, self.states.registry)
        views = (self._states.readable, self._states.writable)
        self._contexts = [BroadcastContext(self._service, view) for view in views]

    def begin_batch(self, store: StateStore, watermark: int) -> None:
        super().begin_batch(store, watermark)
        self._states.begin_batch(store)

    def end_batch(self, store: StateStore) -> StateSize:
        return self._states.end_batch(store)

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        process_each(self, self._hooks[index], self._contexts[index], values, timestamps)


class KeyedBroadcastProcessOperator(KeyedProcessOperator):
    """Run a KeyedBroadcastProcessFunction."""

    hooks = ("process_element", "process_broadcast_element")

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._broadcast = BroadcastStates(plan.uid, self.states.registry)
        self.context = BroadcastContext(self.service, self._broadcast.readable)
        groups = groups_of(info.subtask, info.max_parallelism, info.parallelism)
        self._writing = KeylessContext(self.service, self._broadcast.writable, self.states, groups)

    def begin_batch(self, store: StateStore, watermark: int) -> None:
        self._broadcast.begin_batch(store)

    def end_batch(self, store: StateStore) -> StateSize:
        return self._broadcast.end_batch(store)

    def process_input(self, index: int, keys: list[Any] | None, values: Values, timestamps: Timestamps) -> None:
        if index == BROADCAST:
            self.backend.entry = _NO_KEY
            process_each(self, self._hooks[index], self._writing, values, timestamps)
        else:
            super().process_input(index, keys, values, timestamps)


class KeylessContext(BroadcastContext):
    """Context of the broadcast side of a keyed stream: it has no current key, but can reach all keys."""

    __slots__ = ("_access", "_groups")

    def __init__(
        self, service: TimerService, get_broadcast_state: Callable[[Any], Any], access: StateAccess, groups: range
    ) -> None:
        super().__init__(service, get_broadcast_state)
        self._access = access
        self._groups = groups

    def get_current_key(self) -> NoReturn:
        """Fail, because a broadcast record has no key."""
        raise KeyedStateError(_WHY_NO_KEY)

    def apply_to_keyed_state(self, state_descriptor: StateDescriptor, function: Any) -> None:
        """Call `function(key, state)` for each key of this subtask that has this state."""
        process, backend = method(function, "process"), self._access.backend
        if isgeneratorfunction(process):
            raise ArgumentTypeError(
                f"{process.__qualname__} yields, and nothing would take what it yields: gather results in a list and "
                "yield them from process_broadcast_element()"
            )
        assert backend is not None
        state = self._access.get(state_descriptor)
        try:
            for key in backend.keys_with(state_descriptor.name, self._groups):
                backend.select(key)
                process(original_key(key), state)
        finally:
            backend.entry = _NO_KEY


_WHY_NO_KEY = (
    "a broadcast record has no key: process_broadcast_element() has no current key, no state of its own and no "
    "timers; reach the state of all keys with ctx.apply_to_keyed_state(descriptor, function)"
)
_NO_KEY: Entry = NoKey(_WHY_NO_KEY)
