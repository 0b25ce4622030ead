"""The records of one side of an interval join that a key keeps in parts of its state."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import Any

from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.runtime.keys import CanonicalKey
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.slots import PARTS

#: A part with more records is split.
PART_RECORDS = 128

#: A record with its time.
Timed = tuple[int, Any]

_time = itemgetter(0)


class DividedRecords:
    """Find, add and remove records in time order; only the parts that may hold them are read.

    The directory has two lists: for each part, in time order, the time of its first record, and its number.

    Args:
        key: Their key, whose entry is `entry`.
        slot: That of the side.
    """

    def __init__(self, backend: KeyedStateBackend, key: CanonicalKey, entry: Entry, slot: str) -> None:
        self._backend, self._key, self._entry, self._slot = backend, key, entry, slot
        self._firsts: list[int]
        self._numbers: list[int]
        self._firsts, self._numbers = entry[PARTS][slot]
        #: the records of parts that were read, by number
        self._parts: dict[int, list[Timed]] = {}
        #: those of the part that was read last, its time, and that of the next part: the next record is often near
        self._near: list[Timed] = []
        self._begin = self._end = MIN_TIME

    @classmethod
    def of(cls, backend: KeyedStateBackend, key: CanonicalKey, entry: Entry, slot: str) -> DividedRecords:
        """Move the records that an entry has into parts."""
        records = entry.pop(slot)
        entry.setdefault(PARTS, {})[slot] = ([records[0][0]], [0])
        divided = cls(backend, key, entry, slot)
        divided._fill(0, records)
        divided._split(0)
        return divided

    def add(self, time: int, record: Timed) -> bool:
        """Add a record with its time, behind those of the same time; return whether it is the first of all."""
        is_first = False
        if not self._begin <= time < self._end:
            place = max(bisect_right(self._firsts, time) - 1, 0)
            is_first = time < self._firsts[place]
            if is_first:
                self._firsts[place] = time
            self._read(place)
        records = self._near
        if not records or records[-1][0] <= time:
            records.append(record)
        else:
            records.insert(bisect_right(records, time, key=_time), record)
        if len(records) > PART_RECORDS:
            self._split(max(bisect_right(self._firsts, time) - 1, 0))
        return is_first

    def between(self, first: int, last: int) -> list[Timed]:
        """Return the records from a time on up to another one, both included."""
        if self._begin < first and last < self._end:
            records = self._near
            begin = bisect_left(records, first, key=_time)
            return records[begin : bisect_right(records, last, begin, key=_time)]
        firsts, found = self._firsts, list[Timed]()
        place = max(bisect_left(firsts, first) - 1, 0)
        while place < len(firsts) and firsts[place] <= last:
            records = self._read(place)
            begin = bisect_left(records, first, key=_time)
            found += records[begin : bisect_right(records, last, begin, key=_time)]
            place += 1
        return found

    def remove(self, until: int) -> int | None:
        """Remove the records up to a time; return the time of the first one left.

        The records return to the entry if they have become few.
        """
        firsts = self._firsts
        self._begin = self._end = MIN_TIME
        while len(firsts) > 1 and firsts[1] <= until:
            self._drop()
        records = self._read(0)
        del records[: bisect_right(records, until, key=_time)]
        if not records:
            self._drop()
        else:
            firsts[0] = self._begin = records[0][0]
        if len(firsts) > 1:
            return firsts[0]
        if firsts and len(records := self._read(0)) <= PART_RECORDS // 2:
            self._entry[self._slot] = records
            self._drop()
        if not firsts:
            directories = self._entry[PARTS]
            del directories[self._slot]
            if not directories:
                del self._entry[PARTS]
        return records[0][0] if records else None

    def _read(self, place: int) -> list[Timed]:
        """Return the records of a part, by its place in the directory."""
        number, firsts = self._numbers[place], self._firsts
        records = self._parts.get(number)
        if records is None:
            _, part = self._backend.part_of(self._key, self._slot, number)
            records = self._parts[number] = part.setdefault(self._slot, [])
        self._near, self._begin = records, firsts[place]
        self._end = firsts[place + 1] if place + 1 < len(firsts) else MAX_TIME
        return records

    def _fill(self, number: int, records: list[Timed]) -> None:
        _, part = self._backend.part_of(self._key, self._slot, number)
        part[self._slot] = self._parts[number] = records

    def _drop(self) -> None:
        """Drop the first part; it may be the one that was read last."""
        self._begin = self._end = MIN_TIME
        number = self._numbers.pop(0)
        del self._firsts[0]
        self._parts.pop(number, None)
        self._backend.part_of(self._key, self._slot, number)[1].clear()

    def _split(self, place: int) -> None:
        """Split a part into such of half the records that one may have."""
        records, half = self._read(place), max(1, PART_RECORDS // 2)
        self._begin = self._end = MIN_TIME
        new = [records[start : start + half] for start in range(half, len(records), half)]
        del records[half:]
        begin = max(self._numbers) + 1
        self._firsts[place + 1 : place + 1] = [some[0][0] for some in new]
        self._numbers[place + 1 : place + 1] = range(begin, begin + len(new))
        for number, some in enumerate(new, begin):
            self._fill(number, some)
