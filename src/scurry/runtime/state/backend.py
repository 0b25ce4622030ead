"""Keyed state of one operator in one key group.

State lies in **pages**: all the state and timers of the keys whose hash leads to the page, pickled together. A page
is read when a key on it is first touched in a batch and written once at the end, if it changed. Pages split when they
grow, like the buckets of a trie: page 1 holds all keys; when it has split, its number is in `splits` and the keys' next
hash bit leads to page 2 or 3, and so on. So a batch costs what it touches, however much state there is.

Per key there is one **entry**, a dict: state name -> value, or `(state name, namespace)` -> value for state of a
window, and the two timer sets under `EVENT` and `PROCESSING`. `due` remembers for each page its earliest timers, so
that time passes without reading pages on which nothing is due.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

from scurry.runtime.keys import key_hash
from scurry.runtime.state.store import StateStore

#: Reserved entry slots of the two time domains.
EVENT = 0
PROCESSING = 1
DOMAINS = (EVENT, PROCESSING)

#: A page is split when its encoding grows past this many bytes.
PAGE_BYTES = 4 * 1024

Entry = dict[Any, Any]
Page = dict[Any, Entry]


@dataclass
class Meta:
    """What the operator remembers per key group besides pages."""

    splits: set[int] = field(default_factory=set)
    due: tuple[dict[int, int], dict[int, int]] = field(default_factory=lambda: ({}, {}))
    gate: dict[int, Any] = field(default_factory=dict)
    clock: int = 0


class KeyedStateBackend:
    """Loads, holds and writes back the state that a batch touches; `key` and `entry` are the current key's.

    The per-record loop of an operator looks keys up in `entries` itself and calls `load` on a miss.
    """

    def __init__(self, uid: str, store: StateStore, page_bytes: int = PAGE_BYTES) -> None:
        self.key: Any = None
        self.entry: Entry = {}
        self.entries: dict[Any, Entry] = {}
        #: block converters of registered states, by state name: applied to what a batch wrote
        self.converters: dict[str, Callable[[list[Any]], list[Any]]] = {}
        self._uid = uid
        self._store = store
        self._page_bytes = page_bytes
        self._pages: dict[int, Page] = {}
        self._blobs: dict[int, bytes | None] = {}
        self._heaps: tuple[list[Any], list[Any]] = ([], [])
        self._order = 0
        # page 1 is asked for along with it: most often it is all there is
        blob, first = store.get_many(((uid, "meta", 0), (uid, "page", 1)))
        self._fetched: dict[int, bytes | None] = {1: first}
        self._meta_blob = blob
        self.meta = pickle.loads(blob) if blob else Meta()

    # ---------------------------------------------------------------- keys

    def select(self, key: Any) -> Entry:
        """Makes `key` (canonical) the current key."""
        entry = self.entries.get(key)
        if entry is None:
            entry = self.load(key)
        self.key, self.entry = key, entry
        return entry

    def load(self, key: Any) -> Entry:
        """The entry of a key not touched yet in this batch: loads its page, or starts a new entry."""
        number = self._page_of(key)
        if number not in self._pages:
            self._load_page(number)
            entry = self.entries.get(key)
            if entry is not None:
                return entry
        entry = self._pages[number][key] = self.entries[key] = {}
        return entry

    def _page_of(self, key: Any) -> int:
        splits, page = self.meta.splits, 1
        if splits:
            bits = (key_hash(key) * 0x9E3779B1 & 0xFFFFFFFF) >> 4  # spread: the key group fixed the low bits
            while page in splits:
                page = page * 2 + (bits & 1)
                bits >>= 1
        return page

    def prefetch(self, keys: list[Any]) -> None:
        """Asks the store for all pages of some keys at once; needed only for speed."""
        if self.meta.splits:
            pages = {self._page_of(key) for key in set(keys).difference(self.entries)}
            self._fetch(pages.difference(self._pages))

    def _fetch(self, pages: Iterable[int]) -> None:
        wanted = [number for number in pages if number not in self._fetched]
        blobs = self._store.get_many([(self._uid, "page", number) for number in wanted])
        self._fetched.update(zip(wanted, blobs, strict=True))

    def _load_page(self, number: int) -> None:
        self._fetch((number,))
        blob = self._fetched.pop(number)
        page: Page = pickle.loads(blob) if blob else {}
        self._pages[number] = page
        self._blobs[number] = blob
        self.entries.update(page)
        for domain in DOMAINS:
            if number in self.meta.due[domain]:
                heap = self._heaps[domain]
                for key, entry in page.items():
                    for time, namespace in entry.get(domain, ()):
                        self._order += 1
                        heap.append((time, self._order, key, namespace))
                heapify(heap)

    # ---------------------------------------------------------------- timers

    def register_timer(self, domain: int, time: int, namespace: Any) -> None:
        """Registers a timer of the current key; a second one for the same time and namespace is no other timer."""
        timers = self.entry.get(domain)
        if timers is None:
            timers = self.entry[domain] = set()
        timer = (time, namespace)
        if timer not in timers:
            timers.add(timer)
            self._order += 1
            heappush(self._heaps[domain], (time, self._order, self.key, namespace))

    def delete_timer(self, domain: int, time: int, namespace: Any) -> None:
        """Deletes a timer of the current key, if it is registered."""
        timers = self.entry.get(domain)
        if timers is not None:
            timers.discard((time, namespace))
            if not timers:
                del self.entry[domain]

    def fire_due(self, domain: int, until: int, fire: Callable[[int, Any], None]) -> None:
        """Calls `fire(time, namespace)` for each timer up to `until`, in time order, with its key as current key."""
        due = self.meta.due[domain]
        if due:
            pages = [page for page, time in due.items() if time <= until and page not in self._pages]
            self._fetch(pages)
            for page in pages:
                self._load_page(page)
        heap, entries = self._heaps[domain], self.entries
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

    # ---------------------------------------------------------------- the end of a batch

    def flush(self) -> None:
        """Writes back what changed."""
        self._convert()
        for number, page in list(self._pages.items()):
            for key in [key for key, entry in page.items() if not entry]:
                del page[key]
            self._write_page(number, page, self._blobs[number])
        blob = pickle.dumps(self.meta, 5)
        if blob != self._meta_blob:
            self._store.put((self._uid, "meta", 0), blob)

    def _write_page(self, number: int, page: Page, before: bytes | None, estimate: float = 0) -> None:
        """Writes a page, or splits it; `estimate` is its size if its parent was measured."""
        blob = pickle.dumps(page, 5) if page and estimate <= self._page_bytes else None
        size = estimate if blob is None else len(blob)
        if size > self._page_bytes and len(page) > 1 and number < 1 << 24:
            self._split(number, page, size)
            blob, page = None, {}
        elif page and blob is None:
            blob = pickle.dumps(page, 5)
        if blob != before:
            store_key = (self._uid, "page", number)
            if blob is None:
                self._store.remove(store_key)
            else:
                self._store.put(store_key, blob)
        for domain in DOMAINS:
            due = self.meta.due[domain]
            if self._heaps[domain] or number in due:
                times = [time for entry in page.values() if domain in entry for time, _ in entry[domain]]
                if times:
                    due[number] = min(times)
                else:
                    due.pop(number, None)

    def _split(self, number: int, page: Page, size: float) -> None:
        """Distributes a page over its two children, which may split in turn."""
        self.meta.splits.add(number)
        halves: tuple[Page, Page] = ({}, {})
        for key, entry in page.items():
            halves[self._page_of(key) & 1][key] = entry
        for half in (0, 1):
            share = size * len(halves[half]) / len(page)
            self._write_page(number * 2 + half, halves[half], None, share if share > self._page_bytes else 0)

    def _convert(self) -> None:
        """Brings declared states to their type: once per batch and touched key instead of at every update."""
        for name, convert in self.converters.items():
            holders = [entry for entry in self.entries.values() if name in entry]
            if holders:
                values = [entry[name] for entry in holders]
                converted = convert(values)
                if converted is not values:
                    for entry, value in zip(holders, converted, strict=True):
                        entry[name] = value
