"""FileSink: writes records to files, exactly once."""

from __future__ import annotations

import hashlib
import posixpath
import time
from collections.abc import Callable
from dataclasses import field
from operator import countOf
from typing import Any, BinaryIO

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriterFactory, Encoder
from scurry.common.typeinfo import TypeInformation, Types
from scurry.connectors.files.filesystem import file_system
from scurry.connectors.files.writing.buckets import BucketAssigner, DateTimeBuckets
from scurry.connectors.files.writing.committer import FileCommitter
from scurry.connectors.files.writing.compaction import Compaction
from scurry.connectors.files.writing.names import PartNames
from scurry.connectors.files.writing.parts import PartFile, PartFormat, PartWriter, RollingPolicy
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext


@dataclass(frozen=True)
class RowFiles(PartFormat):
    """Write record by record with an encoder, which gets each typed record as text in Java's format."""

    encoder: Encoder

    @property
    def concatenable(self) -> bool:
        """True: files contain nothing but records."""
        return True

    def open(self, stream: BinaryIO, input_type: TypeInformation | None) -> PartWriter:
        return _EncodingWriter(self.encoder, stream, input_type)


def _java_text(declared: TypeInformation | None) -> Callable[[Any], str]:
    if declared is None:
        return str
    # to_string formats a Row like PyFlink's print(), not like Java
    return lambda value: "null" if value is None else declared._java_text(value)


class _EncodingWriter(PartWriter):
    def __init__(self, encoder: Encoder, stream: BinaryIO, input_type: TypeInformation | None) -> None:
        self._encoder = encoder
        self._stream = stream
        self._text = _java_text(input_type)
        #: whether strings are their own texts, and the lines of many are encoded at once
        self._at_once = type(encoder) is Encoder and input_type in {None, Types.STRING()}
        self._size = 0

    def write(self, values: list[Any], full: Callable[[int], bool]) -> int:
        at_once = self._at_once and countOf(map(type, values), str) == len(values)
        lines = [] if at_once else [self._encoder.encode(self._text(value)) for value in values]
        data = self._encoder._lines(values) if at_once else b"".join(lines)
        if full(self._size + len(data)):
            lines, count, size = lines or list(map(self._encoder.encode, values)), 0, self._size
            while count < len(lines) and not full(size):
                size += len(lines[count])
                count += 1
            data = b"".join(lines[:count])
        else:
            count = len(values)
        self._stream.write(data)
        self._size += len(data)
        return count


@dataclass(frozen=True)
class BulkFiles(PartFormat):
    """Write files of a bulk format, such as CSV or Parquet; their size is checked before values are written."""

    factory: BulkWriterFactory

    @property
    def concatenable(self) -> bool:
        """Return whether the format is concatenable."""
        return self.factory.concatenable

    def open(self, stream: BinaryIO, input_type: TypeInformation | None) -> PartWriter:
        """Return a writer of a whole file."""
        return _BulkPartWriter(self.factory, stream)


class _BulkPartWriter(PartWriter):
    def __init__(self, factory: BulkWriterFactory, stream: BinaryIO) -> None:
        self._writer = factory.create(stream)
        self._stream = stream

    def write(self, values: list[Any], full: Callable[[int], bool]) -> int:
        if full(self._stream.tell()):
            return 0
        self._writer.write(values)
        return len(values)

    def finish(self) -> None:
        self._writer.finish()


@dataclass(frozen=True)
class FileSink(Sink):
    """Write records into part files below a base path, exactly once.

    A task writes hidden files, `<bucket>/.<name>.inprogress.<random>`. When the batch has succeeded, the committer
    renames them to `<bucket>/<prefix>-<sink>-<batch>-<subtask>-<n><suffix>`, where `<sink>` is a hash of the sink id.
    When a batch is repeated, the committer replaces the visible files that the repetition has written again. It removes
    other visible files of that batch and sink, and those of later batches, which will be repeated, too. After each
    commit exactly the records of the committed batches are visible. This requires that the engine gives a repeated
    batch its old id, and that no other job uses the same sink id. Renaming is atomic on local disks and HDFS; on object
    stores it copies.

    Hidden files of a failed attempt are deleted in the first commit of the restarted job.

    With compaction, the committer first gives files hidden names, and makes the compacted files visible
    (`committer.FileCommitter`).

    Attributes:
        base_path: Directory for all buckets; local or file:, s3://, gs://, hdfs://.
        part_format: The format of the files.
        buckets: Chooses the directory below the base path.
        rolling: Decides when a file ends before its micro-batch.
        prefix: Beginning of file names.
        suffix: End of file names.
        compaction: How to compact small files; None for no compaction.
    """

    base_path: str
    part_format: PartFormat
    buckets: BucketAssigner = field(default_factory=DateTimeBuckets)
    rolling: RollingPolicy = field(default_factory=RollingPolicy)
    prefix: str = "part"
    suffix: str = ""
    compaction: Compaction | None = None

    def __post_init__(self) -> None:
        """Check the base path.

        Raises:
            UnsupportedError: Its scheme is not supported.
        """
        file_system(self.base_path)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer of hidden files."""
        return _FileWriter(self, context)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that renames the files."""
        return FileCommitter(self, self.names(sink_id))

    def names(self, sink_id: str) -> PartNames:
        """Return the file names for a sink id."""
        begin = f"{self.prefix}-{hashlib.blake2b(sink_id.encode(), digest_size=4).hexdigest()}-"
        return PartNames(begin, self.suffix)


@dataclass
class _OpenPart:
    file: PartFile
    stream: BinaryIO
    writer: PartWriter
    opened_ms: int
    written_ms: int


class _FileWriter(SinkWriter):
    def __init__(self, sink: FileSink, context: WriterContext) -> None:
        self._sink = sink
        self._context = context
        self._fs, self._base = file_system(sink.base_path)
        self._names = sink.names(context.sink_id)
        self._open: dict[str, _OpenPart] = {}
        self._parts: list[PartFile] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        now = time.time_ns() // 1_000_000
        for bucket, some in self._sink.buckets.assign(values, timestamps, now):
            self._write(bucket, some, now)

    def _write(self, bucket: str, values: list[Any], now: int) -> None:
        rolling = self._sink.rolling
        part = self._open.get(bucket)
        if part is not None and rolling.old(part.opened_ms, part.written_ms, now):
            self._close(bucket)
            part = None
        while values:
            if part is None:
                part = self._open[bucket] = self._create(bucket, now)
            count = part.writer.write(values, rolling.full)
            part.written_ms = now
            values = values[count:]
            if values:
                self._close(bucket)
                part = None

    def _create(self, bucket: str, now: int) -> _OpenPart:
        name = self._names.part(self._context.batch_id, self._context.subtask_index, len(self._parts))
        target = name if self._sink.compaction is None else self._names.uncompacted(name)
        directory = posixpath.join(self._base, bucket)
        staged = posixpath.join(directory, self._names.in_progress(name))
        file = PartFile(staged, posixpath.join(directory, target))
        self._parts.append(file)
        stream = self._fs.open_output(staged)
        return _OpenPart(file, stream, self._sink.part_format.open(stream, self._context.input_type), now, now)

    def _close(self, bucket: str) -> None:
        part = self._open.pop(bucket)
        part.writer.finish()
        part.stream.close()

    def prepare_commit(self) -> list[Any]:
        for bucket in list(self._open):
            self._close(bucket)
        # the checkpoint counts the records of these files: it must not survive a crash of the machine without them
        for path in [part.staged for part in self._parts] + self._directories():
            self._fs.force(path)
        return list(self._parts)

    def _directories(self) -> list[str]:
        """Return the directories that have names of parts, or of directories that have some."""
        found: dict[str, None] = {}
        for directory in {posixpath.dirname(part.staged) for part in self._parts}:
            while directory not in found:
                found[directory] = None
                if directory != self._base:
                    directory = posixpath.dirname(directory)
        return list(found)

    def abort(self) -> None:
        for part in self._open.values():
            part.stream.close()
        for file in self._parts:
            self._fs.delete(file.staged)
