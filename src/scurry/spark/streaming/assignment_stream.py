"""Feeding assignments of sources into a streaming query, and remembering them so that a restart replays the same.

Each assignment becomes one block of a Spark `MemoryStream`, hence one task of level 0. The stream's offset is the
assignment's number. Assignments are written to the checkpoint before Spark can see them; a restarted job puts them back
under their numbers, so the batch that Spark replays reads exactly what it read the first time. Those that Spark never
got to plan a batch with are new to it, and come next. When batches were taken back (`rollback.py`), Spark sees the
assignments of one of them at a time, so that each is made of the same once more.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from py4j.clientserver import ClientServer

from scurry.runtime.driver.assignments import Assigned
from scurry.runtime.savepoint.taking import SourcePositions
from scurry.spark.checkpoint.assignment_log import AssignmentLog, LogEntry, LoggedAssignment
from scurry.spark.checkpoint.rollback import RestartPoint

_RUNTIME = "org.apache.spark.sql.execution.streaming.runtime"

#: Batches whose assignments are kept, as many as Spark keeps its own records of (minBatchesToRetain).
KEPT_BATCHES = 100


class AssignmentStream:
    """The MemoryStream, and the log of what it was fed.

    Args:
        spark: The session.
        log: The log.
        point: Where the job goes on.
    """

    def __init__(self, spark: Any, log: AssignmentLog, point: RestartPoint) -> None:
        self._spark = spark
        self._log = log
        self._point = point
        encoder = spark._jvm.org.apache.spark.sql.Encoders.BINARY()
        self._stream = self._java("MemoryStream").apply(spark._jsparkSession, encoder)
        self.next_number = 0
        #: what Spark has not been shown yet, because batches before it are replayed
        self._waiting: deque[LoggedAssignment] = deque()
        #: the last numbers of the batches that are replayed one by one
        self._replays: deque[int] = deque()
        #: first numbers of the log's entries
        self._firsts: deque[int] = deque()
        #: what Spark holds while it looks for what the next batch is to read; None before it has started
        self._planning: Any = None
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

    def started(self, query: Any) -> None:
        """The query that reads the stream runs: what is added together from now on is in one batch.

        Args:
            query: Spark's streaming query.
        """
        if isinstance(self._spark._sc._gateway, ClientServer):  # else the JVM has no thread for each of Python's
            self._planning = query._jsq.streamingQuery().awaitProgressLock()

    @property
    def replaying(self) -> bool:
        """Whether batches that were fed before are still to come, and nothing new need be."""
        return bool(self._waiting)

    def recover(self) -> SourcePositions | None:
        """Puts back what the log holds; returns where the sources stand after it, None if there is nothing."""
        point = self._point
        if not point.entries:
            return None
        self._firsts.extend(self._log.firsts())
        self._skip_to(point.entries[0].first)
        self.next_number = point.entries[-1].end
        self._replays.extend(point.replays)
        for entry in point.entries:
            self._waiting.extend(entry.assignments)
        self._release()
        return point.entries[-1].source_positions

    def _skip_to(self, number: int) -> None:
        """Lets the stream's offsets begin at `number`: what came before is committed."""
        offset = self._java("LongOffset")(number - 1)
        getattr(self._stream, "currentOffset_$eq")(offset)
        getattr(self._stream, "lastOffsetCommitted_$eq")(offset)

    def add(self, assigned: Sequence[Assigned], source_positions: SourcePositions) -> None:
        """Log what is assigned, then let Spark see it, all at once.

        If the first batch had only some of it, no gate would wait for the channels of the others.
        """
        first = self.next_number
        entry = LogEntry([LoggedAssignment(first + i, each) for i, each in enumerate(assigned)], source_positions)
        self._log.write(entry)
        self._firsts.append(first)
        self.next_number = entry.end
        replaying = self.replaying
        self._waiting.extend(entry.assignments)
        if not replaying:
            self._release()

    def batch_ended(self) -> None:
        """A batch is about to be committed: makes way for the next, drops what no restart can ask for."""
        self._release()
        # Whatever was in the stream when one batch ended is in the next one at the latest.
        self._ends.append(self.next_number)
        if len(self._ends) < KEPT_BATCHES + 2:
            return
        while len(self._firsts) > 1 and self._firsts[1] <= self._ends[0]:
            self._log.delete(self._firsts.popleft())

    def _release(self) -> None:
        """Shows Spark the assignments of the next batch: of a replayed one what it was made of, else all there are."""
        with self._unplanned():
            self._show_next()

    @contextmanager
    def _unplanned(self) -> Iterator[None]:
        """Spark plans no batch meanwhile."""
        if self._planning is None:
            yield
            return
        self._planning.lock()
        try:
            yield
        finally:
            self._planning.unlock()

    def _show_next(self) -> None:
        shown = False
        while self._waiting and not shown:
            until = self._replays.popleft() if self._replays else self.next_number
            while self._waiting and self._waiting[0].offset <= until:
                self._show(self._waiting.popleft())
                shown = True

    def _show(self, logged: LoggedAssignment) -> None:
        values = self._spark._jvm.java.util.ArrayList()
        values.add(pickle.dumps(logged, 5))
        self._stream.addData(self._spark._jvm.org.apache.spark.api.python.PythonUtils.toSeq(values))
