"""Columns of time as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa


def milliseconds(column: pa.Array) -> Any:
    """Return points of time as numpy integers, of which NULL is the lowest."""
    values = column.cast(pa.timestamp("ms"), safe=False).view(pa.int64())
    return np.asarray(values.fill_null(-(2**63)) if values.null_count else values)
