"""Run a level task in Spark's transformWithState."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from scurry.runtime.exchange.wire import WireRow
from scurry.spark.workers.instances import Job, WorkerTask, instances
from scurry.spark.workers.map_store import MapStore


class LevelProcessor(StatefulProcessor):
    """Run one level; Spark's grouping key is the subtask, its state one map of opaque entries."""

    def __init__(self, job: Job, level: int) -> None:
        self._job = job
        self._level = level

    def init(self, handle: Any) -> None:
        """Declare the level's state."""
        self._store = MapStore(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        """Process one subtask's rows of the batch."""
        with WorkerTask(self._job):
            held = instances(self._job)  # not in init: Spark's driver calls that, too, without what the job depends on
            task = held.level(self._level)
            batch = self._job.batch_id()
            self._store.begin(held.runs, self._job.run_files, batch - self._job.first_batch)
            wire = (WireRow(*row) for row in rows)
            for row in task.process(key[0], wire, self._store, batch):
                yield OutputRow(row)
            self._store.flush()

    def close(self) -> None:
        """End the task; the job's instances stay."""


class OutputRow(tuple[Any, ...]):
    """A row with the only method of `Row` that Spark's serializer calls; cheaper to build than a `Row`."""

    __slots__ = ()

    def asDict(self, recursive: bool = False) -> dict[str, Any]:
        """Return the row by column name."""
        return dict(zip(WireRow._fields, self, strict=True))
