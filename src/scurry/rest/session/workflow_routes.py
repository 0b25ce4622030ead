"""Workflows of a session by requests: created, listed, suspended, resumed, deleted."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from scurry.common._process.schedule import Schedule

router = APIRouter()
WorkflowId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]


class WorkflowRequest(BaseModel):
    """A program of the session's machine, how often it runs, and whether one process executes all runs."""

    model_config = ConfigDict(extra="forbid")

    name: str
    program: str
    number: Annotated[int, Field(ge=1)]
    unit: Literal["SECOND", "MINUTE", "HOUR", "DAY"]
    zone: str = "UTC"
    configuration: dict[str, str] = Field(default_factory=dict)
    lasting: bool = False


@router.get("/workflows")
def workflows(request: Request) -> dict[str, Any]:
    """Return the programs that run by a schedule, with the state of their last runs."""
    return {"workflows": [each.described() for each in _workflows(request).all()]}


@router.post("/workflows")
def create_workflow(request: Request, body: WorkflowRequest) -> dict[str, Any]:
    """Run a program by a schedule."""
    schedule = Schedule(body.number, body.unit, body.zone)
    now_ms = int(time.time() * 1000)
    made = _workflows(request).create(body.name, body.program, schedule, body.configuration, now_ms, body.lasting)
    return dict(made.described())


@router.get("/workflows/{workflowid}")
def workflow(request: Request, workflowid: WorkflowId) -> dict[str, Any]:
    """Return a program that runs by a schedule."""
    found = _workflows(request).find(workflowid)
    if found is None:
        raise HTTPException(404, f"the session has no workflow {workflowid}: GET /workflows lists those it has")
    return dict(found.described())


@router.post("/workflows/{workflowid}/suspend")
def suspend_workflow(request: Request, workflowid: WorkflowId) -> dict[str, Any]:
    """Begin no more runs; answer when the last one is over."""
    workflow(request, workflowid)
    return dict(_workflows(request).suspend(workflowid).described())


@router.post("/workflows/{workflowid}/resume")
def resume_workflow(request: Request, workflowid: WorkflowId) -> dict[str, Any]:
    """Begin runs again, with one that was due in between."""
    workflow(request, workflowid)
    return dict(_workflows(request).resume(workflowid).described())


@router.delete("/workflows/{workflowid}")
def delete_workflow(request: Request, workflowid: WorkflowId) -> dict[str, Any]:
    """Remove a workflow; answer when a run in progress is over."""
    workflow(request, workflowid)
    _workflows(request).delete(workflowid)
    return {}


def _workflows(request: Request) -> Any:
    return request.app.state.session.workflows
