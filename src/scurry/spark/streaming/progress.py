"""What Spark knows about the batches of a query, asked when somebody wants to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def state_sizes(query: Any, first_batch: int) -> Mapping[int, int]:
    """Batch id -> bytes of all state after it, for the batches Spark remembers; empty if Spark is gone.

    Args:
        query: The query.
        first_batch: The job's own id of the query's first batch.
    """
    try:
        return {first_batch + progress["batchId"]: _state_size(progress) for progress in query.recentProgress}
    except Exception:  # the session was stopped, or its JVM has died: there is nobody left to ask
        return {}


def _state_size(progress: Any) -> int:
    """RocksDB's files where there are some, else what the state takes up in memory."""
    total = 0
    for operator in progress["stateOperators"]:
        files = operator.get("customMetrics", {}).get("rocksdbTotalSstFilesSize", 0)
        total += max(files, operator["memoryUsedBytes"])
    return total
