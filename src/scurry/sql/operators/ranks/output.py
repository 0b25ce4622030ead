"""The changes that a rank makes, gathered row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from scurry.sql.connectors.contract import Changes
from scurry.sql.operators.ranks.sorted_rows import Row
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values

_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = range(4)


class Output:
    """Gathers changes.

    Args:
        start: The first number of a row that is emitted.
        with_number: Whether the number of a row is its last column.
        with_before: Whether updates have the row before.
    """

    def __init__(self, schema: Schema, start: int, with_number: bool, with_before: bool) -> None:
        self._schema = schema
        self._start = start
        self._with_number = with_number
        self._with_before = with_before
        self._kinds: list[int] = []
        self._rows: list[Row] = []

    def insert(self, row: Row, number: int) -> None:
        """Emit a row that was not there before."""
        self._emit(_INSERT, row, number)

    def delete(self, row: Row, number: int) -> None:
        """Emit a row that is not there any more."""
        self._emit(_DELETE, row, number)

    def update(self, before: Row, after: Row, number: int) -> None:
        """Emit a row that has taken the place of another."""
        if self._with_before:
            self._emit(_UPDATE_BEFORE, before, number)
        self._emit(_UPDATE_AFTER, after, number)

    def shifted(self, before: Sequence[Row], after: Sequence[Row], number: int) -> None:
        """Emit the differences of the rows from a number on."""
        for place in range(max(len(before), len(after))):
            if place >= len(before):
                self.insert(after[place], number + place)
            elif place >= len(after):
                self.delete(before[place], number + place)
            else:
                self.update(before[place], after[place], number + place)

    def changes(self) -> list[Changes]:
        if not self._kinds:
            return []
        columns = [
            from_values(list(values), arrow_type(column.type))
            for values, column in zip(zip(*self._rows, strict=True), self._schema, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(columns, names=list(self._schema.names))
        return [Changes(batch, np.asarray(self._kinds, dtype=np.int8))]

    def _emit(self, kind: int, row: Row, number: int) -> None:
        if number >= self._start:
            self._kinds.append(kind)
            self._rows.append((*row, number) if self._with_number else row)
