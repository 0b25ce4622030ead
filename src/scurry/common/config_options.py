"""The configuration keys that scurry reads, with the types of their values.

Keys that Flink has as well keep Flink's name, value syntax and default; scurry's own begin with `scurry.`.
`_config.validation` handles all other keys.
"""

from __future__ import annotations

import logging

from scurry.common._config.option import (
    ConfigOption,
    ConfigOptions,
    at_least,
    duration_of,
    one_of,
    parse_boolean,
    parse_bytes,
    parse_duration,
    parse_map,
)

__all__ = [
    "AUTO_GENERATE_UIDS",
    "AUTO_WATERMARK_INTERVAL",
    "BATCH_MAX_BYTES",
    "RECORD_MAX_BYTES",
    "BATCH_MAX_RECORDS",
    "BATCH_CATCH_UP_DURATION",
    "BATCH_TARGET_DURATION",
    "CHECKPOINTING_DIR",
    "CHECKPOINTING_INTERVAL",
    "FINAL_SAVEPOINT_DIR",
    "GLOBAL_JOB_PARAMETERS",
    "JOB_NAME",
    "LOG_LEVEL",
    "LOG_LEVELS",
    "MAX_PARALLELISM",
    "OPERATOR_CHAINING",
    "OPTIONS",
    "PARALLELISM",
    "LOG_FILE",
    "LOG_FORMAT",
    "PROGRESS",
    "RUNNER",
    "RUNTIME_MODE",
    "SAVEPOINTS_DIR",
    "STATE_MEMORY",
    "TICK_INTERVAL",
    "ConfigOption",
    "ConfigOptions",
    "at_least",
    "duration_of",
    "one_of",
    "parse_boolean",
    "parse_bytes",
    "parse_duration",
    "parse_map",
]


def _key_groups(text: str) -> int:
    if text == "-1":
        return -1
    return at_least(1, 1 << 15)(text)


def _log_level(text: str) -> str:
    level = text.strip().upper()
    if level not in logging.getLevelNamesMapping():
        raise ValueError(f"expected one of {', '.join(logging.getLevelNamesMapping())}")
    return level


def _log_levels(text: str) -> dict[str, str]:
    return {logger: _log_level(level) for logger, level in parse_map(text).items()}


PARALLELISM = ConfigOption(
    "parallelism.default",
    at_least(1),
    None,
    "Subtasks of operators that do not set their own; the number of CPUs if not set.",
)
MAX_PARALLELISM = ConfigOption(
    "pipeline.max-parallelism",
    _key_groups,
    None,
    "Number of key groups, the most a job can be rescaled to; -1 is the same as not set.",
)
AUTO_WATERMARK_INTERVAL = ConfigOption(
    "pipeline.auto-watermark-interval", parse_duration, 200, "Time between watermarks, in milliseconds; 0 emits none."
)
JOB_NAME = ConfigOption("pipeline.name", str, None, "Name of the job if `execute` is given none.")
GLOBAL_JOB_PARAMETERS = ConfigOption(
    "pipeline.global-job-parameters", parse_map, None, "Parameters for functions, as `key:value,key:value`."
)
AUTO_GENERATE_UIDS = ConfigOption(
    "pipeline.auto-generate-uids",
    parse_boolean,
    True,
    "Whether operators may go without a uid; otherwise each must be given one.",
)
OPERATOR_CHAINING = ConfigOption(
    "pipeline.operator-chaining.enabled",
    parse_boolean,
    True,
    "Whether operators may share a task with what precedes them.",
    aliases=("pipeline.operator-chaining",),
    instead="operators without an exchange between them always run in one task; results are the same",
)
RUNTIME_MODE = ConfigOption(
    "execution.runtime-mode",
    one_of("STREAMING", "BATCH", "AUTOMATIC"),
    "STREAMING",
    "STREAMING, BATCH, or AUTOMATIC, which is BATCH if all sources are bounded.",
)
CHECKPOINTING_DIR = ConfigOption(
    "execution.checkpointing.dir",
    str,
    None,
    "Directory or URI of the checkpoints; a job without it starts afresh each time.",
    aliases=("state.checkpoints.dir", "state.backend.fs.checkpointdir"),
)
CHECKPOINTING_INTERVAL = ConfigOption(
    "execution.checkpointing.interval", duration_of(10), None, "Time between checkpoints, in milliseconds."
)
SAVEPOINTS_DIR = ConfigOption(
    "execution.checkpointing.savepoint-dir",
    str,
    None,
    "Directory or URI savepoints are written to if a command names none.",
    aliases=("state.savepoints.dir", "savepoints.state.backend.fs.dir"),
)
RECOVERY_PATH = ConfigOption(
    "execution.state-recovery.path",
    str,
    None,
    "Directory or URI of the savepoint a job starts from.",
    aliases=("execution.savepoint.path",),
)
IGNORE_UNCLAIMED = ConfigOption(
    "execution.state-recovery.ignore-unclaimed-state",
    parse_boolean,
    False,
    "Whether state of the savepoint that no operator takes is dropped; otherwise the job does not start.",
    aliases=("execution.savepoint.ignore-unclaimed-state",),
)
ALLOW_UNTRUSTED = ConfigOption(
    "scurry.savepoint.allow-untrusted",
    parse_boolean,
    False,
    "Whether a job starts from a savepoint or checkpoint that others could have written; they could run code in it.",
)
FINAL_SAVEPOINT_DIR = ConfigOption(
    "scurry.final-savepoint.dir",
    str,
    None,
    "Directory or URI in which a BATCH job leaves a savepoint when it ends; if not set, its state is dropped.",
)
RUNNER = ConfigOption(
    "scurry.runner", one_of("spark", "local"), "spark", "What runs jobs: Spark, or this very process."
)
PROGRESS = ConfigOption(
    "scurry.progress",
    one_of("auto", "plain", "off"),
    "auto",
    "What execute() shows of a running job on standard error: auto is live lines on terminals, a panel in notebooks, "
    "and plain lines elsewhere.",
)
LOG_FILE = ConfigOption(
    "scurry.log.file",
    str,
    None,
    "File to which is appended what happens to jobs: starts, restarts, savepoints, rescaling, who stopped them. "
    "At 64 MiB it is renamed to FILE.1; the last 9 are kept.",
)
LOG_FORMAT = ConfigOption(
    "scurry.log.format",
    one_of("text", "json"),
    "text",
    "Form of the lines in `scurry.log.file`, and of what functions log: text, or JSON with job, operator and subtask.",
)
BATCH_MAX_BYTES = ConfigOption(
    "scurry.batch.max-bytes",
    parse_bytes,
    1 << 30,
    "Bytes of files, or of values in Kafka, that a source reads per micro-batch at most.",
)
BATCH_MAX_RECORDS = ConfigOption(
    "scurry.batch.max-records",
    at_least(1, 1 << 62),
    None,
    "Records that a source reads per micro-batch at most; 10 million if not set.",
)
RECORD_MAX_BYTES = ConfigOption(
    "scurry.record.max-bytes",
    parse_bytes,
    64 << 20,
    "Bytes that a record may take up which is held in memory whole: a line of a file or socket, or an element of a "
    "collection, which passes through Spark's driver and takes several times as much there (spark.driver.memory).",
)
BATCH_TARGET_DURATION = ConfigOption(
    "scurry.batch.target-duration",
    duration_of(1),
    None,
    "How long a micro-batch should take while a source has more than it may read: what the next one may read follows "
    "from the speed of the last; 5 s or the checkpointing interval, whichever is longer, if not set.",
)
BATCH_CATCH_UP_DURATION = ConfigOption(
    "scurry.batch.catch-up-duration",
    duration_of(1),
    None,
    "How long a micro-batch may take while the job catches up with a backlog, if that is longer than "
    "`scurry.batch.target-duration`: larger batches spend less on what each batch costs.",
)
STATE_MEMORY = ConfigOption(
    "state.backend.rocksdb.memory.fixed-per-slot",
    parse_bytes,
    256 << 20,
    "Bytes of memory that the keyed state may take up which a subtask has touched in a micro-batch: about so much is "
    "held, the rest is written back and read again when it is needed.",
)
TICK_INTERVAL = ConfigOption(
    "scurry.tick-interval",
    parse_duration,
    200,
    "Time between micro-batches of a job that waits for processing time, in milliseconds.",
)
CACHE_DIR = ConfigOption(
    "scurry.cache-dir",
    str,
    None,
    "Directory or URI for what DataStream.cache() keeps, which all workers must reach; the driver's directory for "
    "temporary files if not set.",
)

LOG_LEVEL = ConfigOption(
    "python.logging.default.level",
    _log_level,
    None,
    "Level of the root logger where functions run, such as INFO; left as it is if not set.",
)
LOG_LEVELS = ConfigOption(
    "python.logging.level.overrides",
    _log_levels,
    None,
    "Levels of other loggers where functions run, as `logger:LEVEL,logger:LEVEL`.",
)

OPTIONS: tuple[ConfigOption[object], ...] = (
    PARALLELISM,
    MAX_PARALLELISM,
    AUTO_WATERMARK_INTERVAL,
    JOB_NAME,
    GLOBAL_JOB_PARAMETERS,
    AUTO_GENERATE_UIDS,
    OPERATOR_CHAINING,
    RUNTIME_MODE,
    CHECKPOINTING_DIR,
    CHECKPOINTING_INTERVAL,
    SAVEPOINTS_DIR,
    RECOVERY_PATH,
    IGNORE_UNCLAIMED,
    ALLOW_UNTRUSTED,
    FINAL_SAVEPOINT_DIR,
    RUNNER,
    LOG_FILE,
    LOG_FORMAT,
    PROGRESS,
    BATCH_MAX_BYTES,
    RECORD_MAX_BYTES,
    BATCH_MAX_RECORDS,
    BATCH_TARGET_DURATION,
    BATCH_CATCH_UP_DURATION,
    STATE_MEMORY,
    TICK_INTERVAL,
    CACHE_DIR,
    LOG_LEVEL,
    LOG_LEVELS,
)  # type: ignore[assignment]
"""Keys of jobs in general; checkpoints and restarts have files of their own, and `spark.*` goes to Spark as it is."""
