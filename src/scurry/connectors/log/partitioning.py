"""The partition of a key, as Java's Kafka producers compute it: a murmur2 hash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_FACTOR = np.uint32(0x5BD1E995)
_SEED = 0x9747B28C


def partitions_of(keys: Sequence[bytes], count: int) -> list[int]:
    """Return the partition of each key.

    Args:
        keys: The keys.
        count: Number of partitions of the topic.
    """
    if count == 1:
        return [0] * len(keys)
    found = np.empty(len(keys), np.int64)
    lengths = np.fromiter(map(len, keys), np.int64, len(keys))
    for length in np.unique(lengths).tolist():
        places = np.flatnonzero(lengths == length)
        data = b"".join([keys[place] for place in places.tolist()])
        found[places] = (_murmur2(data, length, len(places)) & np.uint32(2**31 - 1)) % np.uint32(count)
    return found.tolist()


def _murmur2(data: bytes, length: int, rows: int) -> Any:
    """Return the hashes of keys of one length, which are joined in `data`."""
    text = np.frombuffer(data, np.uint8).reshape(rows, length)
    whole = length // 4
    hashes = np.full(rows, _SEED ^ length, np.uint32)
    words = np.ascontiguousarray(text[:, : 4 * whole]).view("<u4").reshape(rows, whole)
    for number in range(whole):
        mixed = words[:, number] * _FACTOR
        mixed ^= mixed >> np.uint32(24)
        hashes = (hashes * _FACTOR) ^ (mixed * _FACTOR)
    rest = text[:, 4 * whole :].astype(np.uint32)
    for place in reversed(range(length - 4 * whole)):
        hashes ^= rest[:, place] << np.uint32(8 * place)
    if length > 4 * whole:
        hashes *= _FACTOR
    hashes ^= hashes >> np.uint32(13)
    hashes *= _FACTOR
    return hashes ^ (hashes >> np.uint32(15))
