"""Order records of a block by key and time; many at once as arrays."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Sequence
from itertools import accumulate
from operator import countOf
from typing import Any

#: As many records are ordered as an array; a small job does without NumPy, whose import takes longer.
_MANY = 256
#: Ints are told apart by a table that has at most so many places for each; sorting them takes thirty times as long.
_SPREAD = 4
#: Bits of a 64-bit int besides its sign.
_BITS = 63


def by_time(times: Sequence[int]) -> list[int]:
    """Return the places of records in time order, equal times in their order.

    Args:
        times: Their times, 64-bit ints.
    """
    if len(times) < _MANY:
        return sorted(range(len(times)), key=times.__getitem__)
    import numpy as np

    order: list[int] = np.argsort(np.array(times, dtype=np.int64), kind="stable").tolist()
    return order


def int_array(numbers: Sequence[int]) -> array[int]:
    """Return ints as an array.

    Raises:
        OverflowError: One has more than 64 bits.
    """
    if len(numbers) < _MANY:
        return array("q", numbers)
    import numpy as np

    return array("q", np.fromiter(numbers, np.int64, len(numbers)).tobytes())  # in half the time


class KeyNumbers(dict[Any, int]):
    """Number canonical keys as they come."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number

    def of(self, keys: Sequence[Any]) -> array[int]:
        numbers = map(self.__getitem__, keys)
        if len(keys) < _MANY:
            return array("q", numbers)
        import numpy as np

        return array("q", np.fromiter(numbers, np.int64, len(keys)).tobytes())


class RecordKeys:
    """The keys of records in their order, which are numbered when all are there: 64-bit ints are kept as an array."""

    __slots__ = ("_ints", "_numbered", "_numbers")

    def __init__(self) -> None:
        self._ints: array[int] | None = array("q")
        self._numbers, self._numbered = KeyNumbers(), array("q")

    def __len__(self) -> int:
        return len(self._numbered if self._ints is None else self._ints)

    def add(self, keys: list[Any], packed: array[int] | None = None) -> None:
        """Add the canonical keys of further records.

        Args:
            packed: The same as an array, if there is one.
        """
        if self._ints is not None:
            packed = _packed(keys) if packed is None else packed
            if packed is not None:
                self._ints += packed
                return
            self._numbers, self._numbered = _numbered(self._ints)
            self._ints = None
        self._numbered += self._numbers.of(keys)

    def numbered(self) -> tuple[KeyNumbers, array[int]]:
        """Return all keys with their numbers, and the number of the key of each record."""
        return (self._numbers, self._numbered) if self._ints is None else _numbered(self._ints)


def _packed(keys: list[Any]) -> array[int] | None:
    """Return keys as an array; None if they are not all ints of 64 bits."""
    if type(keys[0]) is not int or countOf(map(type, keys), int) < len(keys):
        return None
    try:
        return int_array(keys)
    except OverflowError:
        return None


def _numbered(keys: array[int]) -> tuple[KeyNumbers, array[int]]:
    numbers = KeyNumbers()
    if len(keys) < _MANY:
        return numbers, numbers.of(keys)
    import numpy as np

    distinct, of_records = _distinct(np.frombuffer(keys, np.int64))
    numbers.update(zip(distinct.tolist(), range(len(distinct)), strict=True))
    return numbers, array("q", of_records.astype(np.int64, copy=False).tobytes())


def _distinct(keys: Any) -> tuple[Any, Any]:
    """Return the distinct ints of an array in order, and the place of each of the array's among them."""
    import numpy as np

    first, last = int(keys.min()), int(keys.max())
    if last - first >= _SPREAD * len(keys):
        return np.unique(keys, return_inverse=True)
    places = keys - first
    present = np.zeros(last - first + 1, np.bool_)
    present[places] = True
    numbers: Any = np.cumsum(present, dtype=np.int32)  # of the keys of a flush
    numbers -= 1
    return np.flatnonzero(present) + first, numbers[places]


def by_key(
    numbers: KeyNumbers,
    numbered: array[int],
    times: array[int] | None,
    sort: Callable[[Collection[Any]], list[Any]],
    counts: Sequence[int] | None = None,
) -> tuple[list[Any], list[int], Any, array[int] | None]:
    """Order records by key, those of a key in time order if there are times, else in their order.

    Args:
        numbers: All canonical keys with their numbers.
        times: The times of the records, 64-bit ints.
        counts: How many records in a row each of the numbers has; None is one.

    Returns:
        The keys, each once; the end of the records of each; the places of the records, for `taken`; and their times.
    """
    distinct = sort(numbers)
    if (len(numbered) if counts is None else sum(counts)) < _MANY:
        return _few_by_key(distinct, numbers, numbered, times, counts)
    import numpy as np

    ranks: Any = np.empty(len(distinct), np.int64)
    ranks[np.fromiter(map(numbers.__getitem__, distinct), np.int64, len(distinct))] = np.arange(len(distinct))
    of_records = ranks[np.frombuffer(numbered, np.int64)]
    if counts is not None:
        of_records = np.repeat(of_records, counts)
    column = None if times is None else np.frombuffer(times, dtype=np.int64)
    places = _order(of_records, column, len(distinct))
    ends = np.cumsum(np.bincount(of_records, minlength=len(distinct))).tolist()
    return distinct, ends, places, None if column is None else array("q", column[places].tobytes())


def taken(values: list[Any], places: Any) -> list[Any]:
    """Return values in the order that `by_key` returned."""
    return list(map(values.__getitem__, places if isinstance(places, list) else places.tolist()))


def _few_by_key(
    distinct: list[Any],
    numbers: KeyNumbers,
    numbered: array[int],
    times: array[int] | None,
    counts: Sequence[int] | None,
) -> tuple[list[Any], list[int], list[int], array[int] | None]:
    of_numbers: list[list[int]] = [[] for _ in distinct]
    place = 0
    for number, count in zip(numbered, [1] * len(numbered) if counts is None else counts, strict=True):
        of_numbers[number] += range(place, place + count)
        place += count
    found = [of_numbers[numbers[key]] for key in distinct]
    if times is not None:
        for places in found:
            places.sort(key=times.__getitem__)
    in_order = [place for places in found for place in places]
    of_places = None if times is None else array("q", map(times.__getitem__, in_order))
    return distinct, list(accumulate(map(len, found))), in_order, of_places


def _order(numbers: Any, times: Any, count: int) -> Any:
    """Return the places by number, time and place: sorted as one int each if they fit into it, which is much faster."""
    import numpy as np

    place_bits = len(numbers).bit_length()
    first = 0 if times is None else int(times.min())
    span = 1 if times is None else int(times.max()) - first + 1
    if (count * span).bit_length() + place_bits <= _BITS:
        combined = numbers * span if times is None else numbers * span + (times - first)
        combined = combined << place_bits | np.arange(len(numbers))
        combined.sort()
        return combined & ((1 << place_bits) - 1)
    return np.argsort(numbers, kind="stable") if times is None else np.lexsort((times, numbers))
