"""Parameters and responses that all request handlers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Path, Query, Request

from scurry.common.redaction import without_secrets
from scurry.rest.job import ServedJob
from scurry.rest.models import Errors

#: The error responses of any request, for the OpenAPI description.
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Errors, "description": "The request is malformed, or asks for something impossible."},
    401: {"model": Errors, "description": "No token, or a wrong one."},
    403: {"model": Errors, "description": "The request comes from a web page or names another host."},
    404: {"model": Errors, "description": "There is no such job, operation, metric or state."},
    409: {"model": Errors, "description": "The job cannot do that, or is over."},
}

#: Description of text answers; their refusals are JSON, as everywhere.
PLAIN_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}}}


def _served(request: Request, jobid: Annotated[str, Path(pattern="^[0-9a-f]{32}$")]) -> ServedJob:
    job: ServedJob = request.app.state.job
    if jobid != job.id:
        raise HTTPException(404, f"job {jobid} not found: this is the endpoint of {job.id} ({job.name})")
    return job


def _running(job: Annotated[ServedJob, Depends(_served)]) -> ServedJob:
    if job.status.is_globally_terminal_state():
        raise HTTPException(409, f"job {job.name!r} is over: {job.status.name}")
    return job


Job = Annotated[ServedJob, Depends(_served)]
"""The job of a path that begins with `/jobs/{jobid}`."""

LiveJob = Annotated[ServedJob, Depends(_running)]
"""The same, where it must not be over."""

Names = Annotated[str | None, Query(description="Comma-separated names; without them, all names.")]
"""The metrics that are asked for."""

Aggregations = Annotated[str | None, Query(description="Comma-separated: min, max, avg, sum, skew; all if not given.")]
"""How metrics are aggregated."""


def invalid_parameter(found: Mapping[str, Any]) -> str:
    """Return the error text for a request parameter, whose name may be that of a secret: `path.token`."""
    return f"{'.'.join(map(str, found['loc']))}: {without_secrets(found['msg'])}"
