"""Feeding assignments of sources into a streaming query, and remembering them so that a restart replays the same.

Each assignment becomes one block of a Spark `MemoryStream`, hence one task of level 0. The stream's offset is the
assignment's number. Assignments are written to the checkpoint before Spark can see them; a restarted job puts them back
under their numbers, so the batch that Spark replays reads exactly what it read the first time. Those that Spark never
got to plan a batch with are new to it, and come next.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scurry.runtime.savepoint.taking import Standing
from scurry.spark.storage import Storage

_RUNTIME = "org.apache.spark.sql.execution.streaming.runtime"
_DIRECTORY = "assignments"

#: Batches whose assignments are kept, as many as Spark keeps its own records of (minBatchesToRetain).
KEPT_BATCHES = 100

#: Source id of assignments that come from the runner: ticks, state to restore, questions for state.
CONTROL_SOURCE = -1


@dataclass(frozen=True)
class Numbered:
    """An assignment on its way to a task."""

    number: int
    source: int
    channel: int
    work: Any
    final: bool


class AssignmentLog:
    """The log of assignments in a checkpoint; a file holds assignments logged together and where sources stand then."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def names(self) -> list[str]:
        """The names of the entries, the oldest first."""
        return sorted(self._storage.list(_DIRECTORY))

    def read(self, name: str) -> tuple[list[Numbered], Standing]:
        """An entry."""
        entry: tuple[list[Numbered], Standing] = pickle.loads(self._storage.read(f"{_DIRECTORY}/{name}"))
        return entry

    def entries(self) -> Iterator[tuple[list[Numbered], Standing]]:
        """All entries, the oldest first; those that are purged meanwhile are left out."""
        for name in self.names():
            try:
                yield self.read(name)
            except FileNotFoundError:
                continue

    def last(self) -> Standing | None:
        """Where the sources stand after the last entry, None if there is none."""
        names = self.names()
        return self.read(names[-1])[1] if names else None

    def append(self, assignments: list[Numbered], standing: Standing) -> str:
        """Writes an entry, durably; returns its name."""
        name = f"{assignments[0].number:012d}"
        self._storage.write(f"{_DIRECTORY}/{name}", pickle.dumps((assignments, standing), 5))
        return name

    def delete(self, name: str) -> None:
        """Deletes an entry."""
        self._storage.delete(f"{_DIRECTORY}/{name}")


class AssignmentStream:
    """The MemoryStream and its log."""

    def __init__(self, spark: Any, storage: Storage) -> None:
        self._spark = spark
        self._log = AssignmentLog(storage)
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
        standing = None
        for name in self._log.names():
            assignments, standing = self._log.read(name)
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
        self._entries.append((first + len(batch), self._log.append(batch, standing)))
        for numbered in batch:
            self._append(numbered)

    def batch_ended(self) -> None:
        """A batch is about to be committed: drops log entries that no restart can ask for."""
        # Whatever was in the stream when one batch ended is in the next one at the latest.
        self._ends.append(self.next_number)
        if len(self._ends) < KEPT_BATCHES + 2:
            return
        while self._entries and self._entries[0][0] <= self._ends[0] and len(self._entries) > 1:
            self._log.delete(self._entries.popleft()[1])

    def _append(self, numbered: Numbered) -> None:
        values = self._spark._jvm.java.util.ArrayList()
        values.add(pickle.dumps(numbered, 5))
        self._stream.addData(self._spark._jvm.org.apache.spark.api.python.PythonUtils.toSeq(values))
        self.next_number += 1
