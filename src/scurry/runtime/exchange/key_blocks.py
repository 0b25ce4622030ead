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

from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.exchange.ordering import by_key
from scurry.runtime.exchange.wire import MIN_TIME, BatchRow, require_columns, unpack
from scurry.runtime.exchange.writers import HashWriter
from scurry.runtime.keys import KeyOrder, key_hashes, subtask_of

#: A block has at least so many records, if there are more. A receiver holds one block for each time that a sender
#: sorted, so blocks are also about this share of what was sorted.
_LEAST_RECORDS, _MOST_RECORDS, _SHARE = 256, 4096, 32

#: Keys, the records, the number of records of each key, and the bytes of their times, if they have some.
KeyBlock = tuple[list[Any], Values, list[int], bytes | None]


class BatchHashWriter(HashWriter):
    """Send records by key in BATCH: they are sorted when they are sent, and each key is given a receiver once."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Collect records."""
        self._active = True
        keys = self._keys(values)
        self._expect_timestamps(timestamps)
        for kept, column in zip(self._buckets[0], (values, timestamps or (), keys), strict=True):
            kept += column

    def flush_by_key(self, seq: int, in_time_order: bool, by_group: bool = False) -> list[BatchRow]:
        assert in_time_order, f"edge {self.edge.id}: records by key are sorted by time"
        rows, order = [], KeyOrder(self.edge.max_parallelism if by_group else None)
        for _, (values, times, keys) in self._take():
            require_columns(self.edge.id, keys, values, times or None)
            for receiver, key, time, block in key_blocks(keys, values, times or None, order, self._receivers_of):
                rows.append(self._batch_row(self._ids[receiver], seq, key, time, block))
        return rows

    def _receivers_of(self, keys: Sequence[Any]) -> list[int]:
        most, count = self.edge.max_parallelism, len(self._ids)
        return [subtask_of(hashed, most, count) for hashed in key_hashes(keys)]


def key_blocks(
    keys: Sequence[Any],
    values: Values,
    times: Timestamps,
    order: KeyOrder,
    receivers_of: Callable[[Sequence[Any]], list[int]],
) -> Iterator[tuple[int, bytes, int, KeyBlock]]:
    """Yield the blocks of records, receiver by receiver, in the order of keys.

    A key with many records has a block of its own.

    Args:
        keys: The canonical keys of the records.
        values: The records.
        times: Their times, None if they keep the order that they have.
        order: The order of keys.
        receivers_of: Returns the receivers of keys.

    Yields:
        The receiver, the bytes of the first key, its first time, and the block.
    """
    receivers: list[int] = []

    def by_receiver(some: Collection[Any]) -> list[Any]:
        ordered = order.sort(some)
        found = receivers_of(ordered)
        places = sorted(range(len(ordered)), key=found.__getitem__)
        receivers.extend(map(found.__getitem__, places))
        return list(map(ordered.__getitem__, places))

    distinct, ends, places, column = by_key(keys, None if times is None else array("q", times), by_receiver)
    values = list(map(values.__getitem__, places))
    key = 0
    while key < len(distinct):
        receiver = receivers[key]
        behind = bisect_right(receivers, receiver, key)
        for start, end in _cuts(ends, key, behind):
            first, last = ends[start - 1] if start else 0, ends[end - 1]
            counts = list(map(sub, ends[start:end], [first, *ends[start : end - 1]]))
            encoded = None if column is None else column[first:last].tobytes()
            block = distinct[start:end], values[first:last], counts, encoded
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


def unpack_block(data: bytes) -> tuple[list[Any], Values, list[int], array[int] | None]:
    """Return the keys, the records, the number of records of each key, and the times, of an encoded block."""
    keys, values, counts, encoded = unpack(data)
    if encoded is None:
        return keys, values, counts, None
    times = array("q")
    times.frombytes(encoded)
    return keys, values, counts, times
