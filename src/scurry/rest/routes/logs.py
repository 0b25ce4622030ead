"""Handle requests for the log of a job: its latest events."""

from __future__ import annotations

import datetime

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from scurry.rest import models
from scurry.rest.job import ServedJob
from scurry.rest.routes.common import REFUSALS, Job

router = APIRouter(responses=REFUSALS, tags=["logs"])


@router.get("/jobs/{jobid}/log")
def job_log(job: Job) -> models.JobLog:
    """Return the latest events of a job, the latest first; scurry's own."""
    entries = [
        models.LogEntry(
            timestamp=int(record.created * 1000), level=record.levelname, event=vars(record)["event"],
            message=vars(record)["text"],
        )
        for record in reversed(list(job.client.execution.log.records))
    ]  # fmt: skip
    return models.JobLog(entries=entries)


@router.get("/jobmanager/log", response_class=PlainTextResponse)
def process_log(request: Request) -> str:
    """Return the latest events of the job as text, the latest last."""
    job: ServedJob = request.app.state.job
    return "".join(
        f"{_moment(record.created)} {record.levelname} {record.name}: {record.getMessage()}\n"
        for record in list(job.client.execution.log.records)
    )


@router.get("/jobmanager/stdout", response_class=PlainTextResponse)
def printed() -> str:
    """Return nothing: what the program prints goes to its own standard output."""
    return ""


def _moment(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03d}"
