"""Define `scurry sql` and `scurry gateway`."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scurry.cli.options import Group, Master, Runner, one_of, parse_settings, whole_number

if TYPE_CHECKING:
    from scurry.sql.client.client import SqlClient
    from scurry.sql.client.embedded import EmbeddedExecutor
    from scurry.sql.client.executor import Executor

FAILED = 1
INTERRUPTED = 130

Script = Annotated[
    Path | None, typer.Option("--file", "-f", metavar="SCRIPT", help="Execute the statements of a file.")
]
Statements = Annotated[
    list[str] | None,
    typer.Option("--execute", "-e", metavar="SQL", help="Execute statements; may be given many times."),
]
Init = Annotated[
    Path | None, typer.Option("--init", "-i", metavar="SCRIPT", help="Execute the statements of a file first.")
]
Settings = Annotated[
    list[str] | None, typer.Option("-D", metavar="KEY=VALUE", help="A setting of the session; may be given many times.")
]
RunnerOption = Annotated[
    Runner | None,
    one_of(Runner, "--runner", "What executes statements: the command's own process, the default, or Spark."),
]
History = Annotated[
    Path | None,
    typer.Option(
        "--history",
        "-hist",
        metavar="FILE",
        help="Where typed statements are remembered; ~/.scurry-sql-history by default.",
    ),
]
Files = Annotated[
    str | None, typer.Option("--pyFiles", "-pyfs", metavar="PATHS", help="Python files of functions, comma-separated.")
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        metavar="URL",
        help="A SQL gateway that executes the statements; its token is in SCURRY_REST_TOKEN.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the `scurry` command."""
    app.command(rich_help_panel=Group.PROGRAMS)(sql)
    app.command(rich_help_panel=Group.SERVERS)(gateway)


def sql(
    execute: Statements = None,
    file: Script = None,
    init: Init = None,
    settings: Settings = None,
    runner: RunnerOption = None,
    master: Master = None,
    endpoint: Endpoint = None,
    files: Files = None,
    history: History = None,
) -> None:
    """Type SQL statements and see their results, or execute a script."""
    raise typer.Exit(
        _shown(lambda: _sql(execute or [], file, init, settings, runner, master, endpoint, files, history))
    )


def gateway(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(parser=whole_number(0, 65535), metavar="N", help="The port; 0 for any free one.")
    ] = 8083,
    settings: Settings = None,
    runner: RunnerOption = None,
    master: Master = None,
    files: Files = None,
    idle_timeout: Annotated[
        int,
        typer.Option(
            parser=whole_number(0),
            metavar="SECONDS",
            help="Close sessions after this time without a request; 0 for never.",
        ),
    ] = 600,
    max_sessions: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="How many sessions there are at most.")
    ] = 1000,
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token",
            help="Accept requests without a token, on loopback: any user of this machine can run statements as you.",
        ),
    ] = False,
) -> None:
    """Serve SQL sessions to clients: Flink's REST endpoint of the SQL gateway."""

    def serve() -> int:
        from scurry.sql.gateway.serving import serve

        configuration = _configuration(settings, runner, master, files)
        serve(configuration, host, port, max_sessions, float(idle_timeout), no_token=no_token)
        return 0

    raise typer.Exit(_shown(serve))


def _shown(command: Callable[[], int]) -> int:
    """Run a command and print why it has failed."""
    from scurry.errors import ScurryError

    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            return command()
    except ScurryError as error:
        print(f"error: {error.report()}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has closed the pipe
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _warn(message: Warning | str, *_place: object, **_more: object) -> None:
    """Show a warning without the place in the code, which is none of the user's."""
    print(f"[WARNING] {message}", file=sys.stderr)


def _configuration(
    settings: list[str] | None, runner: Runner | None, master: str | None, files: str | None
) -> dict[str, str]:
    from scurry.common._config.validation import validate

    found = {"scurry.runner": "spark" if master else "local", **parse_settings(settings)}
    if runner is not None:
        found["scurry.runner"] = runner.value
    if master is not None:
        found["spark.master"] = master
    if files is not None:
        found["python.files"] = files
    validate(found)
    sys.path.insert(0, os.getcwd())  # functions in Python are imported from here, as programs do
    if "python.files" in found:
        from scurry.graph.dependencies import JobDependencies

        JobDependencies(found)
    return found


def _sql(
    statements: list[str],
    file: Path | None,
    init: Path | None,
    settings: list[str] | None,
    runner: Runner | None,
    master: str | None,
    endpoint: str | None,
    files: str | None,
    history: Path | None,
) -> int:
    configuration = _configuration(settings, runner, master, files)
    executor, embedded = _executor(
        configuration, endpoint, {} if settings is None and runner is None else configuration
    )
    try:
        interactive = file is None and not statements and sys.stdin.isatty() and sys.stdout.isatty()
        if interactive:
            from scurry.sql.client.terminal import interact

            return interact(executor, init, history, embedded)
        return _execute(executor, statements, file, init, embedded)
    finally:
        executor.close()


def _executor(
    configuration: dict[str, str], endpoint: str | None, given: dict[str, str]
) -> tuple[Executor, EmbeddedExecutor | None]:
    if endpoint is not None:
        from scurry.sql.client.remote import RemoteExecutor

        return RemoteExecutor(endpoint, given), None
    from scurry.sql.client.embedded import EmbeddedExecutor

    executor = EmbeddedExecutor(configuration)
    return executor, executor


def _execute(
    executor: Executor, statements: list[str], file: Path | None, init: Path | None, embedded: EmbeddedExecutor | None
) -> int:
    from scurry.sql.client.client import Quit, SqlClient

    client = SqlClient(executor, _write, _complain)
    try:
        succeeded = (init is None or client.run_file(init)) and _run(client, statements, file)
    except Quit:
        succeeded = True
    if succeeded and embedded is not None:
        return _wait_for_jobs(embedded)
    return 0 if succeeded else FAILED


def _run(client: SqlClient, statements: list[str], file: Path | None) -> bool:
    if not all(client.run(text) for text in statements):
        return False
    if file is not None:
        return client.run_file(file)
    return bool(statements) or client.run(sys.stdin.read())


def _wait_for_jobs(embedded: EmbeddedExecutor) -> int:
    """Wait for the jobs that end with this process."""
    from scurry.errors import JobCancelledError

    status = 0
    for job in embedded.running_jobs()[::-1]:
        try:
            job.client.get_job_execution_result().result()
        except JobCancelledError:
            _complain(f"[ERROR] Job {job.id} ({job.name}) was cancelled")
            status = FAILED
        except Exception as error:
            _complain(f"[ERROR] Job {job.id} ({job.name}) has failed: {error}")
            status = FAILED
    return status


def _write(line: str) -> None:
    from scurry.common.redaction import printable

    sys.stdout.write(printable(line) + "\n")
    sys.stdout.flush()


def _complain(text: str) -> None:
    from scurry.common.redaction import printable, without_secrets

    sys.stdout.flush()
    print(printable(without_secrets(text)), file=sys.stderr, flush=True)
