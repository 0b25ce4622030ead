"""Configuration keys of Flink's adaptive scheduler, with Flink's names; `runtime.driver.scaling` uses them."""

from __future__ import annotations

from scurry.common.config_options import ConfigOption, one_of, parse_duration

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
