"""The state of one key at a time, for BATCH: in memory until the next key begins, as in Flink's BATCH backend."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
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
        self.clear_timers()
        for conversion in self.conversions:
            conversion.begin()
        self.key = key
        self.entry = self.entries[key] = {}

    def load(self, key: Any) -> Entry:
        entry = self.entries[key] = {}
        return entry

    def fire_due(self, domain: int, until: int, fire: Callable[[int, Any], None], in_parts: bool = True) -> bool:
        """Fire the timers of the current key up to `until`, in time order; return True: none is left."""
        registered, heap = self.registered[domain], self.heaps[domain]
        key, entry = self.key, self.entry
        while registered or heap:
            if registered:
                if heap:
                    for each in registered:
                        heappush(heap, each)
                else:
                    heap += sorted(registered)  # which is a heap
                registered.clear()
            if heap[0][0] > until:
                break
            time, _, _, namespace = heappop(heap)
            timers, timer = entry.get(domain), (time, namespace)
            if timers is None or timer not in timers:
                continue  # deleted since
            timers.discard(timer)
            if not timers:
                del entry[domain]
            self.key, self.entry = key, entry
            fire(time, namespace)
        return True
