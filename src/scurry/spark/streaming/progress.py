"""Read what Spark reports about the batches of a query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scurry.runtime.driver.checkpoint_history import BatchDetails

#: Spark's names of the phases of a micro-batch, in their order; `addBatch` runs the tasks and commits the sinks.
_PHASES = ("latestOffset", "getBatch", "walCommit", "queryPlanning", "addBatch", "commitBatch", "commitOffsets")


def batch_details(query: Any, first_batch: int) -> Mapping[int, BatchDetails]:
    """Return what Spark remembers of its latest batches, by batch id; empty if Spark is gone.

    Args:
        query: The query.
        first_batch: The job's id of the query's first batch.
    """
    try:
        return {
            first_batch + progress["batchId"]: BatchDetails(_state_size(progress), _phases(progress))
            for progress in query.recentProgress
        }
    except Exception:  # the session was stopped, or its JVM has died
        return {}


def _phases(progress: Any) -> dict[str, int]:
    durations = progress["durationMs"]
    return {phase: durations[phase] for phase in _PHASES if phase in durations}


def _state_size(progress: Any) -> int:
    """Return the bytes of the state: of each operator the larger of RocksDB's files and the memory in use."""
    total = 0
    for operator in progress["stateOperators"]:
        files = operator.get("customMetrics", {}).get("rocksdbTotalSstFilesSize", 0)
        total += max(files, operator["memoryUsedBytes"])
    return total
