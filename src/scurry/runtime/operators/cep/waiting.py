"""Events that the watermark has not reached: in memory during a micro-batch, in keyed state between two."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from scurry.runtime.exchange.collector import Values

#: Return the time of an event that waits.
time_of = itemgetter(0)


class Due(NamedTuple):
    """Events that the watermark has reached, in time order."""

    keys: list[Any]
    events: Values
    times: list[int]


class WaitingEvents:
    """The events of a micro-batch that wait."""

    def __init__(self) -> None:
        self._keys: list[Any] = []
        self._events: Values = []
        self._times: list[int] = []

    def add(self, keys: list[Any], events: Values, times: list[int]) -> None:
        """Add events."""
        self._keys += keys
        self._events += events
        self._times += times

    def take(self, watermark: int) -> Due | None:
        """Remove and return the events that the watermark has reached; None without any."""
        keys, events, times = self._keys, self._events, self._times
        if not times or min(times) > watermark:
            return None
        order = sorted(range(len(times)), key=times.__getitem__)
        first_later = len(times) if max(times) <= watermark else bisect_right(order, watermark, key=times.__getitem__)
        later = sorted(order[first_later:])
        self._keys, self._events, self._times = (
            [keys[at] for at in later],
            [events[at] for at in later],
            [times[at] for at in later],
        )
        order = order[:first_later]
        return Due([keys[at] for at in order], [events[at] for at in order], [times[at] for at in order])

    def by_key(self) -> Iterator[tuple[Any, list[tuple[int, Any]]]]:
        """Yield the events of each key, with their times, in the order in which they came."""
        found: dict[Any, list[tuple[int, Any]]] = {}
        for key, event, time in zip(self._keys, self._events, self._times, strict=True):
            found.setdefault(key, []).append((time, event))
        yield from found.items()
