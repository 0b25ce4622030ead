"""Handle requests about the checkpoints of a job."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException

from scurry.graph.plan import OperatorPlan, SourcePlan
from scurry.rest import checkpoint_models as models
from scurry.rest.job import ServedJob
from scurry.rest.plan_json import vertex_id, vertices
from scurry.rest.routes.common import REFUSALS, Job, jsonable
from scurry.rest.routes.vertices import One, subtasks_of
from scurry.rest.statistics import summary
from scurry.runtime.driver.checkpoint_history import CheckpointInfo

router = APIRouter(responses=REFUSALS, tags=["checkpoints"])
_DETAILS = "/jobs/{jobid}/checkpoints/details/{checkpointid}"

#: Flink's description of checkpoints that no program could start from.
_NO_PATH = "<checkpoint-not-externally-addressable>"


@router.get("/jobs/{jobid}/checkpoints")
def checkpoints(job: Job) -> models.CheckpointingStatistics:
    """Return the checkpoints of a job, the latest first, with sizes, durations and source positions."""
    known = [_statistics(job, info) for info in job.client.checkpoints()]
    nothing = _summary([])
    return models.CheckpointingStatistics(
        counts=models.CheckpointCounts(
            restored=job.client.execution.restored_checkpoints,
            total=len(known),
            completed=len(known),
            in_progress=0,
            failed=0,
        ),
        summary=models.CheckpointSummary(
            checkpointed_size=_summary([one.checkpointed_size for one in known]),
            state_size=_summary([one.state_size for one in known]),
            end_to_end_duration=_summary([one.end_to_end_duration for one in known]),
            alignment_buffered=nothing,
            processed_data=nothing,
            persisted_data=nothing,
        ),
        latest=models.LatestCheckpoints(
            completed=known[-1] if known else None, savepoint=None, failed=None, restored=None
        ),
        history=known[::-1],
    )


@router.get(_DETAILS)
def checkpoint(job: Job, checkpointid: int) -> models.CheckpointStatistics:
    """Return one of the latest checkpoints, with its size in each source and operator."""
    info = _checkpoint(job, checkpointid)
    tasks = {vertex_id(part.uid): _Task(info, part).statistics() for part in vertices(job.plan)}
    return _statistics(job, info).model_copy(update={"tasks": tasks})


@router.get(_DETAILS + "/subtasks/{vertexid}")
def checkpoint_of_vertex(job: Job, checkpointid: int, one: One) -> dict[str, Any]:
    """Return the subtasks of a source or operator in one of the latest checkpoints.

    All subtasks complete it together, without barriers: there are no times of a subtask alone, nothing is aligned.
    """
    task = _Task(_checkpoint(job, checkpointid), one.part)
    nothing = summary([0])
    durations = [task.info.duration_ms] * len(task.total)
    parts = ("buffered", "processed", "persisted", "duration")
    subtasks = [
        {
            "className": "completed",
            "index": index,
            "status": "completed",
            "ack_timestamp": _acknowledged(task.info),
            "end_to_end_duration": task.info.duration_ms,
            "checkpointed_size": written,
            "state_size": total,
            "checkpoint": {"sync": 0, "async": 0},
            "alignment": dict.fromkeys(parts, 0),
            "start_delay": 0,
            "unaligned_checkpoint": False,
            "aborted": False,
        }
        for index, (total, written) in enumerate(zip(task.total, task.written, strict=True))
    ]
    return {
        **task.statistics().model_dump(),
        "summary": {
            "checkpointed_size": summary(task.written),
            "state_size": summary(task.total),
            "end_to_end_duration": summary(durations),
            "checkpoint_duration": {"sync": nothing, "async": nothing},
            "alignment": dict.fromkeys(parts, nothing),
            "start_delay": nothing,
        },
        "subtasks": subtasks,
    }


@router.get("/jobs/{jobid}/checkpoints/config")
def checkpoint_config(job: Job) -> models.CheckpointConfig:
    """Return the checkpoint settings of a job."""
    settings = job.plan.settings
    directory = settings.checkpoint_dir
    in_memory = directory is None and settings.runner == "local"
    kept = models.Externalization(
        enabled=directory is not None, delete_on_cancellation=directory is None or settings.delete_on_cancel
    )
    return models.CheckpointConfig(
        mode="EXACTLY_ONCE",
        interval=0 if in_memory else settings.checkpoint_interval_ms or 0,
        max_concurrent=1,
        min_pause=settings.checkpoint_pause_ms,
        externalization=kept,
        state_backend="RocksDBStateStoreProvider" if settings.runner == "spark" else "in-process",
        checkpoint_storage=directory or ("memory" if in_memory else "temporary directory"),
        unaligned_checkpoints=False,
    )


class _Task:
    """A source or operator in a checkpoint."""

    def __init__(self, info: CheckpointInfo, part: SourcePlan | OperatorPlan) -> None:
        self.info, known = info, info.states.get(part.id)
        #: bytes of state by subtask, and of what the micro-batch has written of it
        self.total = [0] * subtasks_of(part) if known is None else list(known.total)
        self.written = [0] * subtasks_of(part) if known is None else list(known.written)

    def statistics(self) -> models.TaskCheckpointStatistics:
        """Return its figures over all subtasks."""
        count = len(self.total)
        return models.TaskCheckpointStatistics(
            id=self.info.checkpoint_id,
            status="COMPLETED",
            latest_ack_timestamp=_acknowledged(self.info),
            checkpointed_size=sum(self.written),
            state_size=sum(self.total),
            end_to_end_duration=self.info.duration_ms,
            num_subtasks=count,
            num_acknowledged_subtasks=count,
        )


def _checkpoint(job: ServedJob, number: int) -> CheckpointInfo:
    for info in job.client.checkpoints():
        if info.checkpoint_id == number:
            return info
    raise HTTPException(404, f"checkpoint {number} is none of the latest of the job")


def _statistics(job: ServedJob, info: CheckpointInfo) -> models.CheckpointStatistics:
    count = sum(map(subtasks_of, vertices(job.plan)))
    written = sum(sum(state.written) for state in info.states.values()) if info.states else None
    return models.CheckpointStatistics(
        id=info.checkpoint_id,
        status="COMPLETED",
        is_savepoint=False,
        trigger_timestamp=info.trigger_timestamp_ms,
        latest_ack_timestamp=_acknowledged(info),
        checkpointed_size=written,
        state_size=info.state_size_bytes,
        end_to_end_duration=info.duration_ms,
        num_subtasks=count,
        num_acknowledged_subtasks=count,
        checkpoint_type="CHECKPOINT",
        tasks={},
        external_path=job.plan.settings.checkpoint_dir or _NO_PATH,
        positions=jsonable(info.source_positions),
        phases=dict(info.phases),
    )


def _acknowledged(info: CheckpointInfo) -> int:
    return info.trigger_timestamp_ms + info.duration_ms


def _summary(values: list[int] | list[int | None]) -> models.StatisticsSummary:
    known = [value for value in values if value is not None]
    return models.StatisticsSummary.model_validate(summary(known))
