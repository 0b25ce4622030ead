"""Unbounded OVER functions: state per key, and values over columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from scurry._dataclasses import dataclass
from scurry.errors import UnsupportedError
from scurry.runtime.keys import row_keys
from scurry.sql.evaluation.batch.aggregating import accumulator, argument_column, filter_mask
from scurry.sql.functions.aggregate.catalogue import numbers_rows
from scurry.sql.functions.aggregate.definition import Additive
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import first_of_each
from scurry.sql.operators.aggregation.columnar import columnar
from scurry.sql.operators.aggregation.segments import Segments
from scurry.sql.plan.expressions import AggregateCall, Literal
from scurry.sql.plan.schema import Schema
from scurry.sql.plan.windows import WindowCall
from scurry.sql.types.values import from_values, to_values


@dataclass(frozen=True)
class Runs:
    """Rows sorted by key and order.

    Attributes:
        start: For each row where the rows of its key begin.
        last: For each row the position of the last row whose value it has: its own, or that of its last peer.
        keys: For each key where its rows begin and have ended.
    """

    batch: pa.RecordBatch
    start: Any
    last: Any
    keys: Sequence[tuple[int, int]]

    @cached_property
    def segments(self) -> Segments:
        """The rows as segments, one for each key."""
        starts, stops = np.asarray(self.keys, dtype=np.int64).reshape(-1, 2).T
        return Segments(starts, stops, np.repeat(np.arange(len(starts)), stops - starts), None)


class RunningFunction(Protocol):
    """A function over all rows up to the current one."""

    def values(self, runs: Runs, kept: list[Any]) -> tuple[pa.Array, list[Any]]:
        """Return its value for each row.

        Args:
            kept: For each key what was returned for its rows before, None for the first ones.

        Returns:
            The values, and for each key what to keep.
        """


def running(call: WindowCall, schema: Schema, session: EvaluationContext) -> RunningFunction:
    """Return the running function of a call whose frame begins with the first row."""
    function = call.call.function
    if numbers_rows(function):
        # Flink gives peers the number of their last one, both ranks the same.
        return _Number(by_peers=function != "ROW_NUMBER")
    if function == "LAG":
        return _Lag(call.call)
    aggregate = _Aggregate(call.call, schema, session)
    return _Distinct(call.call, aggregate) if call.call.distinct else aggregate


class _Number:
    def __init__(self, by_peers: bool) -> None:
        self._by_peers = by_peers

    def values(self, runs: Runs, kept: list[Any]) -> tuple[pa.Array, list[Any]]:
        before = [number or 0 for number in kept]
        row = runs.last if self._by_peers else np.arange(len(runs.start))
        lengths = [stop - start for start, stop in runs.keys]
        numbers = row - runs.start + 1 + np.repeat(np.asarray(before, dtype=np.int64), lengths)
        return pa.array(numbers), [number + rows for number, rows in zip(before, lengths, strict=True)]


class _Lag:
    """Keeps the last values: fewer at first, where rows have the default."""

    def __init__(self, call: AggregateCall) -> None:
        self._call = call
        self._distance = 1
        if len(call.arguments) > 1:
            if not isinstance(call.arguments[1], Literal):
                raise UnsupportedError("LAG with an offset that is not constant, in STREAMING")
            self._distance = int(call.arguments[1].value or 0)

    def values(self, runs: Runs, kept: list[Any]) -> tuple[pa.Array, list[Any]]:
        column = argument_column(self._call.arguments[0], runs.batch)
        default: Sequence[Any] = [None] * len(column)
        if len(self._call.arguments) > 2:
            default = to_values(argument_column(self._call.arguments[2], runs.batch).cast(column.type))
        known, found, after = to_values(column), [], []
        for (start, stop), before in zip(runs.keys, kept, strict=True):
            whole = [*(before or ()), *known[start:stop]]
            found += [*default[start : start + self._distance - len(before or ())], *whole][: stop - start]
            after.append(whole[max(len(whole) - self._distance, 0) :])
        return from_values(found, column.type).take(pa.array(runs.last)), after


class _Aggregate:
    """Keeps the state of an accumulator, as values."""

    def __init__(self, call: AggregateCall, schema: Schema, session: EvaluationContext) -> None:
        found = accumulator(call, session, is_over=True)
        self._call = call
        self._is_additive = isinstance(found, Additive)
        self._running = columnar(call, schema, found)

    def values(self, runs: Runs, kept: list[Any], used: Any = None) -> tuple[pa.Array, list[Any]]:
        used = filter_mask(self._call, runs.batch) if used is None else used
        counted = np.ones(runs.batch.num_rows, dtype=bool) if used is None else used
        if self._is_additive:
            # The sum of no decimals is NULL in states of earlier versions; the last column counts the values.
            kept = [state if state and state[-1] else None for state in kept]
        segments = runs.segments
        values, after = self._running.values(runs.batch, counted, segments, kept)
        return values.take(pa.array(segments.place_of_row[runs.last])), after


class _Distinct:
    """Passes on the rows whose arguments are new; keeps the arguments that there were."""

    def __init__(self, call: AggregateCall, aggregate: _Aggregate) -> None:
        self._call = call
        self._aggregate = aggregate

    def values(self, runs: Runs, kept: list[Any]) -> tuple[pa.Array, list[Any]]:
        columns = [argument_column(each, runs.batch) for each in self._call.arguments]
        used = filter_mask(self._call, runs.batch)
        candidates = np.arange(runs.batch.num_rows) if used is None else np.flatnonzero(used)
        some = [column.take(pa.array(candidates)) for column in columns]
        candidates = candidates[first_of_each(runs.start[candidates], some)]
        values = [to_values(column.take(pa.array(candidates))) for column in columns]
        named = row_keys(values)
        seen = [set() if state is None else set(state[0]) for state in kept]
        key_of = {start: seen[key] for key, (start, _) in enumerate(runs.keys)}
        new = np.zeros(runs.batch.num_rows, dtype=bool)
        for row, start, value in zip(candidates.tolist(), runs.start[candidates].tolist(), named, strict=True):
            if value not in key_of[start]:
                key_of[start].add(value)
                new[row] = True
        column, states = self._aggregate.values(runs, [None if state is None else state[1] for state in kept], new)
        return column, list(zip(seen, states, strict=True))
