"""Handle requests for asynchronous operations: savepoints, stopping and rescaling."""

from __future__ import annotations

import traceback
from functools import partial
from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Query

from scurry.common.redaction import without_secrets
from scurry.rest import models
from scurry.rest.job import Operation, ServedJob
from scurry.rest.plan_json import vertex_id, vertices
from scurry.rest.routes.common import REFUSALS, Job, LiveJob, failure_cause

router = APIRouter(responses=REFUSALS, tags=["operations"])

TriggerPath = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
_SAVEPOINT, _RESCALING, _CHECKPOINT = "savepoint", "rescaling", "checkpoint"
IN_PROGRESS, COMPLETED = models.QueueStatus(id="IN_PROGRESS"), models.QueueStatus(id="COMPLETED")


@router.post("/jobs/{jobid}/savepoints", status_code=202)
def trigger_savepoint(job: LiveJob, body: models.SavepointRequest) -> models.TriggerResponse:
    """Trigger a savepoint; the job continues unless `cancel-job` is set."""
    client, directory = job.client, body.target_directory
    begin = partial(client.stop_with_savepoint, False) if body.cancel_job else client.trigger_savepoint
    return models.TriggerResponse(request_id=job.operations.start(_SAVEPOINT, lambda: begin(directory), body.triggerId))


@router.post("/jobs/{jobid}/stop", status_code=202)
def stop(job: LiveJob, body: models.StopRequest) -> models.TriggerResponse:
    """Stop a job with a savepoint; with `drain`, end event time first, which fires all timers."""
    begin = partial(job.client.stop_with_savepoint, body.drain, body.targetDirectory)
    return models.TriggerResponse(request_id=job.operations.start(_SAVEPOINT, begin, body.triggerId))


@router.get("/jobs/{jobid}/savepoints/{triggerid}", response_model_exclude_none=True)
def savepoint(job: Job, triggerid: TriggerPath) -> models.OperationResult:
    """Return the status of a savepoint, also of one with which the job stops."""
    return _result(job, _SAVEPOINT, triggerid)


@router.post("/jobs/{jobid}/checkpoints", status_code=202)
def trigger_checkpoint(job: LiveJob, body: models.CheckpointRequest) -> models.TriggerResponse:
    """Wait until all that the job has begun to process is in a checkpoint: each micro-batch ends with one."""
    begin = job.client.trigger_checkpoint
    return models.TriggerResponse(request_id=job.operations.start(_CHECKPOINT, begin, body.triggerId))


@router.get("/jobs/{jobid}/checkpoints/{triggerid}", response_model_exclude_none=True)
def triggered_checkpoint(job: Job, triggerid: TriggerPath) -> models.CheckpointResult:
    """Return the status of a request for a checkpoint."""
    operation = _operation(job, _CHECKPOINT, triggerid)
    if not operation.future.done():
        return models.CheckpointResult(status=IN_PROGRESS)
    operation.delivered = True
    outcome = models.CheckpointOutcome(failureCause=_cause(job, operation))
    if outcome.failureCause is None:
        taken = job.client.checkpoints()
        if taken:
            outcome.checkpointId = taken[-1].checkpoint_id
        else:
            outcome.failureCause = failure_cause(
                "CheckpointError", "the job has no checkpoint: it has read nothing yet"
            )
    return models.CheckpointResult(status=COMPLETED, operation=outcome)


@router.patch("/jobs/{jobid}/rescaling", status_code=202)
def rescale(job: LiveJob, parallelism: Annotated[int, Query(ge=1, le=1 << 15)]) -> models.TriggerResponse:
    """Change the parallelism of a job."""
    return models.TriggerResponse(request_id=_rescale(job, parallelism))


@router.get("/jobs/{jobid}/rescaling/{triggerid}", response_model_exclude_none=True)
def rescaling(job: Job, triggerid: TriggerPath) -> models.OperationResult:
    """Return the status of a change of the parallelism."""
    return _result(job, _RESCALING, triggerid)


@router.get("/jobs/{jobid}/resource-requirements")
def resource_requirements(job: Job) -> dict[str, models.VertexResources]:
    """Return the parallelism of all sources and operators."""
    return {
        vertex_id(vertex.uid): models.VertexResources(
            parallelism=models.VertexParallelism(lowerBound=1, upperBound=vertex.parallelism)
        )
        for vertex in vertices(job.plan)
    }


@router.put("/jobs/{jobid}/resource-requirements")
def set_resource_requirements(job: LiveJob, body: dict[str, models.VertexResources]) -> dict[str, str]:
    """Change the parallelism of a job, which must be the same for all vertices in the body."""
    known = {vertex_id(vertex.uid) for vertex in vertices(job.plan)}
    if unknown := sorted(set(body) - known):
        raise HTTPException(400, f"the job has no vertex {unknown[0]}; GET this path for those it has")
    wanted = {resources.parallelism.upperBound for resources in body.values()}
    if len(wanted) != 1:
        raise HTTPException(400, "a job is rescaled as a whole: give one upperBound, the same for every vertex")
    _rescale(job, wanted.pop())
    return {}


def _rescale(job: ServedJob, parallelism: int) -> str:
    most = job.plan.settings.max_parallelism
    if parallelism > most:
        raise HTTPException(
            400, f"the job cannot have more than {most} subtasks, its maximum parallelism (pipeline.max-parallelism)"
        )
    return job.operations.start(_RESCALING, partial(job.client.rescale, parallelism))


def _result(job: ServedJob, kind: str, trigger_id: str) -> models.OperationResult:
    operation = _operation(job, kind, trigger_id)
    if not operation.future.done():
        return models.OperationResult(status=IN_PROGRESS)
    operation.delivered = True
    outcome = models.OperationOutcome(failure_cause=_cause(job, operation))
    if outcome.failure_cause is None and isinstance(location := operation.future.result(), str):
        outcome.location = location
    return models.OperationResult(status=COMPLETED, operation=outcome)


def _operation(job: ServedJob, kind: str, trigger_id: str) -> Operation:
    operation = job.operations.get(kind, trigger_id)
    if operation is None:
        raise HTTPException(404, f"no {kind} operation has the id {trigger_id}")
    return operation


def _cause(job: ServedJob, operation: Operation) -> models.FailureCause | None:
    """Return why an operation that is over has failed, None if it has not."""
    if operation.future.cancelled():
        return failure_cause("CancelledError", "it was given up")
    error = operation.future.exception()
    if error is None:
        return None
    story = str(error) or "".join(traceback.format_exception(error))
    return failure_cause(type(error).__name__, without_secrets(story, job.plan.settings.configuration))
