"""Configuration keys of checkpoints, state and restart strategies, with Flink's names and defaults."""

from __future__ import annotations

import os
from collections.abc import Callable

from scurry.common._config.option import parse_float
from scurry.common.config_options import (
    ConfigOption,
    at_least,
    duration_of,
    one_of,
    parse_boolean,
    parse_bytes,
    parse_duration,
)

_PREFIX = "execution.checkpointing."


CHECKPOINTING_MODE = ConfigOption(
    _PREFIX + "mode",
    one_of("EXACTLY_ONCE", "AT_LEAST_ONCE"),
    "EXACTLY_ONCE",
    "What a checkpoint promises; both get EXACTLY_ONCE.",
    instead="every checkpoint is EXACTLY_ONCE, which includes AT_LEAST_ONCE",
)
CHECKPOINT_TIMEOUT = ConfigOption(
    _PREFIX + "timeout",
    duration_of(10),
    600_000,
    "Longest time a checkpoint may take in Flink, in milliseconds.",
    instead="a slow micro-batch is not aborted; scurry.batch.target-duration sets how long one should take",
)
MIN_PAUSE = ConfigOption(
    _PREFIX + "min-pause",
    parse_duration,
    0,
    "Shortest time between the end of a micro-batch and the start of the next, in milliseconds.",
)
MAX_CONCURRENT_CHECKPOINTS = ConfigOption(
    _PREFIX + "max-concurrent-checkpoints",
    at_least(1),
    1,
    "Checkpoints under way at the same time in Flink.",
    instead="it is always 1: a micro-batch begins when the one before is committed",
)
TOLERABLE_FAILED_CHECKPOINTS = ConfigOption(
    _PREFIX + "tolerable-failed-checkpoints",
    at_least(0),
    0,
    "Failed checkpoints in a row that Flink bears with.",
    instead="a checkpoint that fails restarts the job: set restart-strategy.type",
)
RETENTION = ConfigOption(
    _PREFIX + "externalized-checkpoint-retention",
    one_of("DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION", "NO_EXTERNALIZED_CHECKPOINTS"),
    None,
    "What becomes of the checkpoints of a cancelled job: RETAIN_ON_CANCELLATION, as if not set, keeps them, "
    "DELETE_ON_CANCELLATION and NO_EXTERNALIZED_CHECKPOINTS delete them.",
)

CHECKPOINT_OPTIONS: tuple[ConfigOption[object], ...] = (
    CHECKPOINTING_MODE,
    CHECKPOINT_TIMEOUT,
    MIN_PAUSE,
    MAX_CONCURRENT_CHECKPOINTS,
    TOLERABLE_FAILED_CHECKPOINTS,
    RETENTION,
)  # type: ignore[assignment]


def _directory(text: str) -> str:
    if "," in text or not os.path.isabs(text):
        raise ValueError("expected the absolute path of one directory")
    return text


LOCAL_DIRECTORY = ConfigOption(
    "state.backend.rocksdb.localdir",
    _directory,
    None,
    "Where workers keep copies of large state; in Spark's local directory if not set.",
)
RECOVER_FROM_LOCAL = ConfigOption(
    "execution.state-recovery.from-local",
    parse_boolean,
    True,
    "Whether a job that resumes on the same machine uses the copies that it left there.",
    aliases=("state.backend.local-recovery",),
)
LOCAL_MAX_BYTES = ConfigOption(
    "scurry.state.local.max-bytes",
    parse_bytes,
    10 << 30,
    "How much the copies of jobs that do not run may have together; the oldest are removed when a job starts.",
)
SUPERSEDED_MAX_BYTES = ConfigOption(
    "scurry.state.superseded.max-bytes",
    parse_bytes,
    1 << 30,
    "How much large files of state that merges have superseded may take up in the checkpoint; each subtask has an "
    "equal part of it. Those to which the last ten micro-batches can be rolled back are kept anyway.",
)

STATE_OPTIONS: tuple[ConfigOption[object], ...] = (
    LOCAL_DIRECTORY,
    RECOVER_FROM_LOCAL,
    LOCAL_MAX_BYTES,
    SUPERSEDED_MAX_BYTES,
)  # type: ignore[assignment]
"""Every key of this subject."""


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
