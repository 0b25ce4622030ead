"""Handle requests about the checkpoints of a job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, HTTPException

from scurry.rest import models
from scurry.rest.job import Checkpoint
from scurry.rest.routes.common import REFUSALS, Job
from scurry.rest.values import jsonable

router = APIRouter(responses=REFUSALS, tags=["checkpoints"])


@router.get("/jobs/{jobid}/checkpoints")
def checkpoints(job: Job) -> models.CheckpointingStatistics:
    """Return the checkpoints of a job, the latest first, with sizes, durations and source positions."""
    known = [_statistics(info) for info in job.client.checkpoints()]
    return models.CheckpointingStatistics(
        counts=models.CheckpointCounts(
            restored=job.client.execution.restored_checkpoints, total=len(known), completed=len(known), in_progress=0,
            failed=0,
        ),
        summary=models.CheckpointSummary(
            state_size=_summary(one.state_size for one in known if one.state_size is not None),
            end_to_end_duration=_summary(one.end_to_end_duration for one in known),
        ),
        latest=models.LatestCheckpoints(
            completed=known[-1] if known else None, savepoint=None, failed=None, restored=None
        ),
        history=known[::-1],
    )  # fmt: skip


@router.get("/jobs/{jobid}/checkpoints/details/{checkpointid}")
def checkpoint(job: Job, checkpointid: int) -> dict[str, Any]:
    """Return one of the latest checkpoints. All its subtasks complete it together: `tasks` is empty."""
    for info in job.client.checkpoints():
        if info.checkpoint_id == checkpointid:
            return {**_statistics(info).model_dump(), "tasks": {}}
    raise HTTPException(404, f"checkpoint {checkpointid} is none of the latest of the job")


@router.get("/jobs/{jobid}/checkpoints/config")
def checkpoint_config(job: Job) -> models.CheckpointConfig:
    """Return the checkpoint settings of a job."""
    settings = job.plan.settings
    directory = settings.checkpoint_dir
    kept = models.Externalization(
        enabled=directory is not None, delete_on_cancellation=directory is None or settings.delete_on_cancel
    )
    return models.CheckpointConfig(
        mode="EXACTLY_ONCE", interval=settings.checkpoint_interval_ms or 0, max_concurrent=1,
        min_pause=settings.checkpoint_pause_ms, externalization=kept,
        state_backend="RocksDBStateStoreProvider" if settings.runner == "spark" else "in-process",
        checkpoint_storage=directory or "temporary directory", unaligned_checkpoints=False,
    )  # fmt: skip


def _statistics(info: Checkpoint) -> models.CheckpointStatistics:
    return models.CheckpointStatistics(
        id=info.checkpoint_id, status="COMPLETED", is_savepoint=False, trigger_timestamp=info.trigger_timestamp_ms,
        latest_ack_timestamp=info.trigger_timestamp_ms + info.duration_ms, state_size=info.state_size_bytes,
        end_to_end_duration=info.duration_ms, checkpoint_type="CHECKPOINT", positions=jsonable(info.source_positions),
        phases=dict(info.phases),
    )  # fmt: skip


def _summary(values: Iterable[int]) -> models.StatisticsSummary:
    figures = list(values) or [0]
    return models.StatisticsSummary(min=min(figures), max=max(figures), avg=sum(figures) // len(figures))
