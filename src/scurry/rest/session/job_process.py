"""The process of one submitted job: `python -m scurry.cli.session_job`, which runs the program as `scurry run` does.

It gets its request through its standard input, where no other user sees it, and ends when that closes: with its
session.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from scurry.errors import SessionError
from scurry.rest.session.directory import Submission

#: Seconds that a process has to end by itself before it is killed.
PATIENCE_SECONDS = 10.0
#: Seconds that a program may take until it submits the job whose plan is wanted.
_PLANNING_SECONDS = 60.0
#: Characters of a process's output that say why it failed.
_REASON = 4000


class JobProcess:
    """A started process.

    Args:
        configuration: All settings of the job.
        environment: Variables beyond those of this process.
        output: The file that gets standard output.
        errors: The file that gets standard error.
        ended: Called with the exit status when the process has ended, in another thread.
    """

    def __init__(
        self,
        submission: Submission,
        configuration: Mapping[str, str],
        environment: Mapping[str, str],
        output: Path,
        errors: Path,
        ended: Callable[[int], None],
    ) -> None:
        self.output, self.errors = output, errors
        request = request_of(submission, configuration)
        with opened_to_append(output) as printed, opened_to_append(errors) as reported:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "scurry.cli.session_job"],
                stdin=subprocess.PIPE,
                stdout=printed,
                stderr=reported,
                cwd=submission.directory,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
                process_group=0,
            )
        assert self._process.stdin is not None
        self._input = self._process.stdin
        try:
            self._input.write(json.dumps(request).encode() + b"\n")
            self._input.flush()
        except BrokenPipeError:
            pass  # it has ended, and its output says why
        threading.Thread(target=lambda: ended(self._process.wait()), name="scurry-job-process", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def end(self) -> None:
        """Let the process end as by Ctrl-C, and kill it if it takes too long."""
        ended(self._process)

    def reason(self) -> str:
        """Return the end of standard error, or of standard output if standard error is empty."""
        return last_output(self.errors, self.output)


def ended(process: subprocess.Popen[bytes]) -> None:
    """Let a process end as by Ctrl-C, and kill it if it takes too long."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def last_output(errors: Path, output: Path) -> str:
    """Return the end of standard error, or of standard output if standard error is empty."""
    try:
        ends = (file.read_bytes()[-_REASON:].decode(errors="replace").strip() for file in (errors, output))
        return next(filter(None, ends), "")
    except OSError as error:
        return f"its output cannot be read: {error}"


def opened_to_append(path: Path) -> BinaryIO:
    """Open a file, readable by its owner only, to append to it."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", buffering=0)


def planned(submission: Submission) -> dict[str, Any]:
    """Run a program until it submits its first job, and return the plan of that.

    Raises:
        SessionError: The program fails, or submits no job.
    """
    with tempfile.TemporaryDirectory(prefix="scurry-plan-") as directory:
        plan, output = Path(directory, "plan.json"), Path(directory, "output")
        request = {**request_of(submission, submission.configuration), "plan": str(plan)}
        try:
            with open(output, "wb") as printed:
                process = subprocess.Popen(
                    [sys.executable, "-m", "scurry.cli.session_job"],
                    stdin=subprocess.PIPE,
                    stdout=printed,
                    stderr=printed,
                    cwd=submission.directory,
                )
        except (OSError, ValueError) as error:
            raise SessionError(f"the program could not be started: {error}") from None
        assert process.stdin is not None
        with process, process.stdin:
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
                process.wait(_PLANNING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise SessionError(f"the program has submitted no job within {_PLANNING_SECONDS:g} s") from None
            except BrokenPipeError:
                pass  # it has ended, and its output says why
        if plan.exists():
            content: dict[str, Any] = json.loads(plan.read_text(encoding="utf-8"))
            return content
        reason = output.read_bytes()[-_REASON:].decode(errors="replace").strip()
        raise SessionError(f"the program has submitted no job\n{reason}")


def request_of(submission: Submission, configuration: Mapping[str, str]) -> dict[str, Any]:
    """Return the request to the process of a job, as JSON has it."""
    return {
        "program": submission.program,
        "module": submission.module,
        "arguments": submission.arguments,
        "configuration": dict(configuration),
    }
