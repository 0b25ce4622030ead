"""The options of the `filesystem` connector."""

from __future__ import annotations

from scurry.common._config.option import parse_bytes
from scurry.sql.catalog.table_options import TableOption, boolean, one_of
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.parallelism import SINK_PARALLELISM

PATH = TableOption("path", str, None, "The directory, or a file to read.", required=True)
FORMAT = TableOption("format", str, None, "The format of the files.", required=True)
DEFAULT_PARTITION = TableOption(
    "partition.default-name", str, "__DEFAULT_PARTITION__", "The directory of NULL and of the empty text."
)
MONITOR_INTERVAL = TableOption(
    "source.monitor-interval", duration, None, "How often a STREAMING source looks for new files; without, once."
)
PATH_PATTERN = TableOption("source.path.regex-pattern", str, None, "Which files of the directory are read.")
SUCCESS_FILE = TableOption("sink.partition-commit.success-file.name", str, "_SUCCESS", "Name of the success file.")
COMMIT_POLICY = TableOption(
    "sink.partition-commit.policy.kind", str, None, "What marks a partition as complete: `success-file`."
)

AUTO_COMPACTION = TableOption("auto-compaction", boolean, False, "Refused: small files are not merged.")
COMPACTED_SIZE = TableOption("compaction.file-size", parse_bytes, None, "Refused, as `auto-compaction`.")
EXTRACTOR_CLASS = TableOption("partition.time-extractor.class", str, None, "Refused: a Java class.")
EXTRACTOR_KIND = TableOption("partition.time-extractor.kind", str, "default", "`custom`, a Java class, is refused.")
COMMIT_DELAY = TableOption(
    "sink.partition-commit.delay",
    duration,
    0,
    "How long after its first row a partition is complete in STREAMING; looked at with each commit.",
)
POLICY_CLASS = TableOption("sink.partition-commit.policy.class", str, None, "Refused: a Java class.")
POLICY_PARAMETERS = TableOption(
    "sink.partition-commit.policy.class.parameters", str, None, "Refused, as `sink.partition-commit.policy.class`."
)
COMMIT_TRIGGER = TableOption(
    "sink.partition-commit.trigger",
    one_of(("process-time", "partition-time")),
    "process-time",
    "Which time completes a partition. With `partition-time`, the end of the input does: a STREAMING job without an "
    "end refuses it, because sinks of files do not see watermarks.",
)
SHUFFLE_BY_PARTITION = TableOption(
    "sink.shuffle-by-partition.enable", boolean, False, "Refused: tasks write the rows that they make."
)
ROLLING_SIZE = TableOption(
    "sink.rolling-policy.file-size", parse_bytes, 128 << 20, "Bytes after which a file takes no further rows."
)
ROLLOVER = TableOption(
    "sink.rolling-policy.rollover-interval",
    duration,
    1_800_000,
    "How long a file may be open; it ends with its commit anyway.",
)
INACTIVITY = TableOption(
    "sink.rolling-policy.inactivity-interval",
    duration,
    1_800_000,
    "How long a file may wait for rows; it ends with its commit anyway.",
)
_FOR_PARTITION_TIME = "For the trigger `partition-time`, which BATCH does not need."

OPTIONS = (
    PATH,
    FORMAT,
    DEFAULT_PARTITION,
    MONITOR_INTERVAL,
    PATH_PATTERN,
    COMMIT_POLICY,
    SUCCESS_FILE,
    AUTO_COMPACTION,
    COMPACTED_SIZE,
    EXTRACTOR_CLASS,
    EXTRACTOR_KIND,
    TableOption("partition.time-extractor.timestamp-formatter", str, None, _FOR_PARTITION_TIME, without_effect=True),
    TableOption("partition.time-extractor.timestamp-pattern", str, None, _FOR_PARTITION_TIME, without_effect=True),
    SINK_PARALLELISM,
    COMMIT_DELAY,
    POLICY_CLASS,
    POLICY_PARAMETERS,
    COMMIT_TRIGGER,
    TableOption("sink.partition-commit.watermark-time-zone", str, "UTC", _FOR_PARTITION_TIME, without_effect=True),
    TableOption(
        "sink.rolling-policy.check-interval", duration, 60_000, "Limits are checked with each row.", without_effect=True
    ),
    ROLLING_SIZE,
    INACTIVITY,
    ROLLOVER,
    SHUFFLE_BY_PARTITION,
    TableOption(
        "source.report-statistics",
        one_of(("NONE", "ALL")),
        "ALL",
        "Plans do not depend on statistics.",
        without_effect=True,
    ),
)
