"""The web application of a session."""

from __future__ import annotations

import datetime
import functools
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, HTTPException, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.background import BackgroundTask
from starlette.responses import Response

from scurry import __version__
from scurry.common.redaction import redacted, without_secrets
from scurry.errors import JobUnreachableError, ScurryError
from scurry.rest import events
from scurry.rest.app import add_errors
from scurry.rest.models import DashboardConfiguration
from scurry.rest.routes import disposal, process
from scurry.rest.routes.configuration import dashboard_configuration
from scurry.rest.routes.logs import LOG_FILE, listed
from scurry.rest.routes.process import application_details, applications_of, overview_of
from scurry.rest.session import metrics, programs, workflow_routes
from scurry.rest.session.interface import OperableSession, SessionJob

router = APIRouter()
_pool = ThreadPoolExecutor(16, "scurry-session-jobs")
JobId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
#: Maximum output of a job per answer, in characters.
_OUTPUT = 256 * 1024
#: Seconds that a job's endpoint has to answer when jobs are listed.
_LIST_SECONDS = 5.0
#: Seconds that a job without an endpoint may take to end.
_ENDING_SECONDS = 60.0
#: Characters that a path or query may contain unescaped: escapes themselves, and separators.
_ESCAPED = "%/?!$&'()*+,;=:@"


def session_application(session: OperableSession, stop: Callable[[], None]) -> FastAPI:
    """Return the application that serves a session, without access control.

    Args:
        stop: Ends it, after the answer to the request that asks for that.
    """
    app = FastAPI(
        title="scurry session",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.session, app.state.stop = session, stop
    app.state.disposals = disposal.Disposals(lambda path: session.dispose_savepoint(path))
    app.include_router(events.router)
    for each in (router, programs.router, process.router, disposal.router, metrics.router, workflow_routes.router):
        app.include_router(each)
        app.include_router(each, prefix="/v1", include_in_schema=False)
    add_errors(app)
    return app


def _session(request: Request) -> OperableSession:
    session: OperableSession = request.app.state.session
    return session


def _now() -> int:
    return int(time.time() * 1000)


# ------------------------------------------------------------------ the session


@router.get("/config")
def config() -> DashboardConfiguration:
    """Return versions and features."""
    return dashboard_configuration(web_submit=True)


@router.get("/overview")
def overview(request: Request) -> dict[str, Any]:
    """Return how many jobs there are in each state, and slots."""
    states = [one["state"] for one in _overviews(_session(request))]
    return overview_of(states)


@router.get("/applications/overview")
def applications(request: Request) -> dict[str, Any]:
    """Return the programs of all jobs, running or over."""
    session = _session(request)
    states = {one.id: one.state for one in session.jobs() if one.state is not None}
    return applications_of(_overviews(session), states)


@router.get("/applications/{jobid}")
def application(request: Request, jobid: JobId) -> dict[str, Any]:
    """Return the program of a job, which has the job's id."""
    one = _session(request).job(jobid)
    if one is None:
        raise HTTPException(404, f"application {jobid} not found: GET /applications/overview lists those there are")
    states = {} if one.state is None else {one.id: one.state}
    return application_details(_overview(_session(request), one), states)


@router.post("/applications/{jobid}/cancel")
def cancel_application(request: Request, jobid: JobId) -> Response:
    """Cancel the job of a program."""
    return _about_job(_session(request), jobid, "PATCH", f"/jobs/{jobid}", f"/jobs/{jobid}", b"")


@router.get("/applications/{jobid}/exceptions")
def exceptions_of_application(jobid: JobId) -> dict[str, Any]:
    """Return no failures: those of a job are at `/jobs/{jobid}/exceptions`."""
    return {"exceptionHistory": {"entries": []}}


@router.get("/applications/{jobid}/jobmanager/config")
def config_of_application(request: Request, jobid: JobId) -> Response:
    """Return the settings of the job of a program."""
    path = f"/jobs/{jobid}/jobmanager/config"
    return _about_job(_session(request), jobid, "GET", path, path, b"")


@router.get("/jobmanager/log")
@router.get(f"/jobmanager/logs/{LOG_FILE}")
def log(request: Request) -> Response:
    """Return when the jobs of the session were submitted and ended, as text."""
    return PlainTextResponse(_log_of(_session(request)))


@router.get("/jobmanager/logs")
def logs(request: Request) -> dict[str, Any]:
    """Return the one file that there is: when jobs were submitted and ended."""
    return listed(_log_of(_session(request)), _now())


def _log_of(session: OperableSession) -> str:
    jobs = session.jobs()
    events = [(one.submitted_ms, f"submitted {one.name} ({one.id})") for one in jobs]
    events += [(one.ended_ms, f"{one.state} {one.name} ({one.id})") for one in jobs if one.ended_ms is not None]
    moments = [(datetime.datetime.fromtimestamp(at / 1000, datetime.UTC), text) for at, text in sorted(events)]
    return "".join(f"{at:%Y-%m-%d %H:%M:%S,%f}"[:-3] + f" INFO scurry.session: {text}\n" for at, text in moments)


@router.get("/jobmanager/stdout")
def printed() -> Response:
    """Return nothing: the output of programs is at `/jobs/{jobid}/output`."""
    return PlainTextResponse("")


@router.get("/session")
def about(request: Request) -> dict[str, Any]:
    """Return the session's name, start time and version, and the address of Spark's page."""
    session = _session(request)
    return {
        "name": session.name,
        "start-time": session.started_ms,
        "spark-ui": session.ui,
        "scurry-version": __version__,
    }


@router.get("/jobmanager/config")
def session_config(request: Request) -> list[dict[str, str]]:
    """Return the settings of the session; values of secrets are hidden."""
    return [{"key": key, "value": value} for key, value in sorted(redacted(_session(request).configuration).items())]


@router.delete("/cluster")
def shut_down(request: Request) -> Response:
    """End the session, and its jobs."""
    return JSONResponse({}, background=BackgroundTask(request.app.state.stop))


# ------------------------------------------------------------------ jobs


@router.get("/jobs")
def jobs(request: Request) -> dict[str, Any]:
    """Return all jobs, running or over."""
    return {"jobs": [{"id": one["jid"], "status": one["state"]} for one in _overviews(_session(request))]}


@router.get("/jobs/overview")
def jobs_overview(request: Request) -> dict[str, Any]:
    """Return all jobs with their times."""
    return {"jobs": _overviews(_session(request))}


@router.post("/jobs", status_code=409)
def submit_graph() -> Response:
    """Refuse job graphs of Java, which `flink run` sends."""
    raise HTTPException(
        409,
        "a session runs Python programs and SQL, no job graphs of Java: "
        "POST /jars/upload, then /jars/{jarid}/run; or scurry run --session",
    )


@router.get("/jobs/{jobid}/output")
def output(
    request: Request,
    jobid: JobId,
    offset: Annotated[int, Query(gt=-(2**63), lt=2**63)] = 0,
    stream: Literal["stdout", "stderr"] = "stdout",
) -> Response:
    """Return the output of a job's process from a position in bytes; 204 when it has ended and nothing is left.

    A negative position counts from the end.
    """
    session = _session(request)
    one = session.job(jobid)
    ended = one is not None and one.state is not None  # looked up first: it may print more until then
    try:
        with open(session.output(jobid) if stream == "stdout" else session.errors(jobid), "rb") as printed:
            size = os.fstat(printed.fileno()).st_size
            printed.seek(min(offset, size) if offset >= 0 else max(0, size + offset))
            content = printed.read(_OUTPUT)
    except OSError:
        raise HTTPException(404, f"job {jobid} has no output") from None
    return Response(status_code=204) if ended and not content else PlainTextResponse(content)


# Not described here: they are the paths of jobs.
@router.api_route("/jobs/{jobid}", methods=["GET", "PATCH"], include_in_schema=False)
@router.api_route("/jobs/{jobid}/{rest:path}", methods=["GET", "POST", "PUT", "PATCH"], include_in_schema=False)
async def job(request: Request, jobid: JobId, rest: str = "") -> Response:
    """Hand a request about one job on to that job, or answer it from the archive."""
    session, body = _session(request), await request.body()
    path = f"/jobs/{jobid}/{rest}".rstrip("/")
    return await run_in_threadpool(_about_job, session, jobid, request.method, path, _target(request), body)


def _target(request: Request) -> str:
    """Return path and query of a request about a job as the client has escaped them, for its own endpoint."""
    path, query = (quote(request.scope[key], safe=_ESCAPED) for key in ("raw_path", "query_string"))
    path = path.removeprefix("/v1")
    return f"{path}?{query}" if query else path


def _about_job(session: OperableSession, jobid: str, method: str, path: str, target: str, body: bytes) -> Response:
    deadline = time.monotonic() + _ENDING_SECONDS
    while True:
        one = session.job(jobid)
        if one is None:
            raise HTTPException(404, f"job {jobid} not found: GET /jobs lists those of this session")
        archive = session.archived(jobid)
        if method == "GET" and archive is not None and path in archive:
            return JSONResponse(archive[path])
        if one.process is None:
            break
        try:
            status, content = one.process.exchange(method, target, body)
            return Response(content, status, media_type="application/json")
        except JobUnreachableError:
            if one.state is not None or archive is not None:
                break
        if time.monotonic() > deadline:
            raise HTTPException(503, f"job {jobid} does not answer")
        time.sleep(0.1)  # it is ending, and writes its archive
    if method == "GET" and path == f"/jobs/{jobid}":
        return JSONResponse(_details(one))
    if method == "GET" and path == f"/jobs/{jobid}/status":
        return JSONResponse({"status": one.state or "INITIALIZING"})
    if method == "GET" and path == f"/jobs/{jobid}/exceptions":
        return JSONResponse(_exceptions(one))
    if one.state is None:
        raise HTTPException(409, f"job {jobid} is starting: ask again")
    if method == "GET":
        raise HTTPException(404, f"job {jobid} is over ({one.state}), and nothing is kept at {path}")
    raise HTTPException(409, f"job {jobid} is over: {one.state}")


def _overviews(session: OperableSession) -> list[dict[str, Any]]:
    return list(_pool.map(functools.partial(_overview, session), session.jobs()))


def _overview(session: OperableSession, one: SessionJob) -> dict[str, Any]:
    archive = session.archived(one.id)
    if archive is not None:
        overview: dict[str, Any] = archive["/jobs/overview"]["jobs"][0]
        return overview
    if one.state is None and one.process is not None:
        try:
            answer = replace(one.process, timeout=_LIST_SECONDS).request("GET", "/jobs/overview")
            return next(each for each in answer["jobs"] if each["jid"] == one.id)
        except (ScurryError, StopIteration):
            if (archive := session.archived(one.id)) is not None:
                return dict(archive["/jobs/overview"]["jobs"][0])
    state = one.state or ("INITIALIZING" if one.process is None else "RUNNING")
    end = one.ended_ms or -1
    return {
        "jid": one.id,
        "name": one.name,
        "state": state,
        "start-time": one.submitted_ms,
        "end-time": end,
        "duration": (one.ended_ms or _now()) - one.submitted_ms,
        "last-modification": one.ended_ms or one.submitted_ms,
        "tasks": {"total": 0},
        "pending-operators": 0,
    }


def _details(one: SessionJob) -> dict[str, Any]:
    """Return the details of a job that has not been submitted by its program, or never was."""
    return {
        "jid": one.id,
        "name": one.name,
        "isStoppable": False,
        "state": one.state or "INITIALIZING",
        "job-type": "STREAMING",
        "start-time": one.submitted_ms,
        "end-time": one.ended_ms or -1,
        "duration": (one.ended_ms or _now()) - one.submitted_ms,
        "maxParallelism": -1,
        "now": _now(),
        "timestamps": {"CREATED": one.submitted_ms},
        "vertices": [],
        "status-counts": {},
        "plan": {"jid": one.id, "name": one.name, "type": "STREAMING", "nodes": []},
    }


def _exceptions(one: SessionJob) -> dict[str, Any]:
    reason = without_secrets(one.reason or "")
    entry = {
        "exceptionName": "ProgramFailed",
        "stacktrace": reason,
        "timestamp": one.ended_ms,
        "taskName": None,
        "endpoint": None,
    }
    return {"exceptionHistory": {"entries": [entry] if reason else [], "truncated": False}}
