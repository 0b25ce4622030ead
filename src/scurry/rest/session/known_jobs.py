"""The jobs that a session knows: those that run, and those that are over."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from scurry.rest.client import RemoteProcess
from scurry.rest.registry import registered_jobs, token_of
from scurry.rest.session.directory import SessionDirectory, Submission, read_archive
from scurry.rest.session.interface import SessionJob
from scurry.rest.session.job_process import JobProcess
from scurry.rest.session.lasting_process import RunInProcess

#: Maximum archives of jobs that are over in memory; others are read again.
_MOST_ARCHIVES = 100


class KnownJobs:
    """The submissions of a session, with their processes, endpoints and archives. Used by many threads.

    Args:
        directory: Where they are kept.
    """

    def __init__(self, directory: SessionDirectory) -> None:
        self.directory, self.started_ms = directory, now_ms()
        self._lock = threading.RLock()
        self._is_over = threading.Condition(self._lock)
        self._submissions: dict[str, Submission] = {}
        self._processes: dict[str, JobProcess | RunInProcess] = {}
        #: job id -> its endpoint; kept when the job is over, as it still answers clients that wait
        self._endpoints: dict[str, RemoteProcess] = {}
        self._archives: dict[str, dict[str, Any]] = {}

    def _note_end(self, job_id: str, state: str, reason: str | None) -> None:
        with self._lock:
            submission = self._submissions[job_id]
            self._submissions[job_id] = self.directory.ended(submission, state, now_ms(), reason)
            self._processes.pop(job_id, None)
            self._is_over.notify_all()

    def await_end(self, job_id: str, seconds: float) -> bool:
        """Wait until a job is over, or for some seconds; return whether it is; one that is unknown is over."""

        def is_over() -> bool:
            submission = self._submissions.get(job_id)
            return submission is None or submission.state is not None

        with self._is_over:
            return self._is_over.wait_for(is_over, seconds)

    def forget(self, job_id: str) -> None:
        """Remove the files of a job that is over."""
        with self._lock:
            submission = self._submissions.get(job_id)
            if submission is None or submission.state is None:
                return
            del self._submissions[job_id]
            self._endpoints.pop(job_id, None)
            self._archives.pop(job_id, None)
            self.directory.forget(job_id)

    def jobs(self) -> list[SessionJob]:
        """Return all jobs, running or over, the oldest first."""
        self._look_for_endpoints()
        with self._lock:
            found = {one.id: self._seen(one) for one in self._submissions.values()}
            for job_id, endpoint in self._endpoints.items():  # further jobs of a program
                if job_id not in found:
                    found[job_id] = SessionJob(job_id, "", self.started_ms, None, None, None, endpoint)
        for file in self.directory.archive.iterdir():
            if (
                not file.name.startswith(".")
                and file.name not in found
                and (archive := self.archived(file.name)) is not None
            ):
                one = archive["/jobs/overview"]["jobs"][0]
                found[file.name] = SessionJob(
                    one["jid"], one["name"], one["start-time"], one["end-time"], one["state"], None, None
                )
        return sorted(found.values(), key=lambda job: (job.submitted_ms, job.id))

    def _seen(self, one: Submission) -> SessionJob:
        return SessionJob(
            one.id, one.name, one.submitted_ms, one.ended_ms, one.state, one.reason, self._endpoints.get(one.id)
        )

    def finished(self) -> list[dict[str, Any]]:
        """Return Flink's overviews of the jobs that are over, from the directory alone."""
        self._submissions = {one.id: one for one in self.directory.submissions()}
        found = []
        for job in self.jobs():
            archive = self.archived(job.id)
            if archive is not None:
                found.append(archive["/jobs/overview"]["jobs"][0])
            elif job.state is not None:
                found.append(
                    {
                        "jid": job.id,
                        "name": job.name,
                        "state": job.state,
                        "start-time": job.submitted_ms,
                        "end-time": job.ended_ms,
                    }
                )
        return found

    def job(self, job_id: str) -> SessionJob | None:
        """Return a job, or None if it does not exist."""
        with self._lock:
            submission = self._submissions.get(job_id)
            if submission is not None and submission.state is not None:
                return self._seen(submission)
        return next((job for job in self.jobs() if job.id == job_id), None)

    def archived(self, job_id: str) -> dict[str, Any] | None:
        """Return the answers of a job that is over by their paths; None if it runs, or there is no whole archive."""
        if job_id not in self._archives:
            archive = read_archive(self.directory.archive / job_id)
            if archive is None:
                return None
            self._archives[job_id] = archive
            while len(self._archives) > _MOST_ARCHIVES:
                del self._archives[next(iter(self._archives))]
        return self._archives[job_id]

    def output(self, job_id: str) -> Path:
        """Return the file with the standard output of a job's process."""
        return self.directory.output(job_id)

    def errors(self, job_id: str) -> Path:
        """Return the file with the standard error of a job's process."""
        return self.directory.errors(job_id)

    def _look_for_endpoints(self) -> None:
        registered = registered_jobs()
        with self._lock:
            pids = {process.pid for process in self._processes.values()}
            for entry in registered:
                if entry.pid in pids and entry.id not in self._endpoints:
                    self._endpoints[entry.id] = RemoteProcess(entry.url, token_of(entry), pid=entry.pid)


def now_ms() -> int:
    """Return the time in milliseconds since the epoch."""
    return int(time.time() * 1000)
