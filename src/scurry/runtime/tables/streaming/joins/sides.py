"""The rows of one side of a regular join in the state of a key."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

from scurry.logical_types import ArrayType, DoubleType, FloatType, MapType, MultisetType, RowType
from scurry.relational.schema import Schema
from scurry.runtime.keys import encode_key
from scurry.runtime.state.layout import Entry
from scurry.runtime.tables.streaming.joins.rows import RowValues

__all__ = ["COUNT", "PAIRED", "ROW", "Kept", "Side"]

#: A row, how many times it is there, and how many rows of the other side it is paired with.
Kept: TypeAlias = "list[Any]"
ROW, COUNT, PAIRED = range(3)

#: Types whose values are not hashable, or are not equal to themselves.
_ENCODED = (ArrayType, DoubleType, FloatType, MapType, MultisetType, RowType)


class Side:
    """The rows of a side.

    Attributes:
        schema: Their columns.
    """

    def __init__(self, slot: str, schema: Schema, unique: tuple[int, ...] | None) -> None:
        """Describe the side.

        Args:
            slot: Where the rows are in the state of a key.
            schema: Their columns.
            unique: The columns that identify a row among those of the key; None if a row may be there several times.
        """
        self.schema = schema
        self._slot = slot
        self._unique = unique
        columns = range(len(schema)) if unique is None else unique
        self._encodes = any(isinstance(schema[column].type, _ENCODED) for column in columns)

    def rows(self, state: Entry) -> Iterable[Kept]:
        """Return the rows in the state of a key."""
        kept: dict[Hashable, Kept] = state.get(self._slot, {})
        return kept.values()

    def add(self, state: Entry, row: RowValues, paired: int) -> None:
        """Keep a row; one with the same unique columns is replaced."""
        kept, identity = state.setdefault(self._slot, {}), self._identity(row)
        known = kept.get(identity) if self._unique is None else None
        kept[identity] = [row, 1 if known is None else known[COUNT] + 1, paired]

    def retract(self, state: Entry, row: RowValues) -> None:
        """Remove a row, once if it is there several times; nothing happens if it is not there."""
        kept, identity = state.get(self._slot, {}), self._identity(row)
        known = kept.get(identity)
        if known is None:
            return
        if known[COUNT] > 1:
            known[COUNT] -= 1
            return
        del kept[identity]
        if not kept:
            del state[self._slot]

    def _identity(self, row: RowValues) -> Hashable:
        values = row if self._unique is None else tuple(row[column] for column in self._unique)
        return encode_key(values) if self._encodes else values
