"""What Spark reports of its micro-batches, as checkpoints show it; none of this starts Spark."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from scurry.runtime.driver.checkpoint_history import BatchDetails
from scurry.spark.streaming.engine import batch_details

NOTHING_TO_DO = {"triggerExecution": 3, "latestOffset": 3}
A_BATCH = {"triggerExecution": 120, "addBatch": 90, "latestOffset": 5, "queryPlanning": 20}


def report(batch_id: int, durations: dict[str, int]) -> dict[str, Any]:
    return {
        "batchId": batch_id,
        "timestamp": "1970-01-01T00:01:40.250Z",
        "durationMs": durations,
        "stateOperators": [{"memoryUsedBytes": 10, "customMetrics": {"rocksdbTotalSstFilesSize": 70}}],
    }


class Query:
    """A query that has made these reports; counts how many of them are read."""

    def __init__(self, *reports: dict[str, Any]) -> None:
        self.read = 0
        self._jsq = SimpleNamespace(
            recentProgress=lambda: [SimpleNamespace(json=lambda r=r: self.text(r)) for r in reports]
        )

    def text(self, report: dict[str, Any]) -> str:
        self.read += 1
        return json.dumps(report)


def test_a_batch_has_the_size_of_its_state_its_phases_in_order_and_when_it_began() -> None:
    details = batch_details(Query(report(3, A_BATCH)), first_batch=10, since=0)
    assert details == {13: BatchDetails(70, {"latestOffset": 5, "queryPlanning": 20, "addBatch": 90}, 100_250)}
    assert list(details[13].phases) == ["latestOffset", "queryPlanning", "addBatch"]


def test_only_reports_of_batches_that_are_asked_for_are_read() -> None:
    query = Query(*(report(id, A_BATCH) for id in range(50)))
    assert sorted(batch_details(query, first_batch=0, since=48)) == [48, 49]
    assert query.read == 3


def test_a_report_that_there_was_nothing_to_do_is_no_batch() -> None:
    query = Query(report(0, A_BATCH), report(1, NOTHING_TO_DO))
    assert list(batch_details(query, first_batch=0, since=0)) == [0]


def test_a_query_that_is_gone_says_nothing() -> None:
    assert batch_details(SimpleNamespace(), first_batch=0, since=0) == {}
