"""The contract of sinks: writers in the tasks, one committer on the driver (Flink's two-phase commit).

In every micro-batch each task makes a writer, gives it the task's records and takes its committables; these are all
that travels to the driver. When every task of the batch has succeeded, the committer makes their work visible. After a
crash the engine repeats the batch under the same id, so a committer meets a batch again whose commit it had begun or
even finished, with the same committables or with new ones from a new attempt of the tasks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scurry.common.typeinfo import TypeInformation

__all__ = ["Committer", "Sink", "SinkWriter", "WriterContext"]


@dataclass(frozen=True)
class WriterContext:
    """Where a writer works.

    Attributes:
        subtask_index: Index of the parallel task, from 0.
        parallelism: Number of parallel tasks.
        batch_id: The micro-batch; a repeated batch has the id it had before.
        sink_id: Names the sink: the same whenever the job is restarted from its checkpoint, and different from every
            other sink of this and of any other job (names of files are made from it).
        input_type: Declared type of the records, None if there is none.
    """

    subtask_index: int
    parallelism: int
    batch_id: int
    sink_id: str
    input_type: TypeInformation | None = None


class SinkWriter(ABC):
    """Takes the records of one task in one micro-batch."""

    @abstractmethod
    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        """Take some records.

        Args:
            values: The records.
            timestamps: Their timestamps in milliseconds, None if they have none.
        """

    @abstractmethod
    def prepare_commit(self) -> list[Any]:
        """Finish writing and return the picklable committables for the committer."""

    def abort(self) -> None:
        """Undo what was written, as far as possible; called instead of `prepare_commit` when the task fails."""
        return


class Committer(ABC):
    """Makes what the writers of a batch prepared visible; lives on the driver."""

    @abstractmethod
    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        """Commit a micro-batch; the result is the same if it was committed before, wholly or partly.

        Args:
            batch_id: The micro-batch.
            committables: What all writers of the batch returned, in the order of their subtasks.
        """

    def restarted(self) -> None:
        """The job has failed and goes on where it committed last; work of tasks may be left that nobody commits."""
        return

    def finish(self) -> None:
        """Called once, after the last commit of a job that ends."""
        return


class Sink(ABC):
    """A picklable description of where records go: Flink's unified `Sink`.

    Attributes:
        staged: One writer takes the records of a whole task, at the end of the job's last stage. Sinks whose results
            go to the driver anyway set this to False: a writer of theirs works where the records are made and is
            finished after every block, which keeps their order.
        native: Writers and committer do the work. A sink that sets this to False is written by the Spark runner, which
            knows its kind; no other runner takes it.
    """

    staged: bool = True
    native: bool = True

    @abstractmethod
    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return the writer of one task for one micro-batch."""

    @abstractmethod
    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer of the sink; called before any task of the job writes.

        Args:
            sink_id: As in `WriterContext`.
        """
