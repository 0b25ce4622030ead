"""Feeding assignments of sources into a streaming query, and remembering them so that a restart replays the same.

Each assignment becomes one block of a Spark `MemoryStream`, hence one task of level 0. The stream's offset is the
assignment's number. Assignments are written to the checkpoint before Spark can see them; a restarted job puts them back
under their numbers, so the batch that Spark replays reads exactly what it read the first time. Those that Spark never
got to plan a batch with are new to it, and come next.
"""

from __future__ import annotations

import pickle
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from scurry.spark.storage import Storage

_RUNTIME = "org.apache.spark.sql.execution.streaming.runtime"
_DIRECTORY = "assignments"

#: Batches whose assignments are kept, as many as Spark keeps its own records of (minBatchesToRetain).
KEPT_BATCHES = 100

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


@dataclass
class Standing:
    """Where the sources stand after some assignments.

    Attributes:
        positions: Source uid -> position of its enumerator.
        ended: Source uid and channel of every channel that will never get anything again.
    """

    positions: dict[str, Any] = field(default_factory=dict)
    ended: set[tuple[str, int]] = field(default_factory=set)


class AssignmentStream:
    """The MemoryStream and its log."""

    def __init__(self, spark: Any, storage: Storage | None) -> None:
        self._spark = spark
        self._storage = storage
        encoder = spark._jvm.org.apache.spark.sql.Encoders.BINARY()
        self._stream = self._java("MemoryStream").apply(spark._jsparkSession, encoder)
        self.next_number = 0
        #: (number of the first assignment after it, name) of each log entry
        self._entries: deque[tuple[int, str]] = deque()
        #: what `next_number` was at the end of the latest batches
        self._ends: deque[int] = deque(maxlen=KEPT_BATCHES + 2)

    def _java(self, name: str) -> Any:
        found = self._spark._jvm
        for part in f"{_RUNTIME}.{name}".split("."):
            found = getattr(found, part)
        return found

    def frame(self) -> Any:
        """The stream as a DataFrame with one column, `value`."""
        from pyspark.sql import DataFrame

        return DataFrame(self._stream.toDF(), self._spark)

    def recover(self) -> Standing | None:
        """Puts back what the log holds; returns where the sources stand after it, None if there is nothing."""
        names = sorted(self._storage.list(_DIRECTORY)) if self._storage is not None else []
        standing = None
        for name in names:
            assert self._storage is not None
            assignments, standing = pickle.loads(self._storage.read(f"{_DIRECTORY}/{name}"))
            if not self._entries:
                self._skip_to(assignments[0].number)
            for numbered in assignments:
                self._append(numbered)
            self._entries.append((self.next_number, name))
        return standing

    def _skip_to(self, number: int) -> None:
        """Lets the stream's offsets begin at `number`: what came before is committed and was purged."""
        offset = self._java("LongOffset")(number - 1)
        getattr(self._stream, "currentOffset_$eq")(offset)
        getattr(self._stream, "lastOffsetCommitted_$eq")(offset)
        self.next_number = number

    def add(self, assignments: list[tuple[int, int, Any, bool]], standing: Standing) -> None:
        """Logs assignments `(source, channel, work, final)`, then lets Spark see them."""
        first = self.next_number
        batch = [Numbered(first + i, *assignment) for i, assignment in enumerate(assignments)]
        if self._storage is not None:
            name = f"{first:012d}"
            self._storage.write(f"{_DIRECTORY}/{name}", pickle.dumps((batch, standing), 5))
            self._entries.append((first + len(batch), name))
        for numbered in batch:
            self._append(numbered)

    def batch_ended(self) -> None:
        """A batch is about to be committed: drops log entries that no restart can ask for."""
        # Whatever was in the stream when one batch ended is in the next one at the latest.
        self._ends.append(self.next_number)
        if self._storage is None or len(self._ends) < KEPT_BATCHES + 2:
            return
        while self._entries and self._entries[0][0] <= self._ends[0] and len(self._entries) > 1:
            self._storage.delete(f"{_DIRECTORY}/{self._entries.popleft()[1]}")

    def _append(self, numbered: Numbered) -> None:
        values = self._spark._jvm.java.util.ArrayList()
        values.add(pickle.dumps(numbered, 5))
        self._stream.addData(self._spark._jvm.org.apache.spark.api.python.PythonUtils.toSeq(values))
        self.next_number += 1
