"""Configuration keys of restart strategies, with Flink's names and defaults."""

from __future__ import annotations

from collections.abc import Callable

from scurry.common._config.option import parse_float
from scurry.common.config_options import ConfigOption, at_least, duration_of, parse_duration

_TYPES = {
    **dict.fromkeys(("none", "off", "disable"), "none"),
    **dict.fromkeys(("fixed-delay", "fixeddelay"), "fixed-delay"),
    **dict.fromkeys(("failure-rate", "failurerate"), "failure-rate"),
    **dict.fromkeys(("exponential-delay", "exponentialdelay"), "exponential-delay"),
}


def _strategy_type(text: str) -> str:
    """Return the one name of a strategy for which Flink accepts several."""
    name = _TYPES.get(text.strip().lower())
    if name is None:
        raise ValueError("expected one of none, fixed-delay, failure-rate, exponential-delay")
    return name


def _number(text: str, fits: Callable[[float], bool], expected: str) -> float:
    number = parse_float(text)
    if not fits(number):
        raise ValueError(f"expected {expected}")
    return number


RESTART_STRATEGY = ConfigOption(
    "restart-strategy.type",
    _strategy_type,
    None,
    "What happens when a job fails: none, fixed-delay, failure-rate or exponential-delay; exponential-delay with its "
    "defaults if not set and checkpointing is enabled, else none.",
    aliases=("restart-strategy",),
)
FIXED_DELAY_ATTEMPTS = ConfigOption(
    "restart-strategy.fixed-delay.attempts", at_least(0), 1, "How often a failed job is restarted."
)
FIXED_DELAY = ConfigOption(
    "restart-strategy.fixed-delay.delay", parse_duration, 1_000, "Wait before a restart, in milliseconds."
)
FAILURE_RATE_DELAY = ConfigOption(
    "restart-strategy.failure-rate.delay", parse_duration, 1_000, "Wait before a restart, in milliseconds."
)
FAILURE_RATE_INTERVAL = ConfigOption(
    "restart-strategy.failure-rate.failure-rate-interval",
    duration_of(1),
    60_000,
    "Time in which failures are counted, in milliseconds.",
)
FAILURE_RATE_MAX_FAILURES = ConfigOption(
    "restart-strategy.failure-rate.max-failures-per-interval",
    at_least(1),
    1,
    "The most failures in that time after which the job is restarted.",
)
EXPONENTIAL_INITIAL_BACKOFF = ConfigOption(
    "restart-strategy.exponential-delay.initial-backoff", duration_of(1), 1_000, "First wait, in milliseconds."
)
EXPONENTIAL_MAX_BACKOFF = ConfigOption(
    "restart-strategy.exponential-delay.max-backoff", duration_of(1), 60_000, "Longest wait, in milliseconds."
)
EXPONENTIAL_MULTIPLIER = ConfigOption(
    "restart-strategy.exponential-delay.backoff-multiplier",
    lambda text: _number(text, lambda number: number > 1, "more than 1"),
    1.5,
    "By what the wait grows with each failure.",
)
EXPONENTIAL_RESET_THRESHOLD = ConfigOption(
    "restart-strategy.exponential-delay.reset-backoff-threshold",
    duration_of(1),
    3_600_000,
    "Time without failure after which the next wait is the first one again, in milliseconds.",
)
EXPONENTIAL_JITTER = ConfigOption(
    "restart-strategy.exponential-delay.jitter-factor",
    lambda text: _number(text, lambda number: 0 <= number <= 1, "0 to 1"),
    0.1,
    "Share of the wait by which it is randomly longer or shorter.",
)
EXPONENTIAL_ATTEMPTS = ConfigOption(
    "restart-strategy.exponential-delay.attempts-before-reset-backoff",
    at_least(1),
    (1 << 31) - 1,
    "Restarts without such a time in between before the job has failed for good.",
)

RESTART_OPTIONS: tuple[ConfigOption[object], ...] = (
    RESTART_STRATEGY,
    FIXED_DELAY_ATTEMPTS,
    FIXED_DELAY,
    FAILURE_RATE_DELAY,
    FAILURE_RATE_INTERVAL,
    FAILURE_RATE_MAX_FAILURES,
    EXPONENTIAL_INITIAL_BACKOFF,
    EXPONENTIAL_MAX_BACKOFF,
    EXPONENTIAL_MULTIPLIER,
    EXPONENTIAL_RESET_THRESHOLD,
    EXPONENTIAL_JITTER,
    EXPONENTIAL_ATTEMPTS,
)  # type: ignore[assignment]
