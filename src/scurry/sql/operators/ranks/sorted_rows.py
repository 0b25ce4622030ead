"""The rows of a key in their order, in buckets: untouched buckets are neither decoded nor encoded."""

from __future__ import annotations

import pickle
from bisect import bisect_left, bisect_right
from collections.abc import MutableMapping
from typing import Any

#: The values of a row, by column.
Row = tuple[Any, ...]

#: The slot of the buckets' first keys, lengths and numbers; a bucket's slot is its number beside this name.
_INDEX = "sorted-rows"

#: Rows of a bucket before it is split in two.
_BUCKET = 256


class SortedRows:
    """Rows with the keys that they are sorted by; equal keys are in the order in which they came."""

    def __init__(self, state: MutableMapping[Any, Any]) -> None:
        self._state = state
        firsts, counts, numbers = state.get(_INDEX) or ((), (), ())
        self._firsts: list[Any] = list(firsts)
        self._counts: list[int] = list(counts)
        self._numbers: list[int] = list(numbers)
        self._loaded: dict[int, tuple[list[Any], list[Row]]] = {}
        self._changed: set[int] = set()
        self._length = sum(self._counts)

    def __len__(self) -> int:
        return self._length

    def insert(self, key: Any, row: Row) -> int:
        """Insert a row after all with keys up to its own; return its position."""
        if not self._numbers:
            self._firsts, self._counts, self._numbers = [key], [0], [0]
            self._loaded[0] = ([], [])
        place = max(bisect_right(self._firsts, key) - 1, 0)
        keys, rows = self._bucket(place)
        within = bisect_right(keys, key)
        position = sum(self._counts[:place]) + within
        keys.insert(within, key)
        rows.insert(within, row)
        self._firsts[place] = keys[0]
        self._counted(place, 1)
        if len(keys) > _BUCKET:
            self._split(place)
        return position

    def remove(self, key: Any, row: Row) -> int | None:
        """Remove the first row that equals one; return the position it had, None if there is no such row."""
        found = self._found(key, row)
        if found is None:
            return None
        self._delete(*found)
        place, within = found
        return sum(self._counts[:place]) + within

    def replace(self, key: Any, row: Row, new: Row) -> int | None:
        """Put a row in the place of the first one that equals another, whose key it has; return the position."""
        found = self._found(key, row)
        if found is None:
            return None
        place, within = found
        self._bucket(place)[1][within] = new
        self._counted(place, 0)
        return sum(self._counts[:place]) + within

    def pop(self) -> Row:
        """Remove the last row, and return it."""
        _, rows = self._bucket(len(self._numbers) - 1)
        row = rows[-1]
        self._delete(len(self._numbers) - 1, len(rows) - 1)
        return row

    def first_key(self) -> Any:
        """Return the key of the first row, which needs no bucket."""
        return self._firsts[0]

    def last_key(self) -> Any:
        return self._bucket(len(self._numbers) - 1)[0][-1]

    def rows(self, start: int, stop: int) -> list[Row]:
        """Return the rows at some positions; fewer if there are not as many."""
        found: list[Row] = []
        at = 0
        for place, count in enumerate(self._counts):
            if at >= stop:
                break
            if at + count > start:
                found += self._bucket(place)[1][max(start - at, 0) : stop - at]
            at += count
        return found

    def save(self) -> None:
        """Write the changes to the state."""
        if not self._changed:
            return
        for number in self._changed:
            if number in self._numbers:
                self._state[_INDEX, number] = pickle.dumps(self._loaded[number], 5)
            else:
                self._state.pop((_INDEX, number), None)
        self._changed.clear()
        self._state[_INDEX] = (tuple(self._firsts), tuple(self._counts), tuple(self._numbers))
        if not self._numbers:
            del self._state[_INDEX]

    def _found(self, key: Any, row: Row) -> tuple[int, int] | None:
        """Return the bucket of the first row that equals one, and the place within it; None if there is no such row."""
        place = max(bisect_left(self._firsts, key) - 1, 0)
        while place < len(self._firsts) and self._firsts[place] <= key:
            keys, rows = self._bucket(place)
            for within in range(bisect_left(keys, key), bisect_right(keys, key)):
                if rows[within] == row:
                    return place, within
            place += 1
        return None

    def _bucket(self, place: int) -> tuple[list[Any], list[Row]]:
        number = self._numbers[place]
        found = self._loaded.get(number)
        if found is None:
            found = self._loaded[number] = pickle.loads(self._state[_INDEX, number])
        return found

    def _counted(self, place: int, rows: int) -> None:
        self._counts[place] += rows
        self._length += rows
        self._changed.add(self._numbers[place])

    def _delete(self, place: int, within: int) -> None:
        keys, rows = self._bucket(place)
        del keys[within], rows[within]
        self._counted(place, -1)
        if keys:
            self._firsts[place] = keys[0]
        else:
            del self._firsts[place], self._counts[place], self._numbers[place]

    def _split(self, place: int) -> None:
        keys, rows = self._bucket(place)
        half, number = len(keys) // 2, max(self._numbers) + 1
        self._loaded[number] = (keys[half:], rows[half:])
        del keys[half:], rows[half:]
        self._counts[place] = half
        self._firsts.insert(place + 1, self._loaded[number][0][0])
        self._counts.insert(place + 1, len(self._loaded[number][0]))
        self._numbers.insert(place + 1, number)
        self._changed.add(number)
