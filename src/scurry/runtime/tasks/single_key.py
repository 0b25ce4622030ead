"""The state of one key at a time, for BATCH: in memory until the next key begins, as in Flink's BATCH backend."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop
from typing import Any

from scurry.runtime.keys import CanonicalKey
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.store import DictStore


class SingleKeyBackend(KeyedStateBackend):
    """Hold the state and timers of the key that has begun; nothing is stored.

    Args:
        uid: The operator.
    """

    def __init__(self, uid: str) -> None:
        super().__init__(uid, DictStore(), 1)

    def begin(self, key: CanonicalKey) -> None:
        """Drop the state and timers of the last key, and make another one the current key."""
        self.entries.clear()
        for heap in self.heaps:
            heap.clear()
        self.key = key
        self.entry = self.entries[key] = {}

    def load(self, key: Any) -> Entry:
        """Return the new entry of a key."""
        entry = self.entries[key] = {}
        return entry

    def fire_due(self, domain: int, until: int, fire: Callable[[int, Any], None], in_parts: bool = True) -> bool:
        """Call `fire(time, namespace)` for each timer up to `until`, in time order; return True, as all are."""
        heap, entries = self.heaps[domain], self.entries
        while heap and heap[0][0] <= until:
            time, _, key, namespace = heappop(heap)
            entry = entries[key]
            timers = entry.get(domain)
            if timers is None or (time, namespace) not in timers:
                continue  # deleted since
            timers.discard((time, namespace))
            if not timers:
                del entry[domain]
            self.key, self.entry = key, entry
            fire(time, namespace)
        return True
