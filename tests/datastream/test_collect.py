from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from scurry.common import CompletableFuture, Configuration, JobClient, JobExecutionResult, JobID, JobStatus
from scurry.connectors.collect_sink import CollectedRecords, CollectSink
from scurry.datastream import DataStream, StreamExecutionEnvironment, stream_execution_environment
from scurry.errors import ArgumentError, JobError
from scurry.graph.plan import JobPlan


class Job(JobClient):
    """A job whose committer gets the given batches, one after another, in a thread of its own."""

    def __init__(self, plan: JobPlan, batches: list[list[Any]], ending: Callable[[Job], None]) -> None:
        functions = [op.operator.function for op in plan.operators.values()]
        (sink,) = [function for function in functions if isinstance(function, CollectSink)]
        self.result: Future[JobExecutionResult] = Future()
        self.stop = threading.Event()
        self._consume = sink._consumer
        self._batches, self._ending = batches, ending
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        for batch in self._batches:
            assert isinstance(self._consume, CollectedRecords)
            self._consume.put(batch, len(batch))
        try:
            self._ending(self)
        except Exception as error:
            self.result.set_exception(error)
        else:
            self.result.set_result(JobExecutionResult(JobID(), 1))

    def get_job_id(self) -> JobID:
        return JobID()

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        return CompletableFuture.completed(JobStatus.RUNNING)

    def cancel(self) -> CompletableFuture[None]:
        self.stop.set()
        return CompletableFuture.completed(None)

    def stop_with_savepoint(self, *args: Any) -> Any:
        raise AssertionError

    def trigger_savepoint(self, *args: Any) -> Any:
        raise AssertionError

    def get_accumulators(self) -> Any:
        raise AssertionError

    def get_metrics(self) -> Any:
        raise AssertionError

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        return CompletableFuture(self.result)


@pytest.fixture
def jobs() -> list[Job]:
    return []


def stream(
    monkeypatch: pytest.MonkeyPatch, batches: list[list[Any]], ending: Callable[[Job], None], jobs: list[Job]
) -> DataStream:
    def submit(plan: JobPlan, configuration: Configuration) -> Job:
        jobs.append(Job(plan, batches, ending))
        return jobs[-1]

    monkeypatch.setattr(stream_execution_environment, "submit_job", submit)
    return StreamExecutionEnvironment.get_execution_environment().from_collection([0])


def finish(job: Job) -> None:
    return


def fail(job: Job) -> None:
    raise JobError("the map failed")


def run_until_cancelled(job: Job) -> None:
    job.stop.wait()


def test_records_come_in_order_of_their_batches(monkeypatch: pytest.MonkeyPatch, jobs: list[Job]) -> None:
    with stream(monkeypatch, [[1, 2], [], [3]], finish, jobs).execute_and_collect() as records:
        assert list(records) == [1, 2, 3]
        with pytest.raises(StopIteration):
            records.next()


def test_records_before_a_failure_are_returned_then_the_failure(
    monkeypatch: pytest.MonkeyPatch, jobs: list[Job]
) -> None:
    records: Any = stream(monkeypatch, [[1]], fail, jobs).execute_and_collect()
    assert next(records) == 1
    with pytest.raises(JobError, match="the map failed"):
        next(records)


def test_closing_stops_a_running_job(monkeypatch: pytest.MonkeyPatch, jobs: list[Job]) -> None:
    with stream(monkeypatch, [[1, 2]], run_until_cancelled, jobs).execute_and_collect() as records:
        assert next(records) == 1
        assert not jobs[0].stop.is_set()
    assert jobs[0].stop.is_set()
    assert list(records) == []


def test_a_limit_returns_a_list_and_stops_the_job(monkeypatch: pytest.MonkeyPatch, jobs: list[Job]) -> None:
    numbers = stream(monkeypatch, [[1, 2], [3]], run_until_cancelled, jobs)
    assert numbers.execute_and_collect(limit=2) == [1, 2]
    assert jobs[0].stop.is_set()


def test_a_limit_must_be_positive(monkeypatch: pytest.MonkeyPatch, jobs: list[Job]) -> None:
    with pytest.raises(ArgumentError, match="greater than 0"):
        stream(monkeypatch, [], finish, jobs).execute_and_collect(limit=0)
    assert jobs == []


def test_a_limit_does_not_wait_for_a_record_beyond_it(monkeypatch: pytest.MonkeyPatch, jobs: list[Job]) -> None:
    def ends_within_seconds(job: Job) -> None:
        job.stop.wait(5)

    numbers = stream(monkeypatch, [[1, 2]], ends_within_seconds, jobs)
    assert numbers.execute_and_collect(limit=2) == [1, 2]
    assert jobs[0].stop.is_set()


def test_records_of_a_keyed_stream_are_collected_without_their_keys() -> None:
    env = StreamExecutionEnvironment(Configuration.from_dict({"scurry.runner": "local"}))
    with env.from_collection([("a", 1), ("b", 2)]).key_by(lambda value: value[0]).execute_and_collect() as records:
        assert sorted(records) == [("a", 1), ("b", 2)]
