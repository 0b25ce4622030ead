"""A job that fails is run again as its restart strategy says; its failures are told and remembered."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common.job_status import JobStatus
from scurry.errors import ConfigError, JobError, KeyedStateError, UnpicklableFunctionError, UnsupportedError
from scurry.graph.nodes import Origin
from scurry.graph.operators import Map
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.graph.settings import JobSettings
from scurry.runtime.driver.client import RunningJob
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.failure import operator_error
from scurry.runtime.progress import ProgressDisplay

THREE_TIMES = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "3",
    "restart-strategy.fixed-delay.delay": "1 ms",
}
FOREVER = {**THREE_TIMES, "restart-strategy.fixed-delay.delay": "1 h"}
PARSE = OperatorPlan(1, "parse", "parse", Map(int), None, 1, Origin("program.py", 3))


class Failing:
    """A runner whose first runs fail with these errors."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.attempts: list[int] = []

    def run(self, job: JobExecution) -> None:
        self.attempts.append(job.attempt)
        if self.errors:
            raise self.errors.pop(0)


def execution(configuration: dict[str, str], **settings: Any) -> JobExecution:
    configuration = {"scurry.progress": "plain", **configuration}
    return JobExecution(JobPlan(JobSettings("parsing", 1, configuration=configuration, **settings)))


def started(runner: Any, configuration: dict[str, str] = THREE_TIMES, **settings: Any) -> RunningJob:
    return RunningJob(execution(configuration, **settings), runner)


def status(job: RunningJob) -> JobStatus:
    return job.get_job_status().result()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def user_error() -> Exception:
    return operator_error(PARSE, ValueError("invalid literal"), "x7")


def test_a_job_that_recovers_has_succeeded() -> None:
    runner = Failing(user_error(), user_error())
    job = started(runner)
    job.get_job_execution_result().result()
    assert runner.attempts == [0, 1, 2] and status(job) is JobStatus.FINISHED


def test_a_job_that_uses_up_its_restarts_fails_with_the_last_failure() -> None:
    runner = Failing(*(OSError(f"number {n}") for n in range(9)))
    with pytest.raises(JobError, match=r"failed after 3 restarts\.\nOSError: number 3"):
        started(runner).get_job_execution_result().result()
    assert runner.attempts == [0, 1, 2, 3]


def test_without_checkpointing_and_strategy_the_first_failure_is_the_end() -> None:
    runner = Failing(user_error())
    job = started(runner, {})
    with pytest.raises(JobError, match=r"Job 'parsing' failed\.\nValueError: invalid literal"):
        job.get_job_execution_result().result()
    assert runner.attempts == [0] and status(job) is JobStatus.FAILED


def test_with_checkpointing_a_job_is_restarted_by_default() -> None:
    runner = Failing(user_error())
    job = started(runner, {}, checkpoint_interval_ms=1_000)
    wait_until(lambda: status(job) is JobStatus.RESTARTING)
    job.cancel().result()


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(), ConfigError("no such directory"), UnsupportedError("no such part"),
        UnpicklableFunctionError("a lock"), operator_error(PARSE, KeyedStateError("no key"), "x7"),
        operator_error(PARSE, NameError("name 'jsn' is not defined"), "x7"),
        operator_error(PARSE, ModuleNotFoundError("No module named 'numpi'")),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_what_no_restart_can_mend_fails_at_once(error: BaseException) -> None:
    runner = Failing(error)
    with pytest.raises(JobError):
        started(runner).get_job_execution_result().result()
    assert runner.attempts == [0]


def test_a_strategy_that_makes_no_sense_is_refused_before_anything_runs() -> None:
    settings = {"restart-strategy": "exponential-delay", "restart-strategy.exponential-delay.initial-backoff": "1 h"}
    runner = Failing()
    with pytest.raises(ConfigError, match="initial-backoff .* cannot be longer than .*max-backoff"):
        started(runner, settings)
    assert runner.attempts == []


def test_cancelling_ends_the_wait_for_a_restart() -> None:
    runner = Failing(user_error())
    job = started(runner, FOREVER)
    wait_until(lambda: status(job) is JobStatus.RESTARTING)
    job.cancel().result()
    assert status(job) is JobStatus.CANCELED and runner.attempts == [0]


def test_a_failure_while_the_job_is_being_stopped_is_the_end() -> None:
    class FailsWhenStopped:
        def run(self, job: JobExecution) -> None:
            job.stopping.wait()
            raise OSError("disk full")

    job = started(FailsWhenStopped(), FOREVER)
    job.cancel().result()
    assert status(job) is JobStatus.FAILED


def test_failures_are_remembered_with_who_is_to_blame() -> None:
    job = started(Failing(user_error(), OSError("disk full")))
    job.get_job_execution_result().result()
    first, second = job.execution.failures
    assert (first.attempt, first.error, first.operator, first.restart_delay_ms) == (0, "ValueError", "parse", 1)
    assert first.text.startswith("ValueError: invalid literal") and "record: 'x7'" in first.text
    assert (second.attempt, second.text, second.operator) == (1, "OSError: disk full", None)
    assert 0 <= time.time() * 1000 - first.timestamp_ms < 60_000


def test_only_the_latest_failures_are_remembered() -> None:
    settings = {**THREE_TIMES, "restart-strategy.fixed-delay.attempts": "20", "restart-strategy.fixed-delay.delay": "0"}
    job = started(Failing(*(OSError(str(n)) for n in range(20))), settings)
    job.get_job_execution_result().result()
    assert [failure.attempt for failure in job.execution.failures] == list(range(4, 20))


def test_a_failure_is_shown_when_it_happens_and_the_summary_counts_restarts() -> None:
    stderr, running = io.StringIO(), threading.Event()

    class RunsOn(Failing):
        def run(self, job: JobExecution) -> None:
            running.wait()
            super().run(job)

    job = started(RunsOn(user_error()))
    with ProgressDisplay(job.execution, stderr):
        running.set()
        job.get_job_execution_result().result()
    lines = stderr.getvalue().splitlines()
    assert lines[0] == "parsing: failed, restart 1 in 0.001 s (fixed-delay (attempts 3, delay 1 ms))"
    assert lines[1:4] == [
        "  ValueError: invalid literal",
        "    in operator 'parse' built at program.py:3",
        "    record: 'x7'",
    ]
    assert lines[-1].endswith(", 1 restart")


def test_a_record_that_fails_again_is_said_to_be_the_same() -> None:
    other, stderr, running = (
        operator_error(PARSE, ValueError("invalid literal"), "y8"),
        io.StringIO(),
        threading.Event(),
    )

    class RunsOn(Failing):
        def run(self, job: JobExecution) -> None:
            running.wait()
            super().run(job)

    job = started(RunsOn(user_error(), user_error(), other))
    with ProgressDisplay(job.execution, stderr):
        running.set()
        job.get_job_execution_result().result()
    told = [line for line in stderr.getvalue().splitlines() if "restart" in line][:4]
    assert [line[:50] for line in told] == [
        "parsing: failed, restart 1 in 0.001 s (fixed-delay",
        "parsing: failed, restart 2 in 0.001 s (fixed-delay",
        "    the same record has failed 2 times now, and a ",
        "parsing: failed, restart 3 in 0.001 s (fixed-delay",
    ]


def test_a_record_that_fails_again_and_again_is_shown_once_more_and_then_counted() -> None:
    stderr, running = io.StringIO(), threading.Event()

    class RunsOn(Failing):
        def run(self, job: JobExecution) -> None:
            running.wait()
            super().run(job)

    job = started(RunsOn(user_error(), user_error(), user_error()))
    with ProgressDisplay(job.execution, stderr):
        running.set()
        job.get_job_execution_result().result()
    lines = stderr.getvalue().splitlines()
    third = next(index for index, line in enumerate(lines) if "restart 3" in line)
    assert lines[third + 1] == "  ValueError: invalid literal"
    assert lines[third + 2].startswith("    the same record has failed 3 times now, ")
    assert "program.py" not in "".join(lines[third:])


def test_what_a_job_leaves_to_clean_up_is_cleaned_up_once_at_its_end() -> None:
    cleaned: list[int] = []

    class Cleans(Failing):
        def run(self, job: JobExecution) -> None:
            if not job.attempt:
                job.cleanup.callback(lambda: cleaned.append(job.attempt))
            assert not cleaned
            super().run(job)

    started(Cleans(user_error(), user_error())).get_job_execution_result().result()
    assert cleaned == [2]
