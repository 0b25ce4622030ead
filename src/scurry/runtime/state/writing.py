"""Write back the pages that a batch has touched, remove expired state from others, and keep pages at their size.

Expired state is removed without being touched again (Flink's background cleanup): every batch that touches state
of a subtask also looks for pages that are due, the longest overdue first. It cleans at most `CLEANED_PAGES` of them,
plus as many as it has touched itself. So a batch reads and writes at most twice the pages it touches, plus that
constant. Cleaning keeps up, because a page becomes due only once for each time that one of its keys was touched.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection
from itertools import islice
from math import ceil, log2
from typing import TYPE_CHECKING, Any

from scurry.runtime.state.expiry import Lifetime, due, soonest
from scurry.runtime.state.layout import GROUP_SHIFT, NUMBER, Page, page_bits, page_of
from scurry.runtime.state.slots import DOMAINS, EVENT, PROCESSING

if TYPE_CHECKING:
    from scurry.runtime.state.backend import KeyedStateBackend

#: The number of due pages that a batch cleans, besides as many as it has touched.
CLEANED_PAGES = 128

#: The number of keys of due runs that a batch cleans, besides 16 for each that it has touched.
CLEANED_KEYS = 4096

#: A batch that touches at least so many keys per page lets pages grow to so many times their size: each page takes a
#: request to the store, which costs more than the keys that are read with one. Other batches leave such pages whole.
_DENSE, _LARGER = 1.2, 4

#: The size of a page of at least twice as many keys is estimated by that of so many.
_SAMPLED_KEYS = 64

#: A group of this many pages is written as runs.
RUN_PAGES = 8

#: The number of a page from which on pages do not split.
_DEEPEST = 1 << 24

#: In place of a group's earliest expiry: unknown, all its pages must be searched.
_UNKNOWN = -1


class PageWriter:
    """End a batch of one backend.

    Args:
        now: The time in milliseconds, by which state expires.
    """

    def __init__(self, backend: KeyedStateBackend, now: int) -> None:
        self._backend = backend
        self._now = now
        self._pages, self._indexes, self._blobs = backend.pages, backend.indexes, backend.blobs
        self._heaps, self._meta = backend.heaps, backend.meta
        is_dense = backend.touched >= len(backend.pages) * _DENSE
        self._packs = backend.packs_entries
        self._larger = backend.page_bytes * _LARGER
        self._page_bytes = self._larger if is_dense else backend.page_bytes
        self._soonest = 0
        #: pages to store, by id
        self._changed: dict[int, tuple[Page, bytes | None]] = {}
        #: by group that begins as runs: its entries, and when the first value will have expired
        self._begun: dict[int, tuple[Page, int | None]] = {}

    def write(self) -> None:
        """Write the pages and indexes that changed, and update the backend's meta."""
        cleaned = self._clean_up()
        for number in list(self._pages):
            self._finish_page(number)
        self._merge_pages(cleaned)
        outgrown = self._outgrown()
        for number, (_, blob) in self._changed.items():
            self._put(number, blob)
        in_runs = {group for group, index in self._indexes.items() if index.runs} | outgrown.keys()
        if in_runs:
            self._backend.runs.write(outgrown, self._meta.lifetimes, self._now)
        for group, index in self._indexes.items():
            if index.splits or index.runs:
                self._put(group << GROUP_SHIFT | 1, pickle.dumps(index, 5))
            elif group in in_runs:
                self._put(group << GROUP_SHIFT | 1, None)
            for domain in DOMAINS:
                _note(self._meta.due[domain], group, index.due[domain].values())
            if self._meta.expiry.get(group) != _UNKNOWN:
                _note(self._meta.expiry, group, index.expiry.values())

    def _put(self, number: int, blob: bytes | None) -> None:
        before = self._blobs.get(number)
        if blob != before:
            self._blobs[number] = blob  # a page that splits is removed before its index is put in its place
            self._backend.write_page(number, blob, len(before or b""))
            if blob is not None and self._backend.written is not None:
                self._backend.written(blob)

    def _finish_page(self, number: int) -> None:
        """Encode a loaded page without keys that have no state and, if it is due, without expired state."""
        page, expiry = self._pages[number], None
        if self._meta.lifetimes:
            expiry = self._indexes[number >> GROUP_SHIFT].expiry.get(number & NUMBER)
            if expiry is None or expiry <= self._now:
                expiry = due(page, self._meta.lifetimes, self._now)
            else:
                expiry = min(expiry, self._soonest)
        for key in [key for key, entry in page.items() if not entry]:
            del page[key]
        self._write_page(number, page, expiry)

    def _write_page(self, number: int, page: Page, expiry: int | None) -> None:
        """Encode a page, or split it if it is too large."""
        estimate = 0.0
        if self._packs:
            _pack(page)
        if len(page) >= _SAMPLED_KEYS * 2:
            sample = {key: page[key] for key in islice(page, _SAMPLED_KEYS)}
            estimate = len(pickle.dumps(sample, 5)) * len(page) / _SAMPLED_KEYS
        if number & NUMBER == 1 and estimate > RUN_PAGES * self._page_bytes > 0:
            self._begun[number >> GROUP_SHIFT] = page_of((page,) if self._packs else page), expiry
            self._note_page(number, {}, None, None)
            return
        was_larger = len(self._blobs.get(number) or b"") > self._page_bytes
        limit = self._larger if was_larger else self._page_bytes
        blob = self._encoded(page) if page and estimate <= limit * 2 else None
        size = estimate if blob is None else len(blob)
        if size > limit and len(page) > 1 and number & NUMBER < _DEEPEST:
            self._split(number, page, expiry, size)
        else:
            self._note_page(number, page, self._encoded(page) if blob is None and page else blob, expiry)

    def _encoded(self, page: Page) -> bytes:
        return pickle.dumps((page,) if self._packs else page, 5)

    def _split(self, number: int, page: Page, expiry: int | None, size: float) -> None:
        """Distribute a page over so many pages below it that each has about its size, in one pass.

        Args:
            number: Its id.
            expiry: When its first value will have expired.
            size: About how many bytes it has.
        """
        own = number & NUMBER
        depth = own.bit_length() - 1
        bits = [page_bits(hashed) >> depth for hashed in self._backend.hashes_of(page)]
        levels = min(_equal_bits(bits) + ceil(log2(size / self._page_bytes)), _DEEPEST.bit_length() - own.bit_length())
        mask = (1 << levels) - 1
        parts: dict[int, Page] = {}
        for lead, (key, entry) in zip(bits, page.items(), strict=True):
            part = parts.get(lead & mask)
            if part is None:
                part = parts[lead & mask] = {}
            part[key] = entry
        self._note_page(number, {}, None, expiry)
        splits = self._indexes[number >> GROUP_SHIFT].splits
        for lead, part in parts.items():
            child = own
            for level in range(levels):
                splits.add(child)
                child = child * 2 + (lead >> level & 1)
            blob = self._encoded(part)
            if len(blob) > self._page_bytes and len(part) > 1 and child < _DEEPEST:
                self._split(number - own + child, part, expiry, len(blob))
            else:
                self._note_page(number - own + child, part, blob, expiry)

    def _note_page(self, number: int, page: Page, blob: bytes | None, expiry: int | None) -> None:
        """Remember a page to store, and its due times."""
        index = self._indexes[number >> GROUP_SHIFT]
        if number & NUMBER != 1 or not index.splits:  # else the index takes its place
            self._changed[number] = page, blob
        _note(index.expiry, number & NUMBER, () if expiry is None or not page else (expiry,))
        for domain in DOMAINS:
            due_timers = index.due[domain]
            if self._heaps[domain] or self._backend.registered[domain] or due_timers:
                held = [entry[domain] for entry in page.values() if type(entry) is dict and domain in entry]
                times = [time for timers in held for time, _ in timers]
                _note(due_timers, number & NUMBER, times)

    def _merge_pages(self, cleaned: set[int]) -> None:
        """Merge the halves of pages that have become small, if both are loaded; load the siblings of `cleaned` ones.

        A merged page is at most half full, so that it does not split again soon.
        """
        quarter = self._page_bytes // 4
        small = [number for number, (_, blob) in self._changed.items() if blob is None or len(blob) <= quarter]
        while small:
            wanted = {number ^ 1 for number in cleaned.intersection(small) if self._is_half(number)}
            unread = wanted.difference(self._changed)
            self._backend.load_pages(unread)
            for number in unread:
                self._finish_page(number)
            parents = [self._merge(number) for number in small if self._is_half(number)]
            small = [number for number in parents if number is not None]
            cleaned = set(small)

    def _is_half(self, number: int) -> bool:
        """Return whether a page and its sibling are the two halves of another."""
        half, splits = number & NUMBER, self._indexes[number >> GROUP_SHIFT].splits
        return half != 1 and half >> 1 in splits and half not in splits and half ^ 1 not in splits

    def _merge(self, number: int) -> int | None:
        """Merge a page and its sibling, if they are small enough together; return the number of the merged page."""
        if number ^ 1 not in self._changed:
            return None
        (page, blob), (other, other_blob) = self._changed[number], self._changed[number ^ 1]
        if len(blob or b"") + len(other_blob or b"") > self._page_bytes // 2:
            return None
        index, half = self._indexes[number >> GROUP_SHIFT], number & NUMBER
        expiry = [index.expiry[each] for each in (half, half ^ 1) if each in index.expiry]
        index.splits.discard(half >> 1)
        for each in (half, half ^ 1):
            self._changed[number - half + each] = {}, None
            for remembered in (index.expiry, *index.due):
                remembered.pop(each, None)
        parent = number - half + (half >> 1)
        self._write_page(parent, {**page, **other}, min(expiry, default=None))
        return parent

    # ---------------------------------------------------------------- groups that outgrow their pages

    def _outgrown(self) -> dict[int, tuple[Page, int | None]]:
        """Remove the pages of groups that have become many; return their entries and the first expiry of each."""
        found, budget = self._begun, CLEANED_PAGES
        for group, index in self._indexes.items():
            if len(index.splits) + 1 < RUN_PAGES or index.runs:
                continue
            pages = {group << GROUP_SHIFT | number for number in index.leaves()}
            unread = pages.difference(self._changed)
            if len(unread) > budget < CLEANED_PAGES:
                continue  # groups of an earlier version have more pages: some of them in each batch
            budget -= len(unread)
            self._backend.load_pages(unread.difference(self._pages))
            for number in unread:
                self._finish_page(number)
            content: Page = {}
            for number in [group << GROUP_SHIFT | leaf for leaf in index.leaves()]:
                content.update(page_of((self._changed[number][0],)))
                self._changed[number] = {}, None
            if content:
                found[group] = content, min(index.expiry.values(), default=None)
            index.splits.clear()
            for noted in (index.expiry, *index.due):
                noted.clear()
        return found

    # ---------------------------------------------------------------- expired state

    def _clean_up(self) -> set[int]:
        """Load some of the pages that are due, to be written without expired state; return their ids."""
        meta = self._meta
        known = {**meta.lifetimes, **self._backend.lifetimes}
        lifetimes = {name: lifetime for name, lifetime in known.items() if lifetime is not None}
        if lifetimes != meta.lifetimes:
            meta.lifetimes = lifetimes
            if not self._backend.new and lifetimes:
                meta.expiry = dict.fromkeys(range(self._backend.max_parallelism), _UNKNOWN)
        if not lifetimes or not (self._pages or self._backend.entries):
            return set()
        self._soonest = soonest(lifetimes, self._now)
        budget = CLEANED_PAGES + len(self._pages)
        expired = sorted((time, group) for group, time in meta.expiry.items() if time <= self._now)
        groups = [group for _, group in expired]
        unread = [group for group in groups if group not in self._indexes]
        half = budget // 2
        self._backend.load_groups(unread[:half])
        expiring = sorted(page for group in groups if group in self._indexes for page in self._pages_expiring(group))
        chosen = [page for _, page in expiring[: budget - len(unread[:half])]]
        pages = {page for page in chosen if not self._indexes[page >> GROUP_SHIFT].runs}
        self._clean_runs([page for page in chosen if page not in pages], lifetimes)
        self._backend.load_pages(pages)
        self._backend.load_groups(unread[half : budget - len(pages)])  # most groups have one page, loaded by this
        return pages

    def _pages_expiring(self, group: int) -> list[tuple[int, int]]:
        """Return the pages of a group that are due and not loaded, with the times when they were due."""
        index = self._indexes[group]
        if self._meta.expiry[group] == _UNKNOWN:
            index.expiry, self._meta.expiry[group] = dict.fromkeys(index.parts(), 0), 0
        pages = [(time, group << GROUP_SHIFT | number) for number, time in index.expiry.items() if time <= self._now]
        return [(time, page) for time, page in pages if page not in self._pages]

    def _clean_runs(self, runs: list[int], lifetimes: dict[str, Lifetime]) -> None:
        """Write runs without expired state, the longest overdue first: at least one, and more the more was touched.

        A key is cleaned up to eight times per time to live, so twice that for each key that is touched keeps up.
        """
        budget = CLEANED_KEYS + 16 * len(self._backend.entries)
        for place in runs:
            if budget <= 0:
                break
            group, number = place >> GROUP_SHIFT, place & NUMBER
            budget -= next(info.keys for info in self._indexes[group].runs if info.number == number)
            self._backend.runs.clean(group, number, lifetimes, self._now)


def _pack(page: dict[Any, Any]) -> None:
    """Pickle each entry without timers by itself."""
    dumps = pickle.dumps
    for key, entry in page.items():
        if type(entry) is dict and EVENT not in entry and PROCESSING not in entry:
            page[key] = dumps(entry, 5)


def _equal_bits(numbers: list[int]) -> int:
    """Return how many of their lowest bits are the same in some numbers, judged by the first of them."""
    differing = 0
    for number in numbers[:_SAMPLED_KEYS]:
        differing |= number ^ numbers[0]
    return (differing & -differing).bit_length() - 1 if differing else 0


def _note(due: dict[int, int], number: int, times: Collection[int]) -> None:
    """Store the earliest of some times; without times, forget the stored one."""
    if times:
        due[number] = min(times)
    else:
        due.pop(number, None)
