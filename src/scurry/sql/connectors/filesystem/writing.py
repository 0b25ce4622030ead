"""Sinks of files: partitions by directories, INSERT OVERWRITE, success files; exactly once as files of streams."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriterFactory
from scurry.connectors.files.filesystem import file_system, hidden
from scurry.connectors.files.writing.buckets import BucketAssigner, BucketContext
from scurry.connectors.files.writing.parts import PartFile, RollingPolicy
from scurry.connectors.files.writing.sink import BulkFiles, FileSink
from scurry.connectors.sink import Committer, Sink
from scurry.errors import UnsupportedError
from scurry.sql.connectors.contract import Changes, SinkTarget
from scurry.sql.connectors.filesystem.marking import Marker, PartitionMarking
from scurry.sql.connectors.filesystem.partitions import partition_directory, partition_text
from scurry.sql.types import DataType
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import pyarrow as pa


def file_table_sink(
    path: str,
    writer: BulkWriterFactory,
    columns: Mapping[str, DataType],
    partition_keys: tuple[str, ...],
    default_partition: str,
    rolling: RollingPolicy,
    marking: PartitionMarking | None,
    target: SinkTarget,
    with_kinds: bool = False,
) -> Sink:
    """Return the sink of a table of files.

    Args:
        writer: Writes record batches without the partition columns.
        partition_keys: Those that become directories.
        default_partition: The directory of NULL.
        rolling: When a file ends before its commit.
        marking: When partitions are marked as complete; None for never.
        target: Target of the INSERT.
        with_kinds: Whether the format is one of changes.
    """
    buckets = PartitionBuckets(tuple(columns), dict(columns), partition_keys, default_partition, with_kinds)
    fixed = partition_directory(dict(target.partition), default_partition)
    return _TableFileSink(
        path,
        BulkFiles(writer),
        buckets,
        rolling,
        overwrite=target.overwrite,
        fixed=fixed,
        marking=marking,
        replaces_all=target.replaces_all,
    )


@dataclass(frozen=True)
class PartitionBuckets(BucketAssigner):
    """Assign rows to the directories of their partitions; the records are `Changes`, then record batches.

    Attributes:
        default: The directory of NULL.
        with_kinds: Whether the files have kinds of changes: rows are written as pairs of a batch and its kinds.
    """

    names: tuple[str, ...]
    types: Mapping[str, DataType]
    keys: tuple[str, ...]
    default: str
    with_kinds: bool = False

    def get_bucket_id(self, element: Any, context: BucketContext) -> str:
        """Return the directory of changes that all belong to one partition."""
        return next((directory for directory, _ in self._split(element)), "")

    def assign(self, values: list[Any], timestamps: list[int] | None, now_ms: int) -> Iterable[tuple[str, list[Any]]]:
        """Yield each directory with the rows of it, without the partition columns."""
        for changes in values:
            yield from self._split(changes)

    def _split(self, changes: Changes) -> Iterable[tuple[str, list[Any]]]:
        batch, kinds = changes.batch, changes.kinds
        if not self.with_kinds:
            changes.inserted(UnsupportedError("files take inserted rows only; the query updates or deletes rows"))
        if not batch.num_rows:
            return
        if not self.keys:
            yield "", [(batch, kinds) if self.with_kinds else batch]
            return
        stored = [index for index, name in enumerate(self.names) if name not in self.keys]
        for directory, rows in self._rows_by_directory(batch).items():
            part = _taken(batch, stored, rows)
            some = kinds if kinds is None else [kinds[row] for row in rows]
            yield directory, [(part, some) if self.with_kinds else part]

    def _rows_by_directory(self, batch: pa.RecordBatch) -> dict[str, list[int]]:
        texts = [
            [partition_text(value, self.types[key]) for value in to_values(batch.column(self.names.index(key)))]
            for key in self.keys
        ]
        found: dict[str, list[int]] = {}
        directories: dict[tuple[str | None, ...], str] = {}
        for row, values in enumerate(zip(*texts, strict=True)):
            if values not in directories:
                directories[values] = partition_directory(dict(zip(self.keys, values, strict=True)), self.default)
            found.setdefault(directories[values], []).append(row)
        return found


def _taken(batch: pa.RecordBatch, columns: list[int], rows: list[int]) -> pa.RecordBatch:
    import pyarrow as pa

    part = pa.RecordBatch.from_arrays(
        [batch.column(index) for index in columns], names=[batch.schema.names[index] for index in columns]
    )
    return part if len(rows) == batch.num_rows else part.take(pa.array(rows))


@dataclass(frozen=True)
class _TableFileSink(FileSink):
    """Write partitions.

    Attributes:
        overwrite: Whether the files that a partition has are replaced.
        fixed: The directory that PARTITION names, all of which is replaced.
        marking: When partitions are marked as complete; None for never.
        replaces_all: Whether all files of the table are replaced, those of partitions that are not written included.
    """

    overwrite: bool = False
    fixed: str = ""
    marking: PartitionMarking | None = None
    replaces_all: bool = False

    @property
    def needs_end(self) -> str | None:
        """Return the feature of the sink that needs the end of the input; None without such a feature."""
        if self.marking is None or self.marking.delay_ms is not None:
            return None
        return "'sink.partition-commit.trigger' = 'partition-time' (use 'process-time')"

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that also replaces and marks partitions."""
        marker = None if self.marking is None else Marker(self.marking, self.base_path, self.names(sink_id))
        return _TableCommitter(self, super().create_committer(sink_id), marker)


class _TableCommitter(Committer):
    def __init__(self, sink: _TableFileSink, files: Committer, marker: Marker | None) -> None:
        self._sink = sink
        self._files = files
        self._marker = marker
        self._fs, self._base = file_system(sink.base_path)
        self._replaced: set[str] = set()

    def commit(self, batch_id: int, committables: Sequence[PartFile]) -> None:
        directories = {posixpath.dirname(part.target) for part in committables}
        if self._sink.overwrite:
            self._replace(directories, {part.target for part in committables})
        self._files.commit(batch_id, committables)
        if self._marker is not None:
            self._marker.committed(directories)

    def _replace(self, directories: set[str], targets: set[str]) -> None:
        if self._sink.replaces_all:
            self._replace_all(targets)
            return
        partitioned = isinstance(self._sink.buckets, PartitionBuckets) and self._sink.buckets.keys
        if not partitioned or self._sink.fixed:
            directories = directories | {posixpath.join(self._base, self._sink.fixed)}
        for directory in directories - self._replaced:
            for name, is_directory in self._fs.entries(directory):
                path = posixpath.join(directory, name)
                if not hidden(name) and not is_directory and path not in targets:
                    self._fs.delete(path)
        self._replaced |= directories

    def _replace_all(self, targets: set[str]) -> None:
        if self._base in self._replaced:
            return
        for file in list(self._fs.files(self._base)):
            inside = file.path[len(self._base) :].split("/")
            if file.path not in targets and not any(map(hidden, filter(None, inside))):
                self._fs.delete(file.path)
        self._replaced.add(self._base)

    def restarted(self) -> None:
        self._files.restarted()
        if self._marker is not None:
            self._marker.restarted()

    def finish(self) -> None:
        self._files.finish()
        if self._marker is not None:
            self._marker.finish()
