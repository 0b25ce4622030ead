"""Order records of a block by key and time; many at once as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

#: As many records are ordered as an array; a small job does without NumPy, whose import takes longer.
_MANY = 256
#: Bits of a 64-bit int besides its sign.
_BITS = 63


class _Numbers(dict[Any, int]):
    """Number keys in the order in which they come."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


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


def by_key(keys: Sequence[Any], times: Sequence[int] | None) -> Iterator[tuple[Any, list[int]]]:
    """Yield each key with the places of its records, in time order if there are times, else in their order.

    Args:
        keys: The canonical keys of records.
        times: Their times, 64-bit ints.
    """
    numbers = _Numbers()
    numbered = list(map(numbers.__getitem__, keys))
    if len(keys) < _MANY:
        found: list[list[int]] = [[] for _ in numbers]
        for place, number in enumerate(numbered):
            found[number].append(place)
        for key, places in zip(numbers, found, strict=True):
            yield key, places if times is None else sorted(places, key=times.__getitem__)
        return
    import numpy as np

    by_number = np.array(numbered, dtype=np.int64)
    order = _order(by_number, None if times is None else np.array(times, dtype=np.int64), len(numbers))
    ends = np.cumsum(np.bincount(by_number, minlength=len(numbers))).tolist()
    places, start = order.tolist(), 0
    for key, end in zip(numbers, ends, strict=True):
        yield key, places[start:end]
        start = end


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
