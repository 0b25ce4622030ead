"""Configuration keys that tune Flink itself: programs can set and read them; most have no effect here."""

from __future__ import annotations

from scurry.common.config_options import ConfigOption, one_of, parse_boolean, parse_duration

_NO_JAVA = "records and functions are Python's: declare types with Types or annotations"
_NO_BARRIERS = (
    "there are no barriers: a checkpoint is the end of a micro-batch, whose length scurry.batch.target-duration sets"
)
_NO_BUFFERS = (
    "records leave an operator with their micro-batch, whose length scurry.batch.target-duration and "
    "execution.checkpointing.interval set"
)
_ONE_TASK = "operators without an exchange between them always run in one task; results are the same"
_REAPER = "set spark.task.reaper.enabled and spark.task.reaper.killTimeout"

CLOSURE_CLEANER_LEVEL = ConfigOption(
    "pipeline.closure-cleaner-level",
    one_of("NONE", "TOP_LEVEL", "RECURSIVE"),
    "RECURSIVE",
    "How thoroughly Flink cleans the closures of Java functions.",
    instead=_NO_JAVA,
)
FORCE_AVRO = ConfigOption(
    "pipeline.force-avro",
    parse_boolean,
    False,
    "Whether Java's POJOs are written with Avro.",
    instead=_NO_JAVA,
)
FORCE_KRYO = ConfigOption(
    "pipeline.force-kryo",
    parse_boolean,
    False,
    "Whether Java's POJOs are written with Kryo.",
    instead=_NO_JAVA,
)
GENERIC_TYPES = ConfigOption(
    "pipeline.generic-types",
    parse_boolean,
    True,
    "Whether Java types that only Kryo can write are allowed.",
    instead=_NO_JAVA,
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
    instead=_ONE_TASK,
)
LATENCY_INTERVAL = ConfigOption(
    "metrics.latency.interval",
    parse_duration,
    0,
    "Time between latency markers, in milliseconds; 0 emits none.",
    instead="there are no latency markers; a record waits for its micro-batch, which takes as long as its checkpoint",
)
TASK_CANCELLATION_INTERVAL = ConfigOption(
    "task.cancellation.interval",
    parse_duration,
    30_000,
    "Time between attempts to cancel a task, in milliseconds.",
    aliases=("task.cancellation-interval",),
    instead=_REAPER,
)
TASK_CANCELLATION_TIMEOUT = ConfigOption(
    "task.cancellation.timeout",
    parse_duration,
    180_000,
    "Time after which a task that does not let itself be cancelled ends its process, in milliseconds; 0 is never.",
    instead=_REAPER,
)
SNAPSHOT_COMPRESSION = ConfigOption(
    "execution.checkpointing.snapshot-compression",
    parse_boolean,
    False,
    "Whether Flink compresses its snapshots.",
    instead="set spark.sql.streaming.stateStore.compression.codec",
)
UNALIGNED = ConfigOption(
    "execution.checkpointing.unaligned.enabled",
    parse_boolean,
    False,
    "Whether barriers overtake records; there are no barriers here.",
    aliases=("execution.checkpointing.unaligned",),
    instead=_NO_BARRIERS,
)
FORCE_UNALIGNED = ConfigOption(
    "execution.checkpointing.unaligned.forced",
    parse_boolean,
    False,
    "Whether unaligned checkpoints are forced, even where Flink does not allow them by default.",
    instead=_NO_BARRIERS,
)
ALIGNED_CHECKPOINT_TIMEOUT = ConfigOption(
    "execution.checkpointing.aligned-checkpoint-timeout",
    parse_duration,
    0,
    "Time after which barriers begin to overtake records, in milliseconds.",
    aliases=("execution.checkpointing.alignment-timeout",),
    instead=_NO_BARRIERS,
)
STATE_CHANGELOG = ConfigOption(
    "state.changelog.enabled",
    parse_boolean,
    None,
    "Whether Flink writes changes of state to a log.",
    aliases=("state.backend.changelog.enabled",),
    instead="a checkpoint always saves only the state that has changed",
)
BUFFER_TIMEOUT = ConfigOption(
    "execution.buffer-timeout.interval",
    lambda text: -1 if text == "-1 ms" else parse_duration(text),
    100,
    "Longest time for which Flink holds back records to fill a network buffer, in milliseconds.",
    aliases=("execution.buffer-timeout",),
    instead=_NO_BUFFERS,
)
BUFFER_TIMEOUT_ENABLED = ConfigOption(
    "execution.buffer-timeout.enabled",
    parse_boolean,
    True,
    "Whether that time is limited; otherwise Flink waits until a buffer is full.",
    instead=_NO_BUFFERS,
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
