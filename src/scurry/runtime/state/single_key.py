"""The state of one key at a time, for BATCH: in memory until the next key begins, as in Flink's BATCH backend."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from scurry.common.time import checked_time
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.keys import CanonicalKey
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.store import DictStore


class SingleKeyBackend(KeyedStateBackend):
    """Hold the state and timers of the key that has begun; nothing is stored.

    Timers without a namespace are only times, which are sorted once, when the key ends.

    Attributes:
        times: By domain: the times of the timers without a namespace.
    """

    def __init__(self, uid: str) -> None:
        super().__init__(uid, DictStore(), 1)
        self.times: tuple[set[int], set[int]] = (set(), set())
        #: those that were registered since timers of their domain began to fire; None while none fire
        self._added: list[list[int] | None] = [None, None]

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

    def clear_timers(self) -> None:
        super().clear_timers()
        for times in self.times:
            times.clear()

    def register_timer(self, domain: int, time: int, namespace: Any) -> None:
        if namespace is not None:
            super().register_timer(domain, time, namespace)
            return
        times = self.times[domain]
        if time not in times:
            if type(time) is not int or not MIN_TIME <= time <= MAX_TIME:
                time = checked_time(time, "a timer")
            times.add(time)
            added = self._added[domain]
            if added is not None:
                added.append(time)

    def delete_timer(self, domain: int, time: int, namespace: Any) -> None:
        if namespace is not None:
            super().delete_timer(domain, time, namespace)
            return
        if type(time) is not int or not MIN_TIME <= time <= MAX_TIME:
            time = checked_time(time, "a timer")
        self.times[domain].discard(time)

    def _fire_times(self, domain: int, until: int, fire: Callable[[int, Any], None]) -> None:
        times, key, entry = self.times[domain], self.key, self.entry
        due = sorted(times, reverse=True)
        later: list[int] = []
        added = self._added[domain] = list[int]()
        try:
            while due or later or added:
                while added:
                    heappush(later, added.pop())
                time = heappop(later) if later and not (due and due[-1] <= later[0]) else due.pop()
                if time > until:
                    return
                if time in times:  # otherwise it has been deleted
                    times.remove(time)
                    self.key, self.entry = key, entry
                    fire(time, None)
        finally:
            self._added[domain] = None

    def fire_due(self, domain: int, until: int, fire: Callable[[int, Any], None], in_parts: bool = True) -> bool:
        """Fire the timers of the current key up to `until`, in time order; return True: none is left."""
        if self.times[domain]:
            self._fire_times(domain, until, fire)
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
