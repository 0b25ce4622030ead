"""Handle requests for the log of a job: its latest events."""

from __future__ import annotations

import datetime

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from scurry.rest import models
from scurry.rest.job import ServedJob
from scurry.rest.routes.common import PLAIN_TEXT, REFUSALS, Job

router = APIRouter(responses=REFUSALS, tags=["logs"])


@router.get("/jobs/{jobid}/log")
def job_log(job: Job) -> models.JobLog:
    """Return the latest events of a job, the latest first; scurry's own."""
    entries = [
        models.LogEntry(
            timestamp=int(record.created * 1000),
            level=record.levelname,
            event=vars(record)["event"],
            message=vars(record)["text"],
        )
        for record in reversed(list(job.client.execution.log.records))
    ]
    return models.JobLog(entries=entries)


@router.get("/jobmanager/log", response_model=None, responses=PLAIN_TEXT)
def process_log(request: Request) -> PlainTextResponse:
    """Return the latest events of the job as text, the latest last."""
    job: ServedJob = request.app.state.job
    lines = (
        f"{_moment(record.created)} {record.levelname} {record.name}: {record.getMessage()}\n"
        for record in list(job.client.execution.log.records)
    )
    return PlainTextResponse("".join(lines))


@router.get("/jobmanager/stdout", response_model=None, responses=PLAIN_TEXT)
def printed() -> PlainTextResponse:
    """Return nothing: programs print to their own standard output."""
    return PlainTextResponse("")


def _moment(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03d}"
