"""Output of the local phase, per group: states of aggregates, different values, or arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.evaluation.batch.aggregating import accumulator, counted_arguments, filter_mask, of_arguments
from scurry.sql.evaluation.batch.batches import batch_of
from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.functions.aggregate.definition import Accumulator
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import group_ids_of
from scurry.sql.operators.aggregation.distinct import distinct_views
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import arrow_type, as_array


class Partial(Protocol):
    """A part of the local phase's output."""

    width: int

    def partial(self, batch: pa.RecordBatch, signs: Any, group_ids: Any, count: int) -> list[pa.Array]:
        """Return its columns, with a row for each group.

        Args:
            signs: For each row 1 if it is added, -1 if it is taken back; None if all are added.
            group_ids: For each row the number of its group.
        """


def partials(
    calls: Sequence[AggregateCall], schema: Schema, retracts: bool, session: EvaluationContext
) -> tuple[list[Partial | None], list[DistinctArguments], list[int]]:
    """Return the local phase of each aggregate, and of the sets of distinct arguments.

    Args:
        retracts: Whether rows may be taken back.

    Returns:
        For each aggregate what is sent, None if it is of different arguments; the sets of arguments; and for each
        aggregate the number of its set, -1 if it has none.
    """
    views, view_of = distinct_views(
        calls, lambda call: call.distinct and bool(call.arguments) and not properties_of(call.function).distinct_free
    )
    sent: list[Partial | None] = []
    for call, view in zip(calls, view_of, strict=True):
        if view >= 0:
            sent.append(None)
            continue
        found = accumulator(replace(call, distinct=False), session)
        merges = not retracts or found.retractable
        sent.append(PartialState(call, found, schema) if merges else RawArguments(call, schema))
    return sent, [DistinctArguments(each, schema) for each in views], view_of


class PartialState:
    """The state of an aggregate; rows that are taken back change it as others do."""

    def __init__(self, call: AggregateCall, found: Accumulator, schema: Schema) -> None:
        self._call = call
        self.accumulator = found
        empty = batch_of([pa.nulls(0, arrow_type(each.type)) for each in schema], schema, 0)
        self.types = [column.type for column in self.partial(empty, None, np.zeros(0, dtype=np.int64), 0)]
        self.width = len(self.types)

    def partial(self, batch: pa.RecordBatch, signs: Any, group_ids: Any, count: int) -> list[pa.Array]:
        used = filter_mask(self._call, batch)
        if signs is None or (signs > 0).all():
            columns, group_ids = counted_arguments(self._call, batch, group_ids, used)
            return list(map(as_array, self.accumulator.partial(columns, group_ids, count)))
        states = []
        for sign, make in ((1, self.accumulator.partial), (-1, self.accumulator.retract)):
            here = signs == sign if used is None else used & (signs == sign)
            states.append(make(*counted_arguments(self._call, batch, group_ids, here), count))
        both = [pa.concat_arrays([as_array(added), as_array(taken)]) for added, taken in zip(*states, strict=True)]
        return self.merged(both, np.tile(np.arange(count), 2), count)

    def merged(self, states: Sequence[pa.Array], group_ids: Any, count: int) -> list[pa.Array]:
        """Return one state of several for each group, with the types that states of rows have."""
        found = self.accumulator.merge(states, group_ids, count)
        return [as_array(new).cast(old.type) for new, old in zip(found, states, strict=True)]


class _Arguments:
    """Columns that are the arguments of an aggregate, in lists.

    Attributes:
        call: The aggregate of these columns: without FILTER and DISTINCT.
        width: The number of lists.
    """

    def __init__(self, call: AggregateCall, schema: Schema) -> None:
        self._filter = call
        self._columns, self.call, self.schema = of_arguments(call, schema)
        self.width = len(self._columns) + 1

    def _used(self, batch: pa.RecordBatch, signs: Any, group_ids: Any) -> tuple[list[pa.Array], Any, Any]:
        """Return the arguments, the signs and the groups of the rows that FILTER lets pass."""
        columns = [batch.column(column) for column in self._columns]
        signs = np.ones(len(group_ids), dtype=np.int64) if signs is None else signs
        used = filter_mask(self._filter, batch)
        if used is None:
            return columns, signs, group_ids
        return [column.filter(pa.array(used)) for column in columns], signs[used], group_ids[used]

    def flat(self, lists: Sequence[pa.Array], group_ids: Any) -> tuple[list[pa.Array], Any, Any]:
        """Return the contents of lists: columns, row ids, and the groups, by which they are sorted.

        Args:
            group_ids: For each list the number of its group.
        """
        *columns, numbers = (column.flatten() for column in lists)
        lengths = np.asarray(pc.list_value_length(lists[-1]))
        groups = np.repeat(group_ids, lengths)
        found = np.asarray(numbers)
        if (groups[1:] < groups[:-1]).any():
            order = np.argsort(groups, kind="stable")
            columns, found, groups = [column.take(pa.array(order)) for column in columns], found[order], groups[order]
        return columns, found, groups


class RawArguments(_Arguments):
    """The arguments of each row, with its sign: for an aggregate whose state cannot take rows back."""

    def partial(self, batch: pa.RecordBatch, signs: Any, group_ids: Any, count: int) -> list[pa.Array]:
        """Return for each group the arguments of its rows, in their order."""
        columns, signs, group_ids = self._used(batch, signs, group_ids)
        order = np.argsort(group_ids, kind="stable")
        return _listed([column.take(pa.array(order)) for column in columns], signs[order], group_ids, count)


class DistinctArguments(_Arguments):
    """The different arguments of rows, each with its number: for aggregates with DISTINCT."""

    def partial(self, batch: pa.RecordBatch, signs: Any, group_ids: Any, count: int) -> list[pa.Array]:
        """Return for each group its different arguments."""
        columns, signs, group_ids = self.counted(*self._used(batch, signs, group_ids))
        return _listed(columns, signs, group_ids, count)

    def counted(self, columns: list[pa.Array], numbers: Any, group_ids: Any) -> tuple[list[pa.Array], Any, Any]:
        """Return the different values of each group, with the sum of their numbers if it is not 0."""
        grouped, first = group_ids_of([pa.array(group_ids), *columns], len(group_ids))
        numbers = np.bincount(grouped, weights=numbers, minlength=len(first)).astype(np.int64)
        used = np.flatnonzero(numbers)
        order = used[np.argsort(group_ids[first[used]], kind="stable")]
        indices = pa.array(first[order])
        return [column.take(indices) for column in columns], numbers[order], group_ids[first[order]]


def _listed(columns: Sequence[pa.Array], numbers: Any, group_ids: Any, count: int) -> list[pa.Array]:
    """Return columns that are sorted by group, and numbers, as a list for each group."""
    offsets = np.concatenate([[0], np.cumsum(np.bincount(group_ids, minlength=count))])
    bounds = pa.array(offsets.astype(np.int32))
    return [pa.ListArray.from_arrays(bounds, column) for column in (*columns, pa.array(numbers, pa.int64()))]
