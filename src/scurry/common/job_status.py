"""JobStatus: the state of a job."""

from __future__ import annotations

from enum import Enum

__all__ = ["JobStatus"]


class JobStatus(Enum):
    """The state of a job, with the names of Flink."""

    CREATED = 0
    """Accepted, nothing runs yet."""
    RUNNING = 1
    """Reading and writing."""
    FAILING = 2
    """Failed and cleaning up."""
    FAILED = 3
    """Failed for good."""
    CANCELLING = 4
    """Asked to stop and doing so."""
    CANCELED = 5
    """Stopped before its end, as asked."""
    FINISHED = 6
    """Read all its input and wrote all its output."""
    RESTARTING = 7
    """Failed and starting again."""
    SUSPENDED = 8
    """Stopped by its runner, but can be recovered."""
    RECONCILING = 9
    """Waiting to learn from the runner what became of it."""

    def is_globally_terminal_state(self) -> bool:
        """Return whether the job is over: FAILED, CANCELED or FINISHED."""
        return self in (JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED)

    def is_terminal_state(self) -> bool:
        """Return whether the job is over on the cluster it ran on; that includes SUSPENDED."""
        return self is JobStatus.SUSPENDED or self.is_globally_terminal_state()
