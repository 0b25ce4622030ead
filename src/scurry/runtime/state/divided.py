"""Map and list states whose large values are in parts (`runtime/parts.py`): a batch costs as much as it touches.

The hash of a user key says which part has an entry of a map. A part that overflows makes the next one split (linear
hashing), so the directory is only the number of parts. A list is in parts of successive elements. A part has the slot
of the state, so that times to live, conversions and migrations treat its content as they treat any.

Methods work as those of an undivided state, on the entry of a part in place of that of the key. States are divided, and
parts are split and joined, at the end of a batch: nothing that functions hold moves meanwhile.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from numbers import Number
from typing import Any, ClassVar

from scurry.runtime.keys import CanonicalKey, key_hash
from scurry.runtime.parts import LAST_ACCESS, is_part, number_of, owner_of, part_key
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.primitives import Elements, ListState, MapState
from scurry.runtime.state.slots import PARTS
from scurry.runtime.state.ttl import TtlListState, TtlMapState

#: Entries of a map, or elements of a list, up to which a key has no parts: a part costs some 0.1 ms of a batch.
MOST_IN_ENTRY = 16_384

#: Entries or elements of a part.
MOST_IN_PART = 1024

#: The directory before the last access (`LAST_ACCESS`): the numbers of the first part and of the one after the
#: last, and how many entries a map has at most.
_FIRST, _END, _ENTRIES = range(LAST_ACCESS)

#: A batch that needs more than so many parts of a map and this share of them reads all in one request: it costs less.
_ALONE, _SHARE = 8, 16

#: The part of the entries whose keys have no hash.
_OTHERS = -1


def equal_hash(key: Any) -> int | None:
    """Return a hash that equal keys share, the same in every process; None for a type without one."""
    kind = type(key)
    if kind is str or kind is int:
        return key_hash(key)
    if isinstance(key, str):
        return key_hash(str.__str__(key))
    if isinstance(key, bytes):
        return zlib.crc32(key)
    if isinstance(key, Number):  # 1, 1.0, True and Decimal(1) are one key; Python's hash of numbers has no seed
        return key_hash(_whole(key))
    if isinstance(key, tuple):
        hashes = list(map(equal_hash, key))
        return None if None in hashes else zlib.crc32(repr(hashes).encode())
    return 0 if key is None else None


def _whole(number: Any) -> int:
    """Return a number that is whole as an int, and the hash of another."""
    try:
        whole = int(number)
    except (TypeError, ValueError, OverflowError):  # complex, not a number, infinite
        return hash(number)
    return whole if whole == number else hash(number)


def _number(hashed: int, count: int) -> int:
    """Return the number of the part that has a hash, among so many."""
    number = hashed & (1 << count.bit_length()) - 1
    return number if number < count else hashed & (1 << count.bit_length() - 1) - 1


class _DividedState:
    """A state above one that is not divided: finds the parts of the current key."""

    __slots__ = ()
    divides: ClassVar[bool] = True
    _backend: Any
    _slot: Any
    _now: Any

    def clear(self) -> None:
        """Remove the value of the current key."""
        directory = self._directory()
        if directory is None:
            super().clear()  # type: ignore[misc]
        else:
            self._remove_parts(directory)

    def divide(self) -> None:
        """Divide the state of keys that have become large, split parts that have, and join those that are small."""
        backend: KeyedStateBackend = self._backend
        slot = self._slot
        large = [
            key for key, entry in backend.entries.items() if PARTS in entry or len(entry.get(slot, ())) > MOST_IN_PART
        ]
        overflows: Counter[CanonicalKey] = Counter()
        for key in large:
            if is_part(key) and number_of(key) != _OTHERS:
                overflows[owner_of(key)] += len(backend.entries[key].get(slot, ())) // MOST_IN_PART
        for key in dict.fromkeys([*overflows, *large]):
            if is_part(key):
                continue
            entry = backend.select(key)
            directory = self._directory()
            if directory is not None:
                self._balance(directory, overflows[key])
            elif len(entry.get(slot, ())) > MOST_IN_ENTRY:
                entry.setdefault(PARTS, {})[slot] = directory = [0, 0, 0, None]
                self._touch(directory)
                self._fill(directory, entry.pop(slot))

    def _fill(self, directory: list[Any], content: Any) -> None:
        """Put the content of a state that is divided now into parts."""
        raise NotImplementedError

    def _balance(self, directory: list[Any], overflows: int) -> None:
        """Split or join the parts of the current key.

        Args:
            overflows: How many times parts have more than a part should have.
        """
        raise NotImplementedError

    def _directory(self) -> list[Any] | None:
        """Return the directory of the current key's parts; None if it has none."""
        entry = self._backend.entry
        return entry[PARTS].get(self._slot) if PARTS in entry else None

    def _part(self, number: int) -> Entry:
        backend: KeyedStateBackend = self._backend
        return backend.part_of(backend.key, self._slot, number)[1]

    def _parts(self, directory: list[Any]) -> list[Entry]:
        """Return all parts, read in one request."""
        backend: KeyedStateBackend = self._backend
        numbers = range(directory[_FIRST], directory[_END])
        keys = [part_key(backend.key, self._slot, number) for number in numbers]
        backend.prefetch(keys)
        return [backend.entries[key] for key in keys]

    def _remove_parts(self, directory: list[Any]) -> None:
        for part in self._parts(directory):
            part.clear()
        entry = self._backend.entry
        del entry[PARTS][self._slot]
        if not entry[PARTS]:
            del entry[PARTS]

    def _within(self, part: Entry, method: Callable[..., Any], *args: Any) -> Any:
        """Call a method of the undivided state with a part as the current entry."""
        backend, entry = self._backend, self._backend.entry
        backend.entry = part
        try:
            return method(*args)
        finally:
            backend.entry = entry

    def _touch(self, directory: list[Any]) -> None:
        if self._now is not None:
            directory[LAST_ACCESS] = self._now()


class _DividedMap(_DividedState):
    __slots__ = ()

    def get(self, key: Any) -> Any:
        """Return the value under `key`, or None."""
        directory = self._directory()
        if directory is None:
            return super().get(key)  # type: ignore[misc]
        return self._within(self._part_with(directory, key), super().get, key)  # type: ignore[misc]

    def contains(self, key: Any) -> bool:
        """Return whether there is a value under `key`."""
        directory = self._directory()
        if directory is None:
            return super().contains(key)  # type: ignore[misc, no-any-return]
        return self._within(self._part_with(directory, key), super().contains, key)  # type: ignore[misc, no-any-return]

    def put(self, key: Any, value: Any) -> None:
        """Set the value under `key`."""
        directory = self._directory()
        if directory is None:
            super().put(key, value)  # type: ignore[misc]
            return
        part = self._part_with(directory, key)
        before = len(part.get(self._slot, ()))
        self._within(part, super().put, key, value)  # type: ignore[misc]
        directory[_ENTRIES] += len(part[self._slot]) - before

    def remove(self, key: Any) -> None:
        """Remove `key`, if it is there."""
        directory = self._directory()
        if directory is None:
            super().remove(key)  # type: ignore[misc]
            return
        part = self._part_with(directory, key)
        before = len(part.get(self._slot, ()))
        self._within(part, super().remove, key)  # type: ignore[misc]
        directory[_ENTRIES] -= before - len(part.get(self._slot, ()))

    def is_empty(self) -> bool:
        """Return whether the map has no entries."""
        return next(self._pairs(), None) is None

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over (key, value); those of a large map are in the order of their parts."""
        return iter(list(self._pairs()))

    def keys(self) -> Iterator[Any]:
        """Iterate over the keys."""
        return iter([key for key, _ in self._pairs()])

    def values(self) -> Iterator[Any]:
        """Iterate over the values."""
        return iter([value for _, value in self._pairs()])

    __getitem__ = get
    __setitem__ = put
    __delitem__ = remove
    __contains__ = contains

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        directory, items = self._directory(), super().items  # type: ignore[misc]
        if directory is None:
            yield from items()
            return
        self._touch(directory)
        parts = self._parts(directory)
        for part in parts:
            yield from self._within(part, items)
        directory[_ENTRIES] = sum(len(part.get(self._slot, ())) for part in parts)  # some may have expired

    def _part_with(self, directory: list[Any], key: Any) -> Entry:
        """Return the part that has an entry of the map, or would have it."""
        self._touch(directory)
        hashed, backend = equal_hash(key), self._backend
        number = _OTHERS if hashed is None else _number(hashed, directory[_END])
        held: dict[int, Entry] | None = backend.held_parts.get((backend.key, self._slot))
        if held is None:
            held = backend.held_parts[backend.key, self._slot] = {}
        part = held.get(number)
        if part is None:
            if len(held) > _ALONE + directory[_END] // _SHARE:
                held.update(zip(range(directory[_FIRST], directory[_END]), self._parts(directory), strict=True))
            else:
                held[number] = self._part(number)
            part = held[number]
        return part

    def _fill(self, directory: list[Any], content: dict[Any, Any]) -> None:
        directory[:LAST_ACCESS] = _OTHERS, len(content) * 2 // MOST_IN_PART + 1, len(content)
        parts = self._parts(directory)
        for key, value in content.items():
            hashed = equal_hash(key)
            part = parts[0 if hashed is None else 1 + _number(hashed, directory[_END])]
            part.setdefault(self._slot, {})[key] = value

    def _balance(self, directory: list[Any], overflows: int) -> None:
        if directory[_ENTRIES] <= MOST_IN_ENTRY // 4:
            content = dict(chain.from_iterable(part.get(self._slot, {}).items() for part in self._parts(directory)))
            self._remove_parts(directory)
            if content:
                self._backend.entry[self._slot] = content
            return
        for _ in range(overflows):
            self._split(directory)

    def _split(self, directory: list[Any]) -> None:
        """Add a part: it gets its share of the one whose hashes it divides."""
        count = directory[_END]
        directory[_END] = count + 1
        source, target = self._part(count - (1 << count.bit_length() - 1)), self._part(count)
        for key, value in source.pop(self._slot, {}).items():
            part = target if _number(equal_hash(key) or 0, count + 1) == count else source
            part.setdefault(self._slot, {})[key] = value


class DividedMapState(_DividedMap, MapState):
    """A map per key, in parts if it is large; methods for each record look at an undivided map without a call."""

    __slots__ = ()
    _now = None

    def get(self, key: Any) -> Any:
        """Return the value under `key`, or None."""
        entry = self._backend.entry
        if PARTS in entry:
            return super().get(key)
        mapping = entry.get(self._slot)
        return None if mapping is None else mapping.get(key)

    def put(self, key: Any, value: Any) -> None:
        """Set the value under `key`."""
        entry = self._backend.entry
        if PARTS in entry:
            super().put(key, value)
            return
        mapping = entry.get(self._slot)
        if mapping is None:
            mapping = entry[self._slot] = {}
        mapping[key] = value
        self._written.extend((key, value))

    def contains(self, key: Any) -> bool:
        """Return whether there is a value under `key`."""
        entry = self._backend.entry
        if PARTS in entry:
            return super().contains(key)
        mapping = entry.get(self._slot)
        return mapping is not None and key in mapping

    __getitem__ = get
    __setitem__ = put
    __contains__ = contains


class DividedTtlMapState(_DividedMap, TtlMapState):
    """A map per key whose entries expire one by one, in parts if it is large."""

    __slots__ = ()


class _DividedElements:
    """The result of a divided list: it can be iterated over again, and sees later additions."""

    __slots__ = ("_lists",)

    def __init__(self, lists: list[list[Any]]) -> None:
        self._lists = lists

    def __iter__(self) -> Iterator[Any]:
        return iter(list(chain.from_iterable(self._lists)))


class _DividedList(_DividedState):
    __slots__ = ()

    def add(self, value: Any) -> None:
        """Append an element."""
        directory = self._directory()
        if directory is None:
            super().add(value)  # type: ignore[misc]
        else:
            self._touch(directory)
            self._within(self._part(directory[_END] - 1), super().add, value)  # type: ignore[misc]

    def update(self, values: Iterable[Any]) -> None:
        """Replace the list; an empty one clears it."""
        values = list(values)
        self.clear()
        super().update(values)  # type: ignore[misc]

    def _fill(self, directory: list[Any], content: list[Any]) -> None:
        directory[_END] = directory[_FIRST]
        self._append(directory, content)

    def _append(self, directory: list[Any], content: list[Any]) -> None:
        """Add parts behind the others."""
        for start in range(0, len(content), MOST_IN_PART):
            self._part(directory[_END])[self._slot] = content[start : start + MOST_IN_PART]
            directory[_END] += 1

    def _balance(self, directory: list[Any], overflows: int) -> None:
        if overflows:
            directory[_END] -= 1
            self._append(directory, self._part(directory[_END]).pop(self._slot, []))


class DividedListState(_DividedList, ListState):
    """A list per key, in parts if it is large."""

    __slots__ = ()
    _now = None

    def add(self, value: Any) -> None:
        """Append an element."""
        entry = self._backend.entry
        if PARTS in entry:
            super().add(value)
            return
        values = entry.get(self._slot)
        if values is None:
            entry[self._slot] = [value]
        else:
            values.append(value)
        self._written.append(value)

    def get(self) -> Iterable[Any]:
        """Return the elements in the order they were added."""
        directory = self._directory()
        if directory is None:
            return super().get()
        return _DividedElements([part.setdefault(self._slot, []) for part in self._parts(directory)])


class DividedTtlListState(_DividedList, TtlListState):
    """A list per key whose elements expire one by one, in parts if it is large."""

    __slots__ = ()

    def get(self) -> Iterable[Any]:
        """Return the elements that have not expired."""
        directory = self._directory()
        if directory is None:
            return super().get()
        self._touch(directory)
        parts = self._parts(directory)
        found = list(chain.from_iterable(self._within(part, super(DividedTtlListState, self).get) for part in parts))
        while directory[_FIRST] < directory[_END] - 1 and not parts[directory[_FIRST] - directory[_END]]:
            directory[_FIRST] += 1
        return Elements({self._slot: found}, self._slot)


for _state in (DividedMapState, DividedTtlMapState, DividedListState, DividedTtlListState):
    _state.__name__ = _state.__name__.removeprefix("Divided")  # Python's messages show the name that users know
