"""A job that does nothing but what a test tells it, and its endpoint."""

from __future__ import annotations

import logging
import urllib.request
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from scurry.common import CompletableFuture, Configuration, JobExecutionResult, JobID, JobStatus
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import JobError
from scurry.graph.plan import JobPlan
from scurry.rest.client import RemoteProcess
from scurry.rest.endpoint import Endpoint
from scurry.rest.settings import RestSettings

if TYPE_CHECKING:
    from scurry.runtime.driver.client import RunningJob

TOKEN = "a-token-that-only-tests-use"


def plan_of(name: str = "orders", **settings: str) -> JobPlan:
    """The plan of a job that reads numbers and counts them by key."""
    conf = Configuration.from_dict({key.replace("_", "."): value for key, value in settings.items()})
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    env.set_parallelism(2)
    numbers = env.from_collection([1, 2, 3]).uid("numbers").name("numbers")
    numbers.key_by(lambda number: number % 2).reduce(lambda a, b: a + b).uid("sums").name("sums").print()
    return env._plan(name)


@dataclass
class FakeLog:
    notes: list[str] = field(default_factory=list)
    records: list[logging.LogRecord] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)


@dataclass
class FakeDeadLetters:
    latest: list[Any] = field(default_factory=list)


@dataclass
class FakeExecution:
    plan: JobPlan
    dead_letters: FakeDeadLetters = field(default_factory=FakeDeadLetters)
    log: FakeLog = field(default_factory=FakeLog)
    failures: list[Any] = field(default_factory=list)
    restored_checkpoints: int = 0
    spark_ui: str | None = None
    tasks: tuple[int, int] | None = None
    page: tuple[str, str | None] | None = None
    subtasks: dict[int, dict[str, dict[int, float]]] = field(default_factory=dict)
    of_users: dict[int, dict[str, dict[int, float]]] = field(default_factory=dict)
    #: by `operator.metric`, as `JobClient.get_metrics` returns them
    metrics: dict[str, Any] = field(default_factory=dict)

    def operator_metrics(self) -> dict[int, dict[str, Any]]:
        labels = {label: number for number, label in self.plan.labels().items()}
        found: dict[int, dict[str, Any]] = {}
        for name, value in self.metrics.items():
            operator, _, metric = name.partition(".")
            if operator in labels:
                found.setdefault(labels[operator], {})[metric] = value
        return found

    def subtask_metrics(self) -> dict[int, dict[str, dict[int, float]]]:
        return self.subtasks

    def user_metrics(self) -> dict[int, dict[str, dict[int, float]]]:
        return self.of_users


@dataclass
class FakeJob:
    """A running job whose operations end when a test says so."""

    execution: FakeExecution = field(default_factory=lambda: FakeExecution(plan_of()))
    id: JobID = field(default_factory=JobID)
    status: JobStatus = JobStatus.RUNNING
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    outcome: Future[JobExecutionResult] = field(default_factory=Future)
    savepoint: Future[str] = field(default_factory=Future)
    rescaled: Future[None] = field(default_factory=Future)
    state: dict[Any, Any] = field(default_factory=dict)
    accumulators: dict[str, int] = field(default_factory=dict)
    taken: list[Any] = field(default_factory=list)
    refusal: Exception | None = None

    @property
    def metrics(self) -> dict[str, Any]:
        return self.execution.metrics

    @metrics.setter
    def metrics(self, metrics: dict[str, Any]) -> None:
        self.execution.metrics = metrics

    def get_job_id(self) -> JobID:
        return self.id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        return CompletableFuture.completed(self.status)

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        return CompletableFuture(self.outcome)

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        return CompletableFuture.completed(self.accumulators)

    def get_metrics(self) -> CompletableFuture[dict[str, Any]]:
        return CompletableFuture.completed(self.metrics)

    def cancel(self) -> CompletableFuture[None]:
        self.asked.append(("cancel",))
        self.end(JobStatus.CANCELED)
        return CompletableFuture.completed(None)

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        self._ask("savepoint", savepoint_directory)
        return CompletableFuture(self.savepoint)

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        self._ask("stop", advance_to_end_of_event_time, savepoint_directory)
        return CompletableFuture(self.savepoint)

    def dispose_savepoint(self, path: str) -> None:
        self._ask("dispose", path)

    def trigger_checkpoint(self) -> CompletableFuture[None]:
        self._ask("checkpoint")
        return CompletableFuture.completed(None)

    def checkpoints(self) -> list[Any]:
        return self.taken

    def query_state(self, operator: str, name: str, key: Any) -> CompletableFuture[Any]:
        self._ask("state", operator, name, key)
        return CompletableFuture.completed(self.state.get(key))

    def rescale(self, parallelism: int) -> CompletableFuture[None]:
        self._ask("rescale", parallelism)
        return CompletableFuture(self.rescaled)

    def end(self, status: JobStatus) -> None:
        """Let the job be over."""
        self.status = status
        if status is JobStatus.FAILED:
            self.outcome.set_exception(JobError("Job 'orders' failed.\nZeroDivisionError: division by zero"))
        elif not self.outcome.done():
            self.outcome.set_result(JobExecutionResult(self.id, 1))

    def _ask(self, *what: Any) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.asked.append(what)


def as_job(job: FakeJob) -> RunningJob:
    """A fake as the endpoint takes jobs."""
    return cast("RunningJob", job)


@contextmanager
def served(job: FakeJob, settings: RestSettings | None = None) -> Iterator[RemoteProcess]:
    """The endpoint of a job, as a client sees it."""
    settings = settings or RestSettings("127.0.0.1", (0,), "127.0.0.1", TOKEN, own_token=True)
    endpoint = Endpoint(settings)
    url = endpoint.url
    endpoint.serve(as_job(job))
    try:
        yield RemoteProcess(url, settings.token, timeout=120)
    finally:
        if not job.status.is_globally_terminal_state():
            job.end(JobStatus.FINISHED)


def raw(process: RemoteProcess, path: str = "/jobs", method: str = "GET", **headers: str) -> tuple[int, str]:
    """The status and body of a request with exactly these headers."""
    request = urllib.request.Request(
        process.url + path, method=method, headers={name.replace("_", "-"): text for name, text in headers.items()}
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
