"""Files as sources and sinks: FileSource, FileSink and their builders."""

from __future__ import annotations

import os
from typing import Any, Self, TypeVar

from scurry.common._api import ApiObject, made_by
from scurry.common.serialization import BulkWriterFactory, Encoder
from scurry.common.time import TimeAmount, to_millis
from scurry.connectors.files.formats.format import BulkFormat, FileFormat
from scurry.connectors.files.formats.stream import StreamFormat
from scurry.connectors.files.reading.source import FileSource as _FileSource
from scurry.connectors.files.reading.source import FileSplits
from scurry.connectors.files.writing.buckets import BucketAssigner, DateTimeBuckets
from scurry.connectors.files.writing.compaction import Compaction
from scurry.connectors.files.writing.parts import PartFormat, RollingPolicy
from scurry.connectors.files.writing.sink import BulkFiles, RowFiles
from scurry.connectors.files.writing.sink import FileSink as _FileSink
from scurry.datastream.connectors._file_compaction import FileCompactor, FileCompactStrategy
from scurry.datastream.functions import SinkFunction
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OutputFileConfig",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]

SinkT = TypeVar("SinkT", bound="FileSink")


@made_by("for_record_stream_format", "for_bulk_file_format")
class FileSource(ApiObject, _FileSource):
    """Read the records of files: those that exist when the job starts, or also all that appear later.

    The paths are files, directories, which are read recursively, or patterns: `*`, `?`, `[abc]` and `{a,b}` stand for
    parts of a name, `**` for any number of directories. Names that begin with `.` or `_` are skipped below them. Files
    are read in the order of their modification times, each by one parallel reader from beginning to end unless
    `set_file_enumerator` lets it be split.

    A malformed record fails the job with an error that names the file and the line. `drop_malformed_records()` skips
    it; `env.from_source(...).with_dead_letters(tag)` sends it to a side output.
    """

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        """Return a builder of a source of text, CSV or JSON files, or of Avro's records in Parquet files.

        Args:
            stream_format: How records are read.
            *paths: Files, directories and patterns; local, or file:, s3://, gs://, hdfs:// addresses.
        """
        return FileSourceBuilder(_checked(stream_format, StreamFormat, "for_record_stream_format"), paths)

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        """Return a builder of a source of Parquet or ORC files.

        Args:
            bulk_format: How records are read.
            *paths: Files, directories and patterns; local, or file:, s3://, gs://, hdfs:// addresses.
        """
        return FileSourceBuilder(_checked(bulk_format, BulkFormat, "for_bulk_file_format"), paths)


@made_by("default_splittable_file_enumerator", "default_non_splittable_file_enumerator")
class FileEnumeratorProvider:
    """Distribution of a FileSource's files among its parallel readers."""

    def __init__(self, splits: FileSplits) -> None:
        self._splits = splits

    @staticmethod
    def default_splittable_file_enumerator(split_size: int = 128 * 1024 * 1024) -> FileEnumeratorProvider:
        """Return a provider that cuts large files into splits read in parallel, if the format allows it.

        The records of a file then arrive in no particular order. Compressed files are not split.

        Args:
            split_size: Bytes of a split. Flink uses the blocks of HDFS, and does not split files elsewhere.

        Raises:
            ArgumentError: The size is not positive.
        """
        return FileEnumeratorProvider(FileSplits(split_size))

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Return a provider that assigns each file to one reader. The default."""
        return FileEnumeratorProvider(FileSplits())


class FileSplitAssignerProvider:
    """Assignment of files to readers; here always to the one with the least to read."""

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Return the only assigner, which balances the load of readers."""
        return FileSplitAssignerProvider()


class FileSourceBuilder(ApiObject):
    """Builder that sets whether a FileSource ends, how it splits files, and how it handles malformed records."""

    def __init__(self, file_format: FileFormat, paths: tuple[str | os.PathLike[str], ...]) -> None:
        """Begin with a format and paths."""
        self._format = file_format
        self._paths = paths
        self._interval_ms: int | None = None
        self._splits = FileSplits()
        self._drop_malformed = False

    def monitor_continuously(self, discovery_interval: TimeAmount) -> FileSourceBuilder:
        """Never end: also read files that appear under the paths later.

        Args:
            discovery_interval: Time between checks for new files, in milliseconds or as an amount of time.
        """
        self._interval_ms = to_millis(discovery_interval)
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Read the files that exist when the job starts, then end. The default."""
        self._interval_ms = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Set whether large files are split among readers.

        Args:
            file_enumerator: From `FileEnumeratorProvider`.
        """
        if not isinstance(file_enumerator, FileEnumeratorProvider):
            raise ArgumentTypeError(f"set_file_enumerator takes a FileEnumeratorProvider, got {file_enumerator!r}")
        self._splits = file_enumerator._splits
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Accept the only assigner."""
        if not isinstance(split_assigner, FileSplitAssignerProvider):
            raise ArgumentTypeError(f"set_split_assigner takes a FileSplitAssignerProvider, got {split_assigner!r}")
        return self

    def drop_malformed_records(self) -> FileSourceBuilder:
        """Skip malformed records instead of failing. scurry's own; Flink has nothing like it.

        The metric `numMalformedRecordsDropped` counts them, and the job's summary names them.
        """
        self._drop_malformed = True
        return self

    def build(self) -> FileSource:
        """Return the source.

        Raises:
            ArgumentError: There is no path.
            UnsupportedError: A path has an unknown scheme.
        """
        paths = [os.fspath(path) for path in self._paths]
        return FileSource(self._format, paths, self._interval_ms, self._splits, self._drop_malformed)


def _checked(file_format: Any, kind: Any, method: str) -> FileFormat:
    if not isinstance(file_format, kind):
        raise ArgumentTypeError(f"FileSource.{method} takes a {kind.__name__}, got {file_format!r}")
    checked: FileFormat = file_format
    return checked


@made_by("builder")
class OutputFileConfig(ApiObject):
    """The names of part files: `<prefix>-<unique part><suffix>`."""

    def __init__(self, part_prefix: str, part_suffix: str) -> None:
        self._part_prefix = part_prefix
        self._part_suffix = part_suffix

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Return a builder for names `part-...`."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """Return the prefix of the names."""
        return self._part_prefix

    def get_part_suffix(self) -> str:
        """Return the suffix of the names."""
        return self._part_suffix

    class OutputFileConfigBuilder(ApiObject):
        """Builder of an OutputFileConfig."""

        def __init__(self) -> None:
            """Begin with the prefix `part` and no suffix."""
            self.part_prefix = "part"
            self.part_suffix = ""

        def with_part_prefix(self, prefix: str) -> Self:
            """Set the prefix of the names."""
            self.part_prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> Self:
            """Set the suffix of the names."""
            self.part_suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            """Return the configuration."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)


@made_by("for_row_format", "for_bulk_format")
class FileSink(ApiObject, _FileSink):
    """Write records into part files below a base path, each record exactly once.

    Part files are hidden while they are written and become visible when their micro-batch commits, which is a
    checkpoint. So every file ends with its micro-batch, or earlier if the rolling policy says so.
    """

    class BaseBuilder(ApiObject):
        """Base of the builders of both kinds of sink."""

        def __init__(self, base_path: str, part_format: PartFormat, rolling: RollingPolicy) -> None:
            """Begin with the base path, the format and the rolling policy."""
            self._base_path = os.fspath(base_path)
            self._format = part_format
            self._rolling = rolling
            self._buckets: BucketAssigner = DateTimeBuckets()
            self._config = OutputFileConfig("part", "")
            self._compaction: Compaction | None = None

        def with_bucket_check_interval(self, interval: TimeAmount) -> Self:
            """Accept the interval at which Flink checks for files to end; here they end with their micro-batch.

            Args:
                interval: Milliseconds or an amount of time.
            """
            to_millis(interval)
            return self

        def with_bucket_assigner(self, bucket_assigner: BucketAssigner) -> Self:
            """Set which directory below the base path a record is written to; by default one per hour."""
            if not isinstance(bucket_assigner, BucketAssigner):
                raise ArgumentTypeError(f"with_bucket_assigner takes a BucketAssigner, got {bucket_assigner!r}")
            self._buckets = bucket_assigner
            return self

        def with_output_file_config(self, output_file_config: OutputFileConfig) -> Self:
            """Set how files are named."""
            self._config = output_file_config
            return self

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Self:
            """Set when files end before their micro-batch does."""
            if not isinstance(rolling_policy, RollingPolicy):
                raise ArgumentTypeError(f"with_rolling_policy takes a RollingPolicy, got {rolling_policy!r}")
            self._rolling = rolling_policy
            return self

        def enable_compact(self, strategy: FileCompactStrategy, compactor: FileCompactor) -> Self:
            """Compact small files into larger ones; the small files never become visible.

            Args:
                strategy: When to compact. Until then the records are not visible; at the end of the job all are.
                compactor: How to compact.

            Raises:
                ArgumentError: The compactor cannot make one file of several of this format.
            """
            if not isinstance(strategy, FileCompactStrategy) or not isinstance(compactor, FileCompactor):
                raise ArgumentTypeError(
                    f"enable_compact takes a FileCompactStrategy and a FileCompactor, got {strategy!r}, {compactor!r}"
                )
            compactor._compactor.check(self._format)
            self._compaction = Compaction(strategy._strategy, compactor._compactor)
            return self

        def disable_compact(self) -> Self:
            """Do not compact files. The default; files that earlier runs of the job left to compact become visible."""
            self._compaction = None
            return self

        def build(self) -> FileSink:
            """Return the sink.

            Raises:
                UnsupportedError: The base path has an unknown scheme.
            """
            return self._build(FileSink)

        def _build(self, kind: type[SinkT]) -> SinkT:
            config = self._config
            return kind(
                self._base_path,
                self._format,
                self._buckets,
                self._rolling,
                config.get_part_prefix(),
                config.get_part_suffix(),
                self._compaction,
            )

    class RowFormatBuilder(BaseBuilder):
        """Builder of a sink that writes record by record."""

    class BulkFormatBuilder(BaseBuilder):
        """Builder of a sink that writes whole files of a format."""

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Self:
            """Accept the only policy for whole files.

            Raises:
                ArgumentError: It is not `RollingPolicy.on_checkpoint_rolling_policy()`.
            """
            if rolling_policy != RollingPolicy.on_checkpoint_rolling_policy():
                raise ArgumentError("a bulk format needs RollingPolicy.on_checkpoint_rolling_policy()")
            return self

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Return a builder of a sink that writes each record through an encoder.

        Args:
            base_path: Directory for all buckets; local, or a file:, s3://, gs://, hdfs:// address.
            encoder: Writes a record, e.g. `Encoder.simple_string_encoder()`.
        """
        if not isinstance(encoder, Encoder):
            raise ArgumentTypeError(f"for_row_format takes an Encoder, got {encoder!r}")
        return FileSink.RowFormatBuilder(base_path, RowFiles(encoder), RollingPolicy.default_rolling_policy())

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSink.BulkFormatBuilder:
        """Return a builder of a sink that writes whole files of a format.

        Args:
            base_path: Directory for all buckets; local, or a file:, s3://, gs://, hdfs:// address.
            writer_factory: From `CsvBulkWriters`, `ParquetBulkWriters`, `AvroParquetWriters` and the like.
        """
        if not isinstance(writer_factory, BulkWriterFactory):
            raise ArgumentTypeError(f"for_bulk_format takes a BulkWriterFactory, got {writer_factory!r}")
        policy = RollingPolicy.on_checkpoint_rolling_policy()
        return FileSink.BulkFormatBuilder(base_path, BulkFiles(writer_factory), policy)


@made_by("for_row_format", "for_bulk_format")
class StreamingFileSink(FileSink):
    """A FileSink for `add_sink`, for existing programs. Deprecated since Flink 1.15: use FileSink."""

    class DefaultRowFormatBuilder(FileSink.RowFormatBuilder):
        """Builder of a sink that writes record by record."""

        def with_rolling_policy(self, policy: RollingPolicy) -> Self:
            """Set when files end before their micro-batch does; see `FileSink`."""
            return super().with_rolling_policy(policy)

        def build(self) -> StreamingFileSink:
            """Return the sink."""
            return self._build(StreamingFileSink)

    class DefaultBulkFormatBuilder(FileSink.BulkFormatBuilder):
        """Builder of a sink that writes whole files of a format."""

        def with_rolling_policy(self, policy: RollingPolicy) -> Self:
            """Set when files end before their micro-batch does; see `FileSink`."""
            return super().with_rolling_policy(policy)

        def build(self) -> StreamingFileSink:
            """Return the sink."""
            return self._build(StreamingFileSink)

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> StreamingFileSink.DefaultRowFormatBuilder:
        """Return a builder of a sink that writes each record through an encoder; see `FileSink.for_row_format`."""
        row_files = FileSink.for_row_format(base_path, encoder)
        return StreamingFileSink.DefaultRowFormatBuilder(base_path, row_files._format, row_files._rolling)

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> StreamingFileSink.DefaultBulkFormatBuilder:
        """Return a builder of a sink that writes whole files of a format; see `FileSink.for_bulk_format`."""
        bulk_files = FileSink.for_bulk_format(base_path, writer_factory)
        return StreamingFileSink.DefaultBulkFormatBuilder(base_path, bulk_files._format, bulk_files._rolling)


SinkFunction.register(StreamingFileSink)
