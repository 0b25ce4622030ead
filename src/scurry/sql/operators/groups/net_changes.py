"""The change of each group from before some rows to after them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.common.types import RowKind
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of
from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.functions.keys import codes_of, with_one_zero
from scurry.sql.plan.schema import Schema
from scurry.sql.types.values import to_values

INSERT, BEFORE, AFTER, DELETE = (
    RowKind.INSERT.value,
    RowKind.UPDATE_BEFORE.value,
    RowKind.UPDATE_AFTER.value,
    RowKind.DELETE.value,
)


def net_changes(
    keys: Sequence[pa.Array],
    values: Sequence[pa.Array],
    indices: tuple[Any, Any],
    exists: tuple[Any, Any],
    compared: Iterable[tuple[Any, pa.Array]] | None,
    updates_before: bool,
    schema: Schema,
) -> list[Changes]:
    """Return one change, or an update with its two rows, of each group.

    Args:
        indices: For each group where its values before are, and those after.
        exists: For each group whether it is there before, and after.
        compared: Which columns tell whether a group has changed, each with its aggregate; None if groups are emitted
            that have not changed.
        updates_before: Whether an update has the row before it.
    """
    (before, after), (existed, remains) = indices, exists
    updated = existed & remains
    if compared is not None:
        same = np.ones(len(before), dtype=bool)
        for function, column in compared:
            same &= unchanged(column, after, before, function)
        updated = updated & ~same
    parts = [
        (np.flatnonzero(remains & ~existed), after, INSERT),
        (np.flatnonzero(updated), before, BEFORE),
        (np.flatnonzero(updated), after, AFTER),
        (np.flatnonzero(existed & ~remains), before, DELETE),
    ]
    if not updates_before:
        del parts[1]
    found = [(groups, indices[groups], kind) for groups, indices, kind in parts]
    return emitted(keys, values, found, np.arange(len(before)), schema)


def emitted(
    keys: Sequence[pa.Array], values: Sequence[pa.Array], parts: list[tuple[Any, Any, int]], order: Any, schema: Schema
) -> list[Changes]:
    """Return changes in the order of the rows that cause them.

    Args:
        parts: The rows that cause changes of a kind, the places of the changes' values, and the kind.
        order: For each row its place in the order.
    """
    cause = np.concatenate([rows for rows, _, _ in parts])
    if not len(cause):
        return []
    source = np.concatenate([indices for _, indices, _ in parts])
    kinds = np.concatenate([np.full(len(rows), kind, dtype=np.int8) for rows, _, kind in parts])
    sorting = np.argsort(order[cause], kind="stable")
    cause, source, kinds = pa.array(cause[sorting]), pa.array(source[sorting]), kinds[sorting]
    columns = [*(key.take(cause) for key in keys), *(column.take(source) for column in values)]
    return [Changes(batch_of(columns, schema, len(kinds)), kinds if kinds.any() else None)]


def unchanged(column: pa.Array, indices: Any, before: Any, function: Any) -> Any:
    """Say at which places a column has the value of other places, as Flink compares."""
    group_ids = codes_of(with_one_zero(column))
    same = group_ids[indices] == group_ids[before]
    if pa.types.is_floating(column.type):
        same &= ~np.isnan(column.to_numpy(zero_copy_only=False))[indices] | np.asarray(column.is_null())[indices]
    elif not properties_of(function).selects_value and pa.types.is_list(column.type) and column.values.null_count:
        # NULL among the elements of two arrays equals nothing; a selected value stays the same object.
        same &= ~np.asarray([None in each if each is not None else False for each in to_values(column)])[indices]
    return same
