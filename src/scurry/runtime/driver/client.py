"""The client of a job that runs in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from scurry.common._config.scheduler import SCHEDULER_MODE
from scurry.common._process import threads
from scurry.common.completable_future import CompletableFuture
from scurry.common.config_options import SAVEPOINTS_DIR
from scurry.common.job_client import JobClient
from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.common.job_status import JobStatus
from scurry.connectors.files.filesystem import file_system
from scurry.errors import ArgumentError, JobError, SavepointError, UnsupportedError
from scurry.runtime.driver.checkpoint_history import CheckpointInfo
from scurry.runtime.driver.job import RUNNING, JobExecution, Runner
from scurry.runtime.driver.job_log import ERROR
from scurry.runtime.driver.requests import (
    CheckpointRequest,
    RescaleRequest,
    SavepointRequest,
    StateRequest,
    state_query,
)
from scurry.runtime.driver.restarting import failure_of_attempt, restart_strategy, steps_with_restarts
from scurry.runtime.driver.steps import Steps, in_this_thread
from scurry.runtime.savepoint.format import new_savepoint_path


def _begin(steps: Steps[None]) -> None:
    if not threads.THREADS:
        threads.begin(partial(wait.block, wait.seconds) for wait in steps)
        return
    threading.Thread(target=in_this_thread, args=(steps,), name="scurry-job", daemon=True).start()


class RunningJob(JobClient):
    """The client of a job that runs in this process.

    Args:
        runner: Executes it.
        start: Gets the steps of the job, and sees that all are taken; by default a thread takes them, or
            who waits for the job where there can be no threads.
    """

    def __init__(self, job: JobExecution, runner: Runner, start: Callable[[Steps[None]], object] = _begin) -> None:
        self._job = job
        self._restarts = restart_strategy(job.plan.settings, job.clock.wall_ms)
        self._status = JobStatus.RUNNING
        self._future: Future[JobExecutionResult] = Future()
        start(self._steps(runner))

    def __repr__(self) -> str:
        return f"<job {self._job.plan.settings.job_name!r}, {self._status.name}, id {self._job.job_id}>"

    def _steps(self, runner: Runner) -> Steps[None]:
        job = self._job
        RUNNING.set(job)
        job.log_start()
        try:
            with job.cleanup:
                yield from steps_with_restarts(job, runner, self._restarts, self._restarting)
        except BaseException as error:
            job.requests.attempt_failed(error)
            self._status = JobStatus.FAILED
            failed = error if isinstance(error, JobError) else job_failed(job, error)
            operator = job.failures[-1].operator if job.failures else None
            job.log.write("failed", str(failed), ERROR, operator=operator)
            self._future.set_exception(failed)
        else:
            self._status = JobStatus.CANCELED if job.stopping.is_set() else JobStatus.FINISHED
            result, cancelled = job.result(), job.log_end()
            if cancelled is not None:
                self._future.set_exception(cancelled)
            else:
                self._future.set_result(result)
        job.requests.end(f"has {self._status.name.lower()}")
        job.log.close()

    def _restarting(self, waiting: bool) -> None:
        self._status = JobStatus.RESTARTING if waiting else JobStatus.RUNNING

    @property
    def execution(self) -> JobExecution:
        """The driver side of the job."""
        return self._job

    def get_job_id(self) -> JobID:
        return self._job.job_id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return the job's current status."""
        threads.step()  # a program may ask until the job is over
        future: Future[JobStatus] = Future()
        future.set_result(self._status)
        return CompletableFuture(future)

    def cancel(self) -> CompletableFuture[None]:
        """Stop the job at the next batch boundary; delete its checkpoints if so configured."""
        self._job.cancelled = True
        return self._stop("cancelling")

    def stop(self) -> CompletableFuture[None]:
        """Stop the job at the next batch boundary; keep its checkpoints, regardless of the configuration."""
        return self._stop("stopping")

    def _stop(self, how: str) -> CompletableFuture[None]:
        if not self._future.done():
            self._job.stop(how)
        done: Future[None] = Future()
        self._future.add_done_callback(lambda _: done.set_result(None))
        return CompletableFuture(done)

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Return the accumulators of the committed batches."""
        return CompletableFuture.completed(self._job.accumulators())

    def get_metrics(self) -> CompletableFuture[dict[str, Any]]:
        """Return the metrics of the committed batches."""
        return CompletableFuture.completed(self._job.metrics())

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return the job's outcome, once it has ended."""
        return CompletableFuture(self._future)

    def checkpoints(self) -> list[CheckpointInfo]:
        """Return the latest checkpoints, the oldest first: committed micro-batches, up to 100."""
        return self._job.checkpoints.latest()

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """End the job at a batch boundary and save its state; the future gets the savepoint's path."""
        return self._savepoint(savepoint_directory, stop=True, drain=advance_to_end_of_event_time)

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Save the state as of the last committed batch while the job continues; the future gets the path."""
        return self._savepoint(savepoint_directory)

    def dispose_savepoint(self, path: str) -> None:
        """Delete a savepoint, which may be that of another job."""
        from scurry.runtime.savepoint.reading import dispose_savepoint

        dispose_savepoint(path)

    def _savepoint(self, directory: str | None, stop: bool = False, drain: bool = False) -> CompletableFuture[str]:
        settings = self._job.plan.settings
        self._streaming("savepoints: set scurry.final-savepoint.dir to have one when the job ends")
        directory = directory or settings.configuration.get(SAVEPOINTS_DIR.key)
        if not directory:
            raise SavepointError("where should the savepoint go? Name a directory, or set state.savepoints.dir")
        file_system(directory)  # refuses an address that cannot be reached
        request = SavepointRequest(new_savepoint_path(directory, str(self._job.job_id)), stop=stop, drain=drain)
        if stop:
            how = "draining" if drain else "stopping"
            self._job.log.write("stopping", f"{how} with a savepoint, requested by {request.asked_by}")
        self._job.requests.ask(request)
        return CompletableFuture(request.future)

    def trigger_checkpoint(self) -> CompletableFuture[None]:
        """Wait until all that the job has begun to process is committed: each micro-batch ends with a checkpoint."""
        self._streaming("checkpoints")
        request = CheckpointRequest()
        self._job.requests.ask(request)
        return CompletableFuture(request.future)

    def rescale(self, parallelism: int) -> CompletableFuture[None]:
        """Continue the job at another parallelism, from the next batch boundary.

        Operators with their own parallelism keep it.

        Raises:
            ArgumentError: It is more than the number of key groups, or less than 1.
            UnsupportedError: The job is a BATCH job, or adapts to its executors automatically, or its checkpoints are
                where only Spark can write.
        """
        self._streaming("rescaling: start it again with another parallelism")
        settings, rebuild = self._job.plan.settings, self._job.plan.rebuild
        if settings.configuration.get(SCHEDULER_MODE.key):
            raise UnsupportedError(
                "the job runs with scheduler-mode reactive: it follows its executors; add or remove some"
            )
        groups = settings.max_parallelism
        if not 1 <= parallelism <= groups:
            raise ArgumentError(f"a parallelism of 1 to {groups} (pipeline.max-parallelism) is possible: {parallelism}")
        assert rebuild is not None
        rebuild(replace(settings, parallelism=parallelism))  # refuses what is impossible; the job continues
        if settings.checkpoint_dir is not None:
            file_system(settings.checkpoint_dir)
        request = RescaleRequest(parallelism)
        self._job.requests.ask(request)
        return CompletableFuture(request.future)

    def query_state(self, operator: str, name: str, key: Any) -> CompletableFuture[Any]:
        """Read a keyed state as the last micro-batch left it, while the job continues.

        Args:
            operator: Uid or name of the operator.
            name: Name of the state's descriptor.

        Returns:
            The future value: what the state's `value()` or `get()` returns, a list or dict for list and map state;
            None if the key has none. It fails with StateNotFoundError if there is no such state.
        """
        self._streaming("queryable state")
        request = StateRequest(state_query(self._job.plan, operator, name, key))
        self._job.requests.ask(request)
        return CompletableFuture(request.future)

    def _streaming(self, what: str) -> None:
        if self._job.plan.settings.mode == "BATCH":
            raise UnsupportedError(f"a BATCH job has no {what}")


def job_failed(job: JobExecution, error: BaseException) -> JobError:
    """Return the error that execute() raises: the user's side first, all details in `details`."""
    failure = job.failures[-1] if job.failures else failure_of_attempt(error, job.plan.settings, None)
    restarts = f" after {job.attempt} restart{'s' * (job.attempt > 1)}" if job.attempt else ""
    failed = JobError(f"Job {job.plan.settings.job_name!r} failed{restarts}.\n{failure.text}")
    failed.details = failure.details
    failed.__cause__ = error
    return failed
