"""Handle requests to delete savepoints, which belong to no job."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from fastapi import APIRouter, HTTPException, Request

from scurry.common.completable_future import CompletableFuture
from scurry.common.redaction import without_secrets
from scurry.rest import models
from scurry.rest.job import Operations
from scurry.rest.routes.common import REFUSALS, failure_cause
from scurry.rest.routes.operations import COMPLETED, IN_PROGRESS, TriggerPath

router = APIRouter(responses=REFUSALS, tags=["operations"])
_KIND = "disposal"
_pool = ThreadPoolExecutor(2, "scurry-disposal")


class Disposals:
    """The requests to delete savepoints."""

    def __init__(self, dispose: Callable[[str], None]) -> None:
        self._dispose = dispose
        self.operations = Operations()

    def start(self, path: str) -> str:
        """Begin to delete a savepoint; return the id of that."""

        def begin() -> CompletableFuture[None]:
            future: Future[None] = _pool.submit(self._dispose, path)
            return CompletableFuture(future)

        return self.operations.start(_KIND, begin)


@router.post("/savepoint-disposal", status_code=202)
def dispose(request: Request, body: models.DisposalRequest) -> models.TriggerResponse:
    """Delete a savepoint."""
    disposals: Disposals = request.app.state.disposals
    return models.TriggerResponse(request_id=disposals.start(body.savepoint_path))


@router.get("/savepoint-disposal/{triggerid}", response_model_exclude_none=True)
def disposal(request: Request, triggerid: TriggerPath) -> models.OperationResult:
    """Return the status of the deletion of a savepoint."""
    disposals: Disposals = request.app.state.disposals
    operation = disposals.operations.get(_KIND, triggerid)
    if operation is None:
        raise HTTPException(404, f"no {_KIND} has the id {triggerid}")
    if not operation.future.done():
        return models.OperationResult(status=IN_PROGRESS)
    error = operation.future.exception()
    cause = None if error is None else failure_cause(type(error).__name__, without_secrets(str(error)))
    return models.OperationResult(status=COMPLETED, operation=models.OperationOutcome(failure_cause=cause))
