"""Tests of pipelines without a cluster: records, watermarks and processing time by hand (Flink's test harnesses).

A `TestHarness` runs a function, a window or a whole chain in this process, on the operators and the state backend that
also run it on Spark, and shows what it emits, what it keeps and which timers it has set. A test takes milliseconds and
starts no JVM.
"""

from __future__ import annotations

from scurry.common.watermark_strategy import Watermark
from scurry.testing.captured import StreamRecord
from scurry.testing.harness import TestHarness
from scurry.testing.inspection import Timer
from scurry.testing.snapshot import Snapshot, SnapshotMismatchError

__all__ = ["Snapshot", "SnapshotMismatchError", "StreamRecord", "TestHarness", "Timer", "Watermark"]
