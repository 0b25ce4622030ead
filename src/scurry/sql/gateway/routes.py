"""Handle the requests of clients of the gateway."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Body, Path, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from scurry.common._pyflink.version import __version__ as flink_version
from scurry.common.redaction import redacted
from scurry.common.types import RowKind
from scurry.errors import UnsupportedError
from scurry.sql.gateway.completion import candidates
from scurry.sql.gateway.layout import dumps, json_value, logical_type
from scurry.sql.gateway.operations import Operation, Page
from scurry.sql.gateway.sessions import Session, Sessions
from scurry.sql.statements.display.values import shown_value
from scurry.sql.statements.materialized.refresh_jobs import refresh_text
from scurry.sql.statements.results import StatementResult

VERSIONS = (1, 2, 3, 4)

RowFormat = Literal["JSON", "PLAIN_TEXT"]
Handle = Annotated[UUID, Path()]


class OpenSession(BaseModel):
    """The settings of a new session."""

    sessionName: str | None = None
    properties: dict[str, str] | None = None


class Configure(BaseModel):
    """A statement that changes a session."""

    statement: str
    executionTimeout: int | None = None


class Execute(BaseModel):
    """A statement, and settings for it alone."""

    statement: str = ""
    executionTimeout: int | None = None
    executionConfig: dict[str, str] | None = None


class Refresh(BaseModel):
    """The partition of a refresh, and settings for it alone."""

    isPeriodic: bool = False
    scheduleTime: str | None = None
    dynamicOptions: dict[str, str] = Field(default_factory=dict)
    staticPartitions: dict[str, str] = Field(default_factory=dict)
    executionConfig: dict[str, str] | None = None


class Complete(BaseModel):
    """A statement that is being typed."""

    statement: str
    position: Annotated[int, Field(ge=0)]


def router_of(version: int) -> APIRouter:
    """Return the paths of a version."""
    router = APIRouter(tags=[f"v{version}"])
    router.add_api_route("/info", info, methods=["GET"])
    router.add_api_route("/api_versions", api_versions, methods=["GET"])
    router.add_api_route("/sessions", open_session, methods=["POST"])
    session = "/sessions/{session_handle}"
    router.add_api_route(session, session_config, methods=["GET"])
    router.add_api_route(session, close_session, methods=["DELETE"])
    router.add_api_route(f"{session}/heartbeat", heartbeat, methods=["POST"])
    router.add_api_route(f"{session}/statements", execute_statement, methods=["POST"])
    operation = f"{session}/operations/{{operation_handle}}"
    router.add_api_route(f"{operation}/status", operation_status, methods=["GET"])
    router.add_api_route(f"{operation}/cancel", cancel_operation, methods=["POST"])
    router.add_api_route(f"{operation}/close", close_operation, methods=["DELETE"])
    fetch = fetch_json if version == 1 else fetch_results
    router.add_api_route(f"{operation}/result/{{token}}", fetch, methods=["GET"])
    if version >= 2:
        router.add_api_route(f"{session}/configure-session", configure_session, methods=["POST"])
        router.add_api_route(f"{session}/complete-statement", complete_statement, methods=["GET"])
    if version >= 3:
        table = "/sessions/{session_handle}/materialized-tables/{identifier}/refresh"
        router.add_api_route(table, refresh_materialized_table, methods=["POST"])
    if version >= 4:
        router.add_api_route(f"{session}/scripts", deploy_script, methods=["POST"])
    return router


def _sessions(request: Request) -> Sessions:
    sessions: Sessions = request.app.state.sessions
    return sessions


def _session(request: Request, handle: UUID) -> Session:
    return _sessions(request).get(str(handle))


def info() -> dict[str, str]:
    """Return the product, a gateway of Flink, and the version of its dialect."""
    return {"productName": "Apache Flink", "version": flink_version}


def api_versions() -> dict[str, list[str]]:
    """Return the versions of the endpoint."""
    return {"versions": [f"V{version}" for version in VERSIONS]}


def open_session(request: Request, body: Annotated[OpenSession | None, Body()] = None) -> dict[str, str]:
    """Open a session."""
    properties = None if body is None else body.properties
    return {"sessionHandle": _sessions(request).open(properties).id}


def session_config(request: Request, session_handle: Handle) -> dict[str, dict[str, str]]:
    """Return the settings of a session, without secrets."""
    return {"properties": redacted(_session(request, session_handle).settings)}


def close_session(request: Request, session_handle: Handle) -> dict[str, str]:
    """Close a session."""
    _sessions(request).close(str(session_handle))
    return {"status": "CLOSED"}


def heartbeat(request: Request, session_handle: Handle) -> dict[str, str]:
    """Keep a session from being closed for idleness."""
    _session(request, session_handle)
    return {}


def configure_session(request: Request, session_handle: Handle, body: Configure) -> dict[str, str]:
    """Execute a statement that changes the session, and wait for it."""
    _session(request, session_handle).configure(body.statement)
    return {}


def execute_statement(
    request: Request, session_handle: Handle, body: Annotated[Execute | None, Body()] = None
) -> dict[str, str]:
    """Begin to execute a statement."""
    session = _session(request, session_handle)
    body = Execute() if body is None else body
    if body.executionTimeout:
        raise UnsupportedError("SqlGatewayService doesn't support timeout mechanism now.")
    return {"operationHandle": session.submit(body.statement, body.executionConfig).id}


def complete_statement(request: Request, session_handle: Handle, body: Complete) -> dict[str, list[str]]:
    """Return the completions at a position of a statement."""
    session = _session(request, session_handle)
    return {"candidates": candidates(session.statements.session, body.statement, body.position)}


def refresh_materialized_table(
    request: Request, session_handle: Handle, identifier: str, body: Annotated[Refresh | None, Body()] = None
) -> dict[str, str]:
    """Begin to replace the rows of a materialized table, or of a partition."""
    session = _session(request, session_handle)
    body = Refresh() if body is None else body
    if body.isPeriodic or body.scheduleTime:
        raise UnsupportedError("periodic refreshes are started by the scheduler of the materialized table alone")
    if body.dynamicOptions:
        raise UnsupportedError("dynamicOptions: a refresh has the options of the materialized table")
    return {"operationHandle": session.submit(refresh_text(identifier, body.staticPartitions), body.executionConfig).id}


def deploy_script(request: Request, session_handle: Handle) -> dict[str, str]:
    """Refuse: a script is an application of its own, `scurry run script.sql`."""
    _session(request, session_handle)
    raise UnsupportedError("Application Mode not supported by the gateway: run the script with `scurry run script.sql`")


def operation_status(request: Request, session_handle: Handle, operation_handle: Handle) -> dict[str, str]:
    """Return the state of an operation."""
    return {"status": _session(request, session_handle).operation(str(operation_handle)).status.value}


def cancel_operation(request: Request, session_handle: Handle, operation_handle: Handle) -> dict[str, str]:
    """Stop an operation that is not over."""
    operation = _session(request, session_handle).operation(str(operation_handle))
    operation.cancel()
    return {"status": operation.status.value}


def close_operation(request: Request, session_handle: Handle, operation_handle: Handle) -> dict[str, str]:
    """Stop an operation and forget it."""
    _session(request, session_handle).close_operation(str(operation_handle))
    return {"status": "CLOSED"}


def fetch_json(request: Request, session_handle: Handle, operation_handle: Handle, token: int) -> Response:
    """Return a page of rows, in JSON."""
    return _fetched(request, session_handle, operation_handle, token, None)


def fetch_results(
    request: Request, session_handle: Handle, operation_handle: Handle, token: int, rowFormat: RowFormat = "JSON"
) -> Response:
    """Return a page of rows, in JSON or as texts."""
    return _fetched(request, session_handle, operation_handle, token, rowFormat)


def _fetched(
    request: Request, session_handle: UUID, operation_handle: UUID, token: int, row_format: RowFormat | None
) -> Response:
    session = _session(request, session_handle)
    operation = session.operation(str(operation_handle))
    base = request.url.path.rpartition("/")[0]
    asked = "" if row_format is None else f"?rowFormat={row_format}"
    result = operation.wait(0.05)
    if result is None:
        return _json({"resultType": "NOT_READY", "nextResultUri": f"{base}/{token}{asked}"})
    page = operation.fetch(token)
    next_uri = None if page.next_token is None else f"{base}/{page.next_token}{asked}"
    zone = session.statements.session.time_zone
    return _json(_payload(operation, result, page, row_format or "JSON", zone, next_uri))


def _payload(
    operation: Operation, result: StatementResult, page: Page, row_format: RowFormat, zone: str, next_uri: str | None
) -> dict[str, Any]:
    names, types = result.schema.get_column_names(), result.schema.get_column_data_types()
    columns = [
        {"name": name, "logicalType": logical_type(kind), "comment": None}
        for name, kind in zip(names, types, strict=True)
    ]
    text = [json_value(kind) if row_format == "JSON" else shown_value(kind, zone) for kind in types]
    data = [
        {
            "kind": RowKind(kind).name,
            "fields": [None if v is None else each(v) for each, v in zip(text, values, strict=True)],
        }
        for kind, values in page.rows
    ]
    answer: dict[str, Any] = {
        "resultType": "PAYLOAD" if next_uri is not None else "EOS",
        "isQueryResult": result.is_query,
        "resultKind": "SUCCESS_WITH_CONTENT" if result.has_content else "SUCCESS",
        "results": {"columns": columns, "rowFormat": row_format, "data": data},
    }
    if result.job is not None:
        answer["jobID"] = str(result.job.get_job_id())
    if next_uri is not None:
        answer["nextResultUri"] = next_uri
    return answer


def _json(content: dict[str, Any]) -> Response:
    return Response(dumps(content), media_type="application/json")
