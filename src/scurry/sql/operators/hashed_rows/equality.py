"""Which rows are equal, column by column: rows of different keys may have the same hash."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.functions.keys import joint_codes

__all__ = ["equal_rows"]


def equal_rows(columns: Iterable[tuple[pa.Array, pa.Array]], null_equals_null: Iterable[bool], rows: int) -> Any:
    """Return which rows at the same places are equal.

    Args:
        columns: The columns to compare.
        null_equals_null: For each pair of columns, whether NULL equals NULL.
        rows: How many rows they have, which matters if there are no columns.
    """
    found = np.ones(rows, dtype=bool)
    for (one, other), nulls in zip(columns, null_equals_null, strict=True):
        found &= _equal_values(one, other, nulls)
    return found


def _equal_values(one: pa.Array, other: pa.Array, null_equals_null: bool) -> Any:
    if pa.types.is_nested(one.type) or pa.types.is_floating(one.type):  # NaN equals itself in a key
        left, right = joint_codes([one], [other], [null_equals_null])
        return (left == right) & (left >= 0)
    equal = pc.equal(one, other)
    found = np.asarray(equal.fill_null(False) if equal.null_count else equal)
    if null_equals_null and one.null_count:
        found = found | (np.asarray(one.is_null()) & np.asarray(other.is_null()))
    return found
