"""Define the commands for jobs that run in other processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from scurry.cli.options import Group, whole_number
from scurry.cli.output import position_text, print_json, print_table, size_text, span_text, time_text
from scurry.errors import JobError, ScurryError

if TYPE_CHECKING:
    from scurry.rest.client import RemoteJob

#: Seconds that `scurry list` waits for each job to report its state.
_LIST_PATIENCE = 10.0

Job = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job, the beginning of it, or the job's name.")]
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar="SCURRY_REST_URL",
        metavar="URL",
        help="Endpoint of a job on another machine; its token is in SCURRY_REST_TOKEN.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class _TriggerByDefault(TyperGroup):
    """Run `scurry savepoint JOB` as `scurry savepoint trigger JOB`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["trigger", *args]
        return super().parse_args(ctx, args)


savepoints = typer.Typer(
    cls=_TriggerByDefault, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


def add_to(app: typer.Typer) -> None:
    """Add the commands to the `scurry` command."""
    app.command("list", rich_help_panel=Group.JOBS)(list_jobs)
    app.command(rich_help_panel=Group.JOBS)(cancel)
    app.command(rich_help_panel=Group.JOBS)(stop)
    app.command(rich_help_panel=Group.JOBS)(rescale)
    app.command(rich_help_panel=Group.JOBS)(checkpoints)
    app.command(rich_help_panel=Group.JOBS)(token)
    app.command("open", rich_help_panel=Group.JOBS)(open_page)
    app.command(rich_help_panel=Group.JOBS)(mcp)
    help_text = "Take a savepoint (scurry savepoint JOB [DIR]); list, inspect, compare and delete them."
    app.add_typer(savepoints, name="savepoint", help=help_text, rich_help_panel=Group.JOBS)


def list_jobs(url: Url = None, as_json: Json = False) -> None:
    """List the running jobs of this user on this machine."""
    from concurrent.futures import ThreadPoolExecutor

    from scurry.rest.registry import WHERE_JOBS_ARE_LISTED, running_jobs

    with errors_shown():
        jobs = running_jobs(url, _LIST_PATIENCE)
        with ThreadPoolExecutor(8) as pool:
            known = list(pool.map(_overview, jobs))
    if as_json:
        print_json(known)
    elif known:
        rows = [[one["jid"], one["name"], one["state"], time_text(one.get("start-time")), one["url"]] for one in known]
        print_table(["id", "name", "state", "started", "url"], rows)
        for one in known:
            if reason := one.get("error"):
                say(f"{one['name']} ({one['jid']}): {reason}")
    else:
        say(f"no running jobs; {WHERE_JOBS_ARE_LISTED}")


def cancel(job: Job, url: Url = None) -> None:
    """Cancel a job at the end of its micro-batch. It keeps its checkpoints; `scurry stop` takes a savepoint as well."""
    with errors_shown():
        found = _find(job, url)
        say(f"cancelling {_label(found)}")
        state = found.cancel()
        if state != "CANCELED":
            raise JobError(f"{_label(found)} was not cancelled: it is {state}")
    say("cancelled")


def stop(
    job: Job,
    drain: Annotated[
        bool, typer.Option("--drain", "-d", help="End event time first: fires all windows and timers, for good.")
    ] = False,
    directory: Annotated[
        str | None,
        typer.Option(
            "--savepoint-path", "-p", metavar="DIR", help="Where the savepoint goes; state.savepoints.dir by default."
        ),
    ] = None,
    url: Url = None,
) -> None:
    """Stop a job with a savepoint and print the savepoint's path."""
    with errors_shown():
        found = _find(job, url)
        say(f"stopping {_label(found)} with a savepoint")
        path = found.stop(drain, _absolute(directory, url))
    print(path)


def mcp(
    url: Url = None,
    allow_changes: Annotated[
        bool,
        typer.Option("--allow-changes", help="Offer tools that take savepoints, and rescale, stop and cancel jobs."),
    ] = False,
) -> None:
    """Let an agent look at running jobs: serve tools by the Model Context Protocol on standard input and output."""
    from scurry.rest.mcp import JobTools, server_of

    with errors_shown():
        server = server_of(JobTools(url), allow_changes)
    server.run("stdio")


@savepoints.command("trigger")
def trigger_savepoint(
    job: Job,
    directory: Annotated[
        str | None, typer.Argument(metavar="[DIR]", help="Where it goes; state.savepoints.dir by default.")
    ] = None,
    url: Url = None,
) -> None:
    """Trigger a savepoint of a running job and print its path. `scurry savepoint JOB [DIR]` does the same."""
    with errors_shown():
        found = _find(job, url)
        say(f"taking a savepoint of {_label(found)}")
        path = found.savepoint(_absolute(directory, url))
    print(path)


@savepoints.command("inspect")
def inspect_savepoint(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The savepoint's directory or URI.")],
    as_json: Json = False,
) -> None:
    """Show the contents of a savepoint: operators, their states and sizes, source positions, versions."""
    from scurry.cli.savepoint_contents import print_contents

    with errors_shown():
        print_contents(directory, as_json)


@savepoints.command("list")
def list_savepoints(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="A directory of savepoints, on this machine.")],
    as_json: Json = False,
) -> None:
    """List the savepoints in a directory, the latest first."""
    from scurry.cli.savepoint_contents import print_savepoints

    with errors_shown():
        print_savepoints(directory, as_json)


@savepoints.command("diff")
def diff_savepoints(
    first: Annotated[str, typer.Argument(metavar="DIR", help="A savepoint.")],
    second: Annotated[str, typer.Argument(metavar="DIR", help="Another one.")],
    as_json: Json = False,
) -> None:
    """Show in which operators, states and positions of sources two savepoints differ."""
    from scurry.cli.savepoint_contents import print_differences

    with errors_shown():
        print_differences(first, second, as_json)


@savepoints.command("dispose")
def dispose(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The savepoint's directory or URI.")],
) -> None:
    """Delete a savepoint: the files that its manifest names, and nothing else."""
    from scurry.runtime.savepoint.reading import dispose_savepoint

    with errors_shown():
        dispose_savepoint(directory)
    say(f"deleted {directory}")


def rescale(
    job: Job,
    parallelism: Annotated[
        int,
        typer.Option(
            "--parallelism", "-p", parser=whole_number(1), metavar="N", help="Number of subtasks from now on."
        ),
    ],
    url: Url = None,
) -> None:
    """Change the parallelism of a running job."""
    with errors_shown():
        found = _find(job, url)
        say(f"rescaling {_label(found)} to parallelism {parallelism}")
        found.rescale(parallelism)
    say("rescaled")


def checkpoints(job: Job, url: Url = None, as_json: Json = False) -> None:
    """List the checkpoints of a job, the latest first."""
    with errors_shown():
        answer = _find(job, url).checkpoints()
    if as_json:
        print_json(answer)
        return
    rows = [
        [
            str(one["id"]),
            one["status"],
            time_text(one["trigger_timestamp"]),
            span_text(one["end_to_end_duration"]),
            "" if one["state_size"] is None else size_text(one["state_size"]),
            position_text(one["positions"]),
        ]
        for one in answer["history"]
    ]
    print_table(["id", "status", "triggered", "duration", "size", "positions"], rows)


def token(job: Job) -> None:
    """Print a job's token, for curl -H "Authorization: Bearer $(scurry token JOB)"."""
    with errors_shown():
        found = _find(job)
    if found.process.token is None:
        say(f"error: {_label(found)} was configured with a token that is kept elsewhere")
        raise typer.Exit(1)
    print(found.process.token)


def open_page(job: Job) -> None:
    """Open a job's web page in the browser; without one, print its address."""
    from scurry.cli.browser import open_in_browser

    with errors_shown():
        found = _find(job)
        address = found.process.url + "/"
        address += "" if found.process.token is None else f"#token={found.process.token}"
        if open_in_browser(address):
            say(f"opened the page of {_label(found)}")
        else:
            print(address)


def _find(job: str, url: str | None = None) -> RemoteJob:
    from scurry.rest.registry import find_job  # not at the top: `scurry run` does not need it and starts faster without

    return find_job(job, url)


def _overview(job: RemoteJob) -> dict[str, Any]:
    try:
        overview = job.overview()
    except ScurryError as error:
        overview = {"jid": job.id, "name": job.name, "state": "UNREACHABLE", "error": str(error)}
    return {**overview, "url": job.process.url}


def _label(job: RemoteJob) -> str:
    return f"{job.name} ({job.id})"


def _absolute(directory: str | None, url: str | None) -> str | None:
    """Resolve a path here, because the job may have another working directory; leave paths for other machines as is."""
    if directory is None or url is not None or "://" in directory:
        return directory
    return os.path.abspath(os.path.expanduser(directory))


def say(text: str) -> None:
    """Print a text for the user, not for other programs."""
    from scurry.common.redaction import printable

    print(printable(text), file=sys.stderr, flush=True)


@contextmanager
def errors_shown() -> Iterator[None]:
    """End the command with the message of a scurry error and exit status 1."""
    try:
        yield
    except ScurryError as error:
        say(f"error: {error.describe()}")
        raise typer.Exit(1) from None
