"""Feeding assignments of sources into a streaming query, and remembering them so that a restart replays the same.

Each assignment becomes one block of a Spark `MemoryStream`, hence one task of level 0. The stream's offset is the
assignment's number. Assignments are written to the checkpoint before Spark can see them; a restarted job puts them back
under their numbers, so the batch that Spark replays reads exactly what it read the first time.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from scurry.spark.storage import Storage

_MEMORY_STREAM = "org.apache.spark.sql.execution.streaming.runtime.MemoryStream"

#: Source id of assignments that carry time only.
CONTROL_SOURCE = -1


@dataclass(frozen=True)
class Numbered:
    """An assignment on its way to a task."""

    number: int
    source: int
    channel: int
    work: Any
    final: bool


class AssignmentStream:
    """The MemoryStream and its log."""

    def __init__(self, spark: Any, storage: Storage | None) -> None:
        self._spark = spark
        self._storage = storage
        jvm = spark._jvm
        encoder = jvm.org.apache.spark.sql.Encoders.BINARY()
        module = jvm
        for part in _MEMORY_STREAM.split("."):
            module = getattr(module, part)
        self._stream = module.apply(spark._jsparkSession, encoder)
        self.next_number = 0
        self.positions: dict[str, Any] = {}

    def frame(self) -> Any:
        """The stream as a DataFrame with one column, `value`."""
        from pyspark.sql import DataFrame

        return DataFrame(self._stream.toDF(), self._spark)

    def recover(self) -> list[Numbered]:
        """Puts back what the log holds; returns it."""
        if self._storage is None:
            return []
        found: list[Numbered] = []
        for name in sorted(self._storage.list("assignments")):
            record = pickle.loads(self._storage.read(f"assignments/{name}"))
            found += record["assignments"]
            self.positions = record["positions"]
        for numbered in found:
            while self.next_number < numbered.number:
                self._append(b"")  # purged: committed long ago, only its place is needed
            self._append(pickle.dumps(numbered, 5))
        return found

    def add(self, assignments: list[tuple[int, int, Any, bool]], positions: dict[str, Any]) -> None:
        """Logs assignments `(source, channel, work, final)`, then lets Spark see them."""
        first = self.next_number
        batch = [Numbered(first + i, *assignment) for i, assignment in enumerate(assignments)]
        if self._storage is not None:
            record = pickle.dumps({"assignments": batch, "positions": positions}, 5)
            self._storage.write(f"assignments/{first:012d}", record)
        for numbered in batch:
            self._append(pickle.dumps(numbered, 5))

    def purge(self, keep: int = 100) -> None:
        """Drops old log entries; the newest are kept, as many as Spark keeps batches for replay."""
        if self._storage is not None:
            for name in sorted(self._storage.list("assignments"))[:-keep]:
                self._storage.delete(f"assignments/{name}")

    def _append(self, payload: bytes) -> None:
        values = self._spark._jvm.java.util.ArrayList()
        values.add(payload)
        self._stream.addData(self._spark._jvm.org.apache.spark.api.python.PythonUtils.toSeq(values))
        self.next_number += 1
