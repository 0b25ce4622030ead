"""Aggregates of groups after each row: what is kept of a group, and the values over columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from scurry.functions.aggregate.moments import StableMoments
from scurry.functions.definition import Session
from scurry.functions.user.definition import UserFunction
from scurry.logical_types.arrow import arrow_type
from scurry.logical_types.values import from_values, to_values
from scurry.relational.expressions import AggregateCall
from scurry.relational.rewriting import input_references, remapped, with_parts
from scurry.relational.schema import Schema
from scurry.runtime.tables.batch.aggregating import accumulator, argument_column, group_values
from scurry.runtime.tables.batch.batches import batch_of
from scurry.runtime.tables.streaming.groups.choices import Choosing, chooses, chosen
from scurry.runtime.tables.streaming.groups.extremes import ExtremeOfKept
from scurry.runtime.tables.streaming.groups.segments import Segments, decimal_running_sums, running_sums
from scurry.runtime.tables.user_functions.aggregate import GeneralAccumulator

__all__ = ["Running", "running"]


class Running(Protocol):
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


def running(call: AggregateCall, schema: Schema, retracts: bool, session: Session) -> Running:
    """Return what computes an aggregate.

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
        return _Added(call, found)
    if retracts and call.function in ("MIN", "MAX"):
        return ExtremeOfKept(call)
    if retracts:
        return _KeptRows(call, schema, session)
    if chooses(found):
        return _Chosen(call, found)
    return _Merged(call, found)


class _ByValue:
    def compared(self, values: pa.Array) -> list[pa.Array]:
        return [values]


class _Spread:
    """Adds and takes back numbers one after the other, as Flink's Welford aggregate."""

    def __init__(self, call: AggregateCall, accumulator: StableMoments) -> None:
        self._call = call
        self._accumulator = accumulator
        self._compared: list[pa.Array] = []

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        column = argument_column(self._call.arguments[0], batch)
        used = (counted & np.asarray(column.is_valid())).tolist()
        numbers = column.cast(pa.float64(), safe=False).to_pylist()
        signs = [1] * segments.rows if segments.signs is None else segments.signs.tolist()
        found: list[tuple[int, float, float]] = []
        after = []
        for start, stop, state in zip(segments.starts.tolist(), segments.stops.tolist(), kept, strict=True):
            current = (0, 0.0, 0.0) if state is None else state
            found.append(current)
            for row in range(start, stop):
                if used[row]:
                    current = _welford(current, numbers[row], signs[row])
                found.append(current)
            after.append(current)
        count, mean, squares = zip(*found, strict=True)
        states = [pa.array(count, pa.int64()), pa.array(mean, pa.float64()), pa.array(squares, pa.float64())]
        self._compared = [states[0], states[2]]
        return _whole(self._accumulator.result(states)), after

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


class _Added(_ByValue):
    """Adds states whose columns are numbers."""

    def __init__(self, call: AggregateCall, accumulator: Any) -> None:
        self._call = call
        self._accumulator = accumulator

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        states = _row_states(self._accumulator, self._call, batch, counted, segments)
        signs = None
        if segments.signs is not None:
            signs = np.ones(segments.places, dtype=np.int64)
            signs[segments.place_of_row] = segments.signs
        found, after = [], []
        for number, column in enumerate(states):
            values = _numbers(column)
            if signs is not None:
                values = values * signs.astype(values.dtype)
            heads = [None if state is None else state[number] for state in kept]
            known = np.asarray([place for place, head in enumerate(heads) if head is not None], dtype=np.int64)
            if len(known):
                values[segments.heads[known]] = [heads[place] for place in known.tolist()]
            starts, stops = segments.heads, segments.ends + 1
            if values.dtype == object:
                restarts = self._call.function == "SUM" and signs is None
                sums = decimal_running_sums(values, starts, stops, 38 - column.type.scale, restarts)
            else:
                sums = running_sums(values, starts, stops)
            found.append(_column(sums, column.type))
            after.append(sums[segments.ends].tolist())
        return _whole(self._accumulator.result(found)), list(zip(*after, strict=True))


class _Chosen(_ByValue):
    """Keeps the value of one of the rows: for rows that are only added."""

    def __init__(self, call: AggregateCall, accumulator: Choosing) -> None:
        self._call = call
        self._accumulator = accumulator

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        column = _whole(argument_column(self._call.arguments[0], batch))
        return chosen(self._accumulator, column, counted, segments, kept)


class _Merged(_ByValue):
    """Merges states, each with all before it: for rows that are only added."""

    def __init__(self, call: AggregateCall, accumulator: Any) -> None:
        self._call = call
        self._accumulator = accumulator

    def values(
        self, batch: pa.RecordBatch, counted: Any, segments: Segments, kept: Sequence[Any]
    ) -> tuple[pa.Array, list[Any]]:
        states = _row_states(self._accumulator, self._call, batch, counted, segments)
        known = [place for place, state in enumerate(kept) if state is not None]
        if known:
            source = np.arange(segments.places)
            source[segments.heads[known]] = segments.places + np.arange(len(known))
            heads = zip(*(kept[place] for place in known), strict=True)
            states = [
                pa.concat_arrays([column, from_values(list(values), column.type)]).take(pa.array(source))
                for column, values in zip(states, heads, strict=True)
            ]
        before, step = segments.rows_before, 1
        while len(later := np.flatnonzero(before >= step)):
            earlier = pa.array(later - step)
            both = [pa.concat_arrays([column.take(earlier), column]) for column in states]
            groups = np.concatenate([later, np.arange(segments.places)])
            merged = self._accumulator.merge(both, groups, segments.places)
            states = [_whole(new).cast(old.type) for new, old in zip(merged, states, strict=True)]
            step *= 2
        ends = pa.array(segments.ends)
        after = list(zip(*(to_values(column.take(ends)) for column in states), strict=True))
        return _whole(self._accumulator.result(states)), after


class _KeptRows(_ByValue):
    """Keeps the rows of each group, in their order; the first equal one goes when a row is taken back."""

    def __init__(self, call: AggregateCall, schema: Schema, session: Session) -> None:
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


def _numbers(column: pa.Array) -> Any:
    """Return the numbers of a state, 0 for NULL."""
    if pa.types.is_decimal(column.type):
        import decimal

        return np.array([decimal.Decimal(0) if each is None else each for each in to_values(column)], dtype=object)
    zero = pa.scalar(0, column.type)
    return np.array(column.fill_null(zero) if column.null_count else column)


def _column(numbers: Any, kind: pa.DataType) -> pa.Array:
    if not pa.types.is_decimal(kind):
        return pa.array(numbers, kind)
    wide = pa.decimal128(38, kind.scale)
    return pa.array([None if each.is_nan() else each for each in numbers.tolist()], wide)


def _whole(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
