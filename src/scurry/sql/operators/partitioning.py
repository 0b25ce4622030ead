"""Rows by key: how they are sent to the subtasks that keep the state of their keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from scurry._dataclasses import dataclass
from scurry.runtime.keys import CanonicalKey, encode_key, key_hash, key_hashes, row_keys
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import taken
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.operators.hashed_rows.hashing import Hashes, groups_of, in_groups, row_hashes
from scurry.sql.types.values import naming_texts, to_values

#: Hashes that a writer remembers.
_MOST_HASHES = 1_000_000
#: Rows of a key from which on its texts are sent once.
_ROWS_PER_KEY = 4


@dataclass(frozen=True)
class KeyedChanges:
    """Rows with their keys.

    Attributes:
        changes: The rows, in the order in which they were sent.
        keys: The different keys of the rows, in canonical form.
        group_ids: For each row the position of its key in `keys`.
    """

    changes: Changes
    keys: list[CanonicalKey]
    group_ids: Any

    def __repr__(self) -> str:
        """Return how many rows there are, of which columns."""
        return repr(self.changes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the group ids in as few bytes as they need."""
        return _keyed_changes, (self.changes, self.keys, self.group_ids.astype(np.min_scalar_type(len(self.keys))))


def _keyed_changes(changes: Changes, keys: list[CanonicalKey], group_ids: Any) -> KeyedChanges:
    return KeyedChanges(changes, keys, group_ids.astype(np.int64))


class PartitionByKey:
    """Split records by key, for `ops.HashRows`.

    Args:
        columns: Positions of the columns of the key; none if all rows belong together.
        by_group: Whether rows are told apart by the key groups of their keys only. `KeyedChanges.keys` then has one
            key per key group, which stands for it: for operators that keep the rows of many keys as columns.
    """

    def __init__(self, columns: Sequence[int], by_group: bool = False) -> None:
        self._columns = tuple(columns)
        self._by_group = by_group
        self._hashes: dict[CanonicalKey, int] = {}

    def __call__(self, changes: Changes, max_parallelism: int, receivers: int) -> list[tuple[int, KeyedChanges]]:
        """Return the subtasks that get rows, with their rows."""
        keyed = self._keyed(changes, max_parallelism)
        if receivers == 1:
            return [(0, keyed)]
        hashes = self._hashes_of(keyed.keys)
        subtasks = hashes % max_parallelism * receivers // max_parallelism
        found = np.unique(subtasks).tolist()
        if len(found) == 1:
            return [(found[0], keyed)]
        by_row = subtasks[keyed.group_ids]
        return [(subtask, _rows_of(keyed, subtasks == subtask, by_row == subtask)) for subtask in found]

    def _keyed(self, changes: Changes, max_parallelism: int) -> KeyedChanges:
        keys, group_ids, first = _keys_of(changes.batch, self._columns)
        if _ROWS_PER_KEY * len(keys) <= len(group_ids):
            changes = Changes(_with_dictionaries(changes.batch, self._columns, group_ids, first), changes.kinds)
        if not self._by_group:
            return KeyedChanges(changes, keys, group_ids)
        groups = self._hashes_of(keys) % max_parallelism
        distinct, group_of_key = np.unique(groups, return_inverse=True)
        stand_in = _stand_ins(max_parallelism)
        return KeyedChanges(changes, [stand_in[group] for group in distinct.tolist()], group_of_key[group_ids])

    def _hashes_of(self, keys: list[CanonicalKey]) -> Any:
        if len(self._hashes) > _MOST_HASHES:
            self._hashes.clear()
        new = [key for key in keys if key not in self._hashes]
        self._hashes.update(zip(new, key_hashes(new), strict=True))
        return np.fromiter(map(self._hashes.__getitem__, keys), np.int64, len(keys))


@dataclass(frozen=True)
class HashedChanges:
    """Rows with the hashes of their keys.

    Attributes:
        changes: The rows, in the order in which they were sent.
    """

    changes: Changes
    hashes: Hashes

    def __repr__(self) -> str:
        """Return how many rows there are, of which columns."""
        return repr(self.changes)


class PartitionByHash:
    """Split records by the hash of their key: for operators that keep rows as `HashedRows`.

    Args:
        columns: Positions of the columns of the key; none if all rows belong together.
        by_key: Whether key groups are those of `PartitionByKey`: for operators that take over state by key.
    """

    def __init__(self, columns: Sequence[int], by_key: bool = False) -> None:
        self._columns = tuple(columns)
        self._by_key = by_key

    def __call__(self, changes: Changes, max_parallelism: int, receivers: int) -> list[tuple[int, HashedChanges]]:
        """Return the subtasks that get rows, with their rows."""
        batch, kinds = changes.batch, changes.kinds
        hashes = self.hashes(batch, max_parallelism)
        if receivers == 1:
            return [(0, HashedChanges(changes, hashes))]
        subtasks = groups_of(hashes) * receivers // max_parallelism
        found = []
        for subtask in np.flatnonzero(np.bincount(subtasks)).tolist():
            here = np.flatnonzero(subtasks == subtask)
            some = Changes(taken(batch, here), None if kinds is None else np.asarray(kinds)[here])
            found.append((subtask, HashedChanges(some, hashes[here])))
        return found

    def hashes(self, batch: pa.RecordBatch, max_parallelism: int) -> Hashes:
        found = row_hashes([batch.column(column) for column in self._columns], batch.num_rows, max_parallelism)
        if not self._by_key:
            return found
        if len(self._columns) == 1:  # looking for equal keys would cost more than their hashes
            with naming_texts(batch):
                keys, group_ids = row_keys([to_values(batch.column(self._columns[0]))]), slice(None)
        else:
            keys, group_ids, _ = _keys_of(batch, self._columns)
        groups = np.array(key_hashes(keys), np.uint64) % np.uint64(max_parallelism)
        return in_groups(found, groups[group_ids])


def keys_of(batch: pa.RecordBatch, columns: Sequence[int]) -> tuple[list[CanonicalKey], Any]:
    """Return the different keys of rows, in canonical form, and for each row the position of its key."""
    keys, group_ids, _ = _keys_of(batch, columns)
    return keys, group_ids


def _keys_of(batch: pa.RecordBatch, columns: Sequence[int]) -> tuple[list[CanonicalKey], Any, Any]:
    """Return the result of `keys_of`, and for each key the position of its first row."""
    found = [batch.column(column) for column in columns]
    group_ids, first = group_ids_of(found, batch.num_rows)
    with naming_texts(batch):
        values = [to_values(column.take(pa.array(first))) for column in found]
    return row_keys(values) if found else [encode_key(())], group_ids, first


def _with_dictionaries(batch: pa.RecordBatch, columns: Sequence[int], group_ids: Any, first: Any) -> pa.RecordBatch:
    """Return rows whose texts in some columns are positions in a dictionary: a fraction of the bytes to move.

    Unpickling turns them into texts again.
    """
    for column in columns:
        field, texts = batch.schema.field(column), batch.column(column)
        if pa.types.is_string(field.type):
            kept = pa.DictionaryArray.from_arrays(group_ids.astype(np.int32), texts.take(pa.array(first)))
            batch = batch.set_column(column, field.with_type(kept.type), kept)
    return batch


def _rows_of(keyed: KeyedChanges, keys: Any, rows: Any) -> KeyedChanges:
    """Return some of the rows, which are all rows of some of the keys."""
    place = np.cumsum(keys) - 1
    here = np.flatnonzero(rows)
    kinds = keyed.changes.kinds
    some = Changes(keyed.changes.batch.take(pa.array(here)), None if kinds is None else np.asarray(kinds)[here])
    return KeyedChanges(some, [keyed.keys[each] for each in np.flatnonzero(keys)], place[keyed.group_ids[here]])


@lru_cache(maxsize=128)
def _stand_ins(groups: int) -> list[int]:
    """Return for each key group an integer that belongs to it as a key."""
    found: dict[int, int] = {}
    key = 0
    while len(found) < groups:
        found.setdefault(key_hash(key) % groups, key)
        key += 1
    return [found[group] for group in range(groups)]
