"""Rows by the key groups of their keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

from scurry.connectors.tables.contract import Changes
from scurry.functions.keys import group_codes
from scurry.logical_types.values import to_values
from scurry.runtime.keys import encode_key, key_hash

__all__ = ["by_key_group", "group_of_record", "without_group"]

#: The column that says which key group the rows of a record belong to, by the key that stands for it.
_GROUP = "$key_group"


@lru_cache
def _representatives(groups: int) -> list[int]:
    """Return for each key group an integer that belongs to it as a key."""
    found: dict[int, int] = {}
    key = 0
    while len(found) < groups:
        found.setdefault(key_hash(key) % groups, key)
        key += 1
    return [found[group] for group in range(groups)]


def by_key_group(batch: pa.RecordBatch, keys: Sequence[int], groups: int) -> Iterator[Changes]:
    """Yield the rows of each key group, with a column for `group_of_record` at the end.

    Args:
        batch: The rows.
        keys: Positions of the columns of the key.
        groups: The number of key groups.
    """
    codes, first = group_codes([batch.column(key) for key in keys], batch.num_rows)
    heads = [to_values(batch.column(key).take(pa.array(first))) for key in keys]
    distinct = list(zip(*heads, strict=True)) if heads else [()] * len(first)
    group_of_key = np.asarray([key_hash(encode_key(key)) % groups for key in distinct], dtype=np.int64)
    group_of_row = group_of_key[codes]
    for group in np.unique(group_of_row):
        rows = batch.take(pa.array(np.flatnonzero(group_of_row == group)))
        key = pa.repeat(pa.scalar(_representatives(groups)[group], pa.int64()), rows.num_rows)
        yield Changes(rows.append_column(_GROUP, key))


def group_of_record(changes: Changes) -> int:
    """Return the key that stands for the key group of some rows."""
    key: int = changes.batch.column(_GROUP)[0].as_py()
    return key


def without_group(changes: Changes) -> pa.RecordBatch:
    """Return the rows as they were."""
    batch = changes.batch
    return batch.select(range(batch.num_columns - 1))
