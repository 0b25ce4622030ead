"""The bodies of requests and responses, with the field names of Flink's REST API."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

TriggerId = Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]


def _hyphenated(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


class Hyphenated(BaseModel):
    """Flink's older messages, whose field names have hyphens, such as `start-time`."""

    model_config = ConfigDict(alias_generator=_hyphenated, populate_by_name=True)


class Strict(Hyphenated):
    """A request; unknown fields are refused, as in Flink."""

    model_config = ConfigDict(extra="forbid")


class Errors(BaseModel):
    """Why a request was refused."""

    errors: list[str]


# ------------------------------------------------------------------ jobs


class JobIdWithStatus(BaseModel):
    """A job in the list."""

    id: str
    status: str


class JobList(BaseModel):
    """The jobs of this endpoint: one."""

    jobs: list[JobIdWithStatus]


class JobOverview(Hyphenated):
    """A job in the overview."""

    jid: str
    name: str
    state: str
    start_time: int
    end_time: int
    duration: int
    last_modification: int
    tasks: dict[str, int]
    pending_operators: int = 0


class JobsOverview(BaseModel):
    """The jobs of this endpoint: one."""

    jobs: list[JobOverview]


class Vertex(Hyphenated):
    """A source or operator."""

    id: str
    name: str
    uid: str
    parallelism: int
    maxParallelism: int
    status: str
    start_time: int
    end_time: int
    duration: int
    tasks: dict[str, int]
    metrics: dict[str, int | bool]


class JobDetails(Hyphenated):
    """The details of a job."""

    jid: str
    name: str
    isStoppable: bool
    state: str
    job_type: str
    start_time: int
    end_time: int
    duration: int
    maxParallelism: int
    spark_ui: str | None = Field(description="scurry's own: the address of Spark's web page.")
    finished_tasks: int | None = Field(description="scurry's own: ended tasks of a BATCH job on Spark.")
    known_tasks: int | None = Field(description="scurry's own: all tasks of a BATCH job on Spark that are known.")
    now: int
    timestamps: dict[str, int]
    vertices: list[Vertex]
    status_counts: dict[str, int]
    plan: dict[str, Any]


class JobHistory(Hyphenated):
    """The metrics of a job over the last hour, scurry's own: the values at each moment, null if unknown."""

    interval: int = Field(description="Milliseconds between two moments, by now.")
    timestamps: list[int] = Field(description="The moments, in milliseconds since the epoch.")
    records_in: list[int] = Field(description="Records read by sources since the start.")
    records_out: list[int] = Field(description="Records written by sinks since the start.")
    pending_records: list[int | None] = Field(description="Records left to read.")
    pending_bytes: list[int | None] = Field(description="Bytes left to read.")
    watermark: list[int | None] = Field(description="The lowest watermark of the operators that act on time.")
    back_pressure: list[float | None] = Field(description="Of the most restrained source, in ms per second.")
    busy: list[float | None] = Field(description="Of the busiest operator, in ms per second.")
    state_size: list[int | None] = Field(description="Bytes of all state.")
    batches: list[int] = Field(description="Micro-batches whose phases are known, since the start.")
    phases: dict[str, list[int]] = Field(description="Phase -> milliseconds spent in it by these micro-batches.")


class JobPlanInfo(BaseModel):
    """A job's plan."""

    plan: dict[str, Any]


class ExceptionEntry(BaseModel):
    """A failure of the job."""

    exceptionName: str
    stacktrace: str
    timestamp: int
    taskName: str | None = None
    endpoint: str | None = None


class ExceptionHistory(BaseModel):
    """The failures of the job, the latest first."""

    entries: list[ExceptionEntry]
    truncated: bool = False


class JobExceptions(BaseModel):
    """The failures of a job."""

    exceptionHistory: ExceptionHistory


class Accumulator(BaseModel):
    """A counter of the user's functions."""

    name: str
    type: str
    value: str


class Accumulators(Hyphenated):
    """The accumulators of a job's functions."""

    job_accumulators: list[Accumulator]
    user_task_accumulators: list[Accumulator]
    serialized_user_task_accumulators: dict[str, str]


class Metric(BaseModel):
    """A metric; it has a value only if it was requested by name."""

    id: str
    value: str | None = None


class LogEntry(BaseModel):
    """An event of the job."""

    timestamp: int
    level: str
    event: str
    message: str


class JobLog(BaseModel):
    """The latest events of a job, the latest first."""

    entries: list[LogEntry]


class DeadLetterEntry(BaseModel):
    """A record that went to dead letters."""

    timestamp: int
    operator: str
    subtask: int
    record: str
    error: str
    message: str
    place: str | None
    line: int | None


class JobDeadLetters(BaseModel):
    """The latest of the records that went to dead letters, the latest first, and how many went there in all."""

    count: int
    entries: list[DeadLetterEntry]


class JobTables(BaseModel):
    """The statements and the execution plan of a job of tables; both are empty for other jobs."""

    sql: str
    plan: str


# ------------------------------------------------------------------ operations


class SavepointRequest(Strict):
    """A request to take a savepoint."""

    target_directory: str | None = None
    cancel_job: bool = False
    formatType: str | None = Field(default=None, description="Accepted and ignored: there is one format.")
    triggerId: TriggerId | None = None


class StopRequest(Strict):
    """A request to stop a job with a savepoint."""

    targetDirectory: str | None = None
    drain: bool = False
    formatType: str | None = Field(default=None, description="Accepted and ignored: there is one format.")
    triggerId: TriggerId | None = None


class CheckpointRequest(Strict):
    """A request to commit the input in progress."""

    checkpointType: str | None = Field(default=None, description="Accepted and ignored: there is one kind.")
    triggerId: TriggerId | None = None


class DisposalRequest(Strict):
    """A request to delete a savepoint."""

    savepoint_path: str


class TriggerResponse(Hyphenated):
    """The id of the operation, with which its result can be requested."""

    request_id: str


class QueueStatus(BaseModel):
    """IN_PROGRESS or COMPLETED."""

    id: str


class FailureCause(Hyphenated):
    """Why an operation failed."""

    class_: str
    stack_trace: str
    serialized_throwable: str = Field(description="The same for Flink's own clients, as Java writes it, in base64.")


class OperationOutcome(Hyphenated):
    """Path of the savepoint, or the cause of the failure."""

    location: str | None = None
    failure_cause: FailureCause | None = None


class OperationResult(BaseModel):
    """The status and result of an operation."""

    status: QueueStatus
    operation: OperationOutcome | None = None


class CheckpointOutcome(BaseModel):
    """Id of the checkpoint, or the cause of the failure."""

    checkpointId: int | None = None
    failureCause: FailureCause | None = None


class CheckpointResult(BaseModel):
    """The status and result of a request for a checkpoint."""

    status: QueueStatus
    operation: CheckpointOutcome | None = None


class VertexParallelism(BaseModel):
    """Bounds of a vertex' parallelism."""

    model_config = ConfigDict(extra="forbid")

    lowerBound: int = 1
    upperBound: int = Field(ge=1, le=1 << 15)


class VertexResources(BaseModel):
    """The resources of a vertex."""

    model_config = ConfigDict(extra="forbid")

    parallelism: VertexParallelism


# ------------------------------------------------------------------ configuration, state


class Features(Hyphenated):
    """The features of the endpoint."""

    web_submit: bool = False
    web_cancel: bool = True
    web_rescale: bool = True


class DashboardConfiguration(Hyphenated):
    """The versions and features of the process."""

    refresh_interval: int
    timezone_name: str
    timezone_offset: int
    flink_version: str
    flink_revision: str
    scurry_version: str
    features: Features


class ConfigurationEntry(BaseModel):
    """A configuration key."""

    key: str
    value: str


class ExecutionConfig(Hyphenated):
    """The settings of a job."""

    execution_mode: str
    restart_strategy: str
    job_parallelism: int
    object_reuse_mode: bool
    user_config: dict[str, str]


class JobConfig(Hyphenated):
    """A job and its settings."""

    jid: str
    name: str
    execution_config: ExecutionConfig


class StateValue(BaseModel):
    """The last committed value of a key."""

    uid: str
    name: str
    key: Any
    value: Any
