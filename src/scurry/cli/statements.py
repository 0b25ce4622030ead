"""Execute the statements of `scurry sql`, which `sql.py` declares."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass

if TYPE_CHECKING:
    from scurry.sql.client.client import SqlClient
    from scurry.sql.client.embedded import EmbeddedExecutor
    from scurry.sql.client.executor import Executor

FAILED = 1
INTERRUPTED = 130


@dataclass(frozen=True)
class Connection:
    """The place that executes statements.

    Attributes:
        settings: Those of the options `-D`, None without one.
        runner: `spark` or `local`; None leaves it to the other options.
        master: The URL of Spark's master.
        endpoint: The URL of a SQL gateway.
        files: Python files of functions, separated by commas.
    """

    settings: dict[str, str] | None = None
    runner: str | None = None
    master: str | None = None
    endpoint: str | None = None
    files: str | None = None

    def configuration(self) -> dict[str, str]:
        """Return the settings of the session, after the files of functions were added to the import path."""
        from scurry.common._config.validation import validate

        found = {"scurry.runner": "spark" if self.master else "local", **(self.settings or {})}
        named = {"scurry.runner": self.runner, "spark.master": self.master, "python.files": self.files}
        found |= {key: value for key, value in named.items() if value is not None}
        validate(found)
        sys.path.insert(0, os.getcwd())  # functions in Python are imported from here, as programs do
        if "python.files" in found:
            from scurry.graph.dependencies import JobDependencies

            JobDependencies(found)
        return found


def execute(
    statements: list[str], file: Path | None, init: Path | None, connection: Connection, history: Path | None
) -> int:
    """Execute statements, those of a file or those that are typed.

    Returns:
        The exit status of the command.
    """
    return shown(lambda: _sql(statements, file, init, connection, history))


def shown(command: Callable[[], int]) -> int:
    """Run a command and print why it has failed.

    Returns:
        The exit status of the command.
    """
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


def _sql(
    statements: list[str], file: Path | None, init: Path | None, connection: Connection, history: Path | None
) -> int:
    executor, embedded = _executor(connection, connection.configuration())
    try:
        interactive = file is None and not statements and sys.stdin.isatty() and sys.stdout.isatty()
        if interactive:
            from scurry.sql.client.terminal import interact

            return interact(executor, init, history, embedded)
        return _execute(executor, statements, file, init, embedded)
    finally:
        executor.close()


def _executor(connection: Connection, configuration: dict[str, str]) -> tuple[Executor, EmbeddedExecutor | None]:
    if connection.endpoint is not None:
        from scurry.sql.client.remote import RemoteExecutor

        given = connection.settings is not None or connection.runner is not None
        return RemoteExecutor(connection.endpoint, configuration if given else {}), None
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
