"""Handle requests that only Flink's own clients send: its command line, its dashboard, its `ClusterClient`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from scurry.common.job_status import JobStatus
from scurry.common.redaction import without_secrets
from scurry.rest import models
from scurry.rest.job import ServedJob
from scurry.rest.routes.common import REFUSALS, Job, LiveJob, failure_cause
from scurry.rest.routes.configuration import process_config
from scurry.rest.routes.process import environment
from scurry.rest.routes.vertices import VERTEX, One

router = APIRouter(responses=REFUSALS, tags=["clients"])

_STATUSES = {JobStatus.FINISHED: "SUCCEEDED", JobStatus.CANCELED: "CANCELED", JobStatus.FAILED: "FAILED"}
#: Flink's answer if flame graphs are disabled.
_NO_FLAME_GRAPH = {"endTimestamp": -2, "data": None}


@router.get("/jobs/{jobid}/status")
def status(job: Job) -> dict[str, str]:
    """Return the state of a job, and nothing else."""
    return {"status": job.status.name}


@router.get("/jobs/{jobid}/execution-result")
def execution_result(job: Job) -> dict[str, Any]:
    """Return how a job has ended; accumulators are at `/jobs/{jobid}/accumulators`."""
    if job.status not in _STATUSES:
        return {"status": {"id": "IN_PROGRESS"}}
    return {"status": {"id": "COMPLETED"}, "job-execution-result": _result(job)}


def _result(job: ServedJob) -> dict[str, Any]:
    cause = None
    if job.status is JobStatus.FAILED:
        error = job.client.get_job_execution_result().exception()
        story = without_secrets(str(error), job.plan.settings.configuration)
        cause = failure_cause(type(error).__name__, story).model_dump(by_alias=True)
    return {
        "id": job.id,
        "name": job.name,
        "application-id": job.id,
        "application-status": _STATUSES[job.status],
        "accumulator-results": {},
        "net-runtime": job.duration_ms,
        "start-time": job.started_ms,
        "end-time": job.ended_ms or -1,
        "failure-cause": cause,
    }


@router.patch("/jobs/{jobid}/clientHeartbeat")
def heartbeat(job: LiveJob) -> dict[str, str]:
    """Do nothing: no job ends because the client that has submitted it is silent."""
    return {}


@router.get("/jobs/{jobid}/yarn-cancel", status_code=202)
@router.get("/jobs/{jobid}/yarn-stop", status_code=202, include_in_schema=False)
@router.post("/applications/{jobid}/cancel", status_code=202)
def cancel(job: LiveJob) -> dict[str, str]:
    """Cancel a job, as buttons of Flink's dashboard do."""
    job.client.cancel()
    return {}


@router.get("/applications/{jobid}/exceptions")
def exceptions_of_application(job: Job) -> dict[str, Any]:
    """Return no failures: those of a job are at `/jobs/{jobid}/exceptions`."""
    return {"exceptionHistory": {"entries": []}}


@router.get("/jobs/{jobid}/jobmanager/config")
@router.get("/applications/{jobid}/jobmanager/config")
def job_process_config(request: Request, job: Job) -> list[models.ConfigurationEntry]:
    """Return all configuration keys of the job; values of secrets are hidden."""
    return process_config(request)


@router.get("/jobs/{jobid}/jobmanager/environment")
def job_process_environment(job: Job) -> dict[str, Any]:
    """Return version and machine of the job's Python process."""
    return environment()


@router.get("/jobs/{jobid}/jobmanager/log-url")
def log_url(job: Job) -> dict[str, str]:
    """Return where the latest events of the job are."""
    return {"url": f"/jobs/{job.id}/log"}


@router.get(f"{VERTEX}/flamegraph")
def flame_graph(one: One) -> dict[str, Any]:
    """Return that there are no flame graphs."""
    return _NO_FLAME_GRAPH


@router.get(f"{VERTEX}/jm-operator-metrics")
def coordinator_metrics(one: One) -> list[dict[str, str]]:
    """Return no metrics: those of a source are with its subtasks."""
    return []
