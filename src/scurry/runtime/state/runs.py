"""Runs: immutable, sorted parts of the state of a key group that has outgrown its pages.

A batch writes the entries that it has changed as a new run; older runs hold what it did not touch. The newest entry of
a key counts. Runs of similar size are merged, each entry a few times in its life, so a batch costs what it touches,
however much state there is: it neither reads nor writes what it does not touch.

A run has the hashes of its keys in ascending order, so that the keys of a block are found together. A key whose state
was removed has an empty entry, which hides older ones; a merge with the oldest run drops it.
"""

from __future__ import annotations

import hashlib
import pickle
import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from scurry.errors import CheckpointCorruptedError
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.keys import CanonicalKey, from_sortables, sortable
from scurry.runtime.state.layout import RUN_MAGIC, TIMER_BYTES, Entry, has_rows, header_of, is_run, timer_template
from scurry.runtime.state.slots import DOMAINS
from scurry.runtime.state.store import RunInfo

#: Magic, digest, number of keys, whether there are timers of each domain, bytes of all keys and of all values.
_HEADER = struct.Struct("<8sQI??xxQQ")

#: In place of the time of the earliest timer of an entry without timers.
NEVER = MAX_TIME

#: Number of runs of similar size that are merged; runs are of similar size within this factor.
_FANOUT = 4
#: Maximum bytes of a run that others are merged to; runs of larger groups stay apart.
LARGEST_RUN = (1 << 31) - 1


class Stored(NamedTuple):
    """A key's state as a run holds it.

    Attributes:
        hashed: The hash of the key.
        value: Its entry, pickled; empty if it was removed.
        due: The time of its earliest timer in each domain, in milliseconds.
    """

    hashed: int
    key: bytes
    value: bytes
    due: tuple[int, int] = (NEVER, NEVER)


class Run:
    """A run over the bytes that are stored of it, which may be a mapped file; nothing is copied or decoded.

    Attributes:
        digest: That of its content, or of what it was before it was restored.
        hashes: The hashes of its keys, ascending.
        due: For each time domain the earliest timer of each key; None if no key has any.
        removed: Of each key whether it is read as removed, an array; None if none is.
    """

    __slots__ = ("_key_ends", "_keys", "_value_ends", "_values", "digest", "due", "hashes", "removed")

    def __init__(self, blob: Any, digest: int | None = None) -> None:
        """Find the parts.

        Args:
            blob: The bytes.
            digest: The digest that the run must have, if it is known.

        Raises:
            CheckpointCorruptedError: The bytes are no run, not all of one, or another run.
        """
        view, at = memoryview(blob), _HEADER.size
        _, self.digest, count, *timed, key_bytes, value_bytes = header_of(view, _HEADER, RUN_MAGIC, digest)
        if len(view) != at + count * (8 * sum(timed) + 12) + key_bytes + value_bytes:
            raise CheckpointCorruptedError("the state of a key group is damaged: a run has not the length it names")
        due: list[Any] = [None, None]
        for domain in (0, 1):
            if timed[domain]:
                due[domain], at = np.frombuffer(view, np.int64, count, at), at + 8 * count
        self.due = due
        self.removed: Any = None
        self.hashes = np.frombuffer(view, np.uint32, count, at)
        self._key_ends = np.frombuffer(view, np.uint32, count, at + 4 * count)
        self._value_ends = np.frombuffer(view, np.uint32, count, at + 8 * count)
        at += 12 * count
        self._keys, self._values = view[at : at + key_bytes], view[at + key_bytes :]
        if count and (int(self._key_ends[-1]), int(self._value_ends[-1])) != (key_bytes, value_bytes):
            raise CheckpointCorruptedError("the state of a key group is damaged: the entries of a run end elsewhere")

    def key_at(self, place: int) -> bytes:
        return bytes(self._keys[self._key_ends[place - 1] if place else 0 : self._key_ends[place]])

    def value_at(self, place: int) -> bytes:
        """Return the pickled entry at a place."""
        return bytes(self._values[self._value_ends[place - 1] if place else 0 : self._value_ends[place]])

    def find(self, place: int, hashed: int, key: bytes) -> bytes | None:
        """Return the pickled entry of a key, none of its bytes if it was removed, None if it is not in this run.

        Args:
            place: The first place of its hash.
            hashed: Its hash.
        """
        hashes, ends, keys = self.hashes, self._key_ends, self._keys
        while place < len(hashes) and hashes[place] == hashed:
            if keys[ends[place - 1] if place else 0 : ends[place]] == key:
                return self.value_at(place) if self.removed is None or not self.removed[place] else b""
            place += 1
        return None

    def __iter__(self) -> Iterator[Stored]:
        timers = [[NEVER] * len(self.hashes) if due is None else due.tolist() for due in self.due]
        for place, (hashed, *due) in enumerate(zip(self.hashes.tolist(), *timers, strict=True)):
            yield Stored(hashed, self.key_at(place), self.value_at(place), (due[0], due[1]))

    def places_due(self, domain: int, first: int, until: int) -> Any:
        """Return the places of keys whose earliest timer of a domain is not before `first` and not after `until`."""
        due = self.due[domain]
        if due is None:
            return np.empty(0, np.int64)
        return np.flatnonzero((due >= first) & (due <= until) & (due < NEVER))

    def has(self, hashes: Any) -> Any:
        """Return of each of some hashes whether a key of this run has it, as an array."""
        return self.hashes.take(self.hashes.searchsorted(hashes), mode="clip") == hashes

    def keys_at(self, places: Any) -> list[CanonicalKey]:
        """Return the keys at some places, in an array."""
        return from_sortables(_pieces(self._keys, self._key_ends, places))

    def values_at(self, places: Any) -> list[bytes]:
        """Return the pickled entries at some places, in an array."""
        return _pieces(self._values, self._value_ends, places)

    def are_timers(self, domain: int, places: Any) -> Any:
        """Return of entries at places with a timer of a domain whether each is just that timer, without a namespace."""
        head, tail = (np.frombuffer(part, np.uint8) for part in timer_template(domain))
        ends = self._value_ends[places].astype(np.int64)
        starts = np.where(places > 0, self._value_ends[places - 1], 0)
        found = (ends - starts == TIMER_BYTES) & (self.due[domain][places] < NEVER - 1)
        starts, ends = starts[found], ends[found]
        values = np.frombuffer(self._values, np.uint8)
        fits = (values[starts[:, None] + np.arange(len(head))] == head).all(1)
        fits &= (values[ends[:, None] - np.arange(len(tail), 0, -1)] == tail).all(1)
        found[found] = fits
        return found

    def remove(self, places: Any) -> None:
        """Read the keys at some places, in an array, as removed from now on."""
        if self.removed is None:
            self.removed = np.zeros(len(self.hashes), bool)
        self.removed[places] = True

    def first_due(self, domain: int, after: int) -> int | None:
        """Return the earliest timer of a domain after a time, or None."""
        due = self.due[domain]
        if due is None:
            return None
        later = due[(due > after) & (due < NEVER)]
        return int(later.min()) if len(later) else None

    def arrays(self) -> tuple[Any, Any]:
        """Return keys and values as Arrow arrays that share their bytes."""
        return _array(self._key_ends, self._keys), _array(self._value_ends, self._values)


def _pieces(data: memoryview, ends: Any, places: Any) -> list[bytes]:
    starts = np.where(places > 0, ends[places - 1], 0).tolist()
    return [bytes(data[start:end]) for start, end in zip(starts, ends[places].tolist(), strict=True)]


def _array(ends: Any, data: memoryview) -> Any:
    import pyarrow as pa

    offsets = np.zeros(len(ends) + 1, np.int64)
    offsets[1:] = ends
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


def digest_of(blob: bytes) -> int:
    """Return the digest that a run, of entries or of rows, names, without a look at its content."""
    return int.from_bytes(blob[8:16], "little")


def content_digest(blob: Any) -> int:
    """Return the digest of a run's content; another one than it names if its entries were converted."""
    return int.from_bytes(hashlib.blake2b(memoryview(blob)[_HEADER.size :], digest_size=8).digest())


def stored_content(blob: bytes) -> Any:
    """Return the decoded content of a page: a run of entries or of rows, an index, or an argument of `page_of`."""
    if has_rows(blob):
        from scurry.runtime.state.row_runs import RowRun

        return RowRun(blob)
    return Run(blob) if is_run(blob) else pickle.loads(blob)


def built(
    hashes: Sequence[int],
    keys: Sequence[bytes],
    values: Any,
    timers: Sequence[Any] = (),
    digest: int | None = None,
) -> bytes:
    """Return a run of some keys, each once.

    Args:
        values: Their entries, pickled, empty for keys whose state was removed; or what `encoded_timers` returns.
        timers: For each time domain the earliest timers of the keys, `NEVER` for none; None if no key has any.
        digest: The digest that it has in the index of its group, None for that of its content.
    """
    unsorted = np.array(hashes, np.uint32)
    order = np.argsort(unsorted, kind="stable")
    parts = [_in_order(column, order) for column in (keys, values)]
    due = [times if times is None else np.asarray(times, np.int64)[order] for times in timers] or [None, None]
    return _joined([unsorted[order], *(ends for ends, _ in parts), *(data for _, data in parts)], due, digest)


def _in_order(column: Any, order: Any) -> tuple[Any, bytes]:
    """Return the ends of the pieces of a column in an order, and their bytes."""
    if isinstance(column, np.ndarray):
        count, width = column.shape
        return np.arange(1, count + 1, dtype=np.uint32) * np.uint32(width), column[order].tobytes()
    pieces = list(map(column.__getitem__, order.tolist()))
    return np.cumsum(np.fromiter(map(len, pieces), np.uint32, len(pieces)), dtype=np.uint32), b"".join(pieces)


def encoded_timers(times: Any, domain: int) -> Any:
    """Return entries that are one timer each, by an array of their times: pickled, as the rows of an array of bytes."""
    head, tail = timer_template(domain)
    before, after = (np.tile(np.frombuffer(part, np.uint8), (len(times), 1)) for part in (head, tail))
    return np.hstack([before, times.astype("<i8").view(np.uint8).reshape(-1, 8), after])


def _joined(columns: Sequence[Any], timers: Sequence[Any], digest: int | None = None) -> bytes:
    """Return a run: its hashes, ends of keys, ends of values, keys and values."""
    timed = [due is not None and bool((due < NEVER).any()) for due in timers]
    parts = [*(due for due, has in zip(timers, timed, strict=True) if has), *columns]
    if digest is None:
        hashed = hashlib.blake2b(digest_size=8)
        for part in parts:
            hashed.update(part)
        digest = int.from_bytes(hashed.digest())
    hashes, *_, keys, values = columns
    assert len(hashes) == len(columns[1]) == len(columns[2]), "a run has not an entry for each key"
    assert bool((hashes[1:] >= hashes[:-1]).all()), "the keys of a run are not sorted"
    assert max(len(keys), len(values)) < 1 << 32, "a run is larger than its ends can say"
    return b"".join([_HEADER.pack(RUN_MAGIC, digest, len(hashes), *timed, len(keys), len(values)), *parts])


def first_timers(entries: Sequence[Entry]) -> list[list[int] | None]:
    """Return for each domain the earliest timer of each entry, `NEVER` for none; None if no entry has one."""
    found: list[list[int] | None] = []
    for domain in DOMAINS:
        timers = [entry.get(domain) for entry in entries]
        if not any(timers):
            found.append(None)
            continue
        times = [
            NEVER if each is None else next(iter(each))[0] if len(each) == 1 else min(time for time, _ in each)
            for each in timers
        ]
        if NEVER in times:  # which stands for none: a timer of the last time is taken as one of the last but one
            times = [NEVER if each is None else min(time, NEVER - 1) for time, each in zip(times, timers, strict=True)]
        found.append(times)
    return found


def values_of(runs: Sequence[Run], keys: Sequence[CanonicalKey], hashes: Any) -> list[bytes | None]:
    """Return the pickled entries of some keys, None for those without one.

    Args:
        runs: All runs of their group, the newest first.
        hashes: Their hashes, an array.
    """
    found: list[bytes | None] = [None] * len(keys)
    left = hashes.argsort()
    asked = hashes[left]
    for run in runs:  # methods: NumPy's functions of the same names take as long again to call them
        places = run.hashes.searchsorted(asked)
        (hits,) = (run.hashes.take(places, mode="clip") == asked).nonzero()
        if not len(hits):
            continue
        done = []
        parts = (hits, places[hits], left[hits], asked[hits])
        for hit, place, number, hashed in zip(*map(np.ndarray.tolist, parts), strict=True):
            value = run.find(place, hashed, sortable(keys[number]))
            if value is not None:
                found[number] = value
                done.append(hit)
        if done:
            stay = np.ones(len(left), bool)
            stay[done] = False
            left, asked = left[stay], asked[stay]
            if not len(left):
                break
    return [value or None for value in found] if len(left) < len(found) else found


def merged(runs: Sequence[Run], oldest: bool) -> bytes | None:
    """Return the run that takes the place of some, None if no key is left.

    Args:
        runs: Runs that follow each other, the newest first.
        oldest: Whether the oldest run of the group is among them.
    """
    import pyarrow as pa

    hashes = np.concatenate([run.hashes for run in runs])
    order = np.argsort(hashes, kind="stable")  # of one key, the newest first
    keys, values = (pa.concat_arrays(parts) for parts in zip(*(run.arrays() for run in runs), strict=True))
    hashes = hashes[order]
    keys = keys.take(pa.array(order))
    stay = np.ones(len(order), bool)
    stay[_superseded(hashes, keys)] = False
    if oldest:
        stay &= np.diff(_offsets(values))[order] > 0
    stay = np.flatnonzero(stay)
    if not len(stay):
        return None
    if len(stay) < len(order):
        order, hashes, keys = order[stay], hashes[stay], keys.take(pa.array(stay))
    values = values.take(pa.array(order))
    timers = [np.concatenate([_times(run, domain) for run in runs])[order] for domain in (0, 1)]
    ends = [_offsets(each)[1:].astype(np.uint32) for each in (keys, values)]
    return _joined([hashes, *ends, _data(keys), _data(values)], timers)


def removals(keys: Sequence[tuple[Run, Any]]) -> bytes:
    """Return a run in which some keys are removed: those at places, in arrays, of other runs."""
    import pyarrow as pa

    hashes = np.concatenate([run.hashes[places] for run, places in keys])
    order = np.argsort(hashes, kind="stable")
    taken = pa.concat_arrays([run.arrays()[0].take(pa.array(places)) for run, places in keys]).take(pa.array(order))
    ends = _offsets(taken)[1:].astype(np.uint32)
    return _joined([hashes[order], ends, np.zeros(len(order), np.uint32), _data(taken), b""], (None, None))


def _superseded(hashes: Any, keys: Any) -> Any:
    """Return the places of the keys that are equal to an earlier one."""
    import pyarrow.compute as pc

    repeated = np.flatnonzero(hashes[1:] == hashes[:-1]) + 1
    if not len(repeated):
        return repeated
    follows = np.diff(repeated, prepend=-1) == 1  # the third key of a hash, or a later one
    first = np.flatnonzero(~follows)
    several = np.diff(first, append=len(repeated)) > 1
    pairs = repeated[first[~several]]
    equal = pc.equal(keys.take(pairs), keys.take(pairs - 1)).to_numpy(zero_copy_only=False)
    found = [pairs[equal]]
    offsets, data = _offsets(keys), memoryview(_data(keys))
    for begin, end in zip(first[several], np.append(first[1:], len(repeated))[several], strict=True):
        seen: set[bytes] = set()
        for place in range(repeated[begin] - 1, repeated[end - 1] + 1):
            key = bytes(data[offsets[place] : offsets[place + 1]])
            if key in seen:
                found.append(np.array([place]))
            seen.add(key)
    return np.concatenate(found)


def _offsets(array: Any) -> Any:
    return np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, array.offset * 8)


def _data(array: Any) -> Any:
    offsets, data = _offsets(array), array.buffers()[2]
    return b"" if data is None else memoryview(data)[int(offsets[0]) : int(offsets[-1])]


def _times(run: Run, domain: int) -> Any:
    return np.full(len(run.hashes), NEVER, np.int64) if run.due[domain] is None else run.due[domain]


def share_of(group: int) -> float:
    """Return the share of its oldest run that the newer ones of a group reach before all are merged, 0.5 to 1.

    Groups have different ones, so that not all are merged in one batch.
    """
    return 0.5 + (group * 37 % 64) / 128


class Merge(NamedTuple):
    """Runs that are to be merged: how many of the newest, and whether they are all of the group."""

    newest: int
    all: bool


def to_merge(runs: Sequence[RunInfo], share: float = 1.0) -> Merge | None:
    """Return which runs of a group are to be merged, None if none are.

    Args:
        runs: Its runs, the oldest first.
        share: What part of the oldest run the newer ones together may reach; infinite if they hide nothing of it.
    """
    if len(runs) > 1:
        oldest, newer = runs[0], runs[1:]
        outgrows = (
            sum(info.size for info in newer) >= oldest.size * share
            or sum(info.keys for info in newer) >= oldest.keys * share
        )
        if outgrows and sum(info.size for info in runs) <= LARGEST_RUN:
            return Merge(len(runs), True)
    sizes = [info.size for info in runs]
    similar = 1
    while similar < len(sizes) and _tier(sizes[-1 - similar]) <= _tier(max(sizes[-similar:])):
        similar += 1
    fits = sum(sizes[-similar:]) <= LARGEST_RUN
    return Merge(similar, similar == len(sizes)) if similar >= _FANOUT and fits else None


def _tier(size: int) -> int:
    return (max(size, 1).bit_length() - 1) // (_FANOUT.bit_length() - 1)
