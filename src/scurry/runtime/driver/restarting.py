"""Runs a job until it ends or its restart strategy gives up."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scurry.runtime.driver.restart_strategies import RestartStrategy

if TYPE_CHECKING:
    from scurry.runtime.driver.job import JobExecution, Runner

#: Failures a job remembers, the latest; as many as Flink does (`web.exception-history-size`).
KEPT_FAILURES = 16


@dataclass(frozen=True)
class JobFailure:
    """One time that a job failed.

    Attributes:
        timestamp_ms: When.
        attempt: How often the job had been restarted before.
        text: What went wrong, the user's side first: function, operator, record.
        details: The whole story, with tracebacks.
        error: Name of the exception's class.
        operator: Name of the operator, None if none is to blame.
        restart_delay_ms: Time until the job was restarted, None if that was the end.
    """

    timestamp_ms: int
    attempt: int
    text: str
    details: str
    error: str
    operator: str | None = None
    restart_delay_ms: int | None = None


def failure_of_attempt(error: BaseException, attempt: int, delay: int | None) -> JobFailure:
    """What is remembered of an error that ended an attempt."""
    failure: Any = getattr(error, "failure", None)
    now = time.time_ns() // 1_000_000
    if failure is not None:
        return JobFailure(now, attempt, str(failure), failure.details, failure.error, failure.operator, delay)
    name = type(error).__name__
    return JobFailure(
        now, attempt, f"{name}: {error}", "".join(traceback.format_exception(error)), name, None, delay
    )  # fmt: skip


def run_with_restarts(
    job: JobExecution, runner: Runner, strategy: RestartStrategy, restarting: Callable[[bool], None]
) -> None:
    """Runs a job, again and again while it fails and the strategy allows it.

    Args:
        job: The job; `job.stopping` ends the wait for a restart, and the job with it.
        runner: Continues from the last committed batch when it is called again.
        strategy: Whether and when to restart.
        restarting: Told True when a wait for a restart begins and False when it is over.

    Raises:
        BaseException: What the last attempt failed with.
    """
    while True:
        try:
            runner.run(job)
            return
        except BaseException as error:
            delay = None if job.stopping.is_set() or is_permanent(error) else strategy.failed()
            failure = failure_of_attempt(error, job.attempt, delay)
            job.failures.append(failure)
            if delay is None:
                raise
        job.note(
            f"failed, restart {job.attempt + 1} in {delay / 1000:g} s ({strategy})\n"
            + "\n".join(f"  {line}" for line in failure.text.splitlines())
        )
        restarting(True)
        if job.stopping.wait(delay / 1000):
            return
        job.begin_attempt()
        restarting(False)


def is_permanent(error: BaseException) -> bool:
    """Whether running the job again cannot help: the program, its configuration or its checkpoint has to change."""
    return not isinstance(error, Exception) or getattr(error, "permanent", False) is True
