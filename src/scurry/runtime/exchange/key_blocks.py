"""Blocks of BATCH: records sorted by key, many keys in one block, so that a key with few records costs little.

What a sender collects is sorted and cut into blocks. A receiver reads the blocks of all senders in the order of their
first keys: then all keys before the first key of the next block are complete.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.exchange.ordering import by_key
from scurry.runtime.exchange.wire import MIN_TIME, unpack
from scurry.runtime.keys import KeyOrder

#: A block has at least so many records, if there are more. A receiver holds one block for each time that a sender
#: sorted, so blocks are also about this share of what was sorted.
_LEAST_RECORDS, _MOST_RECORDS, _SHARE = 256, 4096, 32

#: Keys, the records, the number of records of each key, and the bytes of their times, if they have some.
KeyBlock = tuple[list[Any], Values, list[int], bytes | None]


def key_blocks(
    keys: Sequence[Any], values: Values, times: Timestamps, order: KeyOrder
) -> Iterator[tuple[bytes, int, KeyBlock]]:
    """Yield records in blocks, in the order of their keys, each with the bytes of its first key and its first time.

    A key with many records has a block of its own.

    Args:
        keys: The canonical keys of the records.
        values: The records.
        times: Their times, None if they keep the order that they have.
        order: The order of keys.
    """
    column = None if times is None else array("q", times)
    distinct, ends, places = by_key(keys, column, order)
    values = list(map(values.__getitem__, places))
    if column is not None:
        column = array("q", map(column.__getitem__, places))
    least = max(_LEAST_RECORDS, min(_MOST_RECORDS, len(values) // _SHARE))
    key = first = 0
    while key < len(distinct):
        last_key = min(bisect_left(ends, first + least, key), len(distinct) - 1)
        if last_key > key and ends[last_key] - ends[last_key - 1] >= least:
            last_key -= 1
        last = ends[last_key]
        some_ends = ends[key : last_key + 1]
        counts = [end - before for before, end in zip([first, *some_ends], some_ends, strict=False)]
        block = (
            distinct[key : last_key + 1],
            values[first:last],
            counts,
            None if column is None else column[first:last].tobytes(),
        )
        yield order.bytes_of(distinct[key]), MIN_TIME if column is None else column[first], block
        key, first = last_key + 1, last


def unpack_block(data: bytes) -> tuple[list[Any], Values, list[int], array[int] | None]:
    """Return the keys, the records, the number of records of each key, and the times, of an encoded block."""
    keys, values, counts, encoded = unpack(data)
    if encoded is None:
        return keys, values, counts, None
    times = array("q")
    times.frombytes(encoded)
    return keys, values, counts, times
