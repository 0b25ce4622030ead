"""Unbounded OVER functions: state per key, and values over columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from scurry.errors import UnsupportedError
from scurry.runtime.keys import row_keys
from scurry.sql.evaluation.batch.aggregating import accumulator, argument_column
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import first_of_each
from scurry.sql.operators.groups.choices import SelectsValue, chooses, chosen, known_columns
from scurry.sql.operators.groups.segments import Segments
from scurry.sql.plan.expressions import AggregateCall, Literal
from scurry.sql.plan.windows import WindowCall
from scurry.sql.types import DoubleType, FloatType
from scurry.sql.types.values import from_values, to_values


@dataclass(frozen=True)
class Runs:
    """Rows sorted by key and order.

    Attributes:
        batch: The rows.
        start: For each row where the rows of its key begin.
        last: For each row the position of the last row whose value it has: its own, or that of its last peer.
        keys: For each key where its rows begin and have ended.
    """

    batch: pa.RecordBatch
    start: Any
    last: Any
    keys: Sequence[tuple[int, int]]


class RunningFunction(Protocol):
    """A function over all rows up to the current one."""

    def values(self, runs: Runs, kept: list[Any]) -> tuple[pa.Array, list[Any]]:
        """Return its value for each row.

        Args:
            runs: The rows.
            kept: For each key what was returned for its rows before, None for the first ones.

        Returns:
            The values, and for each key what to keep.
        """


def running(call: WindowCall, session: EvaluationContext) -> RunningFunction:
    """Return the running function of a call whose frame begins with the first row."""
    function = call.call.function
    if function == "ROW_NUMBER":
        return _Number(by_peers=False)
    if function in ("RANK", "DENSE_RANK"):
        # Flink gives peers the number of their last one, both ranks the same.
        return _Number(by_peers=True)
    if function == "LAG":
        return _Lag(call.call)
    if function == "SUM" and isinstance(call.type, DoubleType | FloatType) and not call.call.distinct:
        return _FloatSum(call.call)
    aggregate = _Aggregate(call.call, session)
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


class _FloatSum:
    """Keeps the sum and how many values it has; adds values one after the other, as the result depends on the order."""

    def __init__(self, call: AggregateCall) -> None:
        self._call = call

    def values(self, runs: Runs, kept: list[Any]) -> tuple[pa.Array, list[Any]]:
        column = argument_column(self._call.arguments[0], runs.batch)
        used, counted = np.asarray(column.is_valid()), _filtered(self._call, runs.batch)
        used = used if counted is None else used & counted
        numbers = np.where(used, np.asarray(column.fill_null(0)), 0).astype(column.type.to_pandas_dtype())
        sums, counts, after = [], [], []
        for (start, stop), state in zip(runs.keys, kept, strict=True):
            first, count = state or (0.0, 0)
            with np.errstate(all="ignore"):
                sums.append(np.cumsum(np.r_[numbers.dtype.type(first), numbers[start:stop]])[1:])
            counts.append(count + np.cumsum(used[start:stop]))
            after.append((float(sums[-1][-1]), int(counts[-1][-1])))
        last = pa.array(runs.last)
        found = pa.array(np.concatenate(sums), column.type, mask=np.concatenate(counts) == 0)
        return found.take(last), after


class _Aggregate:
    """Keeps the state of an accumulator, as values."""

    def __init__(self, call: AggregateCall, session: EvaluationContext) -> None:
        self._call = call
        self._accumulator = accumulator(call, session, is_over=True)

    def values(self, runs: Runs, kept: list[Any], used: Any = None) -> tuple[pa.Array, list[Any]]:
        rows = runs.batch.num_rows
        used = _filtered(self._call, runs.batch) if used is None else used
        if chooses(self._accumulator):
            counted = np.ones(rows, dtype=bool) if used is None else used
            return _chosen(self._accumulator, self._call, counted, runs, kept)
        columns, groups = [argument_column(each, runs.batch) for each in self._call.arguments], np.arange(rows)
        if used is not None:
            columns, groups = [each.filter(pa.array(used)) for each in columns], groups[used]
        states = [_whole(column) for column in self._accumulator.partial(columns, groups, rows)]
        states = self._with_kept(states, runs, kept)
        states = self._scanned(states, np.arange(rows) - runs.start)
        ends = pa.array([stop - 1 for _, stop in runs.keys])
        after = list(zip(*(to_values(column.take(ends)) for column in states), strict=True))
        last = pa.array(runs.last)
        return self._accumulator.result([column.take(last) for column in states]), after

    def _with_kept(self, states: list[pa.Array], runs: Runs, kept: list[Any]) -> list[pa.Array]:
        """Merge the kept states of keys with the states of their first rows."""
        known = [key for key, state in enumerate(kept) if state is not None]
        if not known:
            return states
        heads = [
            from_values(list(values), column.type)
            for values, column in zip(zip(*(kept[key] for key in known), strict=True), states, strict=True)
        ]
        groups = np.concatenate([np.asarray([runs.keys[key][0] for key in known]), np.arange(len(runs.start))])
        return self._merged(heads, states, groups, len(runs.start))

    def _scanned(self, states: list[pa.Array], before: Any) -> list[pa.Array]:
        """Merge each state with all before it, of which there are `before`: twice as many in each step."""
        rows, step = len(before), 1
        while len(behind := np.flatnonzero(before >= step)):
            ahead = [column.take(pa.array(behind - step)) for column in states]
            states = self._merged(ahead, states, np.concatenate([behind, np.arange(rows)]), rows)
            step *= 2
        return states

    def _merged(self, first: list[pa.Array], second: list[pa.Array], groups: Any, count: int) -> list[pa.Array]:
        both = [pa.concat_arrays([one, other]) for one, other in zip(first, second, strict=True)]
        merged = [_whole(column) for column in self._accumulator.merge(both, groups, count)]
        return [column.cast(wanted.type) for column, wanted in zip(merged, second, strict=True)]


def _chosen(
    accumulator: SelectsValue, call: AggregateCall, counted: Any, runs: Runs, kept: list[Any]
) -> tuple[pa.Array, list[Any]]:
    """Return the values of MIN, MAX, FIRST_VALUE or LAST_VALUE, and the new state of each key."""
    starts, stops = np.asarray(runs.keys, dtype=np.int64).reshape(-1, 2).T
    segments = Segments(starts, stops, np.repeat(np.arange(len(starts)), stops - starts), None)
    column = _whole(argument_column(call.arguments[0], runs.batch))
    known, (before,) = known_columns(kept, [column.type])
    values, after = chosen(accumulator, column, counted, segments, known, before)
    return values.take(pa.array(segments.place_of_row[runs.last])), [(each,) for each in to_values(after)]


class _Distinct:
    """Passes on the rows whose arguments are new; keeps the arguments that there were."""

    def __init__(self, call: AggregateCall, aggregate: _Aggregate) -> None:
        self._call = call
        self._aggregate = aggregate

    def values(self, runs: Runs, kept: list[Any]) -> tuple[pa.Array, list[Any]]:
        columns = [argument_column(each, runs.batch) for each in self._call.arguments]
        used = _filtered(self._call, runs.batch)
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


def _filtered(call: AggregateCall, batch: pa.RecordBatch) -> Any:
    """Return for each row whether FILTER holds; None without a FILTER."""
    if call.filter is None:
        return None
    return np.asarray(argument_column(call.filter, batch).fill_null(False))


def _whole(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
