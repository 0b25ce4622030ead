"""Configuration keys that tune Flink itself: programs can set and read them, but they have no effect here."""

from __future__ import annotations

from scurry.common.config_options import ConfigOption, one_of, parse_boolean, parse_duration

__all__ = [
    "ALIGNED_CHECKPOINT_TIMEOUT",
    "BUFFER_TIMEOUT",
    "BUFFER_TIMEOUT_ENABLED",
    "CHAIN_DIFFERENT_MAX_PARALLELISM",
    "CLOSURE_CLEANER_LEVEL",
    "FORCE_AVRO",
    "FORCE_KRYO",
    "FORCE_UNALIGNED",
    "GENERIC_TYPES",
    "LATENCY_INTERVAL",
    "OBJECT_REUSE",
    "SNAPSHOT_COMPRESSION",
    "STATE_CHANGELOG",
    "TASK_CANCELLATION_INTERVAL",
    "TASK_CANCELLATION_TIMEOUT",
    "TUNING_OPTIONS",
    "UNALIGNED",
]

CLOSURE_CLEANER_LEVEL = ConfigOption(
    "pipeline.closure-cleaner-level",
    one_of("NONE", "TOP_LEVEL", "RECURSIVE"),
    "RECURSIVE",
    "How thoroughly Flink cleans the closures of Java functions.",
)
FORCE_AVRO = ConfigOption("pipeline.force-avro", parse_boolean, False, "Whether Java's POJOs are written with Avro.")
FORCE_KRYO = ConfigOption("pipeline.force-kryo", parse_boolean, False, "Whether Java's POJOs are written with Kryo.")
GENERIC_TYPES = ConfigOption(
    "pipeline.generic-types", parse_boolean, True, "Whether Java types that only Kryo can write are allowed."
)
OBJECT_REUSE = ConfigOption(
    "pipeline.object-reuse",
    parse_boolean,
    False,
    "Whether records are handed over without copies: what changes a record in place, changes it for all who have it.",
)
CHAIN_DIFFERENT_MAX_PARALLELISM = ConfigOption(
    "pipeline.operator-chaining.chain-operators-with-different-max-parallelism",
    parse_boolean,
    True,
    "Whether operators of different max parallelism may share a task.",
)
LATENCY_INTERVAL = ConfigOption(
    "metrics.latency.interval", parse_duration, 0, "Time between latency markers, in milliseconds; 0 emits none."
)
TASK_CANCELLATION_INTERVAL = ConfigOption(
    "task.cancellation.interval",
    parse_duration,
    30_000,
    "Time between attempts to cancel a task, in milliseconds.",
    aliases=("task.cancellation-interval",),
)
TASK_CANCELLATION_TIMEOUT = ConfigOption(
    "task.cancellation.timeout",
    parse_duration,
    180_000,
    "Time after which a task that does not let itself be cancelled ends its process, in milliseconds; 0 is never.",
)
SNAPSHOT_COMPRESSION = ConfigOption(
    "execution.checkpointing.snapshot-compression", parse_boolean, False, "Whether Flink compresses its snapshots."
)
UNALIGNED = ConfigOption(
    "execution.checkpointing.unaligned.enabled",
    parse_boolean,
    False,
    "Whether barriers overtake records; there are no barriers here.",
    aliases=("execution.checkpointing.unaligned",),
)
FORCE_UNALIGNED = ConfigOption(
    "execution.checkpointing.unaligned.forced",
    parse_boolean,
    False,
    "Whether unaligned checkpoints are forced, even where Flink does not allow them by default.",
)
ALIGNED_CHECKPOINT_TIMEOUT = ConfigOption(
    "execution.checkpointing.aligned-checkpoint-timeout",
    parse_duration,
    0,
    "Time after which barriers begin to overtake records, in milliseconds.",
    aliases=("execution.checkpointing.alignment-timeout",),
)
STATE_CHANGELOG = ConfigOption(
    "state.changelog.enabled",
    parse_boolean,
    None,
    "Whether Flink writes changes of state to a log.",
    aliases=("state.backend.changelog.enabled",),
)
BUFFER_TIMEOUT = ConfigOption(
    "execution.buffer-timeout.interval",
    lambda text: -1 if text == "-1 ms" else parse_duration(text),
    100,
    "Longest time for which Flink holds back records to fill a network buffer, in milliseconds.",
    aliases=("execution.buffer-timeout",),
)
BUFFER_TIMEOUT_ENABLED = ConfigOption(
    "execution.buffer-timeout.enabled",
    parse_boolean,
    True,
    "Whether that time is limited; otherwise Flink waits until a buffer is full.",
)

TUNING_OPTIONS: tuple[ConfigOption[object], ...] = (
    CLOSURE_CLEANER_LEVEL,
    FORCE_AVRO,
    FORCE_KRYO,
    GENERIC_TYPES,
    OBJECT_REUSE,
    CHAIN_DIFFERENT_MAX_PARALLELISM,
    LATENCY_INTERVAL,
    TASK_CANCELLATION_INTERVAL,
    TASK_CANCELLATION_TIMEOUT,
    SNAPSHOT_COMPRESSION,
    UNALIGNED,
    FORCE_UNALIGNED,
    ALIGNED_CHECKPOINT_TIMEOUT,
    STATE_CHANGELOG,
    BUFFER_TIMEOUT,
    BUFFER_TIMEOUT_ENABLED,
)  # type: ignore[assignment]
