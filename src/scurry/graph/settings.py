"""The settings of a job, resolved from the configuration when the job is submitted."""

from __future__ import annotations

import uuid
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from scurry._dataclasses import dataclass

if TYPE_CHECKING:
    from scurry.graph.dependencies import JobDependencies


@dataclass(frozen=True)
class TableProgram:
    """The SQL and plan of a job of tables, for the web page and REST.

    Attributes:
        sql: Its statements, without secrets; empty if it was built with the Table API.
        plan: Its execution plan, as EXPLAIN shows it.
    """

    sql: str
    plan: str


@dataclass(frozen=True)
class Capturing:
    """The settings by which tasks capture their micro-batches, to be run again by `scurry replay`.

    Attributes:
        root: The directory of the job's captures.
        directory: The one below it that has those of this start of the job.
        mode: `failures`, or `all`.
        max_bytes: How many bytes the captures of a subtask may take up.
        max_batches: How many micro-batches of a subtask are kept.
    """

    root: str
    directory: str
    mode: Literal["failures", "all"]
    max_bytes: int
    max_batches: int


@dataclass(frozen=True)
class JobSettings:
    """Settings of one job.

    Attributes:
        job_name: The name it is submitted under.
        parallelism: Subtasks of operators that do not set their own.
        max_parallelism: Number of key groups: the maximum for rescaling.
        mode: The resolved mode; AUTOMATIC does not occur.
        auto_watermark_interval_ms: How often watermarks are generated.
        checkpoint_interval_ms: Time between checkpoints, None if they were not enabled.
        checkpoint_dir: Their directory, None for a temporary one.
        checkpoint_pause_ms: Shortest time between the end of a micro-batch and the start of the next.
        delete_on_cancel: Whether cancelling the job deletes its checkpoints.
        attempt: How often the job was restarted.
        final_savepoint_dir: Where a job over history saves its state when it ends, None to drop the state; one that is
            STREAMING is that of tables in BATCH.
        job_id: The id of the job, empty before it is submitted.
        start: The start of the job's query on Spark: another one in each attempt, and in each process; else empty.
        runner: What executes the job: Spark, or this process.
        job_key: Unique to the job; stays the same when the job resumes from its checkpoint.
        configuration: Every configured key, including those without a field here.
        job_parameters: The global job parameters, which functions read.
        dependencies: The Python code and packages that workers need; stays on the driver.
        tables: The statements and the plan of a job of tables, None for other jobs; stays on the driver.
        capturing: How tasks capture their micro-batches, None if they do not.
    """

    job_name: str
    parallelism: int
    max_parallelism: int = 128
    mode: Literal["STREAMING", "BATCH"] = "STREAMING"
    auto_watermark_interval_ms: int = 200
    checkpoint_interval_ms: int | None = None
    checkpoint_dir: str | None = None
    checkpoint_pause_ms: int = 0
    delete_on_cancel: bool = False
    attempt: int = 0
    final_savepoint_dir: str | None = None
    job_id: str = field(default="", compare=False)
    start: str = field(default="", compare=False)
    runner: Literal["spark", "local"] = "spark"
    job_key: str = field(default_factory=lambda: uuid.uuid4().hex)
    configuration: dict[str, str] = field(default_factory=dict, repr=False)  # may hold secrets
    job_parameters: dict[str, str] = field(default_factory=dict, repr=False)
    dependencies: JobDependencies | None = field(default=None, repr=False, compare=False)
    tables: TableProgram | None = field(default=None, repr=False, compare=False)
    capturing: Capturing | None = field(default=None, repr=False, compare=False)

    @property
    def saves_state(self) -> bool:
        """Return whether a job over history ends in a savepoint: event time does not end then."""
        return self.final_savepoint_dir is not None
