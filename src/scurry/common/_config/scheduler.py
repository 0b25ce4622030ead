"""Configuration keys of Flink's adaptive scheduler, with Flink's names; `runtime.driver.scaling` uses them."""

from __future__ import annotations

from scurry.common.config_options import ConfigOption, at_least, one_of, parse_boolean, parse_bytes, parse_duration

_ADAPTIVE = "jobmanager.adaptive-scheduler"

SCHEDULER = ConfigOption(
    "jobmanager.scheduler",
    one_of("Default", "Adaptive", "AdaptiveBatch"),
    "Default",
    "Adaptive: a STREAMING job runs with as many subtasks as Spark has task slots, up to its parallelism.",
)
SCHEDULER_MODE = ConfigOption(
    "scheduler-mode",
    one_of("REACTIVE"),
    None,
    "REACTIVE: as jobmanager.scheduler Adaptive, up to the number of key groups, regardless of the parallelism.",
)
SUBMISSION_STABILIZATION = ConfigOption(
    f"{_ADAPTIVE}.submission.resource-stabilization-timeout",
    parse_duration,
    10_000,
    "How long the number of task slots must not change before an adaptive job starts, in milliseconds.",
    aliases=(f"{_ADAPTIVE}.resource-stabilization-timeout",),
)
EXECUTING_STABILIZATION = ConfigOption(
    f"{_ADAPTIVE}.executing.resource-stabilization-timeout",
    parse_duration,
    60_000,
    "How long the number of task slots must not change before a running adaptive job follows it, in milliseconds.",
)
COOLDOWN = ConfigOption(
    f"{_ADAPTIVE}.executing.cooldown-after-rescaling",
    parse_duration,
    30_000,
    "Time for which an adaptive job keeps its parallelism after a start or a change, in milliseconds.",
    aliases=(f"{_ADAPTIVE}.scaling-interval.min",),
)

SCHEDULER_OPTIONS: tuple[ConfigOption[object], ...] = (
    SCHEDULER,
    SCHEDULER_MODE,
    SUBMISSION_STABILIZATION,
    EXECUTING_STABILIZATION,
    COOLDOWN,
)  # type: ignore[assignment]
"""Every key of this subject."""


_PREFIX = "execution.batch.adaptive.auto-parallelism"
_FORMER_PREFIX = "jobmanager.adaptive-batch-scheduler"

AUTO_PARALLELISM = ConfigOption(
    f"{_PREFIX}.enabled",
    parse_boolean,
    True,
    "BATCH on Spark: whether subtasks with little input share a task.",
)
VOLUME_PER_TASK = ConfigOption(
    f"{_PREFIX}.avg-data-volume-per-task",
    parse_bytes,
    None,
    "BATCH on Spark: subtasks share a task up to this size, as Spark compresses it; if not set, up to 1 mb, and up to "
    "64 mb while there are tasks for all slots.",
    aliases=(f"{_FORMER_PREFIX}.avg-data-volume-per-task",),
)
LEAST_PARALLELISM = ConfigOption(
    f"{_PREFIX}.min-parallelism",
    at_least(1),
    1,
    "BATCH on Spark: the fewest tasks that subtasks share.",
    aliases=(f"{_FORMER_PREFIX}.min-parallelism",),
)
MOST_PARALLELISM = ConfigOption(
    f"{_PREFIX}.max-parallelism",
    at_least(1),
    None,
    "BATCH: the number of subtasks of operators that do not set their own, if it is below parallelism.default.",
    aliases=(f"{_FORMER_PREFIX}.max-parallelism",),
)

ADAPTIVE_BATCH_OPTIONS: tuple[ConfigOption[object], ...] = (
    AUTO_PARALLELISM,
    VOLUME_PER_TASK,
    LEAST_PARALLELISM,
    MOST_PARALLELISM,
)  # type: ignore[assignment]
"""Every key of this subject."""
