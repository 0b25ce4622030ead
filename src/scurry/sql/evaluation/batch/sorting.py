"""Sorting rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.functions.keys import order_codes
from scurry.sql.plan.nodes import SortKey


def sorted_positions(columns: Sequence[pa.Array], keys: Sequence[SortKey], rows: int) -> np.ndarray[Any, Any]:
    """Return the positions of rows in the order of some keys; equal rows keep their order.

    Args:
        columns: All columns.
        keys: The keys, which name columns by position.
        rows: The number of rows.

    Returns:
        The positions.
    """
    if not keys:
        return np.arange(rows)
    codes = [order_codes(columns[key.index], key.descending, key.nulls_first) for key in keys]
    return np.lexsort(codes[::-1])
