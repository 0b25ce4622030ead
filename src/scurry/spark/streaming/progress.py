"""Read what Spark reports about the batches of a query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def state_sizes(query: Any, first_batch: int) -> Mapping[int, int]:
    """Return the bytes of all state after each batch that Spark remembers, by batch id; empty if Spark is gone.

    Args:
        query: The query.
        first_batch: The job's id of the query's first batch.
    """
    try:
        return {first_batch + progress["batchId"]: _state_size(progress) for progress in query.recentProgress}
    except Exception:  # the session was stopped, or its JVM has died
        return {}


def _state_size(progress: Any) -> int:
    """Return the bytes of the state: of each operator the larger of RocksDB's files and the memory in use."""
    total = 0
    for operator in progress["stateOperators"]:
        files = operator.get("customMetrics", {}).get("rocksdbTotalSstFilesSize", 0)
        total += max(files, operator["memoryUsedBytes"])
    return total
