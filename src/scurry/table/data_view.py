"""Collections in the accumulators of aggregate functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Sequence, ValuesView
from itertools import chain
from operator import length_hint
from typing import Any, Generic, Self, TypeVar, cast

__all__ = ["DataView", "ListView", "MapView"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class DataView(ABC):
    """A collection in an accumulator."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all elements."""


class ListView(DataView, Generic[T]):
    """A list in an accumulator."""

    def __init__(self) -> None:
        """Make an empty list."""
        self._list: list[T] = []

    def get(self) -> Iterable[T]:
        """Return the elements."""
        return self._list

    def add(self, value: T) -> None:
        """Append an element.

        Args:
            value: The element.
        """
        self._list.append(value)

    def add_all(self, values: list[T]) -> None:
        """Append elements.

        Args:
            values: The elements.
        """
        self._list.extend(values)

    def clear(self) -> None:
        """Remove all elements."""
        self._list = []

    def __eq__(self, other: Any) -> bool:
        """Return whether another view has equal elements."""
        return isinstance(other, ListView) and self._list == list(other.get())

    def __hash__(self) -> int:
        """Refuse: lists cannot be hashed."""
        return hash(self._list)

    def __iter__(self) -> Iterator[T]:
        """Iterate over the elements."""
        return iter(self._list)


class _Elements(chain[T]):
    """Iterates over the elements of a map view; `remove` removes the last one from the view.

    The elements come from the iterator of the dict until one is removed, and after that from a copy of the others: a
    dict does not change while its own iterator runs. How many are left says which was the last.
    """

    _view: Any
    _sources: list[Iterator[T]]
    _keys: Sequence[Any] | None
    _size: int

    @classmethod
    def over(cls, view: Any, elements: Iterator[T]) -> Self:
        """Return an iterator over the elements of a dict."""
        sources = [elements]
        made = cast("Self", cls.from_iterable(iter(sources)))
        made._view, made._sources, made._keys, made._size = view, sources, None, len(view)
        return made

    def remove(self) -> None:
        """Remove the element that the iterator has returned last.

        Raises:
            RuntimeError: No element was returned yet, or the view has changed otherwise.
        """
        if len(self._view) != self._size:
            raise RuntimeError("Concurrent modification detected. Change the view with 'remove' of its iterator only.")
        source = self._sources[-1]
        keys = tuple(self._view) if self._keys is None else self._keys
        place = len(keys) - length_hint(source) - 1
        if place < 0:
            raise RuntimeError("You need to call the '__next__' method before calling this method.")
        self._keys = keys[place + 1 :]
        self._sources.append(iter(tuple(source)))
        del self._view[keys[place]]
        self._size -= 1


class _Keys(KeysView[K]):
    def __iter__(self) -> Iterator[K]:
        return _Elements.over(self._mapping, iter(self._mapping))  # type: ignore[attr-defined]


class _Values(ValuesView[V]):
    def __iter__(self) -> Iterator[V]:
        return _Elements.over(self._mapping, iter(self._mapping.values()))  # type: ignore[attr-defined]


class _Items(ItemsView[K, V]):
    def __iter__(self) -> Iterator[tuple[K, V]]:
        return _Elements.over(self._mapping, iter(self._mapping.items()))  # type: ignore[attr-defined]


class MapView(Generic[K, V]):
    """A dict in an accumulator."""

    def __init__(self) -> None:
        """Make an empty dict."""
        self._dict: dict[K, V] = {}

    def get(self, key: K) -> V:
        """Return the value of a key.

        Args:
            key: The key.

        Raises:
            KeyError: The key does not exist.
        """
        return self._dict[key]

    def put(self, key: K, value: V) -> None:
        """Set the value of a key.

        Args:
            key: The key.
            value: Its value.
        """
        self._dict[key] = value

    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set the values of some keys.

        Args:
            dict_value: The keys with their values.
        """
        self._dict.update(dict_value)

    def remove(self, key: K) -> None:
        """Remove a key.

        Args:
            key: The key.

        Raises:
            KeyError: It is not there.
        """
        del self._dict[key]

    def contains(self, key: K) -> bool:
        """Return whether a key is there.

        Args:
            key: The key.
        """
        return key in self._dict

    def items(self) -> ItemsView[K, V]:
        """Return the keys with their values; the iterator of these has `remove`."""
        return _Items(self._dict)

    def keys(self) -> KeysView[K]:
        """Return the keys; the iterator of these has `remove`."""
        return _Keys(self._dict)

    def values(self) -> ValuesView[V]:
        """Return the values; the iterator of these has `remove`."""
        return _Values(self._dict)

    def is_empty(self) -> bool:
        """Return whether there are no keys."""
        return not self._dict

    def clear(self) -> None:
        """Remove all keys."""
        self._dict.clear()

    def __eq__(self, other: Any) -> bool:
        """Return whether another view has equal keys and values."""
        return isinstance(other, MapView) and self._dict == other._dict

    def __hash__(self) -> int:
        """Refuse: dicts cannot be hashed."""
        return hash(self._dict)

    def __getitem__(self, key: K) -> V:
        """Return the value of a key."""
        return self._dict[key]

    def __setitem__(self, key: K, value: V) -> None:
        """Set the value of a key."""
        self._dict[key] = value

    def __delitem__(self, key: K) -> None:
        """Remove a key."""
        del self._dict[key]

    def __contains__(self, key: K) -> bool:
        """Return whether a key is there."""
        return key in self._dict

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys."""
        return iter(_Keys(self._dict))
