"""The bridge from Spark's transformWithState to a level task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from scurry.runtime.exchange.wire import WireRow
from scurry.spark.workers.instances import Job, WorkerTask, instances
from scurry.spark.workers.map_store import MapStore


class LevelProcessor(StatefulProcessor):
    """Runs one level; Spark's grouping key is the subtask, its state one map of opaque entries."""

    def __init__(self, job: Job, level: int) -> None:
        self._job = job
        self._level = level

    def init(self, handle: Any) -> None:
        """Declares the level's state."""
        self._store = MapStore(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        """Processes one subtask's rows of the batch."""
        with WorkerTask(self._job):
            task = instances(self._job).level(self._level)
            wire = (WireRow(*row) for row in rows)
            for row in task.process(key[0], wire, self._store, self._job.batch_id()):
                yield OutputRow(row)
            self._store.flush()

    def close(self) -> None:
        """Ends the task; instances outlive it."""


class OutputRow(tuple[Any, ...]):
    """What Spark's serializer needs of a Row, without making one."""

    __slots__ = ()

    def asDict(self, recursive: bool = False) -> dict[str, Any]:
        """The row by column name."""
        return dict(zip(WireRow._fields, self, strict=True))
