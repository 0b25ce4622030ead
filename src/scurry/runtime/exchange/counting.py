"""Number of records in a block: metrics count the rows of tables, which travel in batches, not the batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def counter_of(record: Any) -> Callable[[list[Any]], int]:
    """Return the counter of the records of blocks.

    Args:
        record: The first record of the first block; all others are of its kind.

    Returns:
        `len`, or for batches, which say by `record_count` how many records they are, the sum of that.
    """
    return _sum if getattr(type(record), "record_count", None) is not None else len


def _sum(batches: list[Any]) -> int:
    return sum(batch.record_count for batch in batches)
