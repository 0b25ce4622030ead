"""The rows of one side of a regular join in the state of a key."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

from scurry.logical_types import ArrayType, DoubleType, FloatType, MapType, MultisetType, RowType
from scurry.relational.schema import Schema
from scurry.runtime.keys import encode_key
from scurry.runtime.operators.keyed_rows import RowsContext
from scurry.runtime.tables.streaming.joins.rows import RowValues

__all__ = ["COUNT", "PAIRED", "ROW", "TOUCHED", "Kept", "Side"]

#: A row, how many times it is there, how many rows of the other side it is paired with, and when it was written.
Kept: TypeAlias = "list[Any]"
ROW, COUNT, PAIRED, TOUCHED = range(4)

#: Types whose values are not hashable, or are not equal to themselves.
_ENCODED = (ArrayType, DoubleType, FloatType, MapType, MultisetType, RowType)


class Side:
    """The rows of a side.

    Attributes:
        schema: Their columns.
    """

    def __init__(self, slot: str, schema: Schema, unique: tuple[int, ...] | None, ttl: int) -> None:
        """Describe the side.

        Args:
            slot: Where the rows are in the state of a key.
            schema: Their columns.
            unique: The columns that identify a row among those of the key; None if a row may be there several times.
            ttl: Milliseconds after which a row that is not written again is forgotten; 0 for never.
        """
        self._ttl = ttl
        self.schema = schema
        self._slot = slot
        self._unique = unique
        columns = range(len(schema)) if unique is None else unique
        self._encodes = any(isinstance(schema[column].type, _ENCODED) for column in columns)

    def rows(self, context: RowsContext) -> Iterable[Kept]:
        """Return the rows in the state of the current key that have not expired."""
        kept: dict[Hashable, Kept] = context.state.get(self._slot, {})
        if not self._ttl:
            return kept.values()
        since = context.processing_time - self._ttl
        return [each for each in kept.values() if each[TOUCHED] > since]

    def add(self, context: RowsContext, row: RowValues, paired: int) -> None:
        """Keep a row of the current key; one with the same unique columns is replaced."""
        state, now = context.state, context.processing_time if self._ttl else 0
        if self._ttl and self._slot not in state:
            context.register_processing_timer(now + self._ttl, self._slot)
        kept, identity = state.setdefault(self._slot, {}), self._identity(row)
        known = kept.get(identity) if self._unique is None else None
        if known is not None and self._ttl and known[TOUCHED] + self._ttl <= now:
            known = None
        kept[identity] = [row, 1 if known is None else known[COUNT] + 1, paired, now]

    def retract(self, context: RowsContext, row: RowValues) -> None:
        """Remove a row of the current key, once if it is there several times; nothing happens if it is not there."""
        state = context.state
        kept, identity = state.get(self._slot, {}), self._identity(row)
        known = kept.get(identity)
        if known is None:
            return
        if known[COUNT] > 1:
            known[COUNT] -= 1
            self.touch(known, context)
            return
        del kept[identity]
        if not kept:
            del state[self._slot]

    def touch(self, kept: Kept, context: RowsContext) -> None:
        """Note that a row is written."""
        if self._ttl:
            kept[TOUCHED] = context.processing_time

    def forget(self, time: int, context: RowsContext) -> None:
        """Remove the rows of the current key that have expired; look again when others have."""
        state = context.state
        kept: dict[Hashable, Kept] = state.get(self._slot, {})
        left = {identity: each for identity, each in kept.items() if each[TOUCHED] + self._ttl > time}
        if left:
            state[self._slot] = left
            next_time = min(each[TOUCHED] for each in left.values()) + self._ttl
            context.register_processing_timer(next_time, self._slot)
        else:
            state.pop(self._slot, None)

    def _identity(self, row: RowValues) -> Hashable:
        values = row if self._unique is None else tuple(row[column] for column in self._unique)
        return encode_key(values) if self._encodes else values
