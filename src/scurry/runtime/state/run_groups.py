"""RunGroups: the touched entries of key groups whose state is in runs."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scurry.errors import CheckpointCorruptedError
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.keys import CanonicalKey, from_sortable, sortables
from scurry.runtime.state.expiry import Lifetimes, due
from scurry.runtime.state.layout import FIRST_RUN, GROUP_SHIFT, NUMBER, Entry, Page, encoded, times_of_timers
from scurry.runtime.state.runs import (
    NEVER,
    Run,
    built,
    encoded_timers,
    first_timers,
    merged,
    removals,
    share_of,
    to_merge,
    values_of,
)
from scurry.runtime.state.slots import DOMAINS, EVENT
from scurry.runtime.state.store import RunInfo

if TYPE_CHECKING:
    from scurry.runtime.state.backend import Index, KeyedStateBackend

#: After so many keys the memory of mapped runs may be released: a key that is found brings 64 KB of a run into it for
#: its hash, for its place, for itself and for its entry.
_RELEASED_KEYS = 256

#: Of at least so many keys with timers that are due, those whose state is just that timer are not loaded.
MANY_DUE = 1024

_EMPTY = np.empty(0, np.int64)


class DueKeys(NamedTuple):
    """Keys with timers that are due.

    Attributes:
        entries: The keys that were not loaded before, with their entries.
        timers: Keys whose state was just the timer that is due, an array of times and a list of keys for each run. They
            have no entry and count as removed.
        size: The bytes that the entries had.
        reached: Up to what time timers may fire now, in milliseconds.
        complete: Whether these are all.
        following: When runs are due next, with their ids.
    """

    entries: dict[CanonicalKey, Entry]
    timers: list[tuple[Any, list[CanonicalKey]]]
    size: int
    reached: int
    complete: bool
    following: list[tuple[int, int]]


class _Loaded(NamedTuple):
    """The keys of a group that were loaded, in columns.

    Attributes:
        before: Their pickled entries as they were, None for those without.
    """

    keys: list[CanonicalKey]
    hashes: list[int]
    before: list[bytes | None]


class RunGroups:
    """Load the entries of runs that a batch touches; write the changed ones as new runs.

    Args:
        backend: The backend, whose `indexes` list the runs of each group.
    """

    def __init__(self, backend: KeyedStateBackend) -> None:
        self._backend = backend
        self._loaded: dict[int, _Loaded] = {}  # by group
        self._runs: dict[int, Run] = {}  # by digest
        #: how many keys were asked for since the store was told that memory may be released
        self._found = 0
        #: by group: runs, each with the places of keys that were removed without being loaded
        self._removed: dict[int, list[tuple[Run, Any]]] = {}
        #: by domain and group: all timers up to this time have been loaded
        self._until: tuple[dict[int, int], dict[int, int]] = ({}, {})

    # ---------------------------------------------------------------- reading

    def load(self, hashes: Mapping[CanonicalKey, int]) -> tuple[Page, Page, int]:
        """Load the entries of keys that were not loaded before.

        Returns:
            The entries, empty ones of keys without state; those of keys with state; and the bytes they had.
        """
        keys, asked = list(hashes), np.fromiter(hashes.values(), np.uint32, len(hashes))
        owners = asked % np.uint32(self._backend.max_parallelism)
        order = np.argsort(owners, kind="stable")
        groups, starts = np.unique(owners[order], return_index=True)
        self._open(groups.tolist())
        stored: Page = {}
        size = 0
        for group, places in zip(groups.tolist(), np.split(order, starts[1:]), strict=True):
            members, hashed = list(map(keys.__getitem__, places.tolist())), asked[places]
            values = values_of(self._newest_first(group), members, hashed)
            size += self._decode(group, members, hashed.tolist(), values, stored)
        found: Page = {key: {} for key in keys if key not in stored} if stored else {key: {} for key in keys}
        found.update(stored)
        return found, stored, size

    def _decode(
        self,
        group: int,
        keys: Sequence[CanonicalKey],
        hashes: Sequence[int],
        values: Sequence[bytes | None],
        found: dict[CanonicalKey, Entry],
    ) -> int:
        """Add the entries of keys that had these values, if any, to those found; return the bytes they had."""
        loaded = self._loaded_of(group)
        loaded.keys.extend(keys)
        loaded.hashes.extend(hashes)
        loaded.before.extend(values)
        self._found += len(keys)
        some = [value for value in values if value is not None] if any(values) else []
        if len(some) < len(keys):
            keys = [key for key, value in zip(keys, values, strict=True) if value is not None]
        found.update(zip(keys, map(pickle.loads, some), strict=True))
        if self._found >= _RELEASED_KEYS:
            self._backend.store.release()
            self._found = 0
        return sum(map(len, some))

    def _loaded_of(self, group: int) -> _Loaded:
        return self._loaded.setdefault(group, _Loaded([], [], []))

    def due(self, domain: int, places: Iterable[int], until: int, limit: int | None) -> DueKeys:
        """Load keys with timers up to `until`: all, or if they are many, those whose timers are the earliest.

        Of keys with the same time, those of some groups come first.

        Args:
            domain: The time domain.
            places: The ids of the runs.
            until: The time in milliseconds.
            limit: How many keys are many, None for any number; those of one group may be more. With None, all of them
                are loaded and held: the operator may keep entries until all timers have fired.
        """
        by_group: dict[int, list[int]] = {}
        for place in sorted(places):
            by_group.setdefault(place >> GROUP_SHIFT, []).append(place)
        self._open(by_group)
        runs = {place: self._run_at(place) for numbers in by_group.values() for place in numbers}
        first = {place: self._first_due(domain, place) for place in runs}
        due = {place: run.places_due(domain, first[place], until) for place, run in runs.items()}
        times = np.concatenate([_EMPTY, *(runs[place].due[domain][due[place]] for place in runs if len(due[place]))])
        reached = until
        timers: list[tuple[Any, list[CanonicalKey]]] | None = None
        if limit is None:
            limit = len(times) + 1
        elif len(times) >= MANY_DUE:
            timers = []
        if len(times) > limit:
            reached = max(int(np.partition(times, limit)[limit]) - 1, int(times.min()))
            reached = until if reached == NEVER - 1 else reached  # which stands for the last time, too
        found: dict[CanonicalKey, Entry] = {}
        following: list[tuple[int, int]] = []
        complete, count, size = reached == until, 0, 0
        for group, numbers in by_group.items():
            if count >= limit:
                following.extend((first[place], place) for place in numbers)
                complete = False
                continue
            self._until[domain][group] = reached
            chosen: list[tuple[Run, Any]] = []
            for place in numbers:
                run, own = runs[place], due[place]
                if len(own):
                    chosen.append((run, own[run.due[domain][own] <= reached]))
                    count += len(chosen[-1][1])
                time = self._following(run, domain, reached)
                if time is not None:
                    following.append((time, place))
            size += self._load_places(domain, group, chosen, found, timers)
        return DueKeys(found, timers or [], size, reached, complete, following)

    def _load_places(
        self,
        domain: int,
        group: int,
        chosen: Sequence[tuple[Run, Any]],
        found: dict[CanonicalKey, Entry],
        timers: list[tuple[Any, list[CanonicalKey]]] | None,
    ) -> int:
        """Add the newest entries of keys to those found, unless they were loaded before; return the bytes they had.

        Args:
            domain: The time domain.
            timers: Takes keys whose state is just a timer, instead; None to load all entries.
        """
        newest_first, held = self._newest_first(group), self._backend.entries
        hidden: dict[CanonicalKey, int] = {}
        others = 0 if timers is None else len(timers)
        size = 0
        for run, places in chosen:
            hashes = run.hashes[places]
            is_hidden = np.zeros(len(places), bool)
            for newer in newest_first[: newest_first.index(run)]:
                is_hidden |= newer.has(hashes)
            keys = run.keys_at(places)
            if is_hidden.any():
                hidden.update(compress(zip(keys, hashes.tolist(), strict=True), is_hidden.tolist()))
            new = ~is_hidden
            if held:
                new &= np.array([key not in held for key in keys], bool)
            if timers is not None:
                alone = new.copy()
                alone[new] = run.are_timers(domain, places[new])
                if alone.any():
                    timers.append((run.due[domain][places[alone]], list(compress(keys, alone.tolist()))))
                    run.remove(places[alone])
                    self._removed.setdefault(group, []).append((run, places[alone]))
                new &= ~alone
            if not new.all():
                places, hashes, keys = places[new], hashes[new], list(compress(keys, new.tolist()))
            size += self._decode(group, keys, hashes.tolist(), run.values_at(places), found)
        if hidden:
            elsewhere = found.keys() | held.keys() | {key for _, keys in (timers or ())[others:] for key in keys}
            hidden = {key: hashed for key, hashed in hidden.items() if key not in elsewhere}
        if hidden:
            entries, _, more = self.load(hidden)
            found.update(entries)
            size += more
        return size

    def _run_at(self, place: int) -> Run:
        runs = self._backend.indexes[place >> GROUP_SHIFT].runs
        return self._runs[next(info.digest for info in runs if info.number == place & NUMBER)]

    def _first_due(self, domain: int, place: int) -> int:
        """Return the time from which on timers of a run have not been loaded."""
        noted = self._backend.indexes[place >> GROUP_SHIFT].due[domain].get(place & NUMBER, MIN_TIME)
        return max(noted, self._loaded_until(domain, place >> GROUP_SHIFT) + 1)

    def _loaded_until(self, domain: int, group: int) -> int:
        return self._until[domain].get(group, MIN_TIME - 1)

    @staticmethod
    def _following(run: Run, domain: int, until: int) -> int | None:
        """Return the earliest timer of a run after a time; the last time but one stands for the last, too."""
        return run.first_due(domain, until if until != NEVER - 1 else until - 1)

    def note_changed(self, key: CanonicalKey) -> None:
        """Write the entry of a key that was removed without being loaded: it has state again."""
        hashed = self._backend.hash_of(key)
        keys, hashes, before = self._loaded_of(hashed % self._backend.max_parallelism)
        keys.append(key)
        hashes.append(hashed)
        before.append(None)

    def keys_of(self, group: int) -> list[CanonicalKey]:
        """Return the keys of a group that have had state."""
        self._open((group,))
        return list({from_sortable(stored.key): None for run in self._newest_first(group) for stored in run})

    def _open(self, groups: Iterable[int]) -> None:
        """Read the runs of some groups in one request to the store."""
        wanted = [
            (group, info)
            for group in groups
            for info in self._backend.indexes[group].runs
            if info.digest not in self._runs
        ]
        if wanted:
            places = [(self._place(group, info.number), info) for group, info in wanted]
            for (_, info), blob in zip(wanted, self._backend.store.get_runs(places), strict=True):
                if blob is None:
                    raise CheckpointCorruptedError("the state of a key group is damaged: a run of its index is missing")
                self._runs[info.digest] = Run(blob, info.digest)

    def _place(self, group: int, number: int) -> tuple[str, str, int]:
        return self._backend.uid, "page", group << GROUP_SHIFT | number

    def _newest_first(self, group: int) -> list[Run]:
        return [self._runs[info.digest] for info in reversed(self._backend.indexes[group].runs)]

    # ---------------------------------------------------------------- writing

    def write(self, begun: Mapping[int, tuple[Page, int | None]], lifetimes: Lifetimes, now: int) -> None:
        """Write changed entries, merge runs, and update the indexes.

        Args:
            begun: By group that was in pages until now: all its keys, and when the first value will have expired.
            lifetimes: The lifetimes of states that expire, by name.
            now: The time in milliseconds.
        """
        for group, index in self._backend.indexes.items():
            self._skip_fired(group, index)
            if group in begun:
                page, expiry = begun[group]
                entries = [*page.values()]
                self._append(group, [*page], self._backend.hashes_of(page), *_encoded(entries), expiry)
            if group in self._removed:
                self._put(group, removals(self._removed.pop(group)), None, (NEVER, NEVER))
            if group in self._loaded:
                self._write_changed(group, self._loaded.pop(group), lifetimes, now)
            if index.runs:
                self._merge(group)
            for info in index.runs:
                self._runs.pop(info.digest, None)
        self._backend.store.release()

    def _skip_fired(self, group: int, index: Index) -> None:
        """Note the next due time of runs: entries that were due are in a newer run if they have other timers."""
        for domain in DOMAINS:
            until, noted = self._loaded_until(domain, group), index.due[domain]
            for info in index.runs:
                if info.digest in self._runs and noted.get(info.number, NEVER) <= until:
                    _note(noted, info.number, self._following(self._runs[info.digest], domain, until))

    def _write_changed(self, group: int, loaded: _Loaded, lifetimes: Lifetimes, now: int) -> None:
        keys, hashes, before = loaded
        entries = list(map(self._backend.entries.__getitem__, keys))
        expiry = due(dict(zip(keys, entries, strict=True)), lifetimes, now) if lifetimes else None
        values, timers = _encoded(entries)
        changed = _changed(values, before)
        again = self._fired(group, timers)
        if again:
            changed = sorted(again.union(changed))
        if not changed:
            return
        if len(changed) < len(keys):
            keys, hashes = [keys[place] for place in changed], [hashes[place] for place in changed]
            values = values[changed] if isinstance(values, np.ndarray) else [values[place] for place in changed]
            timers = [None if times is None else np.asarray(times, np.int64)[changed] for times in timers]
        self._append(group, keys, hashes, values, timers, expiry)

    def _fired(self, group: int, timers: Sequence[Any]) -> set[int]:
        """Return the places of entries with timers that were due: of older runs they count as fired."""
        found: set[int] = set()
        for domain, times in zip(DOMAINS, timers, strict=True):
            until = self._until[domain].get(group)
            if until is not None and times is not None:
                found.update(np.flatnonzero(np.asarray(times, np.int64) <= until).tolist())
        return found

    def _append(
        self,
        group: int,
        keys: Sequence[CanonicalKey],
        hashes: Sequence[int],
        values: Any,
        timers: Sequence[Any],
        expiry: int | None,
    ) -> None:
        """Store a run of keys.

        Args:
            values: Their entries, as `built` takes them.
            timers: For each domain their earliest timers, `NEVER` for none; None if no key has any.
            expiry: When the first value will have expired.
        """
        if self._backend.written is not None and not isinstance(values, np.ndarray):
            for value in filter(None, values):
                self._backend.written(value)
        blob = built(hashes, sortables(keys), values, timers)
        self._put(group, blob, expiry, [NEVER if times is None else int(np.min(times)) for times in timers])

    def _put(
        self, group: int, blob: bytes, expiry: int | None, timers: Sequence[int], number: int | None = None
    ) -> None:
        """Store a run as the newest of its group; without a number, it gets the next one."""
        index, run = self._backend.indexes[group], Run(blob)
        if number is None:
            number = max((info.number for info in index.runs), default=FIRST_RUN) + 1
        info = RunInfo(number, run.digest, len(run.hashes), len(blob))
        index.runs.append(info)
        self._backend.write_run(self._place(group, number), blob, run.digest)
        _note(index.expiry, number, expiry)
        for domain in DOMAINS:
            _note(index.due[domain], number, timers[domain])

    def _merge(self, group: int) -> None:
        index, share = self._backend.indexes[group], share_of(group)
        while (found := to_merge(index.runs, share)) is not None:
            self._open((group,))
            old = index.runs[-found.newest :]
            blob = merged([self._runs[info.digest] for info in reversed(old)], found.all)
            expiry = [index.expiry[info.number] for info in old if info.number in index.expiry]
            timers = [min((index.due[d].get(info.number, NEVER) for info in old), default=NEVER) for d in DOMAINS]
            for info in old:
                self._drop(group, info)
            if blob is not None:
                self._backend.bytes_merged += len(blob)
                self._put(group, blob, min(expiry, default=None), timers, old[-1].number + 1)

    def _drop(self, group: int, info: RunInfo) -> None:
        index = self._backend.indexes[group]
        index.runs.remove(info)
        self._runs.pop(info.digest, None)
        for noted in (index.expiry, *index.due):
            noted.pop(info.number, None)
        self._backend.remove_run(self._place(group, info.number), info)

    def clean(self, group: int, number: int, lifetimes: Lifetimes, now: int) -> None:
        """Write a run without the values that have expired.

        Args:
            lifetimes: The lifetimes of states that expire, by name.
            now: The time in milliseconds.
        """
        self._open((group,))
        index = self._backend.indexes[group]
        place = next(place for place, info in enumerate(index.runs) if info.number == number)
        info = index.runs[place]
        blob, expiry = without_expired(self._runs[info.digest], lifetimes, now)
        self._backend.remove_run(self._place(group, number), info)
        run = Run(blob)
        index.runs[place] = RunInfo(number, run.digest, info.keys, len(blob))
        self._runs[run.digest] = run
        self._backend.write_run(self._place(group, number), blob, run.digest)
        _note(index.expiry, number, expiry)


def without_expired(run: Run, lifetimes: Lifetimes, now: int, digest: int | None = None) -> tuple[bytes, int | None]:
    """Return a run without the values that have expired, and when it is due next; keys without state hide older ones.

    Args:
        lifetimes: The lifetimes of states that expire, by name.
        now: The time in milliseconds.
        digest: The digest that it has in the index of its group, None for that of its content.
    """
    stored = list(run)
    page = {each.key: pickle.loads(each.value) if each.value else {} for each in stored}
    expiry = due(page, lifetimes, now)
    return _replaced(run, encoded([page[each.key] for each in stored]), digest), expiry


def restored(blob: bytes, convert: Callable[[CanonicalKey, bytes], Entry]) -> bytes:
    """Return a run whose entries are converted; the index of its group fits it, too.

    Args:
        convert: Returns the new entry of a key from the pickled old one.
    """
    run = Run(blob)
    entries = [convert(from_sortable(each.key), each.value) if each.value else {} for each in run]
    return _replaced(run, encoded(entries), run.digest)


def _replaced(run: Run, values: Sequence[bytes], digest: int | None) -> bytes:
    keys = [run.key_at(place) for place in range(len(run.hashes))]
    return built(run.hashes.tolist(), keys, values, run.due, digest)


def newest(
    runs: Iterable[tuple[int, Run]], load: Callable[[bytes], Entry] = pickle.loads
) -> Iterator[tuple[CanonicalKey, Entry]]:
    """Yield the keys of runs, each with its newest entry.

    Args:
        runs: All runs of some groups, with their ids.
        load: Unpickles an entry.
    """
    seen: set[bytes] = set()
    for _, run in sorted(runs, key=lambda each: each[0], reverse=True):
        for stored in run:
            if stored.key not in seen:
                seen.add(stored.key)
                if stored.value:
                    yield from_sortable(stored.key), load(stored.value)


def _encoded(entries: Sequence[Entry]) -> tuple[Any, Sequence[Any]]:
    """Return entries pickled, as `built` takes them, and for each domain their earliest timers."""
    for domain in DOMAINS:
        found = times_of_timers(entries, domain)
        if found:
            times = np.array(found, np.int64)
            due = np.minimum(times, NEVER - 1)  # the last time stands for none
            return encoded_timers(times, domain), (due, None) if domain == EVENT else (None, due)
    return encoded(entries), first_timers(entries)


def _changed(values: Any, before: Sequence[bytes | None]) -> list[int]:
    """Return the places of entries that are not as they were."""
    if not isinstance(values, np.ndarray):
        return [place for place, (new, old) in enumerate(zip(values, before, strict=True)) if new != (old or b"")]
    return [place for place, old in enumerate(before) if old is None or old != values[place].tobytes()]


def _note(noted: dict[int, int], number: int, time: int | None) -> None:
    if time is None or time == NEVER:
        noted.pop(number, None)
    else:
        noted[number] = time
