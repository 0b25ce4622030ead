"""Aggregates of frames that overlap: blocks of 1, 2, 4, ... rows are aggregated once, and make up the frames.

So a frame costs the logarithm of its length for every aggregate: its states are merged, in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.functions.aggregate.definition import Accumulator, Column

# Blocks that are put together at once.
_BLOCKS_AT_ONCE = 4_000_000

Positions = np.ndarray[Any, Any]


def framed_values(accumulator: Accumulator, states: Sequence[Column], start: Positions, end: Positions) -> pa.Array:
    """Return the value of the aggregate for each frame.

    Args:
        start: Where each frame begins.
        end: Where it has ended; not after its start if the frame is empty.
    """
    longest = int((end - start).max(initial=0))
    blocks, offsets = _blocks(accumulator, states, longest)
    frames_at_once = max(_BLOCKS_AT_ONCE // (2 * max(longest.bit_length(), 1)), 1)
    found = []
    for first in range(0, len(start), frames_at_once):
        some = slice(first, first + frames_at_once)
        frames, indices = _cover(start[some], end[some], offsets)
        parts = [each.take(pa.array(indices)) for each in blocks]
        found.append(accumulator.result(accumulator.merge(parts, frames, len(start[some]))))
    return pa.concat_arrays(found) if found else accumulator.result(accumulator.merge(states, start, 0))


def summed_values(accumulator: Accumulator, states: Sequence[Column], start: Positions, end: Positions) -> pa.Array:
    """Return the value of an aggregate whose states are sums, as those of COUNT, SUM and AVG, for each frame.

    Whole numbers and decimals are differences of the sums of all rows before; the sums of decimals have to fit into 38
    digits. Binary fractions are added row by row: their frames have to begin where the partition does.

    Args:
        start: Where each frame begins.
        end: Where it has ended.
    """
    return accumulator.result([_sums(state.fill_null(0), start, end) for state in states])


def _sums(state: pa.Array, start: Positions, end: Positions) -> pa.Array:
    if pa.types.is_floating(state.type):
        return _running_sums(np.asarray(state), start, end)
    if pa.types.is_decimal(state.type):
        total = np.concatenate([[0], np.cumsum(_unscaled(state))])
        return _scaled(total[end] - total[start], state.type)
    values = np.asarray(state)
    total = np.concatenate([np.zeros(1, values.dtype), np.cumsum(values, dtype=values.dtype)])
    return pa.array(total[end] - total[start])


def _running_sums(values: Positions, start: Positions, end: Positions) -> pa.Array:
    total = np.zeros(len(start), values.dtype)
    begins = np.unique(start)
    with np.errstate(all="ignore"):  # sums may be infinite
        for first, last in zip(begins, [*begins[1:], len(start)], strict=False):
            running = np.cumsum(np.concatenate([np.zeros(1, values.dtype), values[first:last]]))
            total[first:last] = running[end[first:last] - first]
    return pa.array(total)


def _unscaled(decimals: pa.Array) -> Positions:
    """Return the whole numbers that decimals of 128 bits are stored as."""
    words = np.frombuffer(decimals.buffers()[1], np.int64).reshape(-1, 2)[decimals.offset :][: len(decimals)]
    low, high = words[:, 0].astype(np.uint64).astype(object), words[:, 1].astype(object)
    whole: Positions = high * 2**64 + low
    return whole


def _scaled(whole: Positions, kind: pa.Decimal128Type) -> pa.Array:
    """Return the decimals that are stored as whole numbers."""
    words = np.empty((len(whole), 2), np.uint64)
    words[:, 0] = whole & (2**64 - 1)
    words[:, 1] = whole >> 64 & (2**64 - 1)
    return pa.Array.from_buffers(kind, len(whole), [None, pa.py_buffer(words.tobytes())])


def _blocks(accumulator: Accumulator, states: Sequence[Column], longest: int) -> tuple[list[pa.Array], list[int]]:
    """Return the states of all blocks that fit into the longest frame, and where those of 1, 2, 4, ... rows begin."""
    levels = [list(states)]
    while 2 << (len(levels) - 1) <= longest:
        below = levels[-1]
        groups = np.arange(len(below[0])) // 2
        levels.append(list(accumulator.merge(below, groups, (len(groups) + 1) // 2)))
    lengths = [len(level[0]) for level in levels]
    blocks = [pa.concat_arrays([level[place] for level in levels]) for place in range(len(states))]
    return blocks, [0, *np.cumsum(lengths).tolist()]


def _cover(start: Positions, end: Positions, offsets: Sequence[int]) -> tuple[Positions, Positions]:
    """Return the fewest blocks that make up each frame, in order: the numbers of the frames, and the blocks' places."""
    numbers = np.arange(len(start))
    left, right = start.copy(), np.maximum(end, start)
    from_left: list[tuple[Positions, Positions]] = []
    from_right: list[tuple[Positions, Positions]] = []
    for offset in offsets[:-2]:
        odd = (left < right) & (left % 2 == 1)
        from_left.append((numbers[odd], offset + left[odd]))
        left = left + odd
        odd = (left < right) & (right % 2 == 1)
        right = right - odd
        from_right.append((numbers[odd], offset + right[odd]))
        left, right = left // 2, right // 2
    while (left < right).any():  # a frame has at most three of the largest blocks
        some = left < right
        from_left.append((numbers[some], offsets[-2] + left[some]))
        left = left + some
    parts = [*from_left, *from_right[::-1]]
    frames = np.concatenate([frame for frame, _ in parts])
    indices = np.concatenate([place for _, place in parts])
    order = np.argsort(frames, kind="stable")
    return frames[order], indices[order]
