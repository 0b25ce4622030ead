"""Buffered columns of the rows that a pattern may match: a tuple per row, made of columns for a block at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from scurry.errors import EvaluationError
from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.expressions import Expression
from scurry.sql.types.values import to_values

#: Results of the conditions for a row, as bits of a number; then the values of the expressions.
KeptRow: TypeAlias = tuple[Any, ...]

#: All bits, which no row has otherwise: there are fewer conditions.
_UNKNOWN: Final = -1


class RowExpressions:
    """Collects the columns that measures and conditions need of a row, and computes them for blocks of rows.

    Until `compile` is called, expressions and conditions can be added.
    """

    def __init__(self, session: EvaluationContext) -> None:
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
        self._values = compile_expressions(list(self._places), self._session)
        self._masks = compile_expressions(self._conditions, self._session)

    def conditions(self, batch: pa.RecordBatch) -> Any:
        """Return for each row the bits of the conditions that hold; all of them if a condition has no value for it."""
        try:
            columns = self._masks(batch)
        except EvaluationError:
            if batch.num_rows == 1:
                return np.full(1, _UNKNOWN)
            half = batch.num_rows // 2
            return np.concatenate([self.conditions(batch.slice(0, half)), self.conditions(batch.slice(half))])
        bits = np.zeros(batch.num_rows, dtype=np.int64)
        for place, column in enumerate(columns):
            bits |= np.asarray(column.fill_null(False)).astype(np.int64) << place
        return bits

    def kept(self, batch: pa.RecordBatch, bits: Any) -> Sequence[KeptRow]:
        """Return the buffered columns of each row of a block."""
        known = bits.tolist()
        for at in np.flatnonzero(bits == _UNKNOWN).tolist():
            known[at] = _Unknown(self, batch.slice(at, 1))
        return list(zip(known, *map(to_values, self._values(batch)), strict=True))

    def holds(self, bit: int, row: pa.RecordBatch) -> bool:
        """Return whether the condition of a bit holds for a row.

        Raises:
            EvaluationError: It has no value.
        """
        condition = self._conditions[bit.bit_length() - 1]
        return bool(compile_expressions([condition], self._session).mask(row)[0])


class _Unknown:
    """The bits of a row for which a condition has no value: that fails only if the automaton asks for it."""

    def __init__(self, rows: RowExpressions, row: pa.RecordBatch) -> None:
        self._rows = rows
        self._row = row

    def __and__(self, bit: int) -> int:
        return bit if self._rows.holds(bit, self._row) else 0

    def __reduce__(self) -> Any:
        # A row that is kept has been asked for already.
        return int, (0,)
