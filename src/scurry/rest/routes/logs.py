"""Handle requests for the log of a job: its latest events."""

from __future__ import annotations

import datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from scurry.rest import models
from scurry.rest.job import ServedJob
from scurry.rest.routes.common import PLAIN_TEXT, REFUSALS, Job

router = APIRouter(responses=REFUSALS, tags=["logs"])

#: The file of events in the list of logs.
LOG_FILE = "jobmanager.log"
#: Levels that Flink's logs name otherwise; tools look for these.
_LEVELS = {"WARNING": "WARN", "CRITICAL": "ERROR"}


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
@router.get(f"/jobmanager/logs/{LOG_FILE}", response_model=None, responses=PLAIN_TEXT)
def process_log(request: Request) -> PlainTextResponse:
    """Return the latest events of the job as text, the latest last."""
    return PlainTextResponse(_text(request.app.state.job))


@router.get("/jobmanager/logs")
def files(request: Request) -> dict[str, Any]:
    """Return the one file that there is: the latest events of the job."""
    job: ServedJob = request.app.state.job
    latest = [int(record.created * 1000) for record in job.client.execution.log.records]
    return listed(_text(job), max(latest, default=job.started_ms))


def listed(text: str, modified_ms: int) -> dict[str, Any]:
    """Return the list of files whose only one is a log, in Flink's message."""
    return {"logs": [{"name": LOG_FILE, "size": len(text.encode()), "mtime": modified_ms}]}


def _text(job: ServedJob) -> str:
    return "".join(
        f"{_moment(record.created)} {_LEVELS.get(record.levelname, record.levelname)} {record.name}: "
        f"{record.getMessage()}\n"
        for record in list(job.client.execution.log.records)
    )


@router.get("/jobmanager/stdout", response_model=None, responses=PLAIN_TEXT)
def printed() -> PlainTextResponse:
    """Return nothing: programs print to their own standard output."""
    return PlainTextResponse("")


def _moment(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03d}"
