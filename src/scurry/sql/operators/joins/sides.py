"""The rows of one side of a regular join in the state of a key."""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

from scurry.runtime.keys import encode_key
from scurry.runtime.operators.rows import RowsContext
from scurry.sql.operators.joins.rows import RowValues
from scurry.sql.plan.schema import Schema
from scurry.sql.types import ArrayType, DoubleType, FloatType, MapType, MultisetType, RowType

#: A row, how many times it is there, how many rows of the other side it is paired with, and when it was written.
Kept: TypeAlias = "list[Any]"
ROW, COUNT, PAIRED, TOUCHED = range(4)

#: More pieces of rows of a key than this are made one.
_MOST_PIECES = 32

#: Types whose values are not hashable, or are not equal to themselves.
_ENCODED = (ArrayType, DoubleType, FloatType, MapType, MultisetType, RowType)


class Side:
    """The rows of a side.

    They are in the state of their key as bytes: a page of state has the rows of many keys, of which a micro-batch
    touches one. Those of keys that it has touched are in memory until it ends. Rows that nothing has to be known of
    are appended to those of their key without reading these: the many rows of a key that few rows are joined with.
    """

    def __init__(self, slot: str, schema: Schema, unique: tuple[int, ...] | None, ttl: int, counts_pairs: bool) -> None:
        """Describe the side.

        Args:
            slot: Where the rows are in the state of a key.
            unique: The columns that identify a row among those of the key; None if a row may be there several times.
            ttl: Milliseconds after which a row that is not written again is forgotten; 0 for never.
            counts_pairs: Whether it matters how many pairs a row has.
        """
        self._ttl = ttl
        self._appends = unique is None and not ttl and not counts_pairs
        self.schema = schema
        self._slot = slot
        self._unique = unique
        columns = range(len(schema)) if unique is None else unique
        self._encodes = any(isinstance(schema[column].type, _ENCODED) for column in columns)
        self._touched: dict[Any, dict[Hashable, Kept]] = {}
        self._changed: set[Any] = set()
        self._appended: dict[Any, list[RowValues]] = {}

    def rows(self, key: Any, context: RowsContext) -> Iterable[Kept]:
        """Return the rows of a key that have not expired."""
        kept = self._touched.get(key)
        if kept is None:
            if key not in self._appended and self._slot not in context.select(key):
                return ()
            kept = self._of(key, context)
        if not self._ttl:
            return kept.values()
        since = context.processing_time - self._ttl
        return [each for each in kept.values() if each[TOUCHED] > since]

    def add(self, key: Any, row: RowValues, paired: int, context: RowsContext) -> bool:
        """Keep a row, and return whether it replaces one with the same unique columns."""
        if self._appends and key not in self._touched:
            self._appended.setdefault(key, []).append(row)
            return False
        kept, identity = self._of(key, context), self._identity(row)
        now = context.processing_time if self._ttl else 0
        if self._ttl and not kept:
            context.select(key)
            context.register_processing_timer(now + self._ttl, self._slot)
        known = kept.get(identity)
        if known is not None and self._ttl and known[TOUCHED] + self._ttl <= now:
            known = None
        replaces = known is not None and self._unique is not None
        kept[identity] = [row, 1 if known is None or replaces else known[COUNT] + 1, paired, now]
        self._changed.add(key)
        return replaces

    def retract(self, key: Any, row: RowValues, context: RowsContext) -> None:
        """Remove a row, once if it is there several times; nothing happens if it is not there."""
        kept, identity = self._of(key, context), self._identity(row)
        known = kept.get(identity)
        if known is None:
            return
        self._changed.add(key)
        if known[COUNT] > 1:
            known[COUNT] -= 1
            self.touch(known, context)
        else:
            del kept[identity]

    def touch(self, kept: Kept, context: RowsContext) -> None:
        """Note that a row is written."""
        if self._ttl:
            kept[TOUCHED] = context.processing_time

    def changed(self, keys: Iterable[Any]) -> None:
        """Note that rows of some keys, which `rows` has returned, are changed."""
        self._changed.update(keys)

    def forget(self, time: int, context: RowsContext) -> None:
        """Remove the rows of the current key that have expired; look again when others have."""
        kept = self._of(context.key, context)
        for identity in [identity for identity, each in kept.items() if each[TOUCHED] + self._ttl <= time]:
            del kept[identity]
        self._changed.add(context.key)
        if kept:
            next_time = min(each[TOUCHED] for each in kept.values()) + self._ttl
            context.register_processing_timer(next_time, self._slot)

    def write_back(self, context: RowsContext) -> None:
        """Move the changes to the state of their keys."""
        slot, select, dumps = self._slot, context.select, pickle.dumps
        appended, self._appended = self._appended, {}
        for key, rows in appended.items():
            state = select(key)
            pieces = state.get(slot)
            if pieces is None:
                state[slot] = (dumps(rows, 5),)
            elif len(pieces) < _MOST_PIECES:
                state[slot] = (*pieces, dumps(rows, 5))
            else:
                self._append(self._of(key, context), rows)
                self._changed.add(key)
        for key in self._changed:
            kept = self._touched.get(key)
            if kept:
                select(key)[slot] = (dumps(kept, 5),)
            elif kept is not None:
                select(key).pop(slot, None)
        self._touched.clear()
        self._changed.clear()

    def _of(self, key: Any, context: RowsContext) -> dict[Hashable, Kept]:
        kept = self._touched.get(key)
        if kept is None:
            kept = self._touched[key] = {}
            for piece in context.select(key).get(self._slot, ()):
                rows = pickle.loads(piece)
                if isinstance(rows, dict):
                    kept.update(rows)
                else:
                    self._append(kept, rows)
            appended = self._appended.pop(key, None)
            if appended is not None:
                self._append(kept, appended)
                self._changed.add(key)
        return kept

    def _append(self, kept: dict[Hashable, Kept], rows: Iterable[RowValues]) -> None:
        for row in rows:
            known = kept.setdefault(self._identity(row), [row, 0, 0, 0])
            known[COUNT] += 1

    def _identity(self, row: RowValues) -> Hashable:
        values = row if self._unique is None else tuple(row[column] for column in self._unique)
        return encode_key(values) if self._encodes else values
