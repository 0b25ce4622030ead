"""State of a group in pieces: pieces that a batch does not touch are neither decoded nor encoded."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterator, MutableMapping
from typing import Any, TypeAlias

from scurry.runtime.keys import CanonicalKey, key_hashes

#: Pieces by their slots.
Pieces: TypeAlias = "MutableMapping[Any, Any]"

#: The slot of the number of buckets and of values; a bucket's slot is its number.
_SIZE = "size"

#: Values of a bucket on average before there are twice as many buckets.
_BUCKET = 32


class EntryPieces(MutableMapping[Any, Any]):
    """Pieces that are slots of the state of a key: for groups that have many."""

    def __init__(self, entry: dict[Any, Any], prefix: tuple[Any, ...]) -> None:
        self._entry = entry
        self._prefix = prefix

    def __getitem__(self, slot: Any) -> Any:
        return self._entry[(*self._prefix, slot)]

    def __setitem__(self, slot: Any, piece: Any) -> None:
        self._entry[(*self._prefix, slot)] = piece

    def __delitem__(self, slot: Any) -> None:
        del self._entry[(*self._prefix, slot)]

    def __iter__(self) -> Iterator[Any]:
        width = len(self._prefix)
        return (each[-1] for each in self._entry if isinstance(each, tuple) and each[:width] == self._prefix)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class LoadedPieces(ABC):
    """Decoded form of pieces, until a micro-batch ends."""

    @abstractmethod
    def save(self) -> Pieces:
        """Write the changes to the pieces, and return them."""


class ValueCounts(LoadedPieces):
    """Count of each value in a group, in buckets by the hashes of the values."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        size: tuple[int, int] = pieces.get(_SIZE) or (1, 0)
        self._buckets, self._values = size
        self._loaded: dict[int, dict[CanonicalKey, int]] = {}
        self._changed: set[int] = set()

    def add(self, value: CanonicalKey, hashed: int, number: int) -> tuple[bool, bool]:
        """Add a value some times, or remove it if the number is negative; return whether it was there, and is.

        Args:
            hashed: What `key_hash` returns for it.
            number: How many times.
        """
        place = hashed % self._buckets
        bucket = self._bucket(place)
        before = bucket.get(value, 0)
        after = max(before + number, 0)
        if after:
            bucket[value] = after
        else:
            bucket.pop(value, None)
        self._values += bool(after) - bool(before)
        self._changed.add(place)
        return bool(before), bool(after)

    def save(self) -> Pieces:
        """Write the changes to the pieces, and return them."""
        if self._changed:
            if self._values > _BUCKET * self._buckets:
                self._grow()
            for place in self._changed:
                self._pieces[place] = pickle.dumps(self._loaded[place], 5)
            self._pieces[_SIZE] = (self._buckets, self._values)
            self._changed.clear()
        return self._pieces

    def _grow(self) -> None:
        whole = [item for place in range(self._buckets) for item in self._bucket(place).items()]
        while self._values > _BUCKET * self._buckets // 2:
            self._buckets *= 2
        self._loaded = {place: {} for place in range(self._buckets)}
        hashes = key_hashes([value for value, _ in whole])
        for (value, number), hashed in zip(whole, hashes, strict=True):
            self._loaded[hashed % self._buckets][value] = number
        self._changed = set(self._loaded)

    def _bucket(self, place: int) -> dict[CanonicalKey, int]:
        found = self._loaded.get(place)
        if found is None:
            piece = self._pieces.get(place)
            found = self._loaded[place] = {} if piece is None else pickle.loads(piece)
        return found


def value_counts(kept: Pieces | ValueCounts | None) -> ValueCounts:
    """Return the counts of a group from its state: its pieces, loaded counts, or None for a new group."""
    return kept if isinstance(kept, ValueCounts) else ValueCounts({} if kept is None else kept)
