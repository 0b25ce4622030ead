"""Aggregates of groups after each row: state of a group, and values over columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from scurry.sql.evaluation.batch.aggregating import accumulator, counted_arguments, group_values, of_arguments
from scurry.sql.evaluation.batch.batches import batch_of
from scurry.sql.evaluation.user_functions.aggregate import GeneralAccumulator
from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.functions.aggregate.definition import Additive, Selecting
from scurry.sql.functions.aggregate.moments import StableMoments
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.operators.aggregation.columnar import columnar
from scurry.sql.operators.aggregation.extremes import ExtremeOfKept
from scurry.sql.operators.aggregation.segments import Segments
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import arrow_type, as_array
from scurry.sql.types.values import from_values, to_values


class RunningAggregate(Protocol):
    """An aggregate of groups after each row."""

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        """Return its value at each place.

        Args:
            counted: For each row whether it counts: FILTER and DISTINCT are applied.
            segments: How the rows are divided.
            kept: For each segment what was returned for it last; None for a new group.

        Returns:
            The values, and for each segment what to keep, which can be pickled.
        """

    def compared(self, values: pa.Array) -> list[pa.Array]:
        """Return the columns that tell whether a group has changed, after `values` has returned its values."""


def running(call: AggregateCall, schema: Schema, retracts: bool, session: EvaluationContext) -> RunningAggregate:
    """Return the running aggregate of a call.

    Args:
        retracts: Whether rows may be taken back.
    """
    found = accumulator(call, session)
    if isinstance(found, GeneralAccumulator):
        return _Functions(call, found)
    if retracts and isinstance(found, Selecting) and properties_of(call.function).order_free:
        return ExtremeOfKept(call)
    changes_states = isinstance(found, Additive | StableMoments) or not retracts
    if isinstance(call.function, UserFunction) or not changes_states:
        return _KeptRows(call, schema, session)
    return columnar(call, schema, found)


class _KeptRows:
    """Keeps the rows of each group, in their order; the first equal one goes when a row is taken back."""

    def __init__(self, call: AggregateCall, schema: Schema, session: EvaluationContext) -> None:
        self._columns, self._call, self._schema = of_arguments(call, schema)
        self._types = [arrow_type(column.type) for column in self._schema]
        self._session = session

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        columns = [to_values(batch.column(column)) for column in self._columns]
        rows = list(zip(*columns, strict=True)) if columns else [()] * segments.rows
        signs = [1] * segments.rows if segments.signs is None else segments.signs.tolist()
        flat: list[Any] = []
        groups: list[int] = []
        source: list[int] = []
        after: list[Any] = []
        used = counted.tolist()
        for start, stop, state in zip(segments.starts.tolist(), segments.stops.tolist(), kept, strict=True):
            current = list(state or ())
            _snapshot(current, flat, groups, source, new=True)
            for row in range(start, stop):
                if used[row]:
                    _change(current, rows[row], signs[row])
                _snapshot(current, flat, groups, source, new=used[row])
            after.append(current)
        values = zip(*flat, strict=True) if flat else [()] * len(self._types)
        arrays = [from_values(list(each), kind) for each, kind in zip(values, self._types, strict=True)]
        count = source[-1] + 1 if source else 0
        found = group_values(
            self._call, batch_of(arrays, self._schema, len(flat)), np.asarray(groups, np.int64), count, self._session
        )
        return as_array(found).take(pa.array(source, pa.int64())), after

    def compared(self, values: pa.Array) -> list[pa.Array]:
        return [values]


class _Functions:
    """Calls a function of the user row by row; keeps its accumulator.

    It has values before and after the rows of a segment only: as in PyFlink the rows of a batch change a group once.
    """

    def __init__(self, call: AggregateCall, accumulator: GeneralAccumulator) -> None:
        self._call = call
        self._accumulator = accumulator

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        columns, groups = counted_arguments(self._call, batch, segments.of_row, counted)
        signs = None if segments.signs is None else segments.signs[counted]
        values, after = self._accumulator.advanced(kept, columns, groups, signs)
        source = np.full(segments.places, -1, dtype=np.int64)
        source[segments.heads] = np.arange(len(kept))
        source[segments.ends] = np.arange(len(kept), 2 * len(kept))
        return values.take(pa.array(source, mask=source < 0)), after

    def compared(self, values: pa.Array) -> list[pa.Array]:
        return [values]


def _change(current: list[Any], row: Any, sign: int) -> None:
    if sign > 0:
        current.append(row)
    elif row in current:
        current.remove(row)


def _snapshot(current: list[Any], flat: list[Any], groups: list[int], source: list[int], new: bool) -> None:
    """Add a place whose value is that of some rows: those of the place before, unless they are new."""
    if not new:
        source.append(source[-1])
        return
    group = source[-1] + 1 if source else 0
    flat += current
    groups += [group] * len(current)
    source.append(group)
