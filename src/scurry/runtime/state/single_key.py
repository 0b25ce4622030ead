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
from scurry.runtime.state.primitives import ValueOfOneKey, ValueState
from scurry.runtime.state.store import DictStore


class Times(dict[int, None]):
    """The times of a key's timers without a namespace, in one domain.

    To look a time up registers a timer: most records ask for one that their key has.

    Attributes:
        added: Those that were registered since timers of the domain began to fire; None while none fire.
    """

    added: list[int] | None = None

    def __missing__(self, time: int) -> None:
        if type(time) is not int or not MIN_TIME <= time <= MAX_TIME:
            time = checked_time(time, "a timer")
        if time not in self:
            self[time] = None
            if self.added is not None:
                self.added.append(time)


class SingleKeyBackend(KeyedStateBackend):
    """Hold the state and timers of the key that has begun; nothing is stored.

    Timers without a namespace are only times, which are sorted once, when the key ends. Value states hold their values.

    Attributes:
        times: By domain: the times of the timers without a namespace.
    """

    def __init__(self, uid: str) -> None:
        super().__init__(uid, DictStore(), 1)
        self.times = (Times(), Times())
        self._values: list[ValueOfOneKey] = []

    def adopt(self, state: Any) -> None:
        if type(state) is ValueState:
            state.__class__ = ValueOfOneKey
            held: Any = state
            held.clear()
            self._values.append(held)

    def begin(self, key: CanonicalKey) -> None:
        """Drop the state and timers of the last key, and make another one the current key."""
        self.entries.clear()
        self.clear_timers()
        for conversion in self.conversions:
            conversion.begin()
        for value in self._values:
            value._value = None
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
        _ = self.times[domain][time]

    def delete_timer(self, domain: int, time: int, namespace: Any) -> None:
        if namespace is not None:
            super().delete_timer(domain, time, namespace)
            return
        if type(time) is not int or not MIN_TIME <= time <= MAX_TIME:
            time = checked_time(time, "a timer")
        self.times[domain].pop(time, None)

    def _fire_times(self, domain: int, until: int, fire: Callable[[int, Any], None]) -> None:
        times, key, entry = self.times[domain], self.key, self.entry
        due = sorted(times, reverse=True)
        later: list[int] = []
        added = times.added = list[int]()
        try:
            while due or later or added:
                while added:
                    heappush(later, added.pop())
                time = heappop(later) if later and not (due and due[-1] <= later[0]) else due.pop()
                if time > until:
                    return
                if time in times:  # otherwise it has been deleted
                    del times[time]
                    self.key, self.entry = key, entry
                    fire(time, None)
        finally:
            times.added = None

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
