"""Aggregates with OVER."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.evaluation.batch.aggregating import accumulator, argument_column, group_states, group_values
from scurry.sql.evaluation.batch.batches import taken
from scurry.sql.evaluation.batch.frames import framed_values, summed_values
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
_SUMS = ("COUNT", "SUM", "$SUM0", "AVG")
#: Aggregates that are one of the values.
_CHOSEN = ("MIN", "MAX", "FIRST_VALUE", "LAST_VALUE")

Positions = np.ndarray[Any, Any]


class _Partitions:
    """Rows sorted by partition and order, with where partitions and peers begin and end."""

    def __init__(self, call: WindowCall, batch: pa.RecordBatch) -> None:
        rows = batch.num_rows
        partition, _ = group_ids_of([argument_column(each, batch) for each in call.partition_by], rows)
        orders = [
            order_codes(argument_column(key.expression, batch), key.descending, key.nulls_first)
            for key in call.order_by
        ]
        self.order = np.lexsort((*orders[::-1], partition))
        self.batch = taken(batch, self.order)
        ordered = partition[self.order]
        changes = ordered[1:] != ordered[:-1]
        self.start, self.end = _runs(changes, rows)
        for each in orders:
            changes = changes | (each[self.order][1:] != each[self.order][:-1])
        self.peer_start, self.peer_end = _runs(changes, rows)
        self.row = np.arange(rows)


def over_columns(plan: Over, batch: pa.RecordBatch, session: EvaluationContext) -> tuple[list[pa.Array], Positions]:
    """Return the columns of functions over windows.

    Args:
        plan: The functions.
        batch: All rows.
        session: The session.

    Returns:
        The columns, and the order in which the rows have to be taken for them.
    """
    columns = []
    order: Positions | None = None
    sorted_as: dict[Any, _Partitions] = {}
    for call in plan.calls:
        key = (call.partition_by, call.order_by)
        if key not in sorted_as:
            sorted_as[key] = _Partitions(call, batch)
        partitions = sorted_as[key]
        column = _column(call, partitions, session)
        order = partitions.order if order is None else order
        if partitions.order is not order:
            back = np.empty(len(order), dtype=np.int64)
            back[partitions.order] = np.arange(len(order))
            column = column.take(pa.array(back[order]))
        columns.append(column)
    return columns, order if order is not None else np.arange(batch.num_rows)


def _column(call: WindowCall, rows: _Partitions, session: EvaluationContext) -> pa.Array:
    ranking = _RANKINGS.get(call.call.function)
    if ranking is not None:
        return ranking(call.call, rows)
    start, end = _frame(call, rows)
    if np.array_equal(start, rows.start) and np.array_equal(end, rows.end):
        return _whole_partitions(call.call, rows, session)
    lengths = np.maximum(end - start, 0)
    compute = _shared(call.call, len(start), np.array_equal(start, rows.start))
    if compute is None or lengths.sum() <= _SHORT * len(lengths) or _has_nan(call.call, rows.batch):
        return _framed(call.call, rows, start, lengths, session)
    found = accumulator(call.call, session, is_over=True)
    states = group_states(found, call.call, rows.batch, rows.row, len(rows.row))
    return compute(found, states, start, np.maximum(end, start))


def _shared(call: AggregateCall, rows: int, is_running: bool) -> Callable[..., pa.Array] | None:
    """Return the aggregation of frames that share rows; None if each frame has to be aggregated on its own.

    The order matters where sums of binary fractions are rounded, and where sums of decimals have too many digits.
    """
    if call.function in _CHOSEN:
        return framed_values
    if call.function not in _SUMS:
        return None
    for data_type in (each.type for each in call.arguments if call.function != "COUNT"):
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


def _whole_partitions(call: AggregateCall, rows: _Partitions, session: EvaluationContext) -> pa.Array:
    groups = np.unique(rows.start, return_inverse=True)[1].reshape(-1)
    count = int(groups.max(initial=-1)) + 1
    return group_values(call, rows.batch, groups, count, session, is_over=True).take(pa.array(groups))


def _framed(
    call: AggregateCall, rows: _Partitions, start: Positions, lengths: Positions, session: EvaluationContext
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


def _frame(call: WindowCall, rows: _Partitions) -> tuple[Positions, Positions]:
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


def _row_bound(bound: FrameBound, rows: _Partitions, after: int) -> Positions:
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


def _range_values(call: WindowCall, rows: _Partitions) -> pa.Array:
    column = argument_column(call.order_by[0].expression, rows.batch)
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    if pa.types.is_date32(column.type):
        return pc.multiply(column.cast(pa.int32()).cast(pa.int64()), 86_400_000)
    return column


def _range_bound(
    frame: Frame, bound: FrameBound, call: WindowCall, rows: _Partitions, values: pa.Array | None, after: int
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


def _row_number(call: AggregateCall, rows: _Partitions) -> pa.Array:
    return pa.array(rows.row - rows.start + 1)


def _rank(call: AggregateCall, rows: _Partitions) -> pa.Array:
    return pa.array(rows.peer_start - rows.start + 1)


def _dense_rank(call: AggregateCall, rows: _Partitions) -> pa.Array:
    is_first = (rows.peer_start == rows.row).astype(np.int64)
    numbers = np.cumsum(is_first)
    return pa.array(numbers - numbers[rows.start] + 1 if len(numbers) else numbers)


def _cume_dist(call: AggregateCall, rows: _Partitions) -> pa.Array:
    return pa.array((rows.peer_end - rows.start) / (rows.end - rows.start))


def _percent_rank(call: AggregateCall, rows: _Partitions) -> pa.Array:
    return pa.array((rows.peer_start - rows.start) / np.maximum(rows.end - rows.start - 1, 1))


def _ntile(call: AggregateCall, rows: _Partitions) -> pa.Array:
    buckets = np.asarray(argument_column(call.arguments[0], rows.batch)).astype(np.int64)
    if not buckets.all():
        raise EvaluationError("/ by zero")
    size, row = rows.end - rows.start, rows.row - rows.start
    small, larger = size // buckets, size % buckets
    edge = larger * (small + 1)
    in_large = row // np.maximum(small + 1, 1)
    in_small = larger + (row - edge) // np.maximum(small, 1)
    return pa.array(np.where(row < edge, in_large, in_small) + 1)


def _shifted(direction: int) -> Callable[[AggregateCall, _Partitions], pa.Array]:
    def column(call: AggregateCall, rows: _Partitions) -> pa.Array:
        values = argument_column(call.arguments[0], rows.batch)
        offset = np.ones(len(rows.row), dtype=np.int64)
        if len(call.arguments) > 1:
            offset = np.asarray(argument_column(call.arguments[1], rows.batch).fill_null(0)).astype(np.int64)
        target = rows.row + direction * offset
        outside = (target < rows.start) | (target >= rows.end)
        found = values.take(pa.array(np.where(outside, 0, target), mask=outside))
        if len(call.arguments) > 2:
            default = argument_column(call.arguments[2], rows.batch).cast(values.type)
            found = pc.if_else(pa.array(outside), default, found)
        return found

    return column


_RANKINGS: dict[str, Callable[[AggregateCall, _Partitions], pa.Array]] = {
    "ROW_NUMBER": _row_number,
    "RANK": _rank,
    "DENSE_RANK": _dense_rank,
    "CUME_DIST": _cume_dist,
    "PERCENT_RANK": _percent_rank,
    "NTILE": _ntile,
    "LAG": _shifted(-1),
    "LEAD": _shifted(1),
}
