"""Aggregates with OVER."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry._dataclasses import dataclass
from scurry.sql.evaluation.batch.aggregating import accumulator, argument_column, group_states, group_values
from scurry.sql.evaluation.batch.batches import taken
from scurry.sql.evaluation.batch.frames import framed_values, summed_values
from scurry.sql.functions.aggregate.catalogue import place_kernel
from scurry.sql.functions.aggregate.counts import Count
from scurry.sql.functions.aggregate.definition import Accumulator, Additive, Partitions, Selecting
from scurry.sql.functions.casts.numbers import doubles_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.keys import group_ids_of, order_codes
from scurry.sql.plan.expressions import AggregateCall, Literal
from scurry.sql.plan.nodes import Over
from scurry.sql.plan.windows import Frame, FrameBound, WindowCall
from scurry.sql.types import DecimalType, DoubleType, FloatType

# Rows of frames that are put together at once.
_ROWS_AT_ONCE = 4_000_000
#: Up to this many rows per frame, on average, each frame is aggregated on its own.
_SHORT = 8
_MAX_PRECISION = 38

Positions = np.ndarray[Any, Any]


@dataclass(frozen=True)
class _SortedRows(Partitions):
    """Rows sorted by partition and order.

    Attributes:
        order: Their positions in the input.
    """

    batch: pa.RecordBatch
    order: Positions

    @classmethod
    def of(cls, call: WindowCall, batch: pa.RecordBatch) -> _SortedRows:
        """Sort rows as a call says."""
        rows = batch.num_rows
        partition, _ = group_ids_of([argument_column(each, batch) for each in call.partition_by], rows)
        orders = [
            order_codes(argument_column(key.expression, batch), key.descending, key.nulls_first)
            for key in call.order_by
        ]
        order = np.lexsort((*orders[::-1], partition))
        ordered = partition[order]
        changes = ordered[1:] != ordered[:-1]
        start, end = _runs(changes, rows)
        for each in orders:
            changes = changes | (each[order][1:] != each[order][:-1])
        return cls(np.arange(rows), start, end, *_runs(changes, rows), taken(batch, order), order)


def over_columns(plan: Over, batch: pa.RecordBatch, session: EvaluationContext) -> tuple[list[pa.Array], Positions]:
    """Return the columns of functions over windows.

    Returns:
        The columns, and the order in which the rows have to be taken for them.
    """
    columns = []
    order: Positions | None = None
    sorted_as: dict[Any, _SortedRows] = {}
    for call in plan.calls:
        key = (call.partition_by, call.order_by)
        if key not in sorted_as:
            sorted_as[key] = _SortedRows.of(call, batch)
        partitions = sorted_as[key]
        column = _column(call, partitions, session)
        order = partitions.order if order is None else order
        if partitions.order is not order:
            back = np.empty(len(order), dtype=np.int64)
            back[partitions.order] = np.arange(len(order))
            column = column.take(pa.array(back[order]))
        columns.append(column)
    return columns, order if order is not None else np.arange(batch.num_rows)


def _column(call: WindowCall, rows: _SortedRows, session: EvaluationContext) -> pa.Array:
    kernel = place_kernel(call.call.function)
    if kernel is not None:
        return kernel([argument_column(each, rows.batch) for each in call.call.arguments], rows)
    start, end = _frame(call, rows)
    if np.array_equal(start, rows.start) and np.array_equal(end, rows.end):
        return _whole_partitions(call.call, rows, session)
    lengths = np.maximum(end - start, 0)
    found = accumulator(call.call, session, is_over=True)
    compute = _shared(call.call, found, len(start), np.array_equal(start, rows.start))
    if compute is None or lengths.sum() <= _SHORT * len(lengths) or _has_nan(call.call, rows.batch):
        return _framed(call.call, rows, start, lengths, session)
    states = group_states(found, call.call, rows.batch, rows.row, len(rows.row))
    return compute(found, states, start, np.maximum(end, start))


def _shared(call: AggregateCall, found: Accumulator, rows: int, is_running: bool) -> Callable[..., pa.Array] | None:
    """Return the aggregation of frames that share rows; None if each frame has to be aggregated on its own.

    The order matters where sums of binary fractions are rounded, and where sums of decimals have too many digits.
    """
    if isinstance(found, Selecting):
        return framed_values
    if not isinstance(found, Additive):
        return None
    for data_type in (each.type for each in call.arguments if not isinstance(found, Count)):
        if isinstance(data_type, DoubleType | FloatType) and not is_running:
            return None
        if isinstance(data_type, DecimalType) and data_type.precision + len(str(rows)) > _MAX_PRECISION:
            return None
    return summed_values


def _has_nan(call: AggregateCall, batch: pa.RecordBatch) -> bool:
    """Return whether a value is NaN: MIN and MAX then depend on all rows of the frame before it."""
    if not any(isinstance(each.type, DoubleType | FloatType) for each in call.arguments[:1]):
        return False
    return bool(pc.any(pc.is_nan(argument_column(call.arguments[0], batch))).as_py())


def _whole_partitions(call: AggregateCall, rows: _SortedRows, session: EvaluationContext) -> pa.Array:
    groups = np.unique(rows.start, return_inverse=True)[1].reshape(-1)
    count = int(groups.max(initial=-1)) + 1
    return group_values(call, rows.batch, groups, count, session, is_over=True).take(pa.array(groups))


def _framed(
    call: AggregateCall, rows: _SortedRows, start: Positions, lengths: Positions, session: EvaluationContext
) -> pa.Array:
    """Aggregate each row's frame as a group of its own."""
    found = []
    first = 0
    while first < len(lengths):
        total = np.cumsum(lengths[first:])
        last = first + max(int(np.searchsorted(total, _ROWS_AT_ONCE, side="right")), 1)
        some = lengths[first:last]
        groups = np.repeat(np.arange(last - first), some)
        within = np.arange(len(groups)) - np.repeat(np.cumsum(some) - some, some)
        batch = taken(rows.batch, np.repeat(start[first:last], some) + within)
        found.append(group_values(call, batch, groups, last - first, session, is_over=True))
        first = last
    return pa.concat_arrays(found) if found else group_values(call, rows.batch, rows.row, 0, session, is_over=True)


def _frame(call: WindowCall, rows: _SortedRows) -> tuple[Positions, Positions]:
    """Return where the frame of each row begins, and where it has ended."""
    frame = call.frame
    if frame.units == "ROWS":
        return _row_bound(frame.lower, rows, 0), _row_bound(frame.upper, rows, 1)
    values = None
    if frame.lower.distance is not None or frame.upper.distance is not None:
        values = _range_values(call, rows)
    return _range_bound(frame, frame.lower, call, rows, values, 0), _range_bound(
        frame, frame.upper, call, rows, values, 1
    )


def _row_bound(bound: FrameBound, rows: _SortedRows, after: int) -> Positions:
    if bound.kind == "UNBOUNDED PRECEDING":
        return rows.start
    if bound.kind == "UNBOUNDED FOLLOWING":
        return rows.end
    distance = 0
    if bound.distance is not None:
        assert isinstance(bound.distance, Literal)
        distance = bound.distance.value * (-1 if bound.kind == "PRECEDING" else 1)
    found: Positions = np.clip(rows.row + distance + after, rows.start, rows.end)
    return found


def _range_values(call: WindowCall, rows: _SortedRows) -> pa.Array:
    column = argument_column(call.order_by[0].expression, rows.batch)
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    if pa.types.is_date32(column.type):
        return pc.multiply(column.cast(pa.int32()).cast(pa.int64()), 86_400_000)
    return column


def _range_bound(
    frame: Frame, bound: FrameBound, call: WindowCall, rows: _SortedRows, values: pa.Array | None, after: int
) -> Positions:
    if bound.kind == "UNBOUNDED PRECEDING":
        return rows.start
    if bound.kind == "UNBOUNDED FOLLOWING":
        return rows.end
    if bound.kind == "CURRENT ROW":
        return rows.peer_end if after else rows.peer_start
    assert values is not None and isinstance(bound.distance, Literal)
    numbers = doubles_of(values) if pa.types.is_decimal(values.type) else values
    nulls = np.asarray(numbers.is_null())
    array = np.asarray(numbers.fill_null(0))
    distance = bound.distance.value
    distance = float(distance) if isinstance(bound.distance.type, DecimalType) else distance
    sign = -1 if call.order_by[0].descending else 1
    array = array * sign
    target = array - distance if bound.kind == "PRECEDING" else array + distance
    found = np.where(nulls, rows.peer_end if after else rows.peer_start, 0)
    for first in np.unique(rows.start):
        last = rows.end[first]
        inside = first + np.flatnonzero(~nulls[first:last])
        if len(inside):
            side: Any = "right" if after else "left"
            found[inside] = inside[0] + np.searchsorted(array[inside], target[inside], side=side)
    return found


def _runs(changes: Positions, rows: int) -> tuple[Positions, Positions]:
    """Return for each row where its run of equal rows begins, and where it has ended."""
    if not rows:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    begins = np.concatenate([[0], np.flatnonzero(changes) + 1])
    ends = np.concatenate([begins[1:], [rows]])
    lengths = ends - begins
    return np.repeat(begins, lengths), np.repeat(ends, lengths)
