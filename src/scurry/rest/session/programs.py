"""Programs of a session: uploaded, planned, run and forgotten, by Flink's paths for JAR files."""

from __future__ import annotations

import pathlib
import re
import time
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field, field_validator

from scurry.rest.session.interface import OperableSession

router = APIRouter()


class PlanRequest(BaseModel):
    """Request for the plan of a program; fields as Flink's."""

    model_config = ConfigDict(extra="forbid")

    entryClass: str | None = None  # noqa: N815
    programArgs: str | None = None  # noqa: N815
    programArgsList: list[str] = Field(default_factory=list)  # noqa: N815
    parallelism: int | None = Field(default=None, ge=1)
    jobId: Annotated[str, Field(pattern="^[0-9a-f]{32}$")] | None = None  # noqa: N815
    flinkConfiguration: dict[str, str] = Field(default_factory=dict)  # noqa: N815

    @field_validator("*", mode="before")
    @classmethod
    def _without_empty(cls, value: Any) -> Any:
        return None if value == "" else value  # an empty field of Flink's dashboard

    def arguments(self) -> list[str]:
        """Return the program's `sys.argv[1:]`."""
        return [*_split(self.programArgs or ""), *self.programArgsList]

    def configuration(self) -> dict[str, str]:
        """Return the job's settings."""
        named = {} if self.parallelism is None else {"parallelism.default": str(self.parallelism)}
        return {**self.flinkConfiguration, **named}


class RunRequest(PlanRequest):
    """Request to run a program; fields as Flink's, `directory` is scurry's own."""

    allowNonRestoredState: bool | None = None  # noqa: N815
    savepointPath: str | None = None  # noqa: N815
    claimMode: str | None = None  # noqa: N815
    directory: str | None = None

    def configuration(self) -> dict[str, str]:
        """Return the job's settings."""
        named = {
            "execution.state-recovery.path": self.savepointPath,
            "execution.state-recovery.claim-mode": self.claimMode,
            "execution.state-recovery.ignore-unclaimed-state": "true" if self.allowNonRestoredState else None,
        }
        return {**super().configuration(), **{key: value for key, value in named.items() if value is not None}}


class RegisterRequest(BaseModel):
    """A program of the session's machine."""

    path: str


def _given(
    entry_class: Annotated[str | None, Query(alias="entry-class")] = None,
    program_args: Annotated[str | None, Query(alias="program-args")] = None,
    program_arg: Annotated[str | None, Query(alias="programArg")] = None,
    parallelism: Annotated[int | None, Query(ge=1)] = None,
) -> dict[str, Any]:
    """Return the program's arguments in the query; lists are separated by commas, as in Flink."""
    listed = None if program_arg is None else program_arg.split(",")
    given = {"entryClass": entry_class, "programArgs": program_args, "programArgsList": listed}
    return {**given, "parallelism": parallelism}


Given = Annotated[dict[str, Any], Depends(_given)]


@router.get("/jars")
def programs(request: Request) -> dict[str, Any]:
    """Return the programs that can be run."""
    known = _session(request).directory.known_programs()
    files = [{"id": one.id, "name": one.name, "uploaded": one.uploaded_ms, "entry": []} for one in known]
    return {"address": str(request.base_url).rstrip("/"), "files": files}


@router.post("/jars/upload")
async def upload(request: Request) -> dict[str, str]:
    """Keep a program: a Python file, a zipped project, a script of SQL."""
    name, content = uploaded_file(request.headers.get("content-type", ""), await request.body())
    directory, now = _session(request).directory, int(time.time() * 1000)
    program = await run_in_threadpool(directory.add_program, name, content, now)
    return {"filename": program.id, "status": "success"}


@router.post("/jars/register")
def register(request: Request, body: RegisterRequest) -> dict[str, str]:
    """Note a program that is on the session's machine, with modules beside it."""
    program = _session(request).directory.register_program(pathlib.Path(body.path), int(time.time() * 1000))
    return {"filename": program.id, "status": "success"}


@router.delete("/jars/{jarid}")
def delete(request: Request, jarid: str) -> dict[str, str]:
    """Forget a program."""
    _session(request).directory.delete_program(_program(request, jarid))
    return {}


@router.get("/jars/{jarid}/plan")
@router.post("/jars/{jarid}/plan")
def plan(request: Request, jarid: str, given: Given, body: PlanRequest | None = None) -> dict[str, Any]:
    """Run a program until it submits its first job, and return the plan of that."""
    wanted = _completed(body or PlanRequest(), given)
    return {
        "plan": _session(request).plan(
            _program(request, jarid),
            module=wanted.entryClass,
            arguments=wanted.arguments(),
            configuration=wanted.configuration(),
        )
    }


@router.post("/jars/{jarid}/run")
def run(
    request: Request,
    jarid: str,
    given: Given,
    body: RunRequest | None = None,
    savepoint_path: Annotated[str | None, Query(alias="savepointPath")] = None,
    allow_non_restored_state: Annotated[bool | None, Query(alias="allowNonRestoredState")] = None,
) -> dict[str, str]:
    """Start a job; answer with its id at once."""
    restored = {"savepointPath": savepoint_path, "allowNonRestoredState": allow_non_restored_state}
    wanted = _completed(body or RunRequest(), {**given, **restored})
    job_id = _session(request).submit(
        _program(request, jarid),
        module=wanted.entryClass,
        arguments=wanted.arguments(),
        configuration=wanted.configuration(),
        directory=wanted.directory,
        job_id=wanted.jobId,
    )
    return {"jobid": job_id}


T = TypeVar("T", bound=PlanRequest)


def _completed(body: T, given: dict[str, Any]) -> T:
    """Return a body completed by the query; the body takes precedence, as in Flink."""
    if body.programArgs is not None or body.programArgsList:
        given = {**given, "programArgs": None, "programArgsList": None}
    missing = {key: value for key, value in given.items() if value is not None and not getattr(body, key)}
    return body.model_copy(update=missing)


def _split(text: str) -> list[str]:
    """Return arguments that blanks separate; those within quotes are one, as in Flink."""
    return [part.strip("\"'") for part in re.findall(r"""[^"'\s]\S*|".+?"|'.+?'""", text)]


def _session(request: Request) -> OperableSession:
    session: OperableSession = request.app.state.session
    return session


def _program(request: Request, identifier: str) -> Any:
    program = _session(request).directory.program(unquote(identifier))
    if program is None:
        raise HTTPException(404, f"the session has no program {identifier}: GET /jars lists those it has")
    return program


_BOUNDARY = re.compile(r'multipart/form-data;.*\bboundary="?([^";]{1,70})"?', re.IGNORECASE)
_FILE_NAME = re.compile(rb'^content-disposition:.*\bfilename="?([^";\r\n]+)"?', re.IGNORECASE | re.MULTILINE)


def uploaded_file(content_type: str, body: bytes) -> tuple[str, bytes]:
    """Return name and content of the first file of a form.

    Args:
        content_type: The header of the request, which has the boundary of the parts.
        body: The body of the request.

    Raises:
        HTTPException: It is no form, or has no file.
    """
    boundary = _BOUNDARY.match(content_type)
    if boundary is None:
        raise HTTPException(400, "send the program as a file of a form: curl -F jarfile=@program.py")
    delimiter = b"\r\n--" + boundary[1].encode()
    for part in (b"\r\n" + body).split(delimiter)[1:]:
        head, separator, content = part.partition(b"\r\n\r\n")
        name = _FILE_NAME.search(head)
        if separator and name is not None:
            return name[1].decode(errors="replace"), content
    raise HTTPException(400, "the form has no file: curl -F jarfile=@program.py")
