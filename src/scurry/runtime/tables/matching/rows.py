"""What is kept of the rows that a pattern may take: a tuple each, made of columns for a block at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from scurry.functions.definition import Session
from scurry.logical_types.values import to_values
from scurry.relational.expressions import Expression
from scurry.runtime.tables.expressions import compile_expressions

__all__ = ["KeptRow", "RowExpressions"]

#: Which conditions hold for a row, as bits of a number; then the values of the expressions.
KeptRow: TypeAlias = tuple[Any, ...]


class RowExpressions:
    """Collects what measures and conditions need of a row, and computes it for blocks of rows.

    Until `compile` is called, expressions and conditions can be added.
    """

    def __init__(self, session: Session) -> None:
        """Take the session."""
        self._session = session
        self._places: dict[Expression, int] = {}
        self._conditions: list[Expression] = []

    def place(self, expression: Expression) -> int:
        """Return where in a kept row the value of an expression over the columns of the input is."""
        return self._places.setdefault(expression, len(self._places) + 1)

    def bit(self, condition: Expression) -> int:
        """Return the bit of a kept row that says whether a condition over the columns of the input holds."""
        if condition not in self._conditions:
            self._conditions.append(condition)
        return 1 << self._conditions.index(condition)

    def compile(self) -> None:
        """Compile what was collected."""
        self._values = compile_expressions(list(self._places), self._session)
        self._masks = compile_expressions(self._conditions, self._session)

    def conditions(self, batch: pa.RecordBatch) -> Any:
        """Return for each row the bits of the conditions that hold."""
        bits = np.zeros(batch.num_rows, dtype=np.int64)
        for place, column in enumerate(self._masks(batch)):
            bits |= np.asarray(column.fill_null(False)).astype(np.int64) << place
        return bits

    def kept(self, batch: pa.RecordBatch, bits: Any) -> Sequence[KeptRow]:
        """Return what is kept of each row of a block."""
        return list(zip(bits.tolist(), *map(to_values, self._values(batch)), strict=True))
