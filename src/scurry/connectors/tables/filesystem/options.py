"""The options of the `filesystem` connector."""

from __future__ import annotations

from scurry.catalog.table_options import TableOption, boolean, whole_number
from scurry.common._config.option import parse_bytes
from scurry.connectors.tables.durations import duration

__all__ = [
    "AUTO_COMPACTION",
    "COMMIT_DELAY",
    "COMMIT_POLICY",
    "COMMIT_TRIGGER",
    "COMPACTED_SIZE",
    "DEFAULT_PARTITION",
    "EXTRACTOR_CLASS",
    "EXTRACTOR_KIND",
    "FORMAT",
    "MONITOR_INTERVAL",
    "OPTIONS",
    "PATH",
    "PATH_PATTERN",
    "POLICY_CLASS",
    "SHUFFLE_BY_PARTITION",
    "SUCCESS_FILE",
]


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

AUTO_COMPACTION = TableOption("auto-compaction", boolean, False, "Whether small files are merged.")
COMPACTED_SIZE = TableOption("compaction.file-size", parse_bytes, None, "Size of merged files.")
EXTRACTOR_CLASS = TableOption("partition.time-extractor.class", str, None, "A Java class.")
EXTRACTOR_KIND = TableOption("partition.time-extractor.kind", str, "default", "How the time of a partition is found.")
COMMIT_DELAY = TableOption("sink.partition-commit.delay", duration, 0, "When a partition is complete.")
POLICY_CLASS = TableOption("sink.partition-commit.policy.class", str, None, "A Java class.")
COMMIT_TRIGGER = TableOption("sink.partition-commit.trigger", str, "process-time", "Which time completes a partition.")
SHUFFLE_BY_PARTITION = TableOption(
    "sink.shuffle-by-partition.enable", boolean, False, "Whether rows are sent by partition."
)

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
    TableOption("partition.time-extractor.timestamp-formatter", str, None, "Pattern of the time of a partition."),
    TableOption("partition.time-extractor.timestamp-pattern", str, None, "Columns that give the time of a partition."),
    TableOption("sink.parallelism", whole_number, None, "Parallelism of the sink."),
    COMMIT_DELAY,
    POLICY_CLASS,
    TableOption("sink.partition-commit.policy.class.parameters", str, None, "Parameters of that class."),
    COMMIT_TRIGGER,
    TableOption("sink.partition-commit.watermark-time-zone", str, "UTC", "Time zone of the watermark."),
    TableOption("sink.rolling-policy.check-interval", duration, 60_000, "How often the policy is checked."),
    TableOption("sink.rolling-policy.file-size", parse_bytes, 128 << 20, "Size after which a file ends."),
    TableOption("sink.rolling-policy.inactivity-interval", duration, 1_800_000, "Rest after which a file ends."),
    TableOption("sink.rolling-policy.rollover-interval", duration, 1_800_000, "Time after which a file ends."),
    SHUFFLE_BY_PARTITION,
    TableOption("source.report-statistics", str, "ALL", "Accepted for Flink's sake."),
)
