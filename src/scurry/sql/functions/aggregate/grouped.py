"""Columns aggregated by group: the steps that accumulators are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.functions.aggregate.definition import Column, Groups


def valid_rows(columns: Sequence[Column], groups: Groups) -> tuple[list[Column], Groups]:
    """Return the rows in which no column is NULL."""
    if not any(column.null_count for column in columns):
        return list(columns), groups
    mask = np.ones(len(groups), dtype=bool)
    for column in columns:
        mask &= np.asarray(column.is_valid())
    kept = pa.array(mask)
    return [column.filter(kept) for column in columns], groups[mask]


def counts(groups: Groups, count: int) -> Column:
    """Return the number of rows of each group."""
    return pa.array(np.bincount(groups, minlength=count).astype(np.int64))


def by_arrow(column: Column, groups: Groups, count: int, function: str) -> Column:
    """Return the result of one of Arrow's aggregations for each group; NULL for a group without values."""
    table = pa.table({"group": groups, "value": column})
    found = table.group_by("group", use_threads=False).aggregate([("value", function)])
    values = found.column(f"value_{function}").combine_chunks()
    indices = np.full(count, -1)
    indices[np.asarray(found.column("group"))] = np.arange(len(values))
    return values.take(pa.array(indices, mask=indices < 0))


def decimal_sums(column: Column, groups: Groups, count: int) -> Column:
    """Return the sum of the decimals of each group, NULL if it ever has more than 38 digits or there are no values."""
    wide = pa.decimal128(38, column.type.scale)
    largest = len(str(max(len(column), 1)))
    if column.type.precision + largest <= 38:
        return by_arrow(column.cast(wide), groups, count, "sum").cast(wide)
    sums: list[Any] = [None] * count
    limit, overflown = 10**38, set()
    for group, value in zip(groups.tolist(), column.to_pylist(), strict=True):
        if value is not None:
            sums[group] = _unscaled(value) + (sums[group] or 0)
            if abs(sums[group]) >= limit:
                overflown.add(group)
    scaled = [
        None if each is None or group in overflown else _scaled(each, column.type.scale)
        for group, each in enumerate(sums)
    ]
    return pa.array(scaled, wide)


def _unscaled(value: Any) -> int:
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits)))
    return -number if sign else number


def _scaled(value: int, scale: int) -> Any:
    from decimal import Decimal

    return Decimal((int(value < 0), tuple(map(int, str(abs(value)))), -scale))


def first_positions(groups: Groups, order: Groups | None = None) -> tuple[Groups, Groups]:
    """Return the groups there are, and for each the position of its first row, or of the row with the least order."""
    if not len(groups):
        return groups, groups
    rows = np.arange(len(groups))
    if order is not None:
        least = np.full(int(groups.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, groups, order)
        rows = np.flatnonzero(order == least[groups])
    first = np.full(int(groups.max()) + 1, -1)
    first[groups[rows[::-1]]] = rows[::-1]
    present = np.flatnonzero(first >= 0)
    return present, first[present]


def taken(column: Column, present: Groups, positions: Groups, count: int) -> Column:
    """Return a column with the values at some positions in the rows of the groups there are, NULL in the others."""
    indices = np.full(count, -1)
    indices[present] = positions
    return column.take(pa.array(indices, mask=indices < 0))


def listed(column: Column, groups: Groups, count: int) -> Column:
    """Return the values of each group as a list, in their order; an empty list for a group without rows."""
    order = np.argsort(groups, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=count))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), column.take(pa.array(order)))


def merged_lists(lists: Column, groups: Groups, count: int) -> Column:
    lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0))
    return listed(lists.flatten(), np.repeat(groups, lengths), count)
