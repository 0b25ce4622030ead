"""The options of the `filesystem` connector."""

from __future__ import annotations

from scurry.catalog.table_options import TableOption, boolean, whole_number
from scurry.common._config.option import parse_bytes
from scurry.connectors.tables.durations import duration

__all__ = ["DEFAULT_PARTITION", "FORMAT", "MONITOR_INTERVAL", "OPTIONS", "PATH", "PATH_PATTERN"]


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

OPTIONS = (
    PATH,
    FORMAT,
    DEFAULT_PARTITION,
    MONITOR_INTERVAL,
    PATH_PATTERN,
    COMMIT_POLICY,
    SUCCESS_FILE,
    TableOption("auto-compaction", boolean, False, "Whether small files are merged."),
    TableOption("compaction.file-size", parse_bytes, None, "Size of merged files."),
    TableOption("partition.time-extractor.class", str, None, "A Java class."),
    TableOption("partition.time-extractor.kind", str, "default", "How the time of a partition is found."),
    TableOption("partition.time-extractor.timestamp-formatter", str, None, "Pattern of the time of a partition."),
    TableOption("partition.time-extractor.timestamp-pattern", str, None, "Columns that give the time of a partition."),
    TableOption("sink.parallelism", whole_number, None, "Parallelism of the sink."),
    TableOption("sink.partition-commit.delay", duration, 0, "When a partition is complete."),
    TableOption("sink.partition-commit.policy.class", str, None, "A Java class."),
    TableOption("sink.partition-commit.policy.class.parameters", str, None, "Parameters of that class."),
    TableOption("sink.partition-commit.trigger", str, "process-time", "Which time completes a partition."),
    TableOption("sink.partition-commit.watermark-time-zone", str, "UTC", "Time zone of the watermark."),
    TableOption("sink.rolling-policy.check-interval", duration, 60_000, "How often the policy is checked."),
    TableOption("sink.rolling-policy.file-size", parse_bytes, 128 << 20, "Size after which a file ends."),
    TableOption("sink.rolling-policy.inactivity-interval", duration, 1_800_000, "Rest after which a file ends."),
    TableOption("sink.rolling-policy.rollover-interval", duration, 1_800_000, "Time after which a file ends."),
    TableOption("sink.shuffle-by-partition.enable", boolean, False, "Whether rows are sent by partition."),
    TableOption("source.report-statistics", str, "ALL", "Accepted for Flink's sake."),
)
