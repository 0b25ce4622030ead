"""Keyed state and timers of one operator in one subtask, as a micro-batch sees them.

Keys belong to **key groups**, and a group's state is in **pages**. A page holds all state and timers of the keys whose
hash leads to it, pickled together. A page is read when a batch first touches a key on it, and written once at the end
of the batch, if it changed. Pages split when they grow, like the buckets of a trie: page 1 holds all keys of the group;
when it splits, an `Index` takes its place, and the next bit of a key's hash leads to page 2 or 3, and so on. A group
that has outgrown its pages is in **runs** (`runs.py`), which the index lists: a batch reads and writes only the entries
that it touches. So a batch costs what it touches, however much state there is.

Per key there is one **entry**, a dict of states and timers by slot (`slots.py`). `due` holds the earliest timers of
each group and page, so that time passes without reading pages on which nothing is due.

`expiry` holds in the same way when state with a time to live expires. `PageWriter` writes pages back.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from heapq import heapify, heappop, heappush
from itertools import repeat
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.time import checked_time
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.keys import CanonicalKey
from scurry.runtime.parts import is_part, owner_of, part_key, state_hash, state_hashes, whole
from scurry.runtime.state.declared import StateConversion
from scurry.runtime.state.expiry import Lifetime
from scurry.runtime.state.layout import (
    BEFORE_KEYS,
    FIRST_RUN,
    GROUP_SHIFT,
    NUMBER,
    Entry,
    Page,
    page_bits,
    page_of,
)
from scurry.runtime.state.slots import DOMAINS, PARTS
from scurry.runtime.state.store import RunInfo, StateSize, StateStore, StoreKey
from scurry.runtime.state.writing import PageWriter

if TYPE_CHECKING:
    from scurry.runtime.state.run_groups import DueKeys, RunGroups

#: A page is split when its encoding grows past this many bytes; in a batch that touches many keys, past more.
PAGE_BYTES = 4 * 1024

#: About how many bytes the state that a batch holds may take up in memory before it is written back.
STATE_BYTES = 256 * 1024 * 1024

#: About how many bytes a key takes up in memory besides its state, and the state for each of its bytes in the store.
_KEY_BYTES, _DECODED = 1024, 8

#: A batch holds at least this many keys: what writes back fewer soon reads them again.
_LEAST_KEYS = 16 * 1024

#: Once keys were asked for so many times as often as there are pages, how often no longer matters (`PageWriter`).
_KNOWN_DENSE = 4

#: For each domain: group or page -> time of its earliest timer.
Due = tuple[dict[int, int], dict[int, int]]

#: A timer of a key that is held: its time, a number that orders timers of the same time, its key and its namespace.
HeldTimer = tuple[int, int, CanonicalKey, Any]

#: In place of that number: the timer was all state of its key, which is not loaded and counts as removed.
_ALONE = 0


@dataclass
class Meta:
    """Values that the operator stores per subtask besides pages; `due` and `expiry` are by group.

    `lifetimes` are those of the states, by name, with which `expiry` was computed. `size` is how many bytes all pages
    and indexes have; None in state of earlier versions, which did not count them.
    """

    gate: dict[int, Any] = field(default_factory=dict)
    clock: int = 0
    due: Due = field(default_factory=lambda: ({}, {}))
    expiry: dict[int, int] = field(default_factory=dict)
    lifetimes: dict[str, Lifetime] = field(default_factory=dict)
    size: int | None = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**Meta(size=None).__dict__, **state})  # earlier versions wrote fewer fields


@dataclass
class Index:
    """The index of a key group of several pages or runs.

    Attributes:
        due: For each domain, by number of a page or run, when its earliest timer is due.
        expiry: By number of a page or run, when its first value will have expired.
        runs: The runs, the oldest first; a group with runs has no pages.
    """

    splits: set[int] = field(default_factory=set)
    due: Due = field(default_factory=lambda: ({}, {}))
    expiry: dict[int, int] = field(default_factory=dict)
    runs: list[RunInfo] = field(default_factory=list)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**Index().__dict__, **state})  # earlier versions wrote fewer fields

    def page_of(self, hashed: int) -> int:
        """Return the number of the page for a key with this hash."""
        page = 1
        if self.splits:
            bits = page_bits(hashed)
            while page in self.splits:
                page = page * 2 + (bits & 1)
                bits >>= 1
        return page

    def leaves(self) -> set[int]:
        """Return the numbers of all pages that hold keys."""
        halves = {page * 2 + bit for page in self.splits for bit in (0, 1)}
        return {1, *halves}.difference(self.splits)

    def parts(self) -> set[int]:
        """Return the numbers of all pages or runs that hold keys."""
        return {info.number for info in self.runs} or self.leaves()


class KeyedStateBackend:
    """Load, hold and write back the state that a batch touches; `key` and `entry` are the current key's.

    The per-record loop of an operator takes the entries of a block from `found`.
    """

    def __init__(
        self,
        uid: str,
        store: StateStore,
        max_parallelism: int = 128,
        page_bytes: int = PAGE_BYTES,
        state_bytes: int = STATE_BYTES,
    ) -> None:
        self.key: Any = None
        self.entry: Entry = BEFORE_KEYS
        self.entries: dict[Any, Entry] = {}
        #: the keys of the block for which `look_up` was called last, and the entry of each
        self._looked_up: tuple[Sequence[CanonicalKey], list[Entry]] = ((), [])
        #: hashes of the keys that were loaded together, except those in runs
        self.hashes: dict[CanonicalKey, int] = {}
        #: how many keys have been asked for together; a key of several blocks counts several times
        self.touched = 0
        #: registered states that divide what has become large
        self.dividing: list[Any] = []
        #: the parts of divided maps that were used, by key and slot, then by number
        self.held_parts: dict[tuple[CanonicalKey, Any], dict[int, Entry]] = {}
        #: conversions of registered states to their declared types
        self.conversions: list[StateConversion] = []
        #: lifetimes of registered states, by name; None for those that do not expire
        self.lifetimes: Mapping[str, Lifetime | None] = {}
        #: bytes of pages and runs that were written, and those of them that merges of runs have written
        self.bytes_written = self.bytes_merged = 0
        #: called with every page of entries that is written
        self.written: Callable[[bytes], None] | None = None
        self.uid = uid
        self.store = store
        self.max_parallelism = max_parallelism
        self.page_bytes = page_bytes
        self._state_bytes = state_bytes
        #: how many keys are held that are new or in runs, and the bytes that were read of them; pages are never much
        self._keys_held = self._bytes_read = 0
        #: whether entries are packed: for operators that keep much of each key, of which batches touch few
        self.packs_entries = False
        self.indexes: dict[int, Index] = {}  # by group
        self.pages: dict[int, Page] = {}  # by id
        self.blobs: dict[int, bytes | None] = {}  # what the store holds, by id
        #: what was touched of groups in runs
        self._runs: RunGroups | None = None
        self.heaps: tuple[list[HeldTimer], list[HeldTimer]] = ([], [])
        #: by domain: timers that were registered and are in no heap yet, how many of them are known not to be due, and
        #: the earliest time of those
        self.registered: tuple[list[HeldTimer], list[HeldTimer]] = ([], [])
        self._not_due = [(0, MAX_TIME), (0, MAX_TIME)]
        self._order = 0
        blob = self._meta_blob = store.get_many(((uid, "meta", 0),))[0]
        self.meta: Meta = pickle.loads(blob) if blob else Meta()
        #: whether the operator had no state before
        self.new = blob is None
        #: by domain: (time, group) and (time, page id) of timers that are in no heap because their page is not loaded
        self._groups_due = tuple([(time, group) for group, time in due.items()] for due in self.meta.due)
        self._pages_due: tuple[list[tuple[int, int]], ...] = ([], [])
        for waiting in self._groups_due:
            heapify(waiting)

    @property
    def is_full(self) -> bool:
        """True if loaded state takes up so much memory that it should be written back before more is loaded."""
        keys = self._keys_held
        return keys > _LEAST_KEYS and keys * _KEY_BYTES + self._bytes_read * _DECODED > self._state_bytes

    def forget(self) -> None:
        """Drop loaded state, after `flush`; the memory is free at once, without a garbage collection."""
        self._runs = None
        self.key, self.entry = None, BEFORE_KEYS
        self.entries.clear()
        self._looked_up = ((), [])
        self.held_parts.clear()
        self.pages.clear()
        self.hashes.clear()
        self.clear_timers()

    def clear_timers(self) -> None:
        """Drop the timers of the keys that are held."""
        for timers in (*self.heaps, *self.registered):
            timers.clear()
        self._not_due = [(0, MAX_TIME), (0, MAX_TIME)]

    # ---------------------------------------------------------------- keys

    def adopt(self, state: Any) -> None:
        """Adopt a state that users hold; it changes its form if there is a cheaper one."""
        if state.divides:
            self.dividing.append(state)

    def select(self, key: Any) -> Entry:
        """Make `key` (canonical) the current key."""
        entry = self.entries.get(key)
        if entry is None:
            entry = self.load(key)
        self.key, self.entry = key, entry
        return entry

    def load(self, key: Any) -> Entry:
        """Return the entry of a key not touched yet in this batch: load its page, or create an entry."""
        hashed = self.hash_of(key)
        group = hashed % self.max_parallelism
        if group not in self.indexes:
            self.load_groups((group,))
        index = self.indexes[group]
        if index.runs:
            self._load_from_runs({key: hashed})
            return self.entries[key]
        page = group << GROUP_SHIFT | index.page_of(hashed)
        if page not in self.pages:
            self.load_pages((page,))
        entry = self.entries.get(key)
        return self._opened(key, page) if entry is None else entry

    def part_of(self, owner: CanonicalKey, slot: Any, number: int) -> tuple[bytes, Entry]:
        """Return the key and the entry of a part of a key's state (`parts.py`); it does not become the current one."""
        key = part_key(owner, slot, number)
        entry = self.entries.get(key)
        return key, self.load(key) if entry is None else entry

    @property
    def runs(self) -> RunGroups:
        """The touched entries of groups in runs."""
        if self._runs is None:
            from scurry.runtime.state.run_groups import RunGroups

            self._runs = RunGroups(self)
        return self._runs

    def _load_from_runs(self, hashes: Mapping[CanonicalKey, int]) -> None:
        found, stored, size = self.runs.load(hashes)
        self._hold(found, size)
        self._add_timers(stored)

    def _hold(self, found: Mapping[CanonicalKey, Entry], size: int) -> None:
        self._bytes_read += size
        self._keys_held += len(found)
        self.entries.update(found)

    def _opened(self, key: CanonicalKey, page: int) -> Entry:
        """Return the entry of a key on a loaded page, decoded; create a missing one."""
        entries = self.pages[page]
        entry: Any = entries.get(key)
        if entry is None:
            entry = entries[key] = {}
            self._keys_held += 1
        elif type(entry) is bytes:
            entry = entries[key] = pickle.loads(entry)
        self.entries[key] = entry
        return entry  # type: ignore[no-any-return]

    def prefetch(self, keys: Iterable[CanonicalKey]) -> None:
        """Load the entries of some keys in one request to the store, or create them; needed only for speed."""
        entries, count = self.entries, self.max_parallelism
        wanted = dict.fromkeys(keys)
        self.touched += len(wanted)
        new = [key for key in wanted if key not in entries]  # entries are read in the order in which they were made
        found = dict(zip(new, state_hashes(new, count), strict=True))
        groups = {hashed % count for hashed in found.values()}
        self.load_groups(groups.difference(self.indexes))
        indexes = self.indexes
        paged = {group for group in groups if not indexes[group].runs}
        if len(paged) < len(groups):
            in_runs = {key: each for key, each in found.items() if each % count not in paged} if paged else found
            self._load_from_runs(in_runs)
            if not paged:
                return
            found = {key: hashed for key, hashed in found.items() if key not in in_runs}
        self.hashes.update(found)
        numbers = [hashed % count << GROUP_SHIFT | indexes[hashed % count].page_of(hashed) for hashed in found.values()]
        self.load_pages(set(numbers).difference(self.pages))
        for key, number in zip(found, numbers, strict=True):
            if key not in entries:
                self._opened(key, number)

    def look_up(self, keys: Sequence[CanonicalKey]) -> None:
        """Load the entries of the keys of a block of records; `found` returns that of each."""
        find = self.entries.__getitem__
        try:
            found = list(map(find, keys))
        except KeyError:
            self.prefetch(keys)
            found = list(map(find, keys))
        else:
            if self.touched < _KNOWN_DENSE * len(self.pages):
                self.touched += len(set(keys))
        self._looked_up = keys, found

    def found(self, keys: Sequence[CanonicalKey]) -> Sequence[Entry]:
        """Return the entry of each key of a block, which stays the same until the end of a batch."""
        if self._looked_up[0] is not keys:
            self.look_up(keys)
        return self._looked_up[1]

    def keys_with(self, slot: Any, groups: Iterable[int]) -> list[CanonicalKey]:
        """Return all keys of some key groups that have a value in `slot`; load every page of the groups."""
        groups = set(groups)
        self.load_groups(groups.difference(self.indexes))
        for group in groups:
            if self.indexes[group].runs:
                self.prefetch(self.runs.keys_of(group))
        paged = [group for group in groups if not self.indexes[group].runs]
        pages = {group << GROUP_SHIFT | number for group in paged for number in self.indexes[group].leaves()}
        self.load_pages(pages.difference(self.pages))
        for page in pages:
            for key in self.pages[page].keys() - self.entries.keys():
                self._opened(key, page)
        return [
            key
            for key, entry in self.entries.items()
            if (slot in entry and not is_part(key)) or (PARTS in entry and slot in entry[PARTS])
        ]

    def hash_of(self, key: CanonicalKey) -> int:
        hashed = self.hashes.get(key)
        return state_hash(key, self.max_parallelism) if hashed is None else hashed

    def hashes_of(self, keys: Collection[CanonicalKey]) -> list[int]:
        known = self.hashes
        try:
            return list(map(known.__getitem__, keys))
        except KeyError:
            new = [key for key in keys if key not in known]
        hashes = state_hashes(new, self.max_parallelism)
        known.update(zip(new, hashes, strict=True))
        return hashes if len(new) == len(keys) else [known[key] for key in keys]

    def _read(self, pages: list[int]) -> Iterable[tuple[int, bytes | None]]:
        if not pages:
            return ()
        return zip(pages, self.store.get_many([(self.uid, "page", page) for page in pages]), strict=True)

    def load_groups(self, groups: Iterable[int]) -> None:
        """Load the first pages of groups, or the indexes in their places."""
        for page, blob in self._read([group << GROUP_SHIFT | 1 for group in groups]):
            content: Any = pickle.loads(blob) if blob else {}
            if isinstance(content, Index):
                self.indexes[page >> GROUP_SHIFT] = content
                self.blobs[page] = blob
                for domain in DOMAINS:
                    for number, time in content.due[domain].items():
                        heappush(self._pages_due[domain], (time, page - 1 | number))
            else:
                self.indexes[page >> GROUP_SHIFT] = Index()
                self._add_page(page, content, blob)

    def load_pages(self, pages: Iterable[int]) -> None:
        for page, blob in self._read(list(pages)):
            self._add_page(page, pickle.loads(blob) if blob else {}, blob)

    def _add_page(self, number: int, content: Any, blob: bytes | None) -> None:
        self.blobs[number] = blob
        if self.packs_entries and type(content) is tuple:
            self.pages[number] = content[0]
            page = {key: entry for key, entry in content[0].items() if type(entry) is not bytes}
        else:
            page = self.pages[number] = page_of(content)
        self.entries.update(page)
        self._add_timers(page)

    def _add_timers(self, page: Mapping[CanonicalKey, Entry]) -> None:
        for domain in DOMAINS:
            self._push(domain, self._timers_of(page, domain))

    def _timers_of(self, page: Mapping[CanonicalKey, Entry], domain: int) -> list[HeldTimer]:
        timers = [(timer, key) for key, entry in page.items() if domain in entry for timer in entry[domain]]
        order = self._order + 1
        self._order += len(timers)
        return [(time, place, key, space) for place, ((time, space), key) in enumerate(timers, order)]

    def _in_time_order(self, found: DueKeys, domain: int) -> tuple[list[HeldTimer], Any]:
        """Return the timers of keys that are due, the earliest first, and an array of their times."""
        import numpy as np

        timers = self._timers_of(found.entries, domain)
        times = [np.fromiter((time for time, *_ in timers), np.int64, len(timers))]
        for due, keys in found.timers:
            timers += zip(due.tolist(), repeat(_ALONE), keys, repeat(None))
            times.append(due)
        every = np.concatenate(times)
        places = every.argsort(kind="stable")
        return list(map(timers.__getitem__, places.tolist())), every[places]

    def _push(self, domain: int, timers: list[HeldTimer]) -> None:
        heap = self.heaps[domain]
        if len(timers) > len(heap):
            heap += timers
            heapify(heap)
        else:
            for timer in timers:
                heappush(heap, timer)

    # ---------------------------------------------------------------- timers

    def forget_timers(self) -> None:
        """Forget all timers, for an operator that has none and takes over state of one that had."""
        for due, waiting in zip(self.meta.due, self._groups_due, strict=True):
            due.clear()
            waiting.clear()

    def register_timer(self, domain: int, time: int, namespace: Any) -> None:
        """Register a timer of the current key, unless it has one for the same time and namespace.

        Raises:
            TimestampError: The time is no 64-bit int.
        """
        timers, timer = self.entry.get(domain), (time, namespace)
        if timers is None or timer not in timers:
            if type(time) is not int or not MIN_TIME <= time <= MAX_TIME:
                time = checked_time(time, "a timer")
                timer = (time, namespace)
            if timers is None:
                timers = self.entry[domain] = set()
            timers.add(timer)
            self._order = order = self._order + 1
            self.registered[domain].append((time, order, self.key, namespace))

    def delete_timer(self, domain: int, time: int, namespace: Any) -> None:
        """Delete a timer of the current key, if it is registered."""
        if type(time) is not int or not MIN_TIME <= time <= MAX_TIME:
            time = checked_time(time, "a timer")
        timers = self.entry.get(domain)
        if timers is not None:
            timers.discard((time, namespace))
            if not timers:
                del self.entry[domain]

    def fire_due(self, domain: int, until: int, fire: Callable[[int, Any], None], in_parts: bool = True) -> bool:
        """Call `fire(time, namespace)` for each timer up to `until`, in time order, with its key as the current key.

        For a timer of a part, the current key is the owner's and the current entry that of the part.

        Args:
            until: The time in milliseconds.
            in_parts: Whether some may be left.

        Returns:
            Whether all were fired. If not, what is held takes up much memory: a backend that is made after `flush`
            goes on with the others.
        """
        heap, registered, entries = self.heaps[domain], self.registered[domain], self.entries
        while True:
            ready, reached, complete = self._load_due(domain, until, in_parts)
            not_due = self._push_registered(domain, reached)
            while True:
                if len(registered) > not_due:
                    not_due = self._push_registered(domain, reached)
                if ready and not (heap and heap[0] < ready[-1]):
                    time, order, key, namespace = ready.pop()
                    if order == _ALONE:
                        self._fire_alone(time, key, fire)
                        continue
                elif heap and heap[0][0] <= reached:
                    time, _, key, namespace = heappop(heap)
                else:
                    break
                entry = entries[key]
                timers = entry.get(domain)
                if timers is None or (time, namespace) not in timers:
                    continue  # deleted since
                if len(timers) > 1:
                    timers.discard((time, namespace))
                else:
                    del entry[domain]
                self.key, self.entry = owner_of(key) if type(key) is bytes and is_part(key) else key, entry
                fire(time, namespace)
            if complete or self.is_full:
                return complete

    def _push_registered(self, domain: int, until: int) -> int:
        """Add the registered timers to the heap if one is due up to `until`; return how many are left."""
        registered, (count, earliest) = self.registered[domain], self._not_due[domain]
        if len(registered) > count:
            earliest = min(earliest, min(registered[count:])[0])
        if registered and earliest <= until:
            self._push(domain, registered)
            registered.clear()
            earliest = MAX_TIME
        self._not_due[domain] = len(registered), earliest
        return len(registered)

    def _fire_alone(self, time: int, key: CanonicalKey, fire: Callable[[int, Any], None]) -> None:
        """Fire the timer of a key that had no other state; hold the key if it has some now."""
        entry = self.entries.get(key)
        is_new = entry is None
        if entry is None:
            entry = self.entries[key] = {}
        self.key, self.entry = key, entry
        fire(time, None)
        if is_new:
            if entry:
                self.runs.note_changed(key)
                self._keys_held += 1
            else:
                del self.entries[key]

    def _load_due(self, domain: int, until: int, in_parts: bool) -> tuple[list[HeldTimer], int, bool]:
        """Load pages and keys of runs with timers up to `until`; of many keys, those whose timers are the earliest.

        Returns:
            Timers that are due and in no heap, the last one first (sorted at once, they cost less than in a heap); up
            to what time timers may fire now; and whether none up to `until` is left.
        """
        groups = {group for _, group in _pop_due(self._groups_due[domain], until)}
        if groups:
            self.load_groups(groups.difference(self.indexes))
        due = dict.fromkeys(page for _, page in _pop_due(self._pages_due[domain], until))
        in_runs = [page for page in due if self.indexes[page >> GROUP_SHIFT].runs]
        self.load_pages(due.keys() - self.pages.keys() - set(in_runs))
        if not in_runs:
            return [], until, True
        limit = max(self._state_bytes // _KEY_BYTES, _LEAST_KEYS) // 2 + 1 if in_parts else None
        found = self.runs.due(domain, in_runs, until, limit)
        self._hold(found.entries, found.size)
        self._keys_held += sum(len(keys) for _, keys in found.timers)
        for following in found.following:
            heappush(self._pages_due[domain], following)
        self._push(1 - domain, self._timers_of(found.entries, 1 - domain))
        timers, times = self._in_time_order(found, domain)
        count = int(times.searchsorted(found.reached, "right"))
        self._push(domain, timers[count:])
        del timers[count:]
        timers.reverse()
        return timers, found.reached, found.complete

    # ---------------------------------------------------------------- the end of a batch

    def flush(self, now: int = 0) -> StateSize | None:
        """Write back changes, without state that has expired by `now` (ms); return the size of state afterwards.

        The size is None if an earlier version began the state.
        """
        for convert in self.conversions:
            convert(self.entries.values())
        for state in self.dividing:
            state.divide()
        PageWriter(self, now).write()
        blob = pickle.dumps(self.meta, 5)
        if blob != self._meta_blob:
            self.store.put((self.uid, "meta", 0), blob)
        return None if self.meta.size is None else StateSize(self.meta.size, self.bytes_written, self.bytes_merged)

    def write_run(self, place: StoreKey, blob: bytes, digest: int) -> None:
        self.bytes_written += len(blob)
        if self.meta.size is not None:
            self.meta.size += len(blob)
        self.store.put_run(place, digest, blob)

    def remove_run(self, place: StoreKey, info: RunInfo) -> None:
        if self.meta.size is not None:
            self.meta.size -= info.size
        self.store.remove_run(place, info)

    def write_page(self, number: int, blob: bytes | None, size_before: int) -> None:
        """Store a page, or remove it.

        Args:
            number: Its id.
            blob: What is stored of it from now on, if anything.
            size_before: How many bytes were stored of it.
        """
        key, size = (self.uid, "page", number), len(blob or b"")
        self.bytes_written += size
        if self.meta.size is not None:
            self.meta.size += size - size_before
        if blob is None:
            self.store.remove(key)
        else:
            self.store.put(key, blob)


def take_over(uid: str, entries: Iterable[tuple[str, int, bytes]], store: StateStore) -> None:
    """Store restored entries of an operator: kind, number and content of each. The meta counts their bytes."""
    from scurry.runtime.state.runs import digest_of

    place = uid, "meta", 0
    (blob,) = store.get_many((place,))
    meta = pickle.loads(blob) if blob else Meta()
    size = meta.size
    for kind, number, content in entries:
        if kind == "meta":
            meta = pickle.loads(content)
        else:
            if kind == "page" and number & NUMBER > FIRST_RUN and content[0] == 0:
                store.put_run((uid, kind, number), digest_of(content), content)
            else:
                store.put((uid, kind, number), content)
            if kind == "page" and size is not None:
                size += len(content)
    meta.size = size
    store.put(place, pickle.dumps(meta, 5))


def stored_entries(uid: str, store: Mapping[StoreKey, bytes]) -> Page:
    """Return the entries of all keys of an operator in a store, for tools that inspect state."""
    entries: Page = {}
    from scurry.runtime.state import row_runs
    from scurry.runtime.state.run_groups import newest
    from scurry.runtime.state.runs import Run, stored_content

    runs: list[tuple[int, Run]] = []
    rows: list[tuple[int, row_runs.RowRun]] = []
    for (owner, kind, place), blob in store.items():
        if owner == uid and kind == "page":
            content = stored_content(blob)
            if isinstance(content, Run):
                runs.append((place, content))
                continue
            if isinstance(content, row_runs.RowRun):
                rows.append((place, content))
                continue
            for key, entry in {} if isinstance(content, Index) else page_of(content).items():
                known = entries.setdefault(key, entry)
                if known is not entry:  # rows of a hot key
                    known.update({slot: known.get(slot, []) + rows for slot, rows in entry.items()})
    entries.update(newest(runs))
    entries.update(row_runs.entries(rows))
    return dict(whole(entries.items()))


def _pop_due(waiting: list[tuple[int, int]], until: int) -> list[tuple[int, int]]:
    """Remove the timers up to `until` from their heap, and return them."""
    found = []
    while waiting and waiting[0][0] <= until:
        found.append(heappop(waiting))
    return found
