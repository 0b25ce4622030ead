"""State with a time to live (Flink's StateTtlConfig).

Values are stored as `(value, last access)`; list elements and map values each have their own. Time is processing time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.primitives import UNNOTED, Elements, MapMethods

if TYPE_CHECKING:
    from scurry.runtime.functions.state_descriptor import TimeToLive

#: Stands for a map entry that is not there: its value may be None.
_ABSENT = object()


class _TtlState:
    __slots__ = ("_backend", "_now", "_renew_on_read", "_return_expired", "_slot", "_ttl")
    divides: ClassVar[bool] = False

    def __init__(self, backend: KeyedStateBackend, slot: Any, config: TimeToLive, now: Callable[[], int]) -> None:
        self._backend = backend
        self._slot = slot
        self._ttl = config.ttl_ms
        self._now = now
        self._renew_on_read = config.update_type.name == "OnReadAndWrite"
        self._return_expired = config.state_visibility.name == "ReturnExpiredIfNotCleanedUp"

    def clear(self) -> None:
        """Remove the value of the current key."""
        self._backend.entry.pop(self._slot, None)

    def _live(self, stamped: tuple[Any, int]) -> bool:
        expires: int = stamped[1] + self._ttl
        return expires > self._now()

    def _read(self, holder: dict[Any, Any], slot: Any, absent: Any = None) -> Any:
        """Return the value under `slot` if it may be seen, else `absent`; remove it if it has expired."""
        stamped = holder.get(slot)
        if stamped is None:
            return absent
        if not self._live(stamped):
            del holder[slot]
            return stamped[0] if self._return_expired else absent
        if self._renew_on_read:
            holder[slot] = (stamped[0], self._now())
        return stamped[0]


class TtlValueState(_TtlState):
    """ValueState with a time to live."""

    __slots__ = ()

    def value(self) -> Any:
        """Return the current value; None if it is missing or has expired."""
        return self._read(self._backend.entry, self._slot)

    def update(self, value: Any) -> None:
        """Set the value; None clears it."""
        if value is None:
            self.clear()
        else:
            self._backend.entry[self._slot] = (value, self._now())


class TtlListState(_TtlState):
    """ListState whose elements expire one by one."""

    __slots__ = ("_written",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._written: list[Any] | deque[Any] = UNNOTED

    def get(self) -> Iterable[Any]:
        """Return the elements that have not expired."""
        entry, slot = self._backend.entry, self._slot
        stamped = entry.get(slot, ())
        live = [element for element in stamped if self._live(element)]
        visible = stamped if self._return_expired else live
        result = [value for value, _ in visible]
        if self._renew_on_read:
            now = self._now()
            live = [(value, now) for value, _ in live]
        if live:
            entry[slot] = live
        else:
            entry.pop(slot, None)
        return Elements({slot: result}, slot)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def add(self, value: Any) -> None:
        """Append an element."""
        self._backend.entry.setdefault(self._slot, []).append((value, self._now()))
        self._written.append(value)

    def add_all(self, values: Iterable[Any]) -> None:
        """Append all elements."""
        for value in values:
            self.add(value)

    def merge(self, other: TtlListState) -> None:
        """Move the elements of another window's state into this one."""
        self.add_all(other.get())
        other.clear()

    def update(self, values: Iterable[Any]) -> None:
        """Replace the list; an empty one clears it."""
        self.clear()
        self.add_all(values)


class TtlMapState(_TtlState, MapMethods):
    """MapState whose entries expire one by one."""

    __slots__ = ("_written",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._written: list[Any] | deque[Any] = UNNOTED

    def _map(self) -> dict[Any, Any]:
        return self._backend.entry.get(self._slot, {})  # type: ignore[no-any-return]

    def get(self, key: Any) -> Any:
        """Return the value under `key`; None if it is missing or has expired."""
        value = self._read(self._map(), key)
        self._drop_empty()
        return value

    def put(self, key: Any, value: Any) -> None:
        """Set the value under `key`."""
        self._backend.entry.setdefault(self._slot, {})[key] = (value, self._now())
        self._written.extend((key, value))

    def remove(self, key: Any) -> None:
        """Remove `key`, if it is there."""
        self._map().pop(key, None)
        self._drop_empty()

    def contains(self, key: Any) -> bool:
        """Return whether there is a live value under `key`."""
        found = self._read(self._map(), key, _ABSENT) is not _ABSENT
        self._drop_empty()
        return found

    def is_empty(self) -> bool:
        """Return whether no entry is live."""
        return not list(self.items())

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over (key, value) of the live entries."""
        mapping = self._map()
        found = [(key, self._read(mapping, key, _ABSENT)) for key in list(mapping)]
        self._drop_empty()
        return iter([(key, value) for key, value in found if value is not _ABSENT])

    def keys(self) -> Iterator[Any]:
        """Iterate over the keys of the live entries."""
        return iter([key for key, _ in self.items()])

    def values(self) -> Iterator[Any]:
        """Iterate over the values of the live entries."""
        return iter([value for _, value in self.items()])

    def _drop_empty(self) -> None:
        if not self._map():
            self.clear()

    __getitem__ = get
    __setitem__ = put
    __delitem__ = remove
    __contains__ = contains


class TtlReducingState(_TtlState):
    """ReducingState with a time to live."""

    __slots__ = ("_reduce",)

    def __init__(self, reduce: Callable[[Any, Any], Any], *args: Any) -> None:
        super().__init__(*args)
        self._reduce = reduce

    def get(self) -> Any:
        """Return the folded value, or None."""
        return self._read(self._backend.entry, self._slot)

    def add(self, value: Any) -> None:
        before = self.get()
        self._backend.entry[self._slot] = (value if before is None else self._reduce(before, value), self._now())

    def merge(self, other: TtlReducingState) -> None:
        """Fold in the value of another window's state."""
        found = other.get()
        other.clear()
        if found is not None:
            self.add(found)


class TtlAggregatingState(_TtlState):
    """AggregatingState with a time to live."""

    __slots__ = ("_function",)

    def __init__(self, function: Any, *args: Any) -> None:
        super().__init__(*args)
        self._function = function

    def get(self) -> Any:
        """Return the result of the accumulator, or None."""
        accumulator = self._read(self._backend.entry, self._slot)
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: Any) -> None:
        """Fold a value in; None clears the state, as in PyFlink."""
        if value is None:
            self.clear()
            return
        accumulator = self._read(self._backend.entry, self._slot)
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        self._backend.entry[self._slot] = (self._function.add(value, accumulator), self._now())

    def merge(self, other: TtlAggregatingState) -> None:
        """Merge the accumulator of another window's state into this one's."""
        entry = self._backend.entry
        found, own = self._read(entry, other._slot), self._read(entry, self._slot)
        other.clear()
        if found is not None:
            merged = found if own is None else self._function.merge(own, found)
            entry[self._slot] = (merged, self._now())
