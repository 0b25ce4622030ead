"""The web application of the gateway: Flink's paths, versions 1 to 4."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from typing import Any

from fastapi import FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.responses import Response

from scurry import __version__
from scurry.common.redaction import without_secrets
from scurry.errors import ScurryError
from scurry.rest.routes.common import invalid_parameter
from scurry.sql.gateway.layout import dumps
from scurry.sql.gateway.routes import VERSIONS, router_of
from scurry.sql.gateway.sessions import Sessions


def application(sessions: Sessions) -> FastAPI:
    """Return the application that serves sessions, without access control."""
    # No pages with an API browser: they would load scripts from other sites.
    app = FastAPI(
        title="scurry SQL gateway",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # For the description only: Guard checks the token before a request gets here.
        dependencies=[Security(HTTPBearer(auto_error=False))],
    )
    app.state.sessions = sessions
    for version in VERSIONS:
        app.include_router(router_of(version), prefix=f"/v{version}")
    app.include_router(router_of(VERSIONS[-1]), include_in_schema=False)
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)
    return app


def _errors(status: int, *errors: str) -> Response:
    return _answer(status, map(without_secrets, errors))


def _answer(status: int, errors: Iterable[str]) -> Response:
    return Response(dumps({"errors": list(errors)}), status, media_type="application/json")


def _invalid(request: Request, error: Any) -> Response:
    places = map(invalid_parameter, error.errors())
    return _answer(400, (f"Bad request, could not parse parameters: {place}" for place in places))


def _http(request: Request, error: Any) -> Response:
    text = f"Not found: {request.url.path}" if error.status_code in (404, 405) else str(error.detail)
    return _errors(404 if error.status_code == 405 else error.status_code, text)


def _failed(request: Request, error: Exception) -> Response:
    """Answer as Flink does, whose clients show the last exception in the text."""
    text = error.describe() if isinstance(error, ScurryError) else str(error)
    reason = f"{type(error).__module__}.{type(error).__name__}: {_one_trace(text)}"
    return _errors(
        500,
        "Internal server error.",
        "<Exception on server side:\n"
        "org.apache.flink.table.gateway.api.utils.SqlGatewayException: the request has failed\n"
        f"\tat scurry\nCaused by: {reason}\n\tat scurry\n\nEnd of exception on server side>",
    )


def _one_trace(text: str) -> str:
    """Return a message without lines that clients take for parts of a Java stack trace."""
    return re.sub(r"(?m)^([^\S\n]*)(at |Caused by: )", r"\1 \2", text)


_HANDLERS: dict[type[Exception], Callable[[Request, Any], Response]] = {
    RequestValidationError: _invalid,
    HTTPException: _http,
    Exception: _failed,
}


def close_idle(sessions: Sessions, over: threading.Event, seconds: float = 5.0) -> None:
    """Close idle sessions from time to time, in a thread of its own, until the gateway ends."""

    def run() -> None:
        while not over.wait(seconds):
            sessions.expire()

    threading.Thread(target=run, name="scurry-gateway-idle", daemon=True).start()
