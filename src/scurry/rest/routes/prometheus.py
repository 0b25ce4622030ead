"""Answer Prometheus: the metrics of a job in its text format."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from scurry.rest.metrics import CONTENT_TYPE, prometheus_text
from scurry.rest.routes.common import PLAIN_TEXT, REFUSALS

router = APIRouter(responses=REFUSALS, tags=["metrics"])


@router.get("/metrics", response_model=None, responses=PLAIN_TEXT)
def prometheus(request: Request) -> Any:
    """Return the metrics of the job in the text format of Prometheus."""
    return PlainTextResponse(prometheus_text(request.app.state.job), media_type=CONTENT_TYPE)
