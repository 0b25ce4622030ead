"""Rows as records of streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.common.types import Row, RowKind
from scurry.errors import EvaluationError
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import milliseconds
from scurry.sql.types import DataType
from scurry.sql.values.records import record_values

_KINDS = tuple(RowKind)
_ADDED = (RowKind.INSERT.value, RowKind.UPDATE_AFTER.value)
_NONE = -(2**63)


class RecordsOfRows:
    """Make records of batches of rows.

    Args:
        columns: The columns that are values of the records: position and type.
        names: The names that the values have in a Row; None for rows without names.
        rowtime: The position of the column that is the timestamp of the records; None if they have none.
        form: What the records are: `row`, `tuple`, or `value` (of the only column); with `retract ` before, pairs of
            whether the row is added, and the record.
    """

    def __init__(
        self,
        columns: Sequence[tuple[int, DataType]],
        names: Sequence[str] | None,
        rowtime: int | None,
        form: str = "row",
    ) -> None:
        self._columns = tuple(columns)
        self._names = None if names is None else tuple(names)
        self._rowtime = rowtime
        self._form = form

    def records(self, changes: Changes) -> tuple[list[Any], list[int] | None]:
        """Return the records of some rows, and their timestamps in milliseconds.

        Raises:
            EvaluationError: The column of the timestamps has NULL.
        """
        batch, kinds = changes.batch, changes.kinds
        columns = [record_values(batch.column(place), kind) for place, kind in self._columns]
        retract, _, form = self._form.rpartition(" ")
        values = self._formed(form, columns, batch.num_rows, kinds)
        if retract:
            added = [True] * len(values) if kinds is None else [kind in _ADDED for kind in kinds]
            values = list(zip(added, values, strict=True))
        return values, self._timestamps(changes)

    def _formed(self, form: str, columns: Sequence[list[Any]], count: int, kinds: Any) -> list[Any]:
        if form == "value":
            return columns[0]
        values = zip(*columns, strict=True) if columns else [()] * count
        if form == "tuple":
            return list(values)
        make, names = Row._from_values, self._names
        if kinds is None:
            return Row._from_many(values, names)
        return [make(each, names, _KINDS[kind]) for each, kind in zip(values, kinds, strict=True)]

    def _timestamps(self, changes: Changes) -> list[int] | None:
        if self._rowtime is None:
            return None
        times: list[int] = milliseconds(changes.batch.column(self._rowtime)).tolist()
        if _NONE in times:
            raise EvaluationError(
                f"the rowtime column '{changes.batch.schema.names[self._rowtime]}' is NULL in a row that becomes a "
                "record of a stream: filter such rows before"
            )
        return times
