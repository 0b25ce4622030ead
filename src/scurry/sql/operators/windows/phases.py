"""The phases of an aggregate over batches: states of rows, one state of several, values of states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.aggregating import (
    accumulator,
    aggregated,
    argument_column,
    counted_arguments,
    filter_mask,
    group_values,
)
from scurry.sql.evaluation.batch.batches import batch_of, concatenated_columns
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.operators.aggregation.distinct import distinct_views
from scurry.sql.operators.aggregation.partial import PartialState
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.plan.nodes import Aggregate, Values
from scurry.sql.plan.physical.windows import WindowAggregate
from scurry.sql.plan.rewriting import input_references, remapped, with_parts
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.types import BigIntType, IntType
from scurry.sql.types.arrow import arrow_type, as_array

#: The numbers of windows, the keys of results, and the columns that follow.
_Results: TypeAlias = "tuple[pa.Array, list[pa.Array], list[pa.Array]]"


class WindowState:
    """State of window operators: batches with the number of the window first.

    A number is the end of a slice or of a window, or stands for a session.
    """

    def rows_of(self, changes: Changes) -> pa.RecordBatch:
        """Return the input of `partial` from changes: columns of the rows first, in their order."""
        return changes.batch

    def place_of(self, key: int) -> int:
        raise NotImplementedError

    def partial(self, batch: pa.RecordBatch, windows: pa.Array) -> pa.RecordBatch:
        raise NotImplementedError

    def merge(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Return the merged state of several parts."""
        raise NotImplementedError

    def result(self, batch: pa.RecordBatch) -> _Results:
        """Return results of the state: the numbers of their windows, their keys, and the columns that follow."""
        raise NotImplementedError


def phases_of(plan: WindowAggregate, retracts: bool, session: EvaluationContext) -> WindowState:
    """Return the phases of a window aggregate; its input matters only by its columns.

    The columns of a window that rows have are keys, too.

    Args:
        retracts: Whether rows may be taken back.
    """
    attached = tuple(each.position for each in plan.columns if each.position is not None)
    keys = (*plan.keys, *attached)
    added = tuple(range(len(plan.keys), len(keys)))
    sets = tuple((*grouping, *added) for grouping in plan.grouping_sets)
    aggregate = Aggregate(plan.input, keys, plan.calls, plan.names, sets, plan.grouping_id)
    made = RetractableRows if retracts else AccumulatorState
    return made(aggregate, plan.set_numbers, session)


class _ByKey(WindowState):
    """Keep the number of the window, the keys, and the number of the grouping set if there are several, first.

    Keys that are not in a grouping set are NULL.
    """

    def __init__(self, plan: Aggregate, set_numbers: Sequence[int]) -> None:
        self._plan = plan
        self._set_numbers = np.array(set_numbers)
        self._several = len(plan.grouping_sets) > 1 or plan.grouping_id is not None
        self._keys = 1 + len(plan.keys) + self._several

    def place_of(self, key: int) -> int:
        """Return the column of a key of the plan in the state."""
        return 1 + self._plan.keys.index(key)

    def _heads(self, batch: pa.RecordBatch, windows: pa.Array) -> Iterator[list[pa.Array]]:
        """Yield the first columns of rows for each grouping set."""
        for place, grouping in enumerate(self._plan.grouping_sets):
            keys = [
                batch.column(key) if each in grouping else pa.nulls(batch.num_rows, batch.column(key).type)
                for each, key in enumerate(self._plan.keys)
            ]
            number = [pa.repeat(pa.scalar(place, pa.int32()), batch.num_rows)] if self._several else []
            yield [windows, *keys, *number]

    def _results(self, heads: list[pa.Array], values: list[pa.Array]) -> _Results:
        """Return results of their first columns and the values of aggregates."""
        following = []
        if self._several:
            number = np.asarray(heads.pop())
            if self._plan.grouping_id is not None:
                following.append(pa.array(self._set_numbers[number]))
        return heads[0], heads[1:], [*following, *values]


class AccumulatorState(_ByKey):
    """Keep the states of aggregates, and the different arguments of those with DISTINCT.

    The columns are the number of the window, the keys, the number of the grouping set if there are several, and the
    states. With DISTINCT, the part that a row belongs to and the arguments of each part precede the states: part 0
    has the states of the other aggregates, and each of the following parts a row for every different argument.
    """

    def __init__(self, plan: Aggregate, set_numbers: Sequence[int], session: EvaluationContext) -> None:
        super().__init__(plan, set_numbers)
        self._accumulators = [None if call.distinct else accumulator(call, session) for call in plan.calls]
        self._distinct = [accumulator(call, session) if call.distinct else None for call in plan.calls]
        self._parts, self._part_of = distinct_views(plan.calls, lambda call: call.distinct)
        arguments = sum(len(each.arguments) for each in self._parts)
        self._width = self._keys + (1 + arguments if self._parts else 0)
        self._widths = self._state_widths()

    def partial(self, batch: pa.RecordBatch, windows: pa.Array) -> pa.RecordBatch:
        made = []
        for heads in self._heads(batch, windows):
            made += [self._part(batch, heads, part) for part in range(len(self._parts) + 1)]
        return made[0] if len(made) == 1 else _joined(made)

    def _part(self, batch: pa.RecordBatch, heads: list[pa.Array], part: int) -> pa.RecordBatch:
        """Return the rows of a part, which have neutral states except those of part 0."""
        if self._parts:
            heads = [*heads, pa.repeat(pa.scalar(part, pa.int32()), batch.num_rows)]
            for number, view in enumerate(self._parts, 1):
                columns = [argument_column(each, batch) for each in view.arguments]
                heads += columns if number == part else [pa.nulls(len(each), each.type) for each in columns]
            used = filter_mask(self._parts[part - 1], batch) if part else None
            if used is not None:
                heads = [each.filter(pa.array(used)) for each in heads]
        groups, first = group_ids_of(heads, len(heads[0]))
        states: list[pa.Array] = []
        for call, found in self._plain():
            if part:
                columns, of = [argument_column(each, batch.slice(0, 0)) for each in call.arguments], groups[:0]
            else:
                columns, of = counted_arguments(call, batch, groups, filter_mask(call, batch))
            states += found.partial(columns, of, len(first))
        chosen = pa.array(first)
        return unnamed_batch([*(each.take(chosen) for each in heads), *map(as_array, states)])

    def merge(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Return one state for each key and window."""
        whole = _joined(batches)
        heads = list(whole.columns[: self._width])
        groups, first = group_ids_of(heads, whole.num_rows)
        if len(first) == whole.num_rows:
            return whole
        states: list[pa.Array] = []
        at = self._width
        for (_, found), width in zip(self._plain(), self._widths, strict=True):
            states += found.merge(whole.columns[at : at + width], groups, len(first))
            at += width
        chosen = pa.array(first)
        return unnamed_batch([*(each.take(chosen) for each in heads), *map(as_array, states)])

    def result(self, batch: pa.RecordBatch) -> _Results:
        """Return the values of states that were merged."""
        if not self._parts:
            heads, values = list(batch.columns[: self._width]), self._values(batch)
        else:
            groups, first = group_ids_of(batch.columns[: self._keys], batch.num_rows)
            parts = np.asarray(batch.column(self._keys))
            own = np.flatnonzero(parts == 0)
            whole = np.empty(len(first), dtype=np.int64)
            whole[groups[own]] = own
            states = batch.take(pa.array(whole))
            heads, values = list(states.columns[: self._keys]), self._values(states)
            for place, call in enumerate(self._plan.calls):
                if call.distinct:
                    values[place] = self._distinct_value(place, call, batch, parts, groups, len(first))
        return self._results(heads, values)

    def _values(self, batch: pa.RecordBatch) -> list[Any]:
        at = self._width
        values: list[Any] = []
        widths = iter(self._widths)
        for found in self._accumulators:
            if found is None:
                values.append(None)
                continue
            width = next(widths)
            values.append(found.result(batch.columns[at : at + width]))
            at += width
        return values

    def _distinct_value(
        self, place: int, call: AggregateCall, batch: pa.RecordBatch, parts: Any, groups: Any, count: int
    ) -> Any:
        number = self._part_of[place]
        at = self._keys + 1 + sum(len(each.arguments) for each in self._parts[:number])
        here = np.flatnonzero(parts == number + 1)
        columns = [batch.column(at + each).take(pa.array(here)) for each in range(len(call.arguments))]
        found = self._distinct[place]
        assert found is not None
        return found.result(found.partial(columns, groups[here], count))

    def _plain(self) -> list[tuple[AggregateCall, Any]]:
        pairs = zip(self._plan.calls, self._accumulators, strict=True)
        return [(call, found) for call, found in pairs if found is not None]

    def _state_widths(self) -> list[int]:
        """Return the number of columns of each state: no state is known before rows are."""
        schema = self._plan.input.schema
        empty = batch_of([pa.nulls(0, arrow_type(each.type)) for each in schema], schema, 0)
        none = np.zeros(0, dtype=np.int64)
        return [
            len(found.partial([argument_column(each, empty) for each in call.arguments], none, 0))
            for call, found in self._plain()
        ]


class BufferedRows(WindowState):
    """Keep the rows, for aggregates that need all of them in an order."""

    def __init__(self, plan: Aggregate, session: EvaluationContext) -> None:
        schema = Schema((Column("$window", BigIntType()), *plan.input.schema))
        moved = {index: index + 1 for index in range(len(plan.input.schema))}
        sets = tuple((0, *(each + 1 for each in grouping)) for grouping in plan.grouping_sets)
        calls = tuple(with_parts(call, lambda part: remapped(part, moved)) for call in plan.calls)
        keys = (0, *(key + 1 for key in plan.keys))
        self._plan = replace(plan, input=Values(schema, ()), keys=keys, calls=calls, grouping_sets=sets)
        self._session = session

    def place_of(self, key: int) -> int:
        """Return where a column of the input is in a kept row."""
        return 1 + key

    def partial(self, batch: pa.RecordBatch, windows: pa.Array) -> pa.RecordBatch:
        return unnamed_batch([windows, *batch.columns])

    def merge(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        return _joined(batches)

    def result(self, batch: pa.RecordBatch) -> _Results:
        rows = batch_of(batch.columns, self._plan.input.schema, batch.num_rows)
        columns = _joined(list(aggregated(self._plan, rows, self._session))).columns
        keys = len(self._plan.keys)
        return columns[0], list(columns[1:keys]), list(columns[keys:])


class RetractableRows(_ByKey):
    """Keep the arguments of the rows that were not retracted; a retraction that comes before its row waits for it.

    The last column has 1 for a row that is there, and -1 for one that is taken back.
    """

    def __init__(self, plan: Aggregate, set_numbers: Sequence[int], session: EvaluationContext) -> None:
        super().__init__(plan, set_numbers)
        schema = plan.input.schema
        self._arguments = sorted({each for call in plan.calls for each in input_references(call)})
        heads = [Column("$window", BigIntType()), *(schema[key] for key in plan.keys)]
        heads += [Column("$set", IntType())] * self._several
        heads = [Column(each.name, each.type.nullable()) for each in heads]
        keys = tuple(range(self._keys))
        moved = {column: self._keys + place for place, column in enumerate(self._arguments)}
        calls = tuple(with_parts(call, lambda part: remapped(part, moved)) for call in plan.calls)
        kept = Values(Schema((*heads, *schema.select(self._arguments))), ())
        self._kept = Aggregate(kept, keys, calls, plan.names, (keys,))
        self._session = session

    def rows_of(self, changes: Changes) -> pa.RecordBatch:
        signs, rows = changes.signs, changes.batch.num_rows
        column = pa.array(np.ones(rows, np.int8) if signs is None else signs.astype(np.int8))
        return changes.batch.append_column("$sign", column)

    def partial(self, batch: pa.RecordBatch, windows: pa.Array) -> pa.RecordBatch:
        """Return the arguments of the rows that are left."""
        kept = [*(batch.column(each) for each in self._arguments), batch.columns[-1]]
        return self.merge([unnamed_batch([*heads, *kept]) for heads in self._heads(batch, windows)])

    def merge(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        batch = _joined(batches)
        if (np.asarray(batch.columns[-1]) > 0).all():
            return batch
        left, group_ids, place = _pairs(batch)
        # A session is as long as its rows have made it: one without rows keeps a pair.
        windows, first = group_ids_of(batch.columns[:1], batch.num_rows)
        is_empty = np.bincount(windows[left], minlength=len(first)) == 0
        left |= is_empty[windows] & (group_ids == group_ids[first][windows]) & (place == 0)
        return batch.filter(pa.array(left))

    def result(self, batch: pa.RecordBatch) -> _Results:
        """Return the aggregates of the rows that are there.

        As in Flink, a window has a result unless as many rows were taken back as have come: also if more were.
        """
        batch = batch.filter(pa.array(_pairs(batch)[0]))
        signs = np.asarray(batch.columns[-1])
        rows = batch_of(batch.columns[:-1], self._kept.input.schema, batch.num_rows)
        if (signs > 0).all():
            columns = _joined(list(aggregated(self._kept, rows, self._session))).columns
            return self._results(list(columns[: self._keys]), list(columns[self._keys :]))
        groups, first = group_ids_of(rows.columns[: self._keys], rows.num_rows)
        heads = rows.take(pa.array(first)).columns[: self._keys]
        values = [self._value(call, rows, signs, groups, len(first)) for call in self._kept.calls]
        found = pa.array(np.bincount(groups, weights=signs, minlength=len(first)) != 0)
        return self._results([each.filter(found) for each in heads], [each.filter(found) for each in values])

    def _value(self, call: AggregateCall, rows: pa.RecordBatch, signs: Any, groups: Any, count: int) -> pa.Array:
        """Return the value of an aggregate for each group, some of which have rows that never came."""
        found = accumulator(call, self._session)
        if found.retractable and not call.distinct:
            states = PartialState(call, found, self._kept.input.schema).partial(rows, signs, groups, count)
            return as_array(found.result(states))
        there = signs > 0
        return as_array(group_values(call, rows.filter(pa.array(there)), groups[there], count, self._session))


def _pairs(batch: pa.RecordBatch) -> tuple[Any, Any, Any]:
    """Find pairs of a row and its retraction among rows with signs; of equal rows the first ones are in pairs.

    Returns:
        For each row whether it is in none, the number of its value, and its place among those that have the same value
        and sign.
    """
    signs = np.asarray(batch.columns[-1])
    group_ids, first = group_ids_of(batch.columns[:-1], batch.num_rows)
    place = np.empty(len(group_ids), dtype=np.int64)
    counts = []
    for sign in (1, -1):
        rows = np.flatnonzero(signs == sign)
        count = np.bincount(group_ids[rows], minlength=len(first))
        place[rows[np.argsort(group_ids[rows], kind="stable")]] = np.arange(len(rows)) - np.repeat(
            np.cumsum(count) - count, count
        )
        counts.append(count)
    return place >= np.minimum(*counts)[group_ids], group_ids, place


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return unnamed_batch(concatenated_columns(batches))


def unnamed_batch(columns: Sequence[Any]) -> pa.RecordBatch:
    """Return a batch of columns whose names do not matter."""
    return pa.RecordBatch.from_arrays(list(columns), names=[f"c{place}" for place in range(len(columns))])
