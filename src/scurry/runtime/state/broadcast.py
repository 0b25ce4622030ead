"""Broadcast state: maps that belong to a subtask of an operator, not to a key (Flink's BroadcastState).

Broadcast records reach every subtask in the same order, so all subtasks write the same. Each subtask keeps a copy,
because every record of the other stream may read it.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from scurry.errors import ArgumentTypeError, ReadOnlyStateError
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.primitives import MapState
from scurry.runtime.state.registry import StateRegistry
from scurry.runtime.state.store import StateSize, StateStore

if TYPE_CHECKING:
    from scurry.runtime.functions.state_descriptor import StateDescriptor


class BroadcastStates:
    """The broadcast states of one operator in one subtask, by name: one entry in the store.

    `begin_batch` and `end_batch` enclose a batch. The decoded maps stay from batch to batch: they are used again if the
    store still holds what they were written as.
    """

    def __init__(self, uid: str, registry: StateRegistry | None = None) -> None:
        self._registry = registry
        self.entry: Entry = {}
        self._key = (uid, "broadcast", 0)
        self._blob: bytes | None = None  # what the store holds
        self._touched = False
        self._writable: dict[str, BroadcastState] = {}
        self._readable: dict[str, ReadOnlyBroadcastState] = {}

    def begin_batch(self, store: StateStore) -> None:
        blob = store.get_many((self._key,))[0]
        if blob != self._blob or self._touched:  # touched: by a batch that failed
            self.entry = pickle.loads(blob) if blob else {}
        self._blob, self._touched = blob, False

    def end_batch(self, store: StateStore) -> StateSize:
        """Write back the changes of the batch; return the size of state afterwards."""
        if not self._touched:
            return StateSize(len(self._blob or b""))
        written, blob = 0, pickle.dumps(self.entry, 5) if self.entry else None
        if blob is None:
            store.remove(self._key)
        elif blob != self._blob:
            store.put(self._key, blob)
            written = len(blob)
            if self._registry is not None:
                self._registry.classes.look_at(blob)
        self._blob, self._touched = blob, False
        return StateSize(len(blob or b""), written)

    def for_writing(self) -> Entry:
        self._touched = True
        return self.entry

    def writable(self, descriptor: StateDescriptor) -> BroadcastState:
        state = self._writable.get(descriptor.name)
        if state is None:
            self._check(descriptor)
            state = self._writable[descriptor.name] = BroadcastState(self, descriptor)
        return state

    def readable(self, descriptor: StateDescriptor) -> ReadOnlyBroadcastState:
        state = self._readable.get(descriptor.name)
        if state is None:
            self._check(descriptor)
            state = self._readable[descriptor.name] = ReadOnlyBroadcastState(self, descriptor.name)
        return state

    def _check(self, descriptor: StateDescriptor) -> None:
        if descriptor.kind != "map":
            raise ArgumentTypeError(
                f"get_broadcast_state takes a MapStateDescriptor, and {descriptor.name!r} is a "
                f"{type(descriptor).__name__}"
            )
        if self._registry is not None:
            self._registry.register(descriptor, broadcast=True)


class _ForWriting:
    """Return the maps and mark them as changed: by a put, or by a change of their values."""

    __slots__ = ("_states",)

    def __init__(self, states: BroadcastStates) -> None:
        self._states = states

    @property
    def entry(self) -> Entry:
        return self._states.for_writing()


class BroadcastState(MapState):
    """A broadcast map as the broadcast side sees it; a put converts values to their declared type."""

    __slots__ = ("_convert",)

    def __init__(self, states: BroadcastStates, descriptor: StateDescriptor) -> None:
        super().__init__(_ForWriting(states), descriptor.name)
        convert = descriptor.type_info.converter()
        assert convert is not None  # a map always has one
        self._convert = convert

    def put(self, key: Any, value: Any) -> None:
        """Set the value under `key`."""
        self.put_all({key: value})

    def put_all(self, dict_value: dict[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """Set all the given entries."""
        for key, value in self._convert(dict_value if isinstance(dict_value, dict) else dict(dict_value)).items():
            super().put(key, value)

    __setitem__ = put


class ReadOnlyBroadcastState(MapState):
    """A broadcast map as the other side sees it."""

    __slots__ = ()

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ReadOnlyStateError(
            f"broadcast state {self._slot!r} is read-only outside of process_broadcast_element(): all subtasks must "
            "hold the same, and only broadcast records reach all of them; send the change through the broadcast "
            "stream, or keep what concerns one key in keyed state"
        )

    put = put_all = remove = clear = __setitem__ = __delitem__ = _refuse
