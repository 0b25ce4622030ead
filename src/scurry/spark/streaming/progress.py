"""Read Spark's reports on the batches of a query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from scurry.runtime.driver.checkpoint_history import BatchDetails

#: Spark's names of the phases of a micro-batch, in their order; `addBatch` runs the tasks and commits the sinks.
_PHASES = ("latestOffset", "getBatch", "walCommit", "queryPlanning", "addBatch", "commitBatch", "commitOffsets")


def batch_details(query: Any, first_batch: int, since: int) -> Mapping[int, BatchDetails]:
    """Return Spark's details of its latest batches, by batch id; empty if Spark is gone.

    Args:
        query: The query.
        first_batch: The job's id of the query's first batch.
        since: The job's id of the first batch that is asked for.
    """
    found: dict[int, BatchDetails] = {}
    try:
        # Each is JSON that the JVM makes and this process parses: PySpark's `recentProgress` does so with all of them.
        reported = query._jsq.recentProgress()
        for index in reversed(range(len(reported))):
            progress = json.loads(reported[index].json())
            batch_id = first_batch + progress["batchId"]
            if batch_id < since:
                break
            if "addBatch" in progress["durationMs"]:  # not a report that there was nothing to do yet
                began = datetime.fromisoformat(progress["timestamp"])
                found[batch_id] = BatchDetails(_state_size(progress), _phases(progress), int(began.timestamp() * 1000))
    except Exception:  # the session was stopped, or its JVM has died
        return {}
    return found


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
