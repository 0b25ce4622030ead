"""The contract of sinks: writers in the tasks, one committer on the driver (Flink's two-phase commit).

In every micro-batch each task creates a writer, passes it the task's records and collects its committables; only these
are sent to the driver. When all tasks of the batch have succeeded, the committer makes their output visible. After a
crash the engine repeats the batch under the same id. A committer may therefore get a batch whose commit it has already
begun or finished, with the same committables or with new ones from another attempt of the tasks.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar

from scurry._dataclasses import dataclass
from scurry.common.pickling import of_functions
from scurry.common.typeinfo import TypeInformation
from scurry.errors import SinkCommitError

#: Counts by the name of a metric; set by the task around calls of writers, else without effect.
COUNTED: ContextVar[Callable[[str, int], None]] = ContextVar("COUNTED", default=lambda metric, count: None)
#: Metrics of sinks: requests that were sent again, and records that were left out because the system refused them.
RETRIES, SEND_ERRORS = "numSendRetries", "numRecordsSendErrors"


@dataclass(frozen=True)
class WriterContext:
    """The task and micro-batch that a writer belongs to.

    Attributes:
        subtask_index: Index of the parallel task, from 0.
        parallelism: Number of parallel tasks.
        batch_id: The micro-batch; a repeated batch has the id it had before.
        sink_id: Identifies the sink: it stays the same when the job is restarted from its checkpoint, and differs from
            that of every other sink of this and any other job (file names are derived from it).
        input_type: Declared type of the records, or None.
    """

    subtask_index: int
    parallelism: int
    batch_id: int
    sink_id: str
    input_type: TypeInformation | None = None


@of_functions
class SinkWriter(ABC):
    """Writer of the records of one task in one micro-batch."""

    @abstractmethod
    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        """Write records.

        Args:
            values: The records.
            timestamps: Their timestamps in milliseconds, None if they have none.
        """

    @abstractmethod
    def prepare_commit(self) -> list[Any]:
        """Finish writing and return the picklable committables for the committer."""

    def abort(self) -> None:
        """Undo the writes as far as possible; called instead of `prepare_commit` when the task fails."""
        return


class BufferedWriter(SinkWriter):
    """Hold records back, and write them together: after some records, after some time, and before each commit.

    A connector implements `flush`, and closes its connection in `close`.
    """

    def __init__(self, max_records: int, interval_ms: int, now: Callable[[], float] = time.monotonic) -> None:
        """Hold nothing yet.

        Args:
            max_records: Number of records that are written at once; 0 for all of a micro-batch.
            interval_ms: Milliseconds after which the next record lets all be written; 0 for no limit.
            now: A clock of seconds.
        """
        self._most = max_records
        self._seconds = interval_ms / 1000
        self._now = now
        self._held: list[Any] = []
        self._since = 0.0

    def prepared(self, values: list[Any]) -> list[Any]:
        """Return the elements for `flush` that some records become, such as requests; by default the records."""
        return values

    @abstractmethod
    def flush(self, records: list[Any]) -> None:
        """Write records, of which there is at least one."""

    def close(self) -> None:  # noqa: B027
        """Close connections; called once, after the last record, or when the task has failed."""

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        """Hold records back, and write those that have become enough."""
        if not self._held:
            self._since = self._now()
        self._held += self.prepared(values)
        while self._most and len(self._held) >= self._most:
            self._flush(self._most)
        if self._held and self._seconds and self._now() - self._since >= self._seconds:
            self._flush(len(self._held))

    def _flush(self, count: int) -> None:
        records, self._held = self._held[:count], self._held[count:]
        self.flush(records)
        self._since = self._now()

    def prepare_commit(self) -> list[Any]:
        """Write all records."""
        if self._held:
            self._flush(len(self._held))
        self.close()
        return []

    def abort(self) -> None:
        """Forget the records that wait."""
        self.close()


@of_functions
class Committer(ABC):
    """Make the output of a batch's writers visible on the driver.

    Attributes:
        is_lasting: Whether output that it has committed is still there when the job starts again in another process. If
            it is, the checkpoint notes what a batch has to commit, so that the batch can be committed as it was.
    """

    is_lasting: ClassVar[bool] = True

    @abstractmethod
    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        """Commit a micro-batch; idempotent, even if an earlier attempt committed part of it.

        Args:
            batch_id: The micro-batch.
            committables: The committables of all writers of the batch, in the order of their subtasks.
        """

    @property
    def is_full(self) -> bool:
        """Return whether the job should submit no further batch until output has been taken."""
        return False

    def restarted(self) -> None:
        """Forget the failed attempt: the job resumes after its last commit; uncommitted output may be left over."""
        return

    def finish(self) -> None:
        """Finish the output; called once, after the last commit of a job that ends."""
        return


class NothingToCommit(Committer):
    """The committer of a sink whose writers make their output visible themselves."""

    is_lasting = False

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        """Do nothing.

        Raises:
            SinkCommitError: Writers have returned committables.
        """
        if committables:
            raise SinkCommitError(
                f"batch {batch_id}: writers of a sink without a committer returned committables; override "
                "create_committer of the sink, or return [] from prepare_commit of its writers"
            )


@of_functions
class Sink(ABC):
    """A picklable description of a sink: Flink's unified `Sink`.

    Without `create_committer` it writes at least once: the records of a failed task are written again.

    Attributes:
        staged: Whether one writer takes all records of a task, at the end of the job's last stage. Sinks whose output
            goes to the driver anyway set this to False: their writers run where the records are produced and finish
            after every block, which keeps the records in order.
        native: Whether writers and a committer write the records. If False, only the Spark runner can write the sink.
    """

    staged: bool = True
    native: bool = True

    def connect(self) -> None:  # noqa: B027
        """Begin to connect, for the writers of this process, so that the first record does not wait for it.

        Called in each micro-batch before there are records. A sink whose writers may never write must not fail here.
        """

    @abstractmethod
    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return the writer of one task for one micro-batch."""

    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer of the sink; called before any task of the job writes.

        Args:
            sink_id: As in `WriterContext`.
        """
        return NothingToCommit()


class DiscardSink(Sink):
    """Drop every record; the operator before it runs only for its side effects."""

    staged = False

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that drops its records."""
        return _Dropping()


class _Dropping(SinkWriter):
    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        return

    def prepare_commit(self) -> list[Any]:
        return []
