"""Aggregates after each row that keep a few values of each group: for groups and unbounded OVER."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.evaluation.batch.aggregating import argument_column, counted_arguments
from scurry.sql.evaluation.batch.batches import empty
from scurry.sql.functions.aggregate.definition import Accumulator, Additive, Selecting
from scurry.sql.functions.aggregate.moments import StableMoments
from scurry.sql.functions.casts.numbers import doubles_of
from scurry.sql.operators.aggregation.segments import Segments, decimal_running_sums, running_sums
from scurry.sql.operators.aggregation.selecting import chosen, known_columns
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import as_array
from scurry.sql.types.values import to_values


def columnar(call: AggregateCall, schema: Schema, found: Accumulator) -> ColumnarRunning:
    """Return the running aggregate of a call by the properties of its accumulator."""
    if isinstance(found, StableMoments):
        return _Spread(call, found)
    if isinstance(found, Additive):
        return _Added(call, schema, found)
    if isinstance(found, Selecting):
        return _Selected(call, schema, found)
    return _Merged(call, schema, found)


class ColumnarRunning(ABC):
    """An aggregate that keeps a few values of each group, for rows that are only added or that it can take back."""

    types: list[pa.DataType]

    @abstractmethod
    def advanced(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, known: Any, before: list[pa.Array]
    ) -> tuple[pa.Array, list[pa.Array]]:
        """Return its value at each index, and the columns of each segment's new state.

        Args:
            counted: For each row whether it counts.
            segments: How the rows are divided.
            known: The segments of which something is kept.
            before: The columns of what was returned for them last.
        """

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        values, after = self.advanced(batch, counted, segments, *known_columns(kept, self.types))
        return values, list(zip(*map(to_values, after), strict=True))

    def compared(self, values: pa.Array) -> list[pa.Array]:
        """Return the columns that tell whether a group has changed, after `values` has returned its values."""
        return [values]


class _Spread(ColumnarRunning):
    """Adds and takes back numbers one after the other, as Flink's Welford aggregate."""

    types = list(StableMoments.types)

    def __init__(self, call: AggregateCall, accumulator: StableMoments) -> None:
        self._call = call
        self._accumulator = accumulator
        self._compared: list[pa.Array] = []

    def advanced(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, known: Any, before: list[pa.Array]
    ) -> tuple[pa.Array, list[pa.Array]]:
        column = argument_column(self._call.arguments[0], batch)
        used = (counted & np.asarray(column.is_valid())).tolist()
        numbers = doubles_of(column).to_pylist()
        signs = [1] * segments.rows if segments.signs is None else segments.signs.tolist()
        kept = dict(zip(known.tolist(), zip(*(each.to_pylist() for each in before), strict=True), strict=True))
        found: list[tuple[int, float, float]] = []
        for segment, (start, stop) in enumerate(zip(segments.starts.tolist(), segments.stops.tolist(), strict=True)):
            current = kept.get(segment, (0, 0.0, 0.0))
            found.append(current)
            for row in range(start, stop):
                if used[row]:
                    current = self._accumulator.advanced(current, numbers[row], signs[row])
                found.append(current)
        columns = zip(*found, strict=True) if found else [()] * len(self.types)
        states = [pa.array(each, kind) for each, kind in zip(columns, self.types, strict=True)]
        values = as_array(self._accumulator.result(states))
        self._compared = self._accumulator.compared(states, values)
        ends = pa.array(segments.ends)
        return values, [each.take(ends) for each in states]

    def compared(self, values: pa.Array) -> list[pa.Array]:
        return self._compared


class _Added(ColumnarRunning):
    """Adds states whose columns are numbers."""

    def __init__(self, call: AggregateCall, schema: Schema, accumulator: Additive) -> None:
        self._call = call
        self._accumulator = accumulator
        self.types = [_wide(kind) for kind in _state_types(accumulator, call, schema)]

    def advanced(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, known: Any, before: list[pa.Array]
    ) -> tuple[pa.Array, list[pa.Array]]:
        states = _row_states(self._accumulator, self._call, batch, counted, segments)
        signs = None
        if segments.signs is not None:
            signs = np.ones(segments.places, dtype=np.int64)
            signs[segments.place_of_row] = segments.signs
        found = []
        for column, kind, kept in zip(states, self.types, before, strict=True):
            values = _numbers(column, 0)
            if signs is not None:
                values = values * signs.astype(values.dtype)
            if len(known):
                values[segments.heads[known]] = _numbers(kept, math.nan)
            starts, stops = segments.heads, segments.ends + 1
            if values.dtype == object:
                restarts = self._call.function == "SUM" and signs is None
                sums = decimal_running_sums(values, starts, stops, 38 - column.type.scale, restarts)
            else:
                sums = running_sums(values, starts, stops)
            found.append(_column(sums, kind))
        ends = pa.array(segments.ends)
        return as_array(self._accumulator.result(found)), [each.take(ends) for each in found]


class _Selected(ColumnarRunning):
    """Keeps the value of one of the rows: for rows that are only added."""

    def __init__(self, call: AggregateCall, schema: Schema, accumulator: Selecting) -> None:
        self._call = call
        self._accumulator = accumulator
        self.types = [argument_column(call.arguments[0], empty(schema)).type]

    def advanced(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, known: Any, before: list[pa.Array]
    ) -> tuple[pa.Array, list[pa.Array]]:
        column = as_array(argument_column(self._call.arguments[0], batch))
        values, after = chosen(self._accumulator, column, counted, segments, known, before[0])
        return values, [after]


class _Merged(ColumnarRunning):
    """Merges states, each with all before it: for rows that are only added."""

    def __init__(self, call: AggregateCall, schema: Schema, accumulator: Accumulator) -> None:
        self._call = call
        self._accumulator = accumulator
        self.types = _state_types(accumulator, call, schema)

    def advanced(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, known: Any, before: list[pa.Array]
    ) -> tuple[pa.Array, list[pa.Array]]:
        states = _row_states(self._accumulator, self._call, batch, counted, segments)
        if len(known):
            source = np.arange(segments.places)
            source[segments.heads[known]] = segments.places + np.arange(len(known))
            states = [
                pa.concat_arrays([column, kept]).take(pa.array(source))
                for column, kept in zip(states, before, strict=True)
            ]
        rows_before, step = segments.rows_before, 1
        while len(later := np.flatnonzero(rows_before >= step)):
            earlier = pa.array(later - step)
            both = [pa.concat_arrays([column.take(earlier), column]) for column in states]
            groups = np.concatenate([later, np.arange(segments.places)])
            merged = self._accumulator.merge(both, groups, segments.places)
            states = [as_array(new).cast(old.type) for new, old in zip(merged, states, strict=True)]
            step *= 2
        ends = pa.array(segments.ends)
        return as_array(self._accumulator.result(states)), [column.take(ends) for column in states]


def _row_states(
    accumulator: Accumulator, call: AggregateCall, batch: pa.RecordBatch, counted: Any, segments: Segments
) -> list[pa.Array]:
    """Return the states of single rows, at their places."""
    columns, indices = counted_arguments(call, batch, segments.place_of_row, counted)
    return [as_array(column) for column in accumulator.partial(columns, indices, segments.places)]


def _state_types(accumulator: Accumulator, call: AggregateCall, schema: Schema) -> list[pa.DataType]:
    columns = [argument_column(each, empty(schema)) for each in call.arguments]
    return [column.type for column in accumulator.partial(columns, np.zeros(0, dtype=np.int64), 0)]


def _numbers(column: pa.Array, null: float) -> Any:
    """Return the numbers of a state, for NULL of a decimal another number and 0 otherwise."""
    if pa.types.is_decimal(column.type):
        other = Decimal(null)
        return np.array([other if each is None else each for each in to_values(column)], dtype=object)
    zero = pa.scalar(0, column.type)
    return np.array(column.fill_null(zero) if column.null_count else column)


def _wide(kind: pa.DataType) -> pa.DataType:
    return pa.decimal128(38, kind.scale) if pa.types.is_decimal(kind) else kind


def _column(numbers: Any, kind: pa.DataType) -> pa.Array:
    """Return a column of numbers, NULL for decimals that are too large."""
    if not pa.types.is_decimal(kind):
        return pa.array(numbers, kind)
    return pa.array([None if each.is_nan() else each for each in numbers.tolist()], kind)
