"""Table aggregate user-defined functions: the rows that they make of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.errors import TypeMismatchError
from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.evaluation.user_functions.aggregate import GeneralAccumulator
from scurry.sql.evaluation.user_functions.arguments import checked, result_column
from scurry.sql.evaluation.user_functions.failures import function_error
from scurry.sql.evaluation.user_functions.table import as_returned, fields_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan.nodes import TableAggregate
from scurry.sql.values.results import ResultColumn


class Emitted:
    """The rows that a function has emitted, with their signs: a `RetractableCollector`."""

    def __init__(self, converters: Sequence[ResultColumn], function: UserFunction) -> None:
        """Begin without rows.

        Args:
            converters: Make the columns of the rows.
        """
        self._converters = converters
        self._function = function
        self.rows: list[Sequence[Any]] = []
        self.signs: list[int] = []

    def collect(self, record: Any) -> None:
        """Add a row."""
        self._add(record, 1)

    def retract(self, record: Any) -> None:
        self._add(record, -1)

    def _add(self, record: Any, sign: int) -> None:
        (row,) = as_returned(self._converters, (fields_of(record),))
        if len(row) != len(self._converters):
            kind = self._function.result_type.as_summary_string()
            raise TypeMismatchError(kind, record, f"{len(self._converters)} columns are declared, got {len(row)}")
        self.rows.append(row)
        self.signs.append(sign)


class TableAggregator:
    """Calls a table aggregate function for groups of rows."""

    def __init__(self, plan: TableAggregate, session: EvaluationContext) -> None:
        """Open the function for the task."""
        call = plan.call
        self._function: UserFunction = call.function
        self._converters = [ResultColumn(each.type) for each in plan.function_schema]
        self.accumulator = GeneralAccumulator(call.function, [each.type for each in call.arguments], session)
        instance = self.accumulator.instance
        self._emit_value = getattr(instance, "emit_value", None)
        self._emit_update = getattr(instance, "emit_update_with_retract", None)

    @property
    def updates(self) -> bool:
        """Return whether the function emits the changes of a group's rows itself."""
        return self._emit_update is not None

    def emit(self, accumulator: Any, emitted: Emitted) -> None:
        """Add the rows of a group, or how they have changed if the function says that.

        Raises:
            OperatorError: The function fails.
        """
        try:
            if self._emit_update is not None:
                self._emit_update(accumulator, emitted)
            else:
                assert self._emit_value is not None
                for each in self._emit_value(accumulator) or ():
                    emitted.collect(each)
        except Exception as error:
            raise function_error(self._function, error) from error

    def emitted(self) -> Emitted:
        """Return the collector of emitted rows."""
        return Emitted(self._converters, self._function)

    def columns(self, rows: Sequence[Sequence[Any]]) -> list[pa.Array]:
        return [
            result_column(self._function, converter, [each[place] for each in rows], lambda position: None)
            for place, converter in enumerate(self._converters)
        ]


def table_aggregated(plan: TableAggregate, batch: pa.RecordBatch, session: EvaluationContext) -> pa.RecordBatch:
    """Return the rows of all groups."""
    aggregator = TableAggregator(plan, session)
    groups, first = group_ids_of([batch.column(key) for key in plan.keys], batch.num_rows)
    # Without rows there are no groups, even without keys.
    columns = [batch.column(each) for each in plan.arguments]
    accumulators = aggregator.accumulator.accumulators(columns, groups, len(first))
    rows: list[Sequence[Any]] = []
    counts: list[int] = []
    for accumulator in checked(accumulators, session):
        emitted = aggregator.emitted()
        aggregator.emit(accumulator, emitted)
        kept = _remaining(emitted)
        rows += kept
        counts.append(len(kept))
    heads = taken(batch, np.repeat(first, counts))
    keys = [heads.column(key) for key in plan.keys]
    return batch_of([*keys, *aggregator.columns(rows)], plan.schema, len(rows))


def _remaining(emitted: Emitted) -> list[Sequence[Any]]:
    """Return the rows that are not taken back."""
    found: list[Sequence[Any]] = []
    for row, sign in zip(emitted.rows, emitted.signs, strict=True):
        if sign > 0:
            found.append(row)
        elif row in found:
            found.remove(row)
    return found
