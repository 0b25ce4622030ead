"""Tests of pipelines without a cluster, with full control of records and time (Flink's test harnesses).

A `TestHarness` runs a function, a window or a whole chain in this process, with the same operators and state backend as
on Spark. It shows the emitted records, the state and the timers. A test takes milliseconds and starts no JVM. A
`TableTestHarness` does the same for a query: it is fed rows with kinds and times, and shows the changes of its result.
"""

from __future__ import annotations

from scurry.common.watermark_strategy import Watermark
from scurry.errors import SnapshotMismatchError
from scurry.testing.captured import StreamRecord
from scurry.testing.harness import TestHarness
from scurry.testing.inspection import Timer
from scurry.testing.plans import job_plan_of, plan_of
from scurry.testing.replaying import Replayed, replay_batch
from scurry.testing.snapshot import Snapshot
from scurry.testing.tables import TableTestHarness

__all__ = [
    "Replayed",
    "Snapshot",
    "SnapshotMismatchError",
    "StreamRecord",
    "TableTestHarness",
    "TestHarness",
    "Timer",
    "Watermark",
    "job_plan_of",
    "plan_of",
    "replay_batch",
]
