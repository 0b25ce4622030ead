"""The state objects of user functions: views of the current key's entry.

A slot names the value in the entry (`slots.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Protocol

from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import Entry

#: Takes what is written to states whose values need no conversion to a declared type.
UNNOTED: deque[Any] = deque(maxlen=0)


class EntryHolder(Protocol):
    """The holder of the entry that states are views of: a keyed backend or an operator's broadcast state."""

    @property
    def entry(self) -> Entry:
        """Map a state's name to its value."""


class _State:
    __slots__ = ("_backend", "_slot")
    #: whether it divides the state of keys that have much of it (`divided.py`)
    divides: ClassVar[bool] = False

    def __init__(self, backend: EntryHolder, slot: Any) -> None:
        self._backend = backend
        self._slot = slot

    def clear(self) -> None:
        """Remove the value of the current key."""
        self._backend.entry.pop(self._slot, None)


class ValueState(_State):
    """One value per key; None until the first update."""

    __slots__ = ("_value",)

    def value(self) -> Any:
        """Return the current value, or None."""
        return self._backend.entry.get(self._slot)

    def update(self, value: Any) -> None:
        """Set the value; None clears it."""
        if value is None:
            self._backend.entry.pop(self._slot, None)
        else:
            self._backend.entry[self._slot] = value


class ValueOfOneKey(ValueState):
    """A value state where one key is processed after the other: its value is its own until the next key.

    States become it, so it has no initializer; who begins a key sets the value to None.
    """

    __slots__ = ()

    def value(self) -> Any:
        """Return the current value, or None."""
        return self._value

    def update(self, value: Any) -> None:
        """Set the value; None clears it."""
        self._value = value

    def clear(self) -> None:
        """Remove the value of the current key."""
        self._value = None


class Elements:
    """The result of a list state: as in PyFlink, it can be iterated over again, and sees later additions."""

    __slots__ = ("_entry", "_slot", "_values")

    def __init__(self, entry: Entry, slot: Any) -> None:
        self._entry, self._slot = entry, slot
        self._values: list[Any] | None = entry.get(slot)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the elements as of now; those that were there before the state was cleared stay."""
        return iter(list(self._entry.get(self._slot, ()) if self._values is None else self._values))


class ListState(_State):
    """A list per key."""

    __slots__ = ("_written",)

    def __init__(self, backend: EntryHolder, slot: Any) -> None:
        super().__init__(backend, slot)
        self._written: list[Any] | deque[Any] = UNNOTED

    def get(self) -> Iterable[Any]:
        """Return the elements in the order they were added."""
        return Elements(self._backend.entry, self._slot)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def add(self, value: Any) -> None:
        """Append an element."""
        values = self._backend.entry.get(self._slot)
        if values is None:
            self._backend.entry[self._slot] = [value]
        else:
            values.append(value)
        self._written.append(value)

    def add_all(self, values: Iterable[Any]) -> None:
        """Append all elements."""
        for value in values:
            self.add(value)

    def merge(self, other: ListState) -> None:
        """Move the elements of another window's state into this one."""
        self.add_all(other.get())
        other.clear()

    def update(self, values: Iterable[Any]) -> None:
        """Replace the list; an empty one clears it."""
        values = list(values)
        if values:
            self._backend.entry[self._slot] = values
            self._written.extend(values)
        else:
            self.clear()


class MapMethods(ABC):
    """The methods of map states that follow from their other methods."""

    __slots__ = ()

    @abstractmethod
    def put(self, key: Any, value: Any) -> None:
        """Set the value under `key`."""

    @abstractmethod
    def keys(self) -> Iterator[Any]:
        """Iterate over the keys."""

    def put_all(self, dict_value: dict[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        """Set all the given entries; PyFlink's default mode takes pairs only."""
        for key, value in dict_value.items() if isinstance(dict_value, dict) else dict_value:
            self.put(key, value)

    def __iter__(self) -> Iterator[Any]:
        return self.keys()


class MapState(_State, MapMethods):
    """A map per key."""

    __slots__ = ("_written",)

    def __init__(self, backend: EntryHolder, slot: Any) -> None:
        super().__init__(backend, slot)
        self._written: list[Any] | deque[Any] = UNNOTED

    def _map(self) -> dict[Any, Any]:
        return self._backend.entry.get(self._slot, {})  # type: ignore[no-any-return]

    def get(self, key: Any) -> Any:
        """Return the value under `key`, or None."""
        return self._map().get(key)

    def put(self, key: Any, value: Any) -> None:
        """Set the value under `key`."""
        mapping = self._backend.entry.get(self._slot)
        if mapping is None:
            mapping = self._backend.entry[self._slot] = {}
        mapping[key] = value
        self._written.extend((key, value))

    def remove(self, key: Any) -> None:
        """Remove `key`, if it is there."""
        mapping = self._map()
        mapping.pop(key, None)
        if not mapping:
            self.clear()

    def contains(self, key: Any) -> bool:
        """Return whether there is a value under `key`."""
        return key in self._map()

    def is_empty(self) -> bool:
        """Return whether the map has no entries."""
        return not self._map()

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over (key, value)."""
        return iter(list(self._map().items()))

    def keys(self) -> Iterator[Any]:
        """Iterate over the keys."""
        return iter(list(self._map()))

    def values(self) -> Iterator[Any]:
        """Iterate over the values."""
        return iter(list(self._map().values()))

    __getitem__ = get
    __setitem__ = put
    __delitem__ = remove
    __contains__ = contains


class ReducingState(_State):
    """Fold every added value into one with a reduce function."""

    __slots__ = ("_reduce",)

    def __init__(self, backend: KeyedStateBackend, slot: Any, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(backend, slot)
        self._reduce = reduce

    def get(self) -> Any:
        """Return the folded value, or None when nothing was added."""
        return self._backend.entry.get(self._slot)

    def add(self, value: Any) -> None:
        """Fold a value in."""
        entry, slot = self._backend.entry, self._slot
        entry[slot] = self._reduce(entry[slot], value) if slot in entry else value

    def merge(self, other: ReducingState) -> None:
        """Fold in the value of another window's state."""
        entry = self._backend.entry
        if other._slot in entry:
            self.add(entry.pop(other._slot))


class AggregatingState(_State):
    """Fold every added value into an accumulator with an AggregateFunction."""

    __slots__ = ("_function",)

    def __init__(self, backend: KeyedStateBackend, slot: Any, function: Any) -> None:
        super().__init__(backend, slot)
        self._function = function

    def get(self) -> Any:
        """Return the result of the accumulator, or None when nothing was added."""
        entry = self._backend.entry
        return self._function.get_result(entry[self._slot]) if self._slot in entry else None

    def add(self, value: Any) -> None:
        """Fold a value in; None clears the state, as in PyFlink."""
        if value is None:
            self.clear()
            return
        entry, slot, function = self._backend.entry, self._slot, self._function
        entry[slot] = function.add(value, entry[slot] if slot in entry else function.create_accumulator())

    def merge(self, other: AggregatingState) -> None:
        """Merge the accumulator of another window's state into this one's."""
        entry, slot = self._backend.entry, self._slot
        if other._slot in entry:
            found = entry.pop(other._slot)
            entry[slot] = self._function.merge(entry[slot], found) if slot in entry else found


def reducer(function: Any) -> Callable[[Any, Any], Any]:
    """Return the callable of a ReduceFunction or callable."""
    return function.reduce if hasattr(function, "reduce") else function  # type: ignore[no-any-return]


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "value": lambda state: state.value(),
    "list": lambda state: list(state.get()),
    "map": lambda state: dict(state.items()),
    "reducing": lambda state: state.get(),
    "aggregating": lambda state: state.get(),
}


def plain_value(kind: str, state: Any) -> Any:
    """Return the content of a state of this kind, as plain Python."""
    return _PLAIN[kind](state)
