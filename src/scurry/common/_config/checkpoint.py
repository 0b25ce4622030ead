"""Configuration keys of checkpoints, except directory and interval, with Flink's names and defaults."""

from __future__ import annotations

from scurry.common.config_options import ConfigOption, at_least, duration_of, one_of, parse_duration

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
