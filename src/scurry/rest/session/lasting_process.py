"""Processes of a session that run programs one after the other: a run in them begins without starting Python anew.

Each has a name. `python -m scurry.cli.session_job` gets one line for each run through its standard input, and answers
with one line when the run is over; it ends when its standard input closes: with its session.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from scurry.rest.session.directory import Submission
from scurry.rest.session.job_process import PATIENCE_SECONDS, ended, last_output, opened_to_append, request_of

#: Maximum processes of a session that last; programs beyond them have a process for each run.
MOST_LASTING = 32
#: Number of runs after which a process is replaced, so that what programs leave behind does not pile up.
_MOST_RUNS = 1000


class RunInProcess:
    """A run of a program in a process that lasts; killing the run kills the process.

    Args:
        output: The file that gets standard output.
        errors: The file that gets standard error.
        over: Called with the exit status when the run is over, in another thread.
    """

    def __init__(self, process: LastingProcess, output: Path, errors: Path, over: Callable[[int], None]) -> None:
        self.process, self.output, self.errors, self.over = process, output, errors, over

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()

    def end(self) -> None:
        """Let the process end as by Ctrl-C, and kill it if it takes too long."""
        self.process.end()

    def reason(self) -> str:
        """Return the end of standard error, or of standard output if standard error is empty."""
        return last_output(self.errors, self.output)


class LastingProcess:
    """A started process.

    Args:
        directory: Its working directory.
        environment: Variables beyond those of this process.
        errors: The file that gets standard error before the first run.
        gone: Called when the process has ended, in another thread, before its run is over.
    """

    def __init__(
        self, directory: str, environment: Mapping[str, str], errors: Path, gone: Callable[[LastingProcess], None]
    ) -> None:
        with opened_to_append(errors) as reported:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "scurry.cli.session_job"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=reported,
                cwd=directory,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
                process_group=0,
            )
        self._lock = threading.Lock()
        self._run: RunInProcess | None = None
        #: the exit status of the process, once it has ended
        self._status: int | None = None
        self._gone, self._runs = gone, 0
        self._send({"lasting": True})
        threading.Thread(target=self._watch, name="scurry-lasting-process", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_worn(self) -> bool:
        """Return whether another process is to do further runs."""
        return self._runs >= _MOST_RUNS or self._process.poll() is not None

    def run(self, run: RunInProcess, request: Mapping[str, object]) -> None:
        """Begin a run; the one before is over."""
        with self._lock:
            self._run, status = run, self._status
        if status is None:
            self._send(request)
        else:  # nobody watches it any more
            threading.Thread(target=self._over, args=(status,), name="scurry-lasting-process", daemon=True).start()

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def end(self) -> None:
        """Let the process end as by Ctrl-C, and kill it if it takes too long."""
        ended(self._process)

    def close(self) -> None:
        """End the process, which does nothing."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _send(self, request: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # it has ended, which `_watch` sees
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()

    def _watch(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._over(int(line))
        status = self._process.wait()
        with self._lock:
            self._status = status
        self._gone(self)
        self._over(status)

    def _over(self, status: int) -> None:
        with self._lock:
            run, self._run = self._run, None
            self._runs += 1
        if run is not None:
            run.over(status)


class LastingProcesses:
    """The processes of a session that last, by name. Used by many threads.

    Args:
        connect: Returns the environment variables that a process of a name needs.
        disconnect: Cleans up after a process of a name has ended.
    """

    def __init__(self, connect: Callable[[str], Mapping[str, str]], disconnect: Callable[[str], None]) -> None:
        self._connect, self._disconnect = connect, disconnect
        self._lock = threading.RLock()
        self._processes: dict[str, LastingProcess] = {}

    def run(
        self,
        submission: Submission,
        configuration: Mapping[str, str],
        output: Path,
        errors: Path,
        over: Callable[[int], None],
    ) -> RunInProcess | None:
        """Run a program in the process that its submission names, started if needed; the run before is over.

        Args:
            configuration: All settings of the job.
            output: The file that gets standard output.
            errors: The file that gets standard error.
            over: Called with the exit status when the run is over, in another thread.

        Returns:
            The run; None if there are as many processes as there may be.
        """
        process = self.start(submission.process, submission.directory, errors)
        if process is None:
            return None
        run = RunInProcess(process, output, errors, over)
        process.run(run, {**request_of(submission, configuration), "output": str(output), "errors": str(errors)})
        return run

    def start(self, name: str, directory: str, errors: Path = Path(os.devnull)) -> LastingProcess | None:
        """Start a process, unless it runs.

        Args:
            directory: Its working directory.
            errors: The file that gets standard error before the first run.

        Returns:
            The process; None if there are as many as there may be.
        """
        with self._lock:
            process = self._processes.get(name)
            if process is not None and process.is_worn:
                self.end(name)
                process = None
            if process is None:
                if len(self._processes) >= MOST_LASTING:
                    return None
                process = LastingProcess(directory, self._connect(name), errors, lambda gone: self._ended(name, gone))
                self._processes[name] = process
        return process

    def end(self, name: str) -> None:
        """End a process, whose last run is over, if there is one."""
        with self._lock:
            process = self._processes.pop(name, None)
        if process is not None:
            process.close()
            self._disconnect(name)

    def close(self) -> None:
        """End all processes; runs in progress have been ended before."""
        with self._lock:
            names = list(self._processes)
        for name in names:
            with self._lock:
                process = self._processes.pop(name, None)
            if process is not None:
                process.kill()

    def _ended(self, name: str, gone: LastingProcess) -> None:
        with self._lock:
            if self._processes.get(name) is not gone:
                return
            del self._processes[name]
        self._disconnect(name)
