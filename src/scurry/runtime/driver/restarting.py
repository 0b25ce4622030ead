"""Run a job until it ends or its restart strategy gives up."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from scurry.common.redaction import without_secrets
from scurry.errors import JobCancelledError, ScurryError
from scurry.graph.settings import JobSettings
from scurry.runtime.driver.job_log import WARNING
from scurry.runtime.driver.restart_strategies import RestartStrategy
from scurry.runtime.failure import is_permanent

if TYPE_CHECKING:
    from scurry.runtime.driver.job import JobExecution, Runner

#: The number of latest failures that a job keeps; as many as Flink (`web.exception-history-size`).
KEPT_FAILURES = 16


@dataclass(frozen=True)
class JobFailure:
    """A failure of a job.

    Attributes:
        timestamp_ms: When.
        attempt: How often the job had been restarted before.
        text: The failure, the user's side first: function, operator, record.
        details: All details, with tracebacks.
        error: Name of the exception's class.
        operator: Name of the operator, None if no operator caused it.
        restart_delay_ms: Time until the job was restarted, None if it was not.
    """

    timestamp_ms: int
    attempt: int
    text: str
    details: str
    error: str
    operator: str | None = None
    restart_delay_ms: int | None = None


def failure_of_attempt(error: BaseException, settings: JobSettings, delay: int | None) -> JobFailure:
    """Return the record of an error that ended an attempt, without the job's secrets."""
    failure: Any = getattr(error, "failure", None)
    name, operator = type(error).__name__, None
    if failure is not None:
        text, details, name, operator = str(failure), failure.details, failure.error, failure.operator
    else:
        hints = getattr(error, "__notes__", ()) if isinstance(error, ScurryError) else ()
        text, details = "\n".join([f"{name}: {error}", *hints]), "".join(traceback.format_exception(error))
    text, details = (without_secrets(each, settings.configuration) for each in (text, details))
    return JobFailure(time.time_ns() // 1_000_000, settings.attempt, text, details, name, operator, delay)


def _shown(failures: Sequence[JobFailure]) -> list[str]:
    """Return the lines of the latest failure; of one that has occurred before, how often it has in a row.

    From the third time on, only the first line is shown again.
    """
    latest = failures[-1]
    lines = latest.text.splitlines()
    same = sum(1 for _ in takewhile(lambda each: each.text == latest.text, reversed(failures)))
    if same < 2 or "\n  record: " not in latest.text:
        return lines
    count = f"{same} times" if same < KEPT_FAILURES else f"{same} times or more"
    return [
        *(lines if same == 2 else lines[:1]),  # noqa: PLR2004
        f"  the same record has failed {count} now, and a restart does not change it: mend the function, or send such "
        "records to a side output with with_dead_letters(tag)",
    ]


def run_with_restarts(
    job: JobExecution, runner: Runner, strategy: RestartStrategy, restarting: Callable[[bool], None]
) -> None:
    """Run a job, and run it again while it fails and the strategy allows it.

    Args:
        job: The job; `job.stopping` ends the wait for a restart, and with it the job.
        runner: Resumes from the last committed batch when it is called again; it ends a job that is stopped, or raises
            JobCancelledError.
        strategy: Decides whether and when to restart.
        restarting: Called with True when a wait for a restart begins and with False when it is over.

    Raises:
        BaseException: The error of the last attempt.
    """
    while True:
        try:
            runner.run(job)
            return
        except BaseException as error:
            if job.stopping.is_set() and isinstance(error, JobCancelledError):
                return
            delay = None if job.stopping.is_set() or is_permanent(error) else strategy.failed()
            failure = failure_of_attempt(error, job.plan.settings, delay)
            job.failures.append(failure)
            if delay is None:
                raise
            shown = _shown(job.failures)
        job.log.note(
            event="restarted",
            operator=failure.operator,
            level=WARNING,
            text=f"failed, restart {job.attempt + 1} in {delay / 1000:g} s ({strategy})\n"
            + "\n".join(f"  {line}" for line in shown),
        )
        restarting(True)
        if job.stopping.wait(delay / 1000):
            return
        job.begin_attempt()
        restarting(False)
