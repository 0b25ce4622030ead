"""Lazy arguments: computed only for the rows that need them, and merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.functions.definition import Column

Mask = np.ndarray[Any, np.dtype[np.bool_]]


def mask_of(condition: Column, rows: int) -> Mask:
    """Return where a condition is TRUE, as a mask of all rows."""
    if isinstance(condition, pa.Scalar):
        return np.full(rows, bool(condition.as_py()))
    return np.asarray(condition.fill_null(False)).astype(np.bool_, copy=False)


def scattered(parts: Sequence[tuple[Mask, Column]], rows: int, kind: pa.DataType) -> Column:
    """Put columns of parts of the rows together; rows that are in no part are null.

    Args:
        parts: For each part, its rows, and the column of their values in order.
        rows: The number of all rows.
        kind: The type of the result.
    """
    if len(parts) == 1 and isinstance(parts[0][1], pa.Scalar) and parts[0][0].all():
        return parts[0][1].cast(kind)
    indices = np.zeros(rows, np.int64)
    pieces = [pa.nulls(1, kind)]
    start = 1
    for mask, column in parts:
        if isinstance(column, pa.Scalar):
            indices[mask] = start
            column = pa.repeat(column, 1)
        else:
            indices[mask] = np.arange(start, start + len(column))
        pieces.append(column if column.type == kind else column.cast(kind))
        start += len(column)
    return pa.concat_arrays(pieces).take(pa.array(indices))
