"""Restart strategies, and the loop that runs a job until it ends or its strategy gives up."""

from __future__ import annotations

import random
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from scurry._dataclasses import dataclass
from scurry.common._config import fault_tolerance as options
from scurry.common.config_options import ConfigOption
from scurry.common.configuration import Configuration
from scurry.common.redaction import without_secrets
from scurry.errors import ConfigError, JobCancelledError, ScurryError
from scurry.graph.settings import JobSettings
from scurry.runtime.clock import wall_clock_ms
from scurry.runtime.driver.job_log import WARNING
from scurry.runtime.driver.steps import Steps, Wait, steps_of
from scurry.runtime.failure import is_permanent

if TYPE_CHECKING:
    from scurry.runtime.driver.job import JobExecution, Runner

Clock = Callable[[], int]
T = TypeVar("T")

_LARGEST = 1 << 62


class RestartStrategy(Protocol):
    """Decide after each failure whether to restart; its `str` describes the limits."""

    def failed(self) -> int | None:
        """Return the milliseconds until the job, which has just failed, is restarted; None for no restart."""


class NoRestart:
    def failed(self) -> int | None:
        return None

    def __str__(self) -> str:
        return "none"


class FixedDelay:
    """Restart a number of times, always after the same delay.

    Args:
        attempts: The maximum number of restarts.
        delay: Time before each, in milliseconds.
    """

    def __init__(self, attempts: int, delay: int) -> None:
        self._attempts = attempts
        self._delay = delay
        self._failures = 0

    def failed(self) -> int | None:
        self._failures += 1
        return self._delay if self._failures <= self._attempts else None

    def __str__(self) -> str:
        return f"fixed-delay (attempts {self._attempts}, delay {self._delay} ms)"


class FailureRate:
    """Restart as long as failures are not too frequent.

    Args:
        max_failures: The maximum number of failures in an interval that are followed by a restart.
        interval: Its length in milliseconds.
        delay: Time before each restart, in milliseconds.
        clock: Returns milliseconds.
    """

    def __init__(self, max_failures: int, interval: int, delay: int, clock: Clock) -> None:
        self._interval = interval
        self._delay = delay
        self._clock = clock
        #: times of the latest failures, one more than an interval may have
        self._latest: deque[int] = deque(maxlen=max_failures + 1)

    def failed(self) -> int | None:
        now, latest = self._clock(), self._latest
        latest.append(now)
        too_many = len(latest) == latest.maxlen and now - latest[0] <= self._interval
        return None if too_many else self._delay

    def __str__(self) -> str:
        most = (self._latest.maxlen or 0) - 1
        return f"failure-rate (max-failures-per-interval {most}, interval {self._interval} ms, delay {self._delay} ms)"


class ExponentialDelay:
    """Restart after growing delays, until the job has run for a while without failure.

    Args:
        initial: Time before the first restart, in milliseconds.
        longest: The maximum delay, in milliseconds.
        multiplier: The factor by which the delay grows.
        reset_threshold: Time without failure after which delay and attempts are reset, in milliseconds.
        jitter: Share of the delay by which it is randomly longer or shorter.
        attempts: The maximum number of restarts until the reset.
        clock: Returns milliseconds.
        random_int: Returns a random whole number between two, both included.
    """

    def __init__(
        self,
        initial: int,
        longest: int,
        multiplier: float,
        reset_threshold: int,
        jitter: float,
        attempts: int,
        clock: Clock,
        random_int: Callable[[int, int], int] = random.randint,
    ) -> None:
        self._initial = initial
        self._longest = longest
        self._multiplier = multiplier
        self._reset_threshold = reset_threshold
        self._jitter = jitter
        self._attempts = attempts
        self._clock = clock
        self._random_int = random_int
        self._restarts = 0
        #: when the job was restarted last; None before the first failure
        self._restarted: int | None = None

    def failed(self) -> int | None:
        now = self._clock()
        if self._restarted is not None and now - self._restarted >= self._reset_threshold:
            self._restarts = 0
        delay = self._delay()
        self._restarts += 1
        self._restarted = now + delay
        return delay if self._restarts <= self._attempts else None

    def _delay(self) -> int:
        try:
            grown = int(min(self._initial * self._multiplier**self._restarts, _LARGEST))
        except OverflowError:  # a power that exceeds a float
            grown = _LARGEST
        offset = int(grown * self._jitter)
        delay = grown + (self._random_int(-offset, offset) if offset else 0)
        return max(self._initial, min(delay, self._longest))

    def __str__(self) -> str:
        limit = "" if self._attempts >= (1 << 31) - 1 else f", attempts-before-reset-backoff {self._attempts}"
        return f"exponential-delay (initial-backoff {self._initial} ms, max-backoff {self._longest} ms{limit})"


def restart_strategy(settings: JobSettings, clock: Clock = wall_clock_ms) -> RestartStrategy:
    """Return the configured strategy.

    Without `restart-strategy.type` it is, as in Flink 2, exponential-delay with its default values (regardless of the
    other keys) if checkpointing is enabled, and none otherwise. BATCH jobs have no checkpoints.

    Raises:
        ConfigError: Its values contradict each other.
    """
    configuration = Configuration.from_dict(settings.configuration)
    kind = configuration.get(options.RESTART_STRATEGY)
    if kind is None and settings.checkpoint_interval_ms is not None:
        kind, configuration = "exponential-delay", Configuration()
    return _BUILDERS[kind or "none"](configuration, clock)


def _value(configuration: Configuration, option: ConfigOption[T]) -> T:
    value = configuration.get(option)
    assert value is not None
    return value


def _fixed_delay(configuration: Configuration, clock: Clock) -> RestartStrategy:
    get = partial(_value, configuration)
    return FixedDelay(get(options.FIXED_DELAY_ATTEMPTS), get(options.FIXED_DELAY))


def _failure_rate(configuration: Configuration, clock: Clock) -> RestartStrategy:
    get = partial(_value, configuration)
    return FailureRate(
        get(options.FAILURE_RATE_MAX_FAILURES),
        get(options.FAILURE_RATE_INTERVAL),
        get(options.FAILURE_RATE_DELAY),
        clock,
    )


def _exponential_delay(configuration: Configuration, clock: Clock) -> RestartStrategy:
    get = partial(_value, configuration)
    initial, longest = get(options.EXPONENTIAL_INITIAL_BACKOFF), get(options.EXPONENTIAL_MAX_BACKOFF)
    if initial > longest:
        raise ConfigError(
            f"{options.EXPONENTIAL_INITIAL_BACKOFF.key} ({initial} ms) cannot be longer than "
            f"{options.EXPONENTIAL_MAX_BACKOFF.key} ({longest} ms)"
        )
    return ExponentialDelay(
        initial,
        longest,
        get(options.EXPONENTIAL_MULTIPLIER),
        get(options.EXPONENTIAL_RESET_THRESHOLD),
        get(options.EXPONENTIAL_JITTER),
        get(options.EXPONENTIAL_ATTEMPTS),
        clock,
    )


_BUILDERS: dict[str, Callable[[Configuration, Clock], RestartStrategy]] = {
    "none": lambda configuration, clock: NoRestart(),
    "fixed-delay": _fixed_delay,
    "failure-rate": _failure_rate,
    "exponential-delay": _exponential_delay,
}


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


def failure_of_attempt(
    error: BaseException, settings: JobSettings, delay: int | None, now_ms: int | None = None
) -> JobFailure:
    """Return the record of an error that ended an attempt, without the job's secrets."""
    failure: Any = getattr(error, "failure", None)
    name, operator = type(error).__name__, None
    if failure is not None:
        text, details, name, operator = str(failure), failure.details, failure.error, failure.operator
    else:
        hints = getattr(error, "__notes__", ()) if isinstance(error, ScurryError) else ()
        text, details = "\n".join([f"{name}: {error}", *hints]), "".join(traceback.format_exception(error))
    text, details = (without_secrets(each, settings.configuration) for each in (text, details))
    now_ms = wall_clock_ms() if now_ms is None else now_ms
    return JobFailure(now_ms, settings.attempt, text, details, name, operator, delay)


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


def steps_with_restarts(
    job: JobExecution, runner: Runner, strategy: RestartStrategy, restarting: Callable[[bool], None]
) -> Steps[None]:
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
            yield from steps_of(runner, job)
            return
        except BaseException as error:
            job.requests.attempt_failed(error)
            if job.stopping.is_set() and isinstance(error, JobCancelledError):
                return
            delay = None if job.stopping.is_set() or is_permanent(error) else strategy.failed()
            failure = failure_of_attempt(error, job.plan.settings, delay, job.clock.wall_ms())
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
        until = job.clock.monotonic() + delay / 1000
        while not job.stopping.is_set() and (left := until - job.clock.monotonic()) > 0:
            yield Wait(left, job.stopping.wait)
        if job.stopping.is_set():
            return
        job.begin_attempt()
        restarting(False)
