"""Aggregates of groups after each row: state of a group, and values over columns."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from scurry.sql.evaluation.batch.aggregating import accumulator, argument_column, group_values
from scurry.sql.evaluation.batch.batches import batch_of, empty
from scurry.sql.evaluation.user_functions.aggregate import GeneralAccumulator
from scurry.sql.functions.aggregate.moments import StableMoments
from scurry.sql.functions.casts.numbers import doubles_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.operators.groups.choices import SelectsValue, chooses, chosen, known_columns
from scurry.sql.operators.groups.extremes import ExtremeOfKept
from scurry.sql.operators.groups.segments import Segments, decimal_running_sums, running_sums
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.plan.rewriting import input_references, remapped, with_parts
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values, to_values


class RunningAggregate(Protocol):
    """An aggregate of groups after each row."""

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        """Return its value at each place.

        Args:
            batch: The rows.
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
        call: The aggregate; its arguments are columns.
        schema: The columns of the rows.
        retracts: Whether rows may be taken back.
        session: The session.
    """
    if isinstance(call.function, UserFunction):
        found = accumulator(call, session)
        return _Functions(call, found) if isinstance(found, GeneralAccumulator) else _KeptRows(call, schema, session)
    found = accumulator(call, session)
    if isinstance(found, StableMoments):
        return _Spread(call, found)
    if getattr(found, "additive", False):
        return _Added(call, schema, found)
    if retracts and call.function in ("MIN", "MAX"):
        return ExtremeOfKept(call)
    if retracts:
        return _KeptRows(call, schema, session)
    if chooses(found):
        return _Chosen(call, schema, found)
    return _Merged(call, schema, found)


class _ByValue:
    def compared(self, values: pa.Array) -> list[pa.Array]:
        return [values]


class ColumnarRunning(_ByValue, ABC):
    """An aggregate that keeps a few values of each group, for rows that are only added or that it can take back.

    Attributes:
        types: The types of the values.
    """

    types: list[pa.DataType]

    @abstractmethod
    def advanced(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, known: Any, before: list[pa.Array]
    ) -> tuple[pa.Array, list[pa.Array]]:
        """Return its value at each index, and the columns of each segment's new state.

        Args:
            batch: The rows.
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


class _Spread(ColumnarRunning):
    """Adds and takes back numbers one after the other, as Flink's Welford aggregate."""

    types = [pa.int64(), pa.float64(), pa.float64()]

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
                    current = _welford(current, numbers[row], signs[row])
                found.append(current)
        columns = zip(*found, strict=True) if found else [()] * len(self.types)
        states = [pa.array(each, kind) for each, kind in zip(columns, self.types, strict=True)]
        self._compared = [states[0], states[2]]
        ends = pa.array(segments.ends)
        return _whole(self._accumulator.result(states)), [each.take(ends) for each in states]

    def compared(self, values: pa.Array) -> list[pa.Array]:
        # Flink's planner makes an aggregate of the squares and one of the number, and divides behind the groups.
        return self._compared


def _welford(state: tuple[int, float, float], value: float, sign: int) -> tuple[int, float, float]:
    count, mean, squares = state
    number = count + sign
    if number == 0:
        return 0, 0.0, 0.0
    delta = value - mean
    middle = mean + sign * (delta / number)
    return number, middle, squares + sign * (delta * (value - middle))


class _Added(ColumnarRunning):
    """Adds states whose columns are numbers."""

    def __init__(self, call: AggregateCall, schema: Schema, accumulator: Any) -> None:
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
        return _whole(self._accumulator.result(found)), [each.take(ends) for each in found]


class _Chosen(ColumnarRunning):
    """Keeps the value of one of the rows: for rows that are only added."""

    def __init__(self, call: AggregateCall, schema: Schema, accumulator: SelectsValue) -> None:
        self._call = call
        self._accumulator = accumulator
        self.types = [argument_column(call.arguments[0], empty(schema)).type]

    def advanced(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, known: Any, before: list[pa.Array]
    ) -> tuple[pa.Array, list[pa.Array]]:
        column = _whole(argument_column(self._call.arguments[0], batch))
        values, after = chosen(self._accumulator, column, counted, segments, known, before[0])
        return values, [after]


class _Merged(ColumnarRunning):
    """Merges states, each with all before it: for rows that are only added."""

    def __init__(self, call: AggregateCall, schema: Schema, accumulator: Any) -> None:
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
            states = [_whole(new).cast(old.type) for new, old in zip(merged, states, strict=True)]
            step *= 2
        ends = pa.array(segments.ends)
        return _whole(self._accumulator.result(states)), [column.take(ends) for column in states]


class _KeptRows(_ByValue):
    """Keeps the rows of each group, in their order; the first equal one goes when a row is taken back."""

    def __init__(self, call: AggregateCall, schema: Schema, session: EvaluationContext) -> None:
        self._columns = sorted(set().union(*map(input_references, call.arguments)))
        self._types = [arrow_type(schema[column].type) for column in self._columns]
        places = {column: place for place, column in enumerate(self._columns)}
        bare = replace(call, filter=None, distinct=False)
        self._call: AggregateCall = with_parts(bare, lambda part: remapped(part, places))
        self._schema = schema.select(self._columns)
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
        return _whole(found).take(pa.array(source, pa.int64())), after


class _Functions(_ByValue):
    """Calls a function of the user row by row; keeps its accumulator.

    It has values before and after the rows of a segment only: as in PyFlink the rows of a batch change a group once.
    """

    def __init__(self, call: AggregateCall, accumulator: GeneralAccumulator) -> None:
        self._call = call
        self._accumulator = accumulator

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        columns = [argument_column(each, batch) for each in self._call.arguments]
        groups, signs = segments.of_row, segments.signs
        if not counted.all():
            columns = [column.filter(pa.array(counted)) for column in columns]
            groups, signs = groups[counted], None if signs is None else signs[counted]
        values, after = self._accumulator.advanced(kept, columns, groups, signs)
        source = np.full(segments.places, -1, dtype=np.int64)
        source[segments.heads] = np.arange(len(kept))
        source[segments.ends] = np.arange(len(kept), 2 * len(kept))
        return values.take(pa.array(source, mask=source < 0)), after


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


def _row_states(
    accumulator: Any, call: AggregateCall, batch: pa.RecordBatch, counted: Any, segments: Segments
) -> list[pa.Array]:
    """Return the states of single rows, at their places."""
    columns, places = [argument_column(each, batch) for each in call.arguments], segments.place_of_row
    if not counted.all():
        mask = pa.array(counted)
        columns, places = [column.filter(mask) for column in columns], places[counted]
    return [_whole(column) for column in accumulator.partial(columns, places, segments.places)]


def _state_types(accumulator: Any, call: AggregateCall, schema: Schema) -> list[pa.DataType]:
    """Return the types of the columns of a state."""
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


def _whole(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
