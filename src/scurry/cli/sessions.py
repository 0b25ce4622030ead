"""Define the commands for sessions, and run programs in them."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scurry.cli.operate import Json, errors_shown, say
from scurry.cli.options import Group, Master, RunnerOption, parse_settings
from scurry.cli.output import print_json, print_table, time_text
from scurry.errors import JobUnreachableError, RequestRefusedError, SessionError

if TYPE_CHECKING:
    from scurry.rest.client import RemoteProcess
    from scurry.rest.registry import JobEntry
    from scurry.rest.session.directory import SessionDirectory

#: Seconds between two looks at a job whose end is awaited.
_PAUSE = 0.2
_OVER = ("FINISHED", "CANCELED", "FAILED")

Name = Annotated[str, typer.Argument(metavar="[NAME]", help="Name of the session.")]

sessions = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def add_to(app: typer.Typer) -> None:
    """Add the commands to the `scurry` command."""
    help_text = "Start, list and stop sessions, which take many jobs."
    app.add_typer(sessions, name="session", help=help_text, rich_help_panel=Group.SERVERS)
    app.command(rich_help_panel=Group.SERVERS)(history)


@sessions.command("start")
def start(
    name: Name = "default",
    master: Master = None,
    runner: RunnerOption = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("-D", metavar="KEY=VALUE", help="A default setting of its jobs; may be given many times."),
    ] = None,
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token",
            help="Accept requests without a token, on loopback: any user of this machine can then run programs as you.",
        ),
    ] = False,
) -> None:
    """Start a session and serve it until Ctrl-C; jobs that ran when it was last killed run again."""
    from scurry.common.configuration import Configuration
    from scurry.rest.session.directory import SessionDirectory
    from scurry.rest.session.endpoint import SessionEndpoint
    from scurry.rest.session.session import SessionCluster
    from scurry.rest.settings import RestSettings

    configuration = parse_settings(settings)
    named = {"spark.master": master, "scurry.runner": runner and runner.value}
    configuration.update({key: value for key, value in named.items() if value is not None})
    with errors_shown():
        rest = RestSettings.of(Configuration.from_dict({**configuration, "scurry.rest": "on"}), "spark")
        assert rest is not None
        endpoint = SessionEndpoint(rest, no_token)
        session = SessionCluster(name, SessionDirectory.named(name), configuration)
        again = session.open(on_loss=endpoint.close)
        endpoint.serve(session)
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda *_: endpoint.close())
    say(f"session {name} at {endpoint.url}" + (f"; {again} jobs run again" if again else ""))
    if no_token:
        say("it takes requests without a token: any user of this machine can run programs as you")
    if session.ui is not None:
        say(f"Spark's own page: {session.ui}")
    endpoint.wait()
    session.close(cancel=endpoint.stopped)
    if session.lost:
        say("error: Spark's JVM has ended; started again, the session runs its unfinished jobs again")
        raise typer.Exit(1)


@sessions.command("list")
def list_sessions(as_json: Json = False) -> None:
    """List the sessions of this user on this machine."""
    from scurry.rest.registry import registered_jobs

    known = registered_jobs("sessions")
    if as_json:
        print_json([{"name": e.name, "url": e.url, "start-time": e.started_ms, "pid": e.pid} for e in known])
    elif known:
        print_table(["name", "started", "url"], [[e.name, time_text(e.started_ms), e.url] for e in known])
    else:
        say("no sessions; `scurry session start` starts one")


@sessions.command("stop")
def stop(name: Name = "default") -> None:
    """Stop a session and cancel its jobs, which do not run again when it is started again."""
    from scurry.rest.registry import registered_jobs

    with errors_shown():
        process = find_session(name)
        local = [entry for entry in registered_jobs("sessions") if name in (entry.name, entry.url)]
        process.request("DELETE", "/cluster")
        while _answers(process) or any(map(_ends, local)):
            time.sleep(_PAUSE)
    say(f"session {name} stopped")


def _answers(process: RemoteProcess) -> bool:
    try:
        process.exchange("GET", "/config")
    except JobUnreachableError:
        return False
    return True


def _ends(session: JobEntry) -> bool:
    """Return whether a session that answers no more still cancels its jobs; a supervisor may have started another."""
    from scurry.rest.registry import registered_jobs
    from scurry.rest.session.directory import SessionDirectory

    others = [entry for entry in registered_jobs("sessions") if entry.name == session.name and entry.pid != session.pid]
    return not others and SessionDirectory.named(session.name).is_held()


@sessions.command("token")
def token(name: Name = "default") -> None:
    """Print a session's token, for curl -H "Authorization: Bearer $(scurry session token)"."""
    with errors_shown():
        found = find_session(name)
        if found.token is None:
            raise SessionError(f"session {name!r} has no token, or it is kept elsewhere")
    print(found.token)


def history(
    name: Annotated[
        str, typer.Option("--session", metavar="NAME", help="Name of the session, which need not run.")
    ] = "default",
    as_json: Json = False,
) -> None:
    """List the jobs of a session that are over, the latest first."""
    from scurry.rest.session.directory import SessionDirectory
    from scurry.rest.session.session import SessionCluster

    with errors_shown():
        directory = SessionDirectory.named(name)
        if not directory.path.is_dir():
            raise SessionError(f"there has been no session {name!r} of this user on this machine{_others(directory)}")
        over = [one for one in SessionCluster(name, directory, {}).finished() if one["state"] in _OVER]
    over.sort(key=lambda one: -one["end-time"])
    if as_json:
        print_json(over)
        return
    rows = [[o["jid"], o["name"], o["state"], time_text(o["start-time"]), time_text(o["end-time"])] for o in over]
    print_table(["id", "name", "state", "started", "ended"], rows)


def _others(directory: SessionDirectory) -> str:
    """Return which sessions there have been instead of one."""
    beside = directory.path.parent
    names = sorted(each.name for each in beside.iterdir() if (each / "jobs").is_dir()) if beside.is_dir() else []
    if not names:
        return ""
    return f"; there {'is' if len(names) == 1 else 'are'} {', '.join(names)}: scurry history --session {names[0]}"


def find_session(name: str) -> RemoteProcess:
    """Return the endpoint of a session.

    Args:
        name: Its name, or its URL.

    Raises:
        SessionError: No session of that name runs.
    """
    from scurry.rest.client import RemoteProcess, environment_token
    from scurry.rest.registry import registered_jobs, token_of

    known = registered_jobs("sessions")
    for entry in known:
        if name in (entry.name, entry.url):
            return RemoteProcess(entry.url, token_of(entry), pid=entry.pid)
    if "://" in name:
        return RemoteProcess(name.rstrip("/"), environment_token())
    there = f"; there are {', '.join(e.name for e in known)}" if known else ""
    raise SessionError(f"no session {name!r} runs{there}: `scurry session start {name}` starts one")


def run_in_session(
    session: str, program: Path | str, arguments: Sequence[str], configuration: Mapping[str, str], detached: bool
) -> int:
    """Run a program in a session.

    Args:
        session: Name or URL of the session.
        arguments: Its `sys.argv[1:]`.
        configuration: Its settings.
        detached: Whether to print the job's id at once, rather than the program's output until its end.

    Returns:
        The exit status: 0 if the job was submitted, or has finished or was cancelled; 1 if it or its program has
        failed.
    """
    with errors_shown():
        process = find_session(session)
        body: dict[str, Any] = {"flinkConfiguration": dict(configuration), "programArgsList": list(arguments)}
        if isinstance(program, str):
            raise SessionError("a session runs files: zip the project and name its module with --pyModule there")
        if process.pid is not None:  # on this machine: modules beside the program can be imported
            registered = process.request("POST", "/jars/register", {"path": str(program.resolve())})
            body["directory"] = os.getcwd()
        else:
            registered = _upload(process, program)
        job_id = str(process.request("POST", f"/jars/{registered['filename']}/run", body)["jobid"])
        if detached:
            print(job_id)
            return 0
        say(f"job {job_id} in session {session}; Ctrl-C leaves it running")
        try:
            return _follow(process, job_id)
        except KeyboardInterrupt:
            say(f"job {job_id} runs on: `scurry cancel {job_id}` ends it")
            return 130


def _follow(process: RemoteProcess, job_id: str) -> int:
    """Print a program's output until its process has ended: its job may be over before, or one of several."""
    positions = {"stdout": 0, "stderr": 0}
    while positions:
        found = [_print_more(process, job_id, stream, positions) for stream in tuple(positions)]
        if positions and not any(found):
            time.sleep(_PAUSE)
    return int(process.request("GET", f"/applications/{job_id}")["status"] == "FAILED")


def _print_more(process: RemoteProcess, job_id: str, stream: str, positions: dict[str, int]) -> bool:
    """Print the rest of a program's standard output or error; return whether there was any.

    Args:
        stream: `stdout` or `stderr`.
        positions: What is printed of each stream that has not ended, in bytes.
    """
    status, content = process.exchange("GET", f"/jobs/{job_id}/output?stream={stream}&offset={positions[stream]}")
    if status == HTTPStatus.NO_CONTENT:
        del positions[stream]
        return False
    if status != HTTPStatus.OK:
        raise _refused(status, content)
    positions[stream] += len(content)
    target = sys.stdout if stream == "stdout" else sys.stderr
    target.flush()
    target.buffer.write(content)
    target.flush()
    return bool(content)


def _upload(process: RemoteProcess, program: Path) -> Any:
    boundary = os.urandom(16).hex()
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="jarfile"; filename="{program.name}"\r\n\r\n'
    body = head.encode() + program.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
    status, content = process.exchange("POST", "/jars/upload", body, f"multipart/form-data; boundary={boundary}")
    if status >= HTTPStatus.BAD_REQUEST:
        raise _refused(status, content)
    return json.loads(content)


def _refused(status: int, content: bytes) -> RequestRefusedError:
    return RequestRefusedError("; ".join(json.loads(content)["errors"]), status)
