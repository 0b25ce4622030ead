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
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from scurry.session.directory import Submission

__all__ = ["JobProcess"]

#: Seconds that a process has to end by itself before it is killed.
_PATIENCE_SECONDS = 10.0
#: Characters of a process's output that say why it failed.
_REASON = 4000


class JobProcess:
    """A started process.

    Args:
        submission: What to run.
        configuration: All settings of the job.
        environment: Variables beyond those of this process.
        output: The file that gets standard output and error.
        ended: Called with the exit status when the process has ended, in another thread.
    """

    def __init__(
        self,
        submission: Submission,
        configuration: Mapping[str, str],
        environment: Mapping[str, str],
        output: Path,
        ended: Callable[[int], None],
    ) -> None:
        self.output = output
        request = {
            "program": submission.program,
            "module": submission.module,
            "arguments": submission.arguments,
            "configuration": dict(configuration),
        }
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "scurry.cli.session_job"],
                stdin=subprocess.PIPE, stdout=descriptor, stderr=descriptor, cwd=submission.directory,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **environment}, process_group=0,
            )  # fmt: skip
        finally:
            os.close(descriptor)
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
        """The id of the process."""
        return self._process.pid

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def end(self) -> None:
        """Let the process end as by Ctrl-C, and kill it if it takes too long."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def reason(self) -> str:
        """Return the end of the output."""
        return self.output.read_bytes()[-_REASON:].decode(errors="replace").strip()
