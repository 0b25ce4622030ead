"""FileLogSink: writes records to topics of a log, at least once from the tasks or exactly once with its micro-batch."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.common._process.replaced_files import force_directory
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.log.blocks import BLOCK_RECORDS, HEADER_BYTES, Entry, encoded, header_of
from scurry.connectors.log.catalog import TopicSettings
from scurry.connectors.log.directory import LogDirectory
from scurry.connectors.log.partitioning import partitions_of
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.errors import SinkCommitError

#: Ways of records to partitions.
PARTITIONERS = ("default", "fixed", "round-robin")
#: Bytes of blocks that a writer holds before it appends them, if it writes at least once.
HELD_BYTES = 8 << 20


@dataclass(frozen=True)
class FileLogSink(Sink):
    """Write records to topics.

    At least once: the tasks append. A repeated batch is appended again.

    Exactly once: the tasks write the records of a micro-batch to files of their own, and the driver appends them all
    at once, together with the number of the batch: readers see all of a batch or nothing, and a repeated batch finds
    that it is there already.

    Attributes:
        path: The directory of the log.
        serializer: Serializes the records.
        exactly_once: Whether records are written exactly once.
        partitioner: How records get to partitions: `default`, by key, else in turns; `fixed`, each task to one; or
            `round-robin`, in turns whatever their keys are.
        settings: The settings of topics that the sink creates.
    """

    path: str
    serializer: RecordSerializer
    exactly_once: bool = False
    partitioner: str = "default"
    settings: TopicSettings = field(default_factory=TopicSettings)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that appends records, or for exactly once one that stages them for the committer."""
        return _StagingWriter(self, context) if self.exactly_once else _AppendingWriter(self, context)

    def create_committer(self, sink_id: str) -> Committer:
        """Create the topic, and return a committer that appends staged records, or one that has nothing to do.

        Raises:
            ArgumentError: The name cannot be that of a topic.
            StorageError: The directory cannot be written to.
        """
        if self.serializer.topic is not None:
            LogDirectory(self.path).ensure(self.serializer.topic, self.settings)
        return LogCommitter(self.path, sink_id) if self.exactly_once else super().create_committer(sink_id)


class _Router:
    """Collect records by topic and partition, and make blocks of them."""

    def __init__(self, sink: FileLogSink, context: WriterContext) -> None:
        self.log = LogDirectory(sink.path)
        self._serialize, self._settings, self._way = sink.serializer.records, sink.settings, sink.partitioner
        self._counts: dict[str, int] = {}
        #: the number of the next record without a key; tasks and batches begin with different partitions
        self._turn = context.subtask_index + context.batch_id
        self._task = context.subtask_index
        self._held: dict[tuple[str, int], list[Entry]] = defaultdict(list)

    def add(self, values: list[Any], timestamps: list[int] | None) -> Iterator[tuple[str, int, bytes]]:
        """Add records, and yield the blocks that have become full."""
        by_topic: dict[str, list[ProducerRecord]] = defaultdict(list)
        for record in self._serialize(values, timestamps):
            by_topic[record[0]].append(record)
        now = int(time.time() * 1000)
        for topic, records in by_topic.items():
            numbers = self._partitions(topic, records)
            if len(set(numbers)) == 1:
                self._held[topic, numbers[0]] += [
                    (key, value, stamp or now, headers) for _, key, value, stamp, headers in records
                ]
                continue
            for (_, key, value, stamp, headers), number in zip(records, numbers, strict=True):
                self._held[topic, number].append((key, value, stamp or now, headers))
        full = [place for place, entries in self._held.items() if len(entries) >= BLOCK_RECORDS]
        yield from self._blocks(full)

    def rest(self) -> Iterator[tuple[str, int, bytes]]:
        """Yield the blocks of all records that are left."""
        yield from self._blocks(list(self._held))

    def _blocks(self, places: list[tuple[str, int]]) -> Iterator[tuple[str, int, bytes]]:
        for place in places:
            for block in encoded(self._held.pop(place)):
                yield (*place, block)

    def _partitions(self, topic: str, records: Sequence[ProducerRecord]) -> Sequence[int]:
        count = self._counts.get(topic)
        if count is None:
            count = self._counts[topic] = self.log.ensure(topic, self._settings)
        if count == 1 or self._way == "fixed":
            return [self._task % count] * len(records)
        if self._way == "round-robin":
            self._turn += len(records)
            return [number % count for number in range(self._turn - len(records), self._turn)]
        keys = [key for _, key, _, _, _ in records if key is not None]
        chosen = iter(partitions_of(keys, count))
        self._turn += 1
        in_turn = self._turn % count
        return [in_turn if record[1] is None else next(chosen) for record in records]


class _AppendingWriter(SinkWriter):
    def __init__(self, sink: FileLogSink, context: WriterContext) -> None:
        self._router = _Router(sink, context)
        self._blocks: dict[tuple[str, int], list[bytes]] = defaultdict(list)
        self._size = 0

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self._hold(self._router.add(values, timestamps))
        if self._size >= HELD_BYTES:
            self._append()

    def _hold(self, blocks: Iterator[tuple[str, int, bytes]]) -> None:
        for topic, number, block in blocks:
            self._blocks[topic, number].append(block)
            self._size += len(block)

    def _append(self) -> None:
        if self._blocks:
            self._router.log.append([(*place, blocks) for place, blocks in self._blocks.items()])
        self._blocks.clear()
        self._size = 0

    def prepare_commit(self) -> list[Any]:
        self._hold(self._router.rest())
        self._append()
        return []


class _Staged(NamedTuple):
    """Records of a task that wait for their commit.

    Attributes:
        name: The file's name.
        places: Topic and partition of each block, in the order of the file.
    """

    name: str
    places: list[tuple[str, int]]


class _StagingWriter(SinkWriter):
    def __init__(self, sink: FileLogSink, context: WriterContext) -> None:
        self._router = _Router(sink, context)
        self._directory = self._router.log.staging(context.sink_id)
        self._name = f"{context.batch_id}-{uuid.uuid4().hex}"
        self._file: Any = None
        self._places: list[tuple[str, int]] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self._store(self._router.add(values, timestamps))

    def _store(self, blocks: Iterator[tuple[str, int, bytes]]) -> None:
        for topic, number, block in blocks:
            if self._file is None:
                self._directory.mkdir(parents=True, exist_ok=True)
                self._file = open(self._directory / self._name, "wb")
            self._file.write(block)
            self._places.append((topic, number))

    def prepare_commit(self) -> list[Any]:
        self._store(self._router.rest())
        if self._file is None:
            return []
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        force_directory(self._directory)
        return [_Staged(self._name, self._places)]

    def abort(self) -> None:
        if self._file is not None:
            self._file.close()
            (self._directory / self._name).unlink(missing_ok=True)


class LogCommitter(Committer):
    """Append the records that tasks have staged: all of a micro-batch at once, and once."""

    def __init__(self, path: str, sink_id: str) -> None:
        """Refer to a log.

        Args:
            path: Its directory.
            sink_id: The sink, by which the log knows its last micro-batch.
        """
        self._log = LogDirectory(path)
        self._sink = sink_id
        self._staging = self._log.staging(sink_id)

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        """Append the records of a micro-batch, unless they are there already.

        Raises:
            SinkCommitError: The staged files are gone.
            StorageError: The log cannot be written to.
        """
        if committables:
            self._log.append(self._additions(committables), (self._sink, batch_id))
        self._delete_staged(batch_id)

    def _additions(self, committables: Sequence[_Staged]) -> Iterator[tuple[str, int, list[bytes]]]:
        for staged in committables:
            path = self._staging / staged.name
            try:
                with open(path, "rb") as file:
                    for topic, number in staged.places:
                        head = file.read(HEADER_BYTES)
                        yield topic, number, [head + file.read(header_of(head).size)]
            except FileNotFoundError:
                raise SinkCommitError(
                    f"{path}, with records of a micro-batch that is not committed, is gone; who deleted it?"
                ) from None

    def _delete_staged(self, batch_id: int) -> None:
        """Delete the files of this micro-batch and of earlier ones, also of attempts that failed."""
        try:
            names = os.listdir(self._staging)
        except FileNotFoundError:
            return
        for name in names:
            if int(name.partition("-")[0]) <= batch_id:
                Path(self._staging / name).unlink(missing_ok=True)

    def finish(self) -> None:
        """Delete the directory of staged files."""
        shutil.rmtree(self._staging, ignore_errors=True)
