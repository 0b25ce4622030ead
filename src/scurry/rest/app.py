"""The web application of a job: Flink's paths, and a few more."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from typing import Any

from fastapi import FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.responses import Response

from scurry import __version__
from scurry.common.redaction import without_secrets
from scurry.errors import JobError, ScurryError, StateNotFoundError, UnsupportedError
from scurry.rest import events
from scurry.rest.guard import Application, Guard
from scurry.rest.job import ServedJob
from scurry.rest.page import page_files
from scurry.rest.routes import (
    checkpoints,
    clients,
    configuration,
    disposal,
    jobs,
    logs,
    operations,
    process,
    prometheus,
    state,
    vertices,
)
from scurry.rest.routes.common import invalid_parameter
from scurry.rest.settings import RestSettings

_SUBJECTS = (
    jobs,
    vertices,
    checkpoints,
    operations,
    disposal,
    configuration,
    logs,
    process,
    prometheus,
    state,
    clients,
)


def application(job: ServedJob) -> FastAPI:
    """Return the application that serves a job, without access control."""
    app = copy.copy(_PATHS)
    app.state = State()
    app.state.job, app.state.disposals = job, disposal.Disposals(lambda path: job.client.dispose_savepoint(path))
    return app


def _paths() -> FastAPI:
    # No pages with an API browser: they would load scripts from other sites.
    app = FastAPI(
        title="scurry job",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # For the description only: Guard checks the token before a request gets here.
        dependencies=[Security(HTTPBearer(auto_error=False))],
    )
    for subject in _SUBJECTS:
        app.include_router(subject.router)
        app.include_router(subject.router, prefix="/v1", include_in_schema=False)
    app.include_router(events.router)
    add_errors(app)
    return app


def add_errors(app: FastAPI) -> None:
    """Let an application answer with Flink's form of errors."""
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)


def guarded(job: ServedJob, settings: RestSettings) -> Application:
    """Return the application that serves a job to authorized clients."""
    files = page_files()
    return Guard(application(job), settings.token, settings.loopback, settings.address, files=files, paced=True)


def _errors(status: int, *errors: str, headers: Any = None) -> Response:
    return _answer(status, map(without_secrets, errors), headers)


def _answer(status: int, errors: Iterable[str], headers: Any = None) -> Response:
    # Escaped, so that any text a client has sent can be encoded.
    return Response(json.dumps({"errors": list(errors)}), status, headers, media_type="application/json")


def _invalid(request: Request, error: Any) -> Response:
    return _answer(400, map(invalid_parameter, error.errors()))


def _http(request: Request, error: Any) -> Response:
    return _errors(error.status_code, str(error.detail), headers=error.headers)


def _refused(request: Request, error: Exception) -> Response:
    status = next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 400)
    return _errors(status, str(error))


def _unexpected(request: Request, error: Exception) -> Response:
    return _errors(500, f"{type(error).__name__}: {error}")


_STATUSES: dict[type[ScurryError], int] = {UnsupportedError: 409, JobError: 409, StateNotFoundError: 404}
_HANDLERS: dict[type[Exception], Callable[[Request, Any], Response]] = {
    RequestValidationError: _invalid,
    HTTPException: _http,
    ScurryError: _refused,
    Exception: _unexpected,
}
#: The application without a job: its routes, which take half a second to build, serve all jobs of this process.
_PATHS = _paths()
