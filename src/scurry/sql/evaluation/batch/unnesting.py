"""Elements of collections as rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.plan.nodes import Unnest
from scurry.sql.types import MultisetType


def unnested(plan: Unnest, column: pa.Array) -> tuple[Any, list[pa.Array]]:
    """Return for each element of a column of collections the position of its row, and the element's columns.

    Args:
        plan: What is unnested.
        column: The collections.

    Returns:
        The positions, and the columns of the elements.
    """
    if pa.types.is_map(column.type):
        entries = pa.struct([pa.field("key", column.type.key_type), pa.field("value", column.type.item_type)])
        column = column.cast(pa.list_(entries)) if len(column) else pa.array([], pa.list_(entries))
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0))
    elements = column.flatten()
    rows = np.repeat(np.arange(len(column)), lengths)
    width = len(plan.element_schema) - plan.ordinality
    numbers = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
    if isinstance(plan.collection.type, MultisetType):
        counts = np.asarray(elements.field(1))
        repeated = np.repeat(np.arange(len(elements)), counts)
        elements, rows = elements.field(0).take(pa.array(repeated)), rows[repeated]
        numbers = np.arange(len(rows)) - np.searchsorted(rows, rows, side="left") + 1
    elif elements.null_count and _are_rows(elements, width) and not plan.ordinality:
        # As in Flink, an element that is no row makes none. Flink fails where it has to number them.
        present = np.flatnonzero(elements.is_valid())
        elements, rows = elements.take(pa.array(present)), rows[present]
    positions = np.arange(len(rows))
    if plan.outer:
        missing = np.flatnonzero(np.bincount(rows, minlength=len(column)) == 0)
        rows = np.concatenate([rows, missing])
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        positions = np.concatenate([positions, np.full(len(missing), -1)])[order]
        numbers = np.concatenate([numbers, np.full(len(missing), -1)])[order]
    mask = positions < 0
    columns = elements.flatten() if _are_rows(elements, width) else [elements]
    taken = [each.take(pa.array(positions, mask=mask)) for each in columns]
    if plan.ordinality:
        taken.append(pa.array(numbers.astype(np.int32), mask=mask))
    return rows, taken


def _are_rows(elements: pa.Array, width: int) -> bool:
    """Return whether elements become rows of their fields."""
    return bool(pa.types.is_struct(elements.type) and elements.type.num_fields == width)
