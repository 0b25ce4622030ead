"""JobList: the jobs of some sessions, as SHOW JOBS lists them."""

from __future__ import annotations

import threading
import time

from scurry._dataclasses import dataclass
from scurry.common.job_client import JobClient
from scurry.common.job_status import JobStatus

#: Maximum number of finished jobs that are kept.
_MOST_ENDED = 100


@dataclass(frozen=True)
class ListedJob:
    """A job.

    Attributes:
        name: The name that SHOW JOBS shows.
        started_ms: When it was started, in milliseconds since the epoch.
        client: What operates it.
    """

    name: str
    started_ms: int
    client: JobClient

    @property
    def id(self) -> str:
        """Return its identifier, 32 hexadecimal digits."""
        return str(self.client.get_job_id())

    @property
    def status(self) -> JobStatus:
        return self.client.get_job_status().result()


class JobList:
    """The jobs that statements have started; of those that are over, the last hundred. Used by many threads."""

    def __init__(self) -> None:
        """Begin without jobs."""
        self._jobs: list[ListedJob] = []
        self._lock = threading.Lock()

    def add(self, name: str, client: JobClient) -> None:
        """Add a job that has just been started."""
        with self._lock:
            self._jobs.append(ListedJob(name, int(time.time() * 1000), client))
            ended = [job for job in self._jobs if job.status.is_globally_terminal_state()]
            for job in ended[:-_MOST_ENDED]:
                self._jobs.remove(job)

    def newest_first(self) -> list[ListedJob]:
        with self._lock:
            return self._jobs[::-1]

    def find(self, job_id: str) -> ListedJob | None:
        """Return the job of an identifier, or None."""
        return next((job for job in self.newest_first() if job.id == job_id.lower()), None)
