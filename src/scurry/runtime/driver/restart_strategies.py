"""Restart strategies: whether a failed job is restarted, and when (Flink's `RestartBackoffTimeStrategy`).

Pure logic on a clock: `runtime.driver.restarting` carries out what they decide.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

from scurry.common._config import fault_tolerance as options
from scurry.common.config_options import ConfigOption
from scurry.common.configuration import Configuration
from scurry.errors import ConfigError
from scurry.graph.settings import JobSettings
from scurry.runtime.clock import wall_clock_ms

Clock = Callable[[], int]
T = TypeVar("T")

_LARGEST = 1 << 62


class RestartStrategy(Protocol):
    """Decide after each failure whether to restart; its `str` describes the limits."""

    def failed(self) -> int | None:
        """Return the milliseconds until the job, which has just failed, is restarted; None for no restart."""


class NoRestart:
    """Never restart."""

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
    """Return the value of an option that has a default."""
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
