"""Configuration keys of Flink's adaptive batch scheduler, with Flink's names."""

from __future__ import annotations

from scurry.common.config_options import ConfigOption, at_least, parse_boolean, parse_bytes

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
