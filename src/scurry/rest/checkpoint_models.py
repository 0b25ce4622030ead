"""The answers about checkpoints, with Flink's fields."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class CheckpointCounts(BaseModel):
    """The number of checkpoints by outcome."""

    restored: int
    total: int
    in_progress: int
    completed: int
    failed: int


class TaskCheckpointStatistics(BaseModel):
    """The statistics of a checkpoint for a vertex; alignment is 0, as there are no barriers."""

    id: int
    status: str
    latest_ack_timestamp: int
    checkpointed_size: int
    state_size: int
    end_to_end_duration: int
    alignment_buffered: int = 0
    processed_data: int = 0
    persisted_data: int = 0
    num_subtasks: int
    num_acknowledged_subtasks: int


class CheckpointStatistics(BaseModel):
    """A checkpoint."""

    className: str = "completed"
    id: int
    status: str
    is_savepoint: bool
    savepointFormat: str | None = None
    trigger_timestamp: int
    latest_ack_timestamp: int
    checkpointed_size: int | None = Field(description="What the micro-batch has written of the state, in bytes.")
    state_size: int | None = Field(description="All of it, in bytes.")
    end_to_end_duration: int
    alignment_buffered: int = 0
    processed_data: int = 0
    persisted_data: int = 0
    num_subtasks: int
    num_acknowledged_subtasks: int
    checkpoint_type: str
    tasks: dict[str, TaskCheckpointStatistics] = Field(description="By vertex; of one checkpoint only.")
    external_path: str
    discarded: bool = False
    positions: dict[str, Any]
    phases: dict[str, int] = Field(description="scurry's own: what the micro-batch spent its time with, in ms.")


class StatisticsSummary(BaseModel):
    """Minimum, maximum, average and percentiles of a figure."""

    min: int
    max: int
    avg: int
    p50: float
    p90: float
    p95: float
    p99: float
    p999: float


class CheckpointSummary(BaseModel):
    """The figures of completed checkpoints."""

    checkpointed_size: StatisticsSummary
    state_size: StatisticsSummary
    end_to_end_duration: StatisticsSummary
    alignment_buffered: StatisticsSummary
    processed_data: StatisticsSummary
    persisted_data: StatisticsSummary


class LatestCheckpoints(BaseModel):
    """The last of each kind."""

    completed: CheckpointStatistics | None
    savepoint: CheckpointStatistics | None
    failed: CheckpointStatistics | None
    restored: CheckpointStatistics | None


class CheckpointingStatistics(BaseModel):
    """The checkpoints of a job."""

    counts: CheckpointCounts
    summary: CheckpointSummary
    latest: LatestCheckpoints
    history: list[CheckpointStatistics]


class Externalization(BaseModel):
    """The retention of checkpoints after the job has ended."""

    enabled: bool
    delete_on_cancellation: bool


class CheckpointConfig(BaseModel):
    """The checkpoint settings of a job."""

    mode: str
    interval: int
    min_pause: int
    max_concurrent: int
    externalization: Externalization
    state_backend: str
    checkpoint_storage: str
    unaligned_checkpoints: bool
