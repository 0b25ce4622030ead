"""Feed the assignments of sources into a streaming query and log them, so that a restart replays the same ones.

Each assignment becomes one block of a Spark `MemoryStream`, and so one task of level 0. The stream's offset is the
assignment's offset in the log. Assignments are written to the checkpoint before Spark can see them. A restarted job
puts them back under their offsets, so the batch that Spark replays reads exactly what it read the first time. The
assignments that no batch was planned with follow, at most one of each channel in a batch: blocks of one batch are read
side by side, so sinks behind a source without an exchange would get a channel's records out of their order. After a
rollback (`checkpoint/rollback.py`), Spark sees the assignments of one batch at a time, so that each batch is rebuilt
from the same assignments.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from py4j.clientserver import ClientServer

from scurry.runtime.exchange.wire import Assigned, SplitAssignment
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.spark.checkpoint.assignment_log import AssignmentLog, LogEntry, LoggedAssignment
from scurry.spark.checkpoint.rollback import RestartPoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RUNTIME = "org.apache.spark.sql.execution.streaming.runtime"

#: Number of batches whose assignments are kept, as many as Spark keeps in its own logs (minBatchesToRetain).
KEPT_BATCHES = 100


class AssignmentStream:
    """The `MemoryStream` that the query reads, with the log of its additions.

    Args:
        point: Where the job resumes.
        logged: Called when an entry is logged, before Spark sees it.
    """

    def __init__(
        self, spark: SparkSession, log: AssignmentLog, point: RestartPoint, logged: Callable[[LogEntry], None]
    ) -> None:
        self._spark, self._logged = spark, logged
        self._log = log
        self._point = point
        jvm: Any = spark._jvm
        self._jvm = jvm
        encoder = self._jvm.org.apache.spark.sql.Encoders.BINARY()
        self._stream = self._java("MemoryStream").apply(spark._jsparkSession, encoder)
        # looking up a class by its name takes the JVM through all jars, once for each package
        self._array_list, self._to_seq = jvm.java.util.ArrayList, jvm.org.apache.spark.api.python.PythonUtils.toSeq
        self.next_offset = 0
        #: assignments not yet added to the stream, because batches before them have not ended, and their entries' ends
        self._waiting: deque[tuple[LoggedAssignment, int]] = deque()
        #: the channels of the assignments that Spark has, of a batch that has not ended
        self._shown: set[tuple[int, int]] = set()
        #: whether Spark has assignments of such a batch: it may have planned the batch, so others wait for the next one
        self._given = False
        #: offset after the last assignment that Spark has
        self.shown_end = 0
        #: end offsets of the batches that are replayed one by one
        self._replays: deque[int] = deque()
        #: whether Spark has the assignments of such a batch, and may not have planned it yet
        self._rebuilding = False
        #: first offsets of the log's entries
        self._entry_offsets: deque[int] = deque()
        #: the lock that Spark holds while it plans the next batch; None before the query has started
        self._planning: Any = None
        #: `next_offset` at the end of each of the latest batches
        self._ends: deque[int] = deque(maxlen=KEPT_BATCHES + 2)

    def _java(self, name: str) -> Any:
        found = self._jvm
        for part in f"{_RUNTIME}.{name}".split("."):
            found = getattr(found, part)
        return found

    def frame(self) -> Any:
        """Return the stream as a DataFrame with one column, `value`."""
        from pyspark.sql import DataFrame

        return DataFrame(self._stream.toDF(), self._spark)

    def started(self, query: Any) -> None:
        """Note that the query runs: from now on, assignments that are added together are in one batch.

        Args:
            query: Spark's streaming query.
        """
        if isinstance(self._spark._sc._gateway, ClientServer):  # else threads have no JVM thread to hold the lock
            self._planning = query._jsq.streamingQuery().awaitProgressLock()

    @property
    def replaying(self) -> bool:
        """Return whether logged assignments wait or are replayed, so that no new ones are needed.

        A batch that is rebuilt must not get more than it had: sinks know it by its id.
        """
        return bool(self._waiting) or self._rebuilding

    def recover(self) -> SourcePositions | None:
        """Put back the logged assignments and return the source positions after them, or None if the log is empty."""
        point = self._point
        if not point.entries:
            return None
        self._entry_offsets.extend(self._log.offsets())
        self._skip_to(point.entries[0].offset)
        self.next_offset = point.entries[-1].end
        self._replays.extend(point.replays)
        for entry in point.entries:
            self._wait(entry)
        self._release()
        return point.entries[-1].source_positions

    def _skip_to(self, offset: int) -> None:
        """Let the stream's offsets begin at `offset`: all assignments before it are committed."""
        before = self._java("LongOffset")(offset - 1)
        getattr(self._stream, "currentOffset_$eq")(before)
        getattr(self._stream, "lastOffsetCommitted_$eq")(before)

    def add(self, assigned: Sequence[Assigned], source_positions: SourcePositions) -> None:
        """Log assignments, then add all of them to the stream at once.

        If the first batch had only some of them, no input gate would wait for the channels of the others.
        """
        offset = self.next_offset
        entry = LogEntry([LoggedAssignment(offset + i, each) for i, each in enumerate(assigned)], source_positions)
        self._log.write(entry)
        self._logged(entry)
        self._entry_offsets.append(offset)
        self.next_offset = entry.end
        replaying = self.replaying
        self._wait(entry)
        if not replaying:
            self._release()

    def _wait(self, entry: LogEntry) -> None:
        self._waiting.extend((each, entry.end) for each in entry.assignments)

    def batch_ended(self) -> None:
        """Release the next assignments, as a batch is about to be committed, and drop those no restart can need."""
        self._rebuilding = False
        self._release(ended=True)
        # Everything in the stream at the end of one batch is in the next one at the latest.
        self._ends.append(self.next_offset)
        if len(self._ends) < KEPT_BATCHES + 2:
            return
        while len(self._entry_offsets) > 1 and self._entry_offsets[1] <= self._ends[0]:
            self._log.delete(self._entry_offsets.popleft())

    def _release(self, ended: bool = False) -> None:
        """Add the assignments of the next batch to the stream: those of a replayed batch, else of the next entries.

        Args:
            ended: Whether the batch with all that Spark has is about to be committed.
        """
        with self._unplanned():
            if ended:
                self._shown.clear()
                self._given = False
            self._show_next()

    @contextmanager
    def _unplanned(self) -> Iterator[None]:
        """Keep Spark from planning a batch within a `with` block."""
        if self._planning is None:
            yield
            return
        self._planning.lock()
        try:
            yield
        finally:
            self._planning.unlock()

    def _show_next(self) -> None:
        while self._waiting and self._replays and not self._rebuilding:
            self._rebuilding = self._show_until(self._replays.popleft())
        if self._rebuilding or self._given:
            return
        while self._waiting and not self._next_has_a_shown_channel():
            self._show_until(self._waiting[0][1] - 1)

    def _show_until(self, last: int) -> bool:
        """Show the assignments up to an offset; return whether there are any."""
        shown = False
        while self._waiting and self._waiting[0][0].offset <= last:
            logged, _ = self._waiting.popleft()
            if logged.offset > self._point.end:
                self._given = True
                if isinstance(logged.assigned, SplitAssignment):
                    self._shown.add((logged.assigned.source, logged.assigned.channel))
            self._show(logged)
            self.shown_end = logged.offset + 1
            shown = True
        return shown

    def _next_has_a_shown_channel(self) -> bool:
        end = self._waiting[0][1]
        return any(
            isinstance(each.assigned, SplitAssignment) and (each.assigned.source, each.assigned.channel) in self._shown
            for each, _ in takewhile(lambda waiting: waiting[1] == end, self._waiting)
        )

    def _show(self, logged: LoggedAssignment) -> None:
        values = self._array_list()
        values.add(pickle.dumps(logged, 5))
        self._stream.addData(self._to_seq(values))
