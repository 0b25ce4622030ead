"""A job as the endpoint serves it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scurry.common.job_status import JobStatus
from scurry.graph.plan import JobPlan
from scurry.rest.metrics.history import History
from scurry.rest.operations import Operations

if TYPE_CHECKING:
    from scurry.runtime.driver.client import RunningJob


@dataclass
class ServedJob:
    """A job and its data at the endpoint.

    Attributes:
        client: The job.
        started_ms: When it was submitted, in milliseconds since the epoch.
        operations: Its asynchronous operations.
        history: Its metrics over the last hour.
        ended_ms: When it ended, in milliseconds since the epoch; None while it runs.
        to_archive: Whether its archive is still to be written.
    """

    client: RunningJob
    started_ms: int
    operations: Operations = field(default_factory=Operations)
    history: History = field(default_factory=History)
    ended_ms: int | None = None
    to_archive: bool = False

    @property
    def is_ending(self) -> bool:
        """Return whether the job is over and its archive is being written: its endpoint answers until then."""
        return self.to_archive and self.status.is_globally_terminal_state()

    @property
    def id(self) -> str:
        """The job's id, 32 hexadecimal digits."""
        return str(self.client.get_job_id())

    @property
    def plan(self) -> JobPlan:
        """The job's present plan."""
        return self.client.execution.plan

    @property
    def name(self) -> str:
        """The job's name."""
        return self.plan.settings.job_name

    @property
    def status(self) -> JobStatus:
        """The job's present status."""
        return self.client.get_job_status().result()

    @property
    def duration_ms(self) -> int:
        """Return the duration of the job, in milliseconds."""
        return (self.ended_ms or int(time.time() * 1000)) - self.started_ms
