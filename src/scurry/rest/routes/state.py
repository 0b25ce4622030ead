"""Handle requests for queryable state."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from fastapi.concurrency import run_in_threadpool

from scurry.common.completable_future import CompletableFuture
from scurry.rest import models
from scurry.rest.routes.common import REFUSALS, LiveJob, jsonable

router = APIRouter(tags=["state"])

_PATIENCE_SECONDS = 30.0
_BUSY: dict[int | str, dict[str, Any]] = {
    503: {"model": models.Errors, "description": "The job has not answered in time."}
}


@router.get("/jobs/{jobid}/state/{uid:path}/{name}", responses={**REFUSALS, **_BUSY})
async def state(
    job: LiveJob,
    uid: str,
    name: str,
    key: Annotated[str, Query(description='JSON (42, "42", [1, "a"] for a tuple); other text is a string.')],
) -> models.StateValue:
    """Return the last committed value of a key in an operator's state."""
    wanted = _parse(key)
    value = await _outcome(await run_in_threadpool(job.client.query_state, uid, name, wanted))
    if value is None:
        raise HTTPException(404, f"state {name!r} of operator {uid!r} has no value for key {key}")
    return models.StateValue(uid=uid, name=name, key=jsonable(wanted), value=jsonable(value))


def _parse(text: str) -> Any:
    """Parse a key as JSON, with tuples for lists as keys must be hashable; return other text unchanged."""
    try:
        return _hashable(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        raise ValueError("no key is an object")
    return value


async def _outcome(future: CompletableFuture[Any]) -> Any:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    pause = 0.001
    while not future.done():
        if time.monotonic() > deadline:
            raise HTTPException(503, f"the job has not answered within {_PATIENCE_SECONDS:.0f} s")
        await asyncio.sleep(pause)
        pause = min(2 * pause, 0.1)
    return future.result()
