"""Blocks of BATCH: records sorted by key, many keys in one block, so that a key with few records costs little.

Collected records are sorted and cut into blocks. A receiver reads the blocks of all senders in the order of their
first keys: then all keys before the first key of the next block are complete.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from operator import sub
from typing import Any

from scurry.graph.plan import Edge
from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.exchange.ordering import KeyNumbers, RecordKeys, by_key, by_time, taken
from scurry.runtime.exchange.record_columns import Kinds, RecordColumns, TakenApart, columns_of, decoded
from scurry.runtime.exchange.wire import MIN_TIME, BatchRow, pack, require_columns, unpack
from scurry.runtime.exchange.writers import HashWriter, Receivers
from scurry.runtime.keys import KeyOrder, key_hashes, subtask_of

#: A block has at least so many records, if there are more. A receiver holds one block for each time that a sender
#: sorted, so blocks are also about this share of what was sorted.
_LEAST_RECORDS, _MOST_RECORDS, _SHARE = 256, 4096, 32

#: Positions in a channel have so many bits below those of the flush: records collected for it in different columns.
_RUN_BITS = 20

#: Records as they are, or in columns.
Records = Values | RecordColumns
#: Keys, the records, the number of records of each key, and their times, if they have some.
KeyBlock = tuple[list[Any], Records, list[int], "array[int] | None"]
#: The keys of records, the records, and their times, if they have some.
_Run = tuple[RecordKeys, Records, "array[int] | None"]


class _FewReceivers(Receivers):
    """The receivers of keys that come again: of a flush with more keys than a quarter of these, few do."""

    LIMIT = 65_536


class BatchHashWriter(HashWriter):
    """Send records by key in BATCH: they are sorted when they are sent, and each key is given a receiver once."""

    def __init__(self, edge: Edge, ids: list[int], channel: int, subtask: int, sender: Any) -> None:
        super().__init__(edge, ids, channel, subtask, sender)
        self._known = _FewReceivers(len(self._ids), edge.max_parallelism)
        #: the fields and times of the last block of the task
        self.taken_apart = TakenApart()
        #: what the fields of all records so far are, None before the first and if they are not sent in columns
        self._kinds: Kinds | None = None
        self._in_columns = True
        #: what has been collected: records are added to the last run
        self._runs: list[_Run] = []

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Collect records."""
        self._active = True
        keys, packed = self.taken_apart.keys_of(values, self._keys) or (self._keys(values), None)
        times = None if timestamps is None else self.taken_apart.times_of(timestamps)
        records, before = self._records(values, keys, times), self._kinds
        self._kinds = records.kinds if isinstance(records, RecordColumns) else None
        if self._runs and (self._runs[-1][2] is None) is (times is None) and self._kinds == before:
            run_keys, run_records, run_times = self._runs[-1]
            run_records += records  # type: ignore[operator]
            if times is not None and run_times is not None:
                run_times += times
        else:
            run_keys = RecordKeys()
            self._runs.append((run_keys, records if records is not values else values[:], times))
        run_keys.add(keys, packed)

    def _records(self, values: Values, keys: list[Any], times: array[int] | None) -> Records:
        """Return records in columns; not after records that were in none, lest runs become short."""
        if self._in_columns:
            columns = columns_of(values, keys, times, self._kinds, self.taken_apart)
            if columns is not None:
                return columns
            self._in_columns = False
        return values

    def begin(self) -> None:
        super().begin()
        self._runs = []

    def flush_by_key(self, seq: int, in_time_order: bool, by_group: bool = False) -> list[BatchRow]:
        assert in_time_order, f"edge {self.edge.id}: records by key are sorted by time"
        rows, order = [], KeyOrder(self.edge.max_parallelism if by_group else None)
        runs, self._runs = self._runs, []
        for number, (keys, values, times) in enumerate(runs):
            require_columns(self.edge.id, keys, values, times)
            numbers, numbered = keys.numbered()
            position = seq << _RUN_BITS | number
            for receiver, key, time, block in key_blocks(numbers, numbered, values, times, order, self._receivers_of):
                rows.append(self._batch_row(self._ids[receiver], position, key, time, block))
        return rows

    def _pack(self, block: tuple[Any, ...]) -> bytes:
        keys, values, counts, times = block
        encoded = None if times is None else times.tobytes()
        if isinstance(values, RecordColumns):
            try:
                return pack((keys, values.encoded(), counts, encoded))
            except Exception:  # one of the records cannot be packed
                values = values.records(keys, counts, times)
        return super()._pack((keys, values, counts, encoded))

    def _receivers_of(self, keys: Sequence[Any]) -> list[int]:
        most, count = self.edge.max_parallelism, len(self._ids)
        if count == 1:
            return [0] * len(keys)
        if len(keys) <= _FewReceivers.LIMIT // 4:
            return list(self._known.of(keys))
        return [subtask_of(hashed, most, count) for hashed in key_hashes(keys)]


def key_blocks(
    numbers: KeyNumbers,
    numbered: array[int],
    values: Records,
    times: array[int] | None,
    order: KeyOrder,
    receivers_of: Callable[[Sequence[Any]], list[int]],
) -> Iterator[tuple[int, bytes, int, KeyBlock]]:
    """Yield the blocks of records, receiver by receiver, in the order of keys.

    A key with many records has a block of its own.

    Args:
        numbers: All canonical keys with their numbers.
        times: Their times, None if they keep the order that they have.

    Yields:
        The receiver, the bytes of the first key, its first time, and the block.
    """
    receivers: list[int] = []

    def by_receiver(some: Collection[Any]) -> list[Any]:
        ordered = order.sort(some)
        found = receivers_of(ordered)
        receivers.extend(sorted(found))
        if receivers[0] == receivers[-1]:
            return ordered
        return list(map(ordered.__getitem__, by_time(found)))

    distinct, ends, places, column = by_key(numbers, numbered, times, by_receiver)
    values = values.taken(places) if isinstance(values, RecordColumns) else taken(values, places)
    key = 0
    while key < len(distinct):
        receiver = receivers[key]
        behind = bisect_right(receivers, receiver, key)
        for start, end in _cuts(ends, key, behind):
            first, last = ends[start - 1] if start else 0, ends[end - 1]
            counts = list(map(sub, ends[start:end], [first, *ends[start : end - 1]]))
            block = distinct[start:end], values[first:last], counts, None if column is None else column[first:last]
            yield receiver, order.bytes_of(distinct[start]), MIN_TIME if column is None else column[first], block
        key = behind


def _cuts(ends: list[int], key: int, behind: int) -> Iterator[tuple[int, int]]:
    """Yield where the blocks of the keys between two places begin and end."""
    first = ends[key - 1] if key else 0
    least = max(_LEAST_RECORDS, min(_MOST_RECORDS, (ends[behind - 1] - first) // _SHARE))
    while key < behind:
        last = min(bisect_left(ends, first + least, key), behind - 1)
        if last > key and ends[last] - ends[last - 1] >= least:
            last -= 1
        yield key, last + 1
        key, first = last + 1, ends[last]


def unpack_block(data: bytes) -> KeyBlock:
    keys, values, counts, encoded = unpack(data)
    if isinstance(values, tuple):
        values = decoded(values)
    return keys, values, counts, None if encoded is None else array("q", encoded)
