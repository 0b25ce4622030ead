"""The records of an operator in BATCH in the order of keys, those of a key in time order.

Rows come by their first keys and times. Of most keys, all records are held at once, with those of keys near to them;
of a key with many records, only those that overlap in time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush, merge
from itertools import accumulate, chain, groupby
from operator import attrgetter, itemgetter, sub
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.graph.plan import JobPlan
from scurry.runtime.exchange.key_blocks import Records, unpack_block
from scurry.runtime.exchange.ordering import KeyNumbers, by_key, by_time, taken
from scurry.runtime.exchange.record_columns import RecordColumns
from scurry.runtime.exchange.wire import MIN_TIME, BatchRow, require_columns, unpack
from scurry.runtime.keys import CanonicalKey, KeyOrder

#: Records of a key are sorted at once if their rows have at most so many bytes.
_AT_ONCE_BYTES = 8 * 1024 * 1024
#: At least so many records are read before those of complete keys are sorted.
_WAITING_RECORDS = 16_384

#: About as many records are made of columns at once.
_MADE_RECORDS = 16_384

#: The input, the records and their times, if they have some.
Part = tuple[int, list[Any], list[int] | None]
#: The place of a row among others with records of the same key and time: channel, position and edge.
Place = tuple[int, int, int]


class KeyRecords(NamedTuple):
    """All records of some keys.

    Attributes:
        values: The records, in the order of keys.
        times: Their times, in order; MIN_TIME for those without.
        origins: For each record, its input times 2, and 1 more if it has a time; one int if it is the same for all.
    """

    keys: list[Any]
    ends: list[int]
    values: list[Any]
    times: array[int]
    origins: int | list[int]

    def some(self, first: int, last: int) -> KeyRecords:
        """Return the records of the keys between two places."""
        if first == 0 and last == len(self.keys):
            return self
        start, end = self.ends[first - 1] if first else 0, self.ends[last - 1]
        ends = [each - start for each in self.ends[first:last]]
        origins = self.origins if isinstance(self.origins, int) else self.origins[start:end]
        return KeyRecords(self.keys[first:last], ends, self.values[start:end], self.times[start:end], origins)

    def parts_of(self, number: int) -> Iterator[Part]:
        """Yield the records of a key, one input's at a time."""
        start, end, origins = self.ends[number - 1] if number else 0, self.ends[number], self.origins
        if isinstance(origins, int):
            yield origins >> 1, self.values[start:end], self._times(start, end, origins)
            return
        for origin, run in groupby(origins[start:end]):
            last = start + len(list(run))
            yield origin >> 1, self.values[start:last], self._times(start, last, origin)
            start = last

    def _times(self, start: int, end: int, origin: int) -> list[int] | None:
        return self.times[start:end].tolist() if origin & 1 else None


#: Of a part of a block: the place of the block, the origin of its records, keys, number of records of each, records and
#: times.
_Taken = tuple[Place, int, list[Any], list[int], Records, "array[int] | None"]


class LargeKey(NamedTuple):
    """The records of one key, part after part in time order."""

    key: CanonicalKey
    parts: Iterable[Part]


@dataclass(slots=True)
class _Held:
    """The rest of a block whose first keys have been removed."""

    place: Place
    origin: int
    keys: list[Any]
    counts: list[int]
    ends: list[int]
    values: Records
    times: array[int] | None
    key: int = 0
    record: int = 0

    def take(self, last: int) -> tuple[list[Any], list[int], Records, array[int] | None]:
        """Remove the keys up to a place, and return them: keys, number of records of each, records and times."""
        first, start, end = self.key, self.record, self.ends[last - 1]
        self.key, self.record = last, end
        times = None if self.times is None else self.times[start:end]
        return self.keys[first:last], self.counts[first:last], self.values[start:end], times


def records_by_key(rows: Iterable[BatchRow], plan: JobPlan, order: KeyOrder) -> Iterator[KeyRecords | LargeKey]:
    """Yield the records of all keys, in the order of keys; of a key with many records, its parts must be read first."""
    return _ByKey(plan, order).read(rows)


class _ByKey:
    def __init__(self, plan: JobPlan, order: KeyOrder) -> None:
        self._plan, self._order = plan, order
        self._held: list[_Held] = []
        #: how many records are held, and how many are waited for
        self._records, self._wanted = 0, _WAITING_RECORDS

    def read(self, rows: Iterable[BatchRow]) -> Iterator[KeyRecords | LargeKey]:
        for first, some in groupby(rows, key=attrgetter("key")):
            if self._records >= self._wanted:
                yield from self._before(first)
            of_first, size = iter(some), 0
            for row in of_first:
                held = self._hold(row)
                size += len(row.block)
                if size > _AT_ONCE_BYTES and len(held.keys) == 1:
                    yield from self._before(first)
                    key = held.keys[0]
                    yield LargeKey(key, self._large(key, of_first))
                    break
        yield from self._before(None)

    def _hold(self, row: BatchRow) -> _Held:
        keys, values, counts, times = unpack_block(row.block)
        require_columns(row.port, None, values, times)
        origin = self._plan.edges[row.port].input_index << 1 | (times is not None)
        held = _Held(_place(row), origin, keys, counts, list(accumulate(counts)), values, times)
        self._held.append(held)
        self._records += len(values)
        return held

    def _before(self, limit: bytes | None) -> Iterator[KeyRecords]:
        """Yield the records of the keys before another one, of which all have been read."""
        taken: list[_Taken] = []
        bytes_of = self._order.bytes_of
        for held in self._held:
            last = len(held.keys)
            if limit is not None:
                last = bisect_left(held.keys, limit, held.key, key=bytes_of)
            if last > held.key:
                taken.append((held.place, held.origin, *held.take(last)))
        self._held = [held for held in self._held if held.key < len(held.keys)]
        if taken:
            for found in _joined(taken, self._order):
                self._records -= len(found.values)
                yield found
                del found
        self._wanted = max(_WAITING_RECORDS, self._records * 2)

    def _large(self, key: CanonicalKey, rows: Iterable[BatchRow]) -> Iterator[Part]:
        """Yield the records of a key in time order: those that are held, and those of further rows."""
        held = [each for each in self._held if each.keys[each.key] == key]
        further = (self._head(self._hold(row)) for row in rows)
        yield from _merged(merge(sorted(map(self._head, held), key=_start), further, key=_start))
        self._held = [each for each in self._held if each.key < len(each.keys)]

    def _head(self, held: _Held) -> tuple[Place, Part]:
        """Remove the records of the first key of a block, and return them with its place."""
        keys, counts, values, times = held.take(held.key + 1)
        self._records -= len(values)
        records = _as_records(keys, counts, values, times)
        return held.place, (held.origin >> 1, records, None if times is None else times.tolist())


def _place(row: BatchRow) -> Place:
    return row.channel, row.seq, row.port


def _start(placed: tuple[Place, Part]) -> tuple[int, Place]:
    place, (_, _, times) = placed
    return MIN_TIME if times is None else times[0], place


def _joined(taken_parts: list[_Taken], order: KeyOrder) -> Iterator[KeyRecords]:
    """Yield the records of parts of blocks by key and time; those of the same time in the order of the blocks."""
    taken_parts.sort(key=itemgetter(0))
    _, origins, key_lists, count_lists, value_lists, time_lists = zip(*taken_parts, strict=True)
    times = array("q")
    for some_values, some_times in zip(value_lists, time_lists, strict=True):
        times += array("q", [MIN_TIME]) * len(some_values) if some_times is None else some_times
    if len(taken_parts) == 1:
        values = _as_records(*taken_parts[0][2:])
        yield KeyRecords(key_lists[0], list(accumulate(count_lists[0])), values, times, origins[0])
        return
    numbers, counts = KeyNumbers(), list(chain.from_iterable(count_lists))
    numbered = numbers.of(list(chain.from_iterable(key_lists)))
    distinct, ends, places, in_order = by_key(numbers, numbered, times, order.sort, counts)
    assert in_order is not None
    of_records: int | list[int] = origins[0]
    if len(set(origins)) > 1:
        of_blocks = [origin for origin, some in zip(origins, value_lists, strict=True) for _ in range(len(some))]
        of_records = taken(of_blocks, places)
    columns = _in_columns(value_lists)
    if columns is None:
        records = [_as_records(*each[2:]) for each in taken_parts]
        values = taken(list(chain.from_iterable(records)), places)
        yield KeyRecords(distinct, ends, values, in_order, of_records)
    else:
        yield from _made(KeyRecords(distinct, ends, [], in_order, of_records), columns.taken(places))


def _made(found: KeyRecords, columns: RecordColumns) -> Iterator[KeyRecords]:
    """Yield records that are in columns; they are made shortly before they are processed, in the processor's caches."""
    first, ends = 0, found.ends
    while first < len(ends):
        start = ends[first - 1] if first else 0
        last = max(bisect_right(ends, start + _MADE_RECORDS, first), first + 1)
        some = found.some(first, last)
        counts = list(map(sub, some.ends, [0, *some.ends]))
        yield some._replace(values=columns[start : ends[last - 1]].records(some.keys, counts, some.times))
        first = last


def _as_records(keys: list[Any], counts: list[int], values: Records, times: array[int] | None) -> list[Any]:
    return values.records(keys, counts, times) if isinstance(values, RecordColumns) else values


def _in_columns(lists: Sequence[Records]) -> RecordColumns | None:
    """Return all records, if their columns are of the same kinds."""
    first = lists[0]
    if not isinstance(first, RecordColumns):
        return None
    kinds, joined = first.kinds, first[:]
    for other in lists[1:]:
        if not isinstance(other, RecordColumns) or other.kinds != kinds:
            return None
        joined += other
    return joined


def in_time_order(rows: Iterable[BatchRow], plan: JobPlan) -> Iterator[Part]:
    """Yield the records of rows without keys in time order; the rows come by their first time, each in time order.

    Few rows are sorted together. Of many, only those that overlap in time are held in memory at once.
    """
    rows, held, size = iter(rows), [], 0
    for row in rows:
        held.append(row)
        size += len(row.block)
        if size > _AT_ONCE_BYTES:
            yield from _merged((_place(row), _part(row, plan)) for row in chain(held, rows))
            return
    held.sort(key=_place)
    parts = [_part(row, plan) for row in held]
    timed = [(index, values, times) for index, values, times in parts if times is not None]
    if len(parts) == 1:
        yield from parts
    elif len(timed) < len(parts):
        yield from _merged(sorted(zip(map(_place, held), parts, strict=True), key=_start))
    else:
        yield from _sorted(timed)


def _part(row: BatchRow, plan: JobPlan) -> Part:
    _, values, times, _ = unpack(row.block)
    require_columns(row.port, None, values, times)
    return plan.edges[row.port].input_index, values, times


def _sorted(blocks: list[tuple[int, list[Any], list[int]]]) -> Iterator[tuple[int, list[Any], list[int]]]:
    """Yield the records of blocks in time order, one input's at a time."""
    values: list[Any] = []
    times: list[int] = []
    inputs: list[int] = []
    overlapping = False
    for index, some, some_times in blocks:
        overlapping = overlapping or (bool(times) and times[-1] > some_times[0])
        values += some
        times += some_times
        inputs += [index] * len(some)
    if overlapping:
        order = by_time(times)
        values, times, inputs = ([column[place] for place in order] for column in (values, times, inputs))
    if len(set(inputs)) == 1:
        yield inputs[0], values, times
        return
    start = 0
    for index, run in groupby(inputs):
        end = start + len(list(run))
        yield index, values[start:end], times[start:end]
        start = end


def _merged(parts: Iterable[tuple[Place, Part]]) -> Iterator[Part]:
    """Yield records in time order from parts that come by their first time; those without times are the first."""
    heap: list[tuple[int, Place, int, list[Any], list[int], int]] = []
    for place, (index, values, times) in parts:
        if times is None:
            yield from _drain(heap, MIN_TIME + 1)
            yield index, values, None
        else:
            yield from _drain(heap, times[0])
            heappush(heap, (times[0], place, index, values, times, 0))
    yield from _drain(heap, None)


def _drain(heap: list[Any], until: int | None) -> Iterator[Part]:
    """Merge the held parts before a time, None: all; a part that no other overlaps is yielded whole."""
    while heap and (until is None or heap[0][0] < until):
        _, place, index, values, times, start = heappop(heap)
        limit = until if not heap else heap[0][0] if until is None else min(until, heap[0][0])
        stop = len(times) if limit is None else bisect_left(times, limit, start + 1)
        yield index, values[start:stop], times[start:stop]
        if stop < len(times):
            heappush(heap, (times[stop], place, index, values, times, stop))
