"""The bridge from Spark's transformWithState to a level task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from scurry.runtime.state.store import StoreKey
from scurry.runtime.wire import WireRow
from scurry.spark.worker import Job, failing_clean, instances


class LevelProcessor(StatefulProcessor):
    """Runs one level; Spark's grouping key is the key group, its state one map of opaque entries."""

    def __init__(self, job: Job, level: int) -> None:
        self._job = job
        self._level = level

    def init(self, handle: Any) -> None:
        """Declares the level's state."""
        self._entries = handle.getMapState("entries", "uid string, kind string, id long", "blob binary")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        """Processes one key group's rows of the batch."""
        with failing_clean(self._job):
            context = TaskContext.get()
            assert context is not None
            batch_id = int(context.getLocalProperty("streaming.sql.batchId") or 0)
            task = instances(self._job).level(self._level, context.partitionId())
            wire = (WireRow(*row) for row in rows)
            for row in task.process_group(key[0], wire, MapStore(self._entries), batch_id):
                yield OutputRow(row)

    def close(self) -> None:
        """Ends the task; instances outlive it."""


class OutputRow(tuple[Any, ...]):
    """What Spark's serializer needs of a Row, without making one."""

    __slots__ = ()

    def asDict(self, recursive: bool = False) -> dict[str, Any]:
        """The row by column name."""
        return dict(zip(WireRow._fields, self, strict=True))


class MapStore:
    """A state store over Spark's MapState."""

    def __init__(self, state: Any) -> None:
        self._state = state

    def get(self, key: StoreKey) -> bytes | None:
        """The entry, or None."""
        value = self._state.getValue(key)
        return None if value is None else bytes(value[0])

    def put(self, key: StoreKey, blob: bytes) -> None:
        """Writes an entry."""
        self._state.updateValue(key, (blob,))

    def remove(self, key: StoreKey) -> None:
        """Removes an entry, if there is one."""
        self._state.removeKey(key)
