"""FileCompactStrategy and FileCompactor: when small files become a larger one, and how."""

from __future__ import annotations

from scurry.common._api import ApiObject, made_by
from scurry.connectors.files.formats.format import FileFormat
from scurry.connectors.files.writing.compaction import (
    CompactionStrategy,
    Compactor,
    ConcatCompactor,
    IdenticalCompactor,
    RecordWiseCompactor,
)
from scurry.errors import ArgumentError, ArgumentTypeError


@made_by("builder")
class FileCompactStrategy:
    """The conditions under which the small files of a bucket are compacted; made by `builder()`."""

    def __init__(self, strategy: CompactionStrategy) -> None:
        self._strategy = strategy

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Return a builder without conditions."""
        return FileCompactStrategy.Builder()

    class Builder(ApiObject):
        """Builder of a strategy from conditions; one of them is enough to compact."""

        def __init__(self) -> None:
            """Begin without conditions."""
            self._batches = self._size = -1
            self._threads = 1

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Compact when the oldest file is that many checkpoints old; every micro-batch is one.

            Raises:
                ArgumentError: The number is not positive.
            """
            if num_checkpoints_before_compaction < 1:
                raise ArgumentError(
                    f"compaction after {num_checkpoints_before_compaction} checkpoints: give a number of at least 1"
                )
            self._batches = num_checkpoints_before_compaction
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Compact when the total size of the files reaches that many bytes; -1 for no such condition."""
            self._size = size_threshold
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Set how many buckets the driver of the job compacts at once.

            Raises:
                ArgumentError: The number is not positive.
            """
            if num_compact_threads < 1:
                raise ArgumentError(f"{num_compact_threads} compaction threads: give a number of at least 1")
            self._threads = num_compact_threads
            return self

        def build(self) -> FileCompactStrategy:
            """Return the strategy.

            Raises:
                ArgumentError: It has no condition.
            """
            if self._batches < 0 and self._size < 0:
                raise ArgumentError(
                    "at least one of enable_compaction_on_checkpoint(n) and set_size_threshold(bytes) must be set"
                )
            batches = None if self._batches < 0 else self._batches
            return FileCompactStrategy(
                CompactionStrategy(batches, None if self._size < 0 else self._size, self._threads)
            )


@made_by("concat_file_compactor", "identical_file_compactor", "record_wise_file_compactor")
class FileCompactor:
    """The way small files are merged into a larger one."""

    def __init__(self, compactor: Compactor) -> None:
        self._compactor = compactor

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Return a compactor that concatenates files; for text, CSV without header, and JSON lines.

        Args:
            file_delimiter: Bytes between two files.
        """
        if not isinstance(file_delimiter or b"", bytes):
            raise ArgumentTypeError(f"concat_file_compactor takes bytes, got {file_delimiter!r}")
        return FileCompactor(ConcatCompactor(file_delimiter or b""))

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Return a compactor that copies a single file, of any format.

        As in Flink, a job fails if its strategy passes several files. It is for buckets that one task writes and every
        checkpoint compacts, so that a file appears under its compacted name.
        """
        return FileCompactor(IdenticalCompactor())

    @staticmethod
    def record_wise_file_compactor(reader_format: FileFormat) -> FileCompactor:
        """Return a compactor that reads the records of the files and writes them again; for all formats.

        Flink's Java API has it; PyFlink does not.

        Args:
            reader_format: Reads the files of the sink, e.g. `ParquetColumnarRowInputFormat(row_type)`.
        """
        if not isinstance(reader_format, FileFormat):
            raise ArgumentTypeError(f"record_wise_file_compactor takes a format of a FileSource, got {reader_format!r}")
        return FileCompactor(RecordWiseCompactor(reader_format))
