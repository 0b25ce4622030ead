"""A session: it starts the processes of jobs, knows their endpoints, and starts them again after it was killed."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from scurry.errors import ArgumentError, SessionError
from scurry.rest.archive import ARCHIVE_KEY
from scurry.rest.session.directory import Program, SessionDirectory, Submission
from scurry.rest.session.interface import Application
from scurry.rest.session.job_process import JobProcess, planned
from scurry.rest.session.known_jobs import KnownJobs, now_ms
from scurry.rest.session.lasting_process import LastingProcesses, RunInProcess
from scurry.rest.session.workflows import Workflows
from scurry.runtime.engines import spark

#: Flink's key of a fixed job id.
JOB_ID_KEY = "$internal.pipeline.job-id"
#: Below this directory, jobs without one of their own keep their checkpoints.
CHECKPOINTS_KEY = "$internal.session.checkpoints"
#: Flag of a job whose process, when it is killed, starts again, as after the end of its session.
RESTART_KEY = "$internal.session.restart"
#: Settings of the session alone.
_OF_THE_SESSION = ("rest.", "scurry.rest", "spark.master")
#: Seconds between the end of a process that was killed and its next start.
_RESTART_SECONDS = 0.5


class SessionCluster(KnownJobs):
    """A session of many jobs, in processes of their own or in some that last.

    Args:
        directory: Where it keeps what its jobs need to be started again.
        configuration: Its settings, which are the defaults of its jobs.
    """

    def __init__(self, name: str, directory: SessionDirectory, configuration: Mapping[str, str]) -> None:
        super().__init__(directory)
        self.name, self.configuration = name, dict(configuration)
        self._application: Application | None = None
        self._lasting = LastingProcesses(self._connected, self._disconnected)
        self.workflows = Workflows(self, directory)
        self._closing = False
        self._lost = threading.Event()

    @property
    def lost(self) -> bool:
        """Return whether the application has ended before the session; its jobs can run on in another process only."""
        return self._lost.is_set()

    @property
    def ui(self) -> str | None:
        """The address of Spark's own web page, None without Spark."""
        return self._application.ui if self._application is not None else None

    def open(self, on_loss: Callable[[], None] = lambda: None) -> int:
        """Start the application, and the jobs that ran when the session was last killed.

        Args:
            on_loss: Called in another thread if the application ends before the session.

        Returns:
            The number of these jobs.

        Raises:
            SessionError: The session runs already.
        """
        self.directory.hold()
        try:
            if self.configuration.get("scurry.runner", "spark") == "spark":
                application = spark("shared").SharedApplication(self.name, self.configuration, self.directory.files)
                self._application = application
                threading.Thread(
                    target=self._watch, args=(application, on_loss), name="scurry-application", daemon=True
                ).start()
        except BaseException:
            self.directory.release()
            raise
        again = []
        for submission in self.directory.submissions():
            self._submissions[submission.id] = submission
            if submission.state is None and not self._was_over(submission):
                again.append(submission)
        for submission in again:
            self._start(submission)
        self.workflows.open()
        return len(again)

    def _was_over(self, submission: Submission) -> bool:
        """Note the end of a job whose process ended after that of its session.

        A failure is no such end: the loss of the application may have been its reason. Nor is a finished
        job if there are checkpoints: others of its program may follow, and its streaming jobs resume.
        """
        archived = self.archived(submission.id)
        state = None if archived is None else str(archived["/jobs/overview"]["jobs"][0]["state"])
        checkpoints = self.directory.checkpoints_of(submission)
        if state == "CANCELED" or (state == "FINISHED" and not checkpoints):
            self._note_end(submission.id, state, None)
            return True
        self._archives.pop(submission.id, None)
        with suppress(OSError):
            (self.directory.archive / submission.id).unlink()
        return False

    def _watch(self, application: Application, on_loss: Callable[[], None]) -> None:
        application.wait()
        with self._lock:
            if self._closing:
                return
            self._lost.set()
        on_loss()

    def close(self, cancel: bool) -> None:
        """End the session.

        Args:
            cancel: Whether its jobs are over; otherwise they run again when it is started again.
        """
        with self._lock:
            self._closing = True
            processes = dict(self._processes)
        self.workflows.close()
        for process in processes.values():
            if cancel:
                process.end()
            else:
                process.kill()
        self._lasting.close()
        for job_id in processes if cancel else ():
            self._note_end(job_id, "CANCELED", None)
        if self._application is not None:
            self._application.stop()
        self.directory.release()

    # ------------------------------------------------------------------ jobs

    def submit(
        self,
        program: Program,
        *,
        module: str | None = None,
        arguments: list[str],
        configuration: Mapping[str, str],
        directory: str | None = None,
        job_id: str | None = None,
        process: str = "",
    ) -> str:
        """Start a job in a process of its own, or in one that lasts.

        Args:
            module: The module to run, if the program is a zipped project without `__main__.py`.
            arguments: Its `sys.argv[1:]`.
            configuration: Its settings, which override those of the session.
            directory: Its working directory; that of the program if not given.
            job_id: The id of its first job; a new one if not given.
            process: The name of the process that lasts, in which nothing else runs; empty for one of its own.

        Returns:
            The id of its first job.

        Raises:
            ArgumentError: The session has a job of that id, or there is no such working directory.
            SessionError: The session is ending.
        """
        directory = directory or str(Path(program.path).parent)
        if not os.path.isdir(directory):
            raise ArgumentError(f"there is no directory {directory}, in which the program is to run")
        identifier = job_id or uuid.uuid4().hex
        submission = Submission(
            identifier,
            program.path,
            program.name,
            now_ms(),
            directory,
            module,
            list(arguments),
            dict(configuration),
            process=process,
        )
        with self._lock:
            if self._closing:
                raise SessionError("the session is ending")
            if identifier in self._submissions:
                raise ArgumentError(f"the session has a job {identifier} already")
            self._submissions[identifier] = submission
            self.directory.keep(submission)
        self._start(submission)
        return identifier

    def plan(
        self,
        program: Program,
        *,
        module: str | None = None,
        arguments: list[str],
        configuration: Mapping[str, str],
    ) -> dict[str, Any]:
        """Return the plan of the first job that a program would submit, as Flink's.

        Raises:
            SessionError: The program fails, or submits no job.
        """
        settings = {**self._defaults, **_given(configuration)}
        submission = Submission(
            "", program.path, program.name, now_ms(), str(Path(program.path).parent), module, list(arguments), settings
        )
        return planned(submission)

    def dispose_savepoint(self, path: str) -> None:
        """Delete a savepoint.

        Raises:
            SavepointError: The path has no savepoint, or one of another user.
        """
        from scurry.runtime.savepoint import reading

        reading.dispose_savepoint(path)

    @property
    def _defaults(self) -> dict[str, str]:
        return _given(self.configuration)

    def _start(self, submission: Submission) -> None:
        job_id = submission.id
        fixed = {
            JOB_ID_KEY: job_id,
            CHECKPOINTS_KEY: str(self.directory.checkpoints),
            ARCHIVE_KEY: str(self.directory.archive),
            "scurry.rest": "on",
            "rest.bind-address": "127.0.0.1",
            "rest.port": "0",
        }
        settings = {**self._defaults, **_given(submission.configuration), **fixed}
        with self._lock:
            if self._closing:
                return
            try:
                self._processes[job_id] = self._process_of(submission, settings)
            except (OSError, ValueError) as error:  # of this job alone: others must run
                self._note_end(job_id, "FAILED", f"its process could not be started: {error}")
                self._disconnected(job_id)

    def _process_of(self, submission: Submission, settings: Mapping[str, str]) -> JobProcess | RunInProcess:
        job_id = submission.id
        output, errors = self.directory.output(job_id), self.directory.errors(job_id)

        def over(status: int) -> None:
            self._ended(job_id, status)

        if submission.process:
            run = self._lasting.run(submission, settings, output, errors, over)
            if run is not None:
                return run
        return JobProcess(submission, settings, self._connected(job_id), output, errors, over)

    def _connected(self, process: str) -> Mapping[str, str]:
        """Return the environment variables that a process needs."""
        return {} if self._application is None else self._application.connect(process)

    def _disconnected(self, process: str) -> None:
        if self._application is not None:
            self._application.disconnect(process)

    def prepare_process(self, name: str, directory: str) -> None:
        """Start a process that lasts, which will run programs of a directory."""
        with self._lock, suppress(OSError):  # the first run tries again, and says why it cannot
            if not self._closing:
                self._lasting.start(name, directory)

    def end_process(self, name: str) -> None:
        """End a process that lasts, if there is one; its last run is over."""
        self._lasting.end(name)

    def _ended(self, job_id: str, status: int) -> None:
        with self._lock:
            process = self._processes[job_id]
            if self._closing or (status != 0 and self._application is not None and self._application.ended):
                return  # it runs again when the session is started again
            submission = self._submissions[job_id]
            if status < 0:
                self._endpoints.pop(job_id, None)
        archived = self.archived(job_id)
        if status < 0 and archived is None and submission.configuration.get(RESTART_KEY) == "true":
            time.sleep(_RESTART_SECONDS)
            self._start(submission)
            return
        if archived is not None:
            state, reason = str(archived["/jobs/overview"]["jobs"][0]["state"]), None
            if state == "FINISHED" and status != 0:  # what the program does after its job has failed
                state, reason = "FAILED", process.reason()
        elif status == 0:
            state, reason = "FINISHED", None
        else:
            killed = f"its process was killed by signal {-status}\n" if status < 0 else ""
            state, reason = "FAILED", killed + process.reason()
        self._note_end(job_id, state, reason)
        self._disconnected(job_id)


def _given(configuration: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that jobs may have of their own."""
    return {key: value for key, value in configuration.items() if not key.startswith(_OF_THE_SESSION)}
