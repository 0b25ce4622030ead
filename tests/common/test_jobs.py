from __future__ import annotations

import re
from concurrent.futures import CancelledError, Future

import pytest

from scurry.common import CompletableFuture, JobClient, JobExecutionResult, JobID, JobStatus


def test_job_ids_are_32_hexadecimal_digits_and_differ() -> None:
    first, second = JobID(), JobID()
    assert re.fullmatch("[0-9a-f]{32}", str(first))
    assert first != second and JobID(str(first)) == first
    with pytest.raises(ValueError, match="32"):
        JobID("abc")


def test_terminal_states_are_flinks() -> None:
    over = {JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED}
    assert {status for status in JobStatus if status.is_globally_terminal_state()} == over
    assert {status for status in JobStatus if status.is_terminal_state()} == over | {JobStatus.SUSPENDED}


def test_execution_result_reports_as_flink_does() -> None:
    job_id = JobID("0" * 32)
    result = JobExecutionResult(job_id, 5022, {"n": 3})
    assert (result.get_job_id(), result.get_net_runtime()) == (job_id, 5022)
    assert result.get_accumulator_result("n") == 3 and result.get_accumulator_result("m") is None
    assert str(result) == (
        f"Program execution finished\nJob with JobID {'0' * 32} has finished.\nJob Runtime: 5022 ms\n"
    )


def test_future_gives_its_result() -> None:
    future = CompletableFuture.completed(JobStatus.RUNNING)
    assert (future.done(), future.cancelled(), future.result(), future.exception()) == (
        True,
        False,
        JobStatus.RUNNING,
        None,
    )
    assert str(future) == "CompletableFuture[Completed normally]"


def test_future_gives_its_error() -> None:
    source: Future[int] = Future()
    future = CompletableFuture(source)
    assert not future.done() and future.exception() is None
    source.set_exception(RuntimeError("no"))
    assert isinstance(future.exception(), RuntimeError)
    with pytest.raises(RuntimeError, match="no"):
        future.result()


def test_pending_future_can_be_cancelled() -> None:
    future: CompletableFuture[int] = CompletableFuture()
    assert future.cancel() and future.cancelled() and future.done() and future.exception() is None
    with pytest.raises(CancelledError):
        future.result()


def test_job_client_is_for_runners_to_implement() -> None:
    with pytest.raises(TypeError, match="abstract"):
        JobClient()  # type: ignore[abstract]
