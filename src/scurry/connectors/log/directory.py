"""LogDirectory: a log of messages in a directory.

catalog                             what is visible: see `catalog.py`
lock                                held by whoever appends
topics/TOPIC/PARTITION/             segments: 00000000000000000000.log, named by their first offset, and .index
staged/SINK/                        records of micro-batches that are not committed yet
groups/GROUP                        offsets that consumer groups have committed
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from scurry.common._process.replaced_files import force_directory, replace_file
from scurry.connectors.kafka.partitions import KafkaTopicPartition
from scurry.connectors.log import segments
from scurry.connectors.log.blocks import Columns, Header
from scurry.connectors.log.catalog import Catalog, Content, Partition, TopicSettings
from scurry.connectors.log.segments import PartitionWriter
from scurry.errors import ArgumentError, StorageError

#: topic, partition, blocks
Addition = tuple[str, int, Iterable[bytes]]


#: Names the directory of logs for programs that name none.
PATH_VARIABLE = "SCURRY_LOG_DIR"


def default_path() -> str:
    """Return the directory of the log of programs that name none: `scurry-log` in the working directory."""
    return os.path.abspath(os.environ.get(PATH_VARIABLE) or "scurry-log")


class LogDirectory:
    """A log; several processes may use one, also on several machines that share the file system."""

    def __init__(self, path: str) -> None:
        """Refer to a log; the directory is created with the first topic."""
        self.path = os.path.abspath(path)
        self._root = Path(self.path)
        self._catalog = Catalog(self._root)

    def _directory(self, topic: str, partition: int) -> Path:
        return self._root / "topics" / topic / str(partition)

    # ---------------------------------------------------------------- topics

    def topics(self) -> dict[str, int]:
        """Return the number of partitions of every topic."""
        return {name: len(topic.partitions) for name, topic in self._catalog.read().topics.items()}

    def ensure(self, topic: str, settings: TopicSettings) -> int:
        """Create a topic unless there is one, with at least some partitions; return how many it has.

        Raises:
            ArgumentError: The name cannot be that of a topic.
            StorageError: The directory cannot be written to.
        """
        if self.topics().get(topic, 0) < settings.partitions:
            with self._catalog.changed() as content:
                content.ensure(topic, settings)
        return self.topics()[topic]

    def delete(self, topic: str) -> None:
        """Delete a topic with its records.

        Raises:
            ArgumentError: There is no such topic.
        """
        with self._catalog.locked():
            with self._catalog.edited() as content:
                if content.topics.pop(topic, None) is None:
                    raise ArgumentError(f"there is no topic {topic!r} at {self.path}")
            shutil.rmtree(self._root / "topics" / topic, ignore_errors=True)

    def partition(self, name: KafkaTopicPartition) -> Partition | None:
        """Return a partition as it is now, None without one."""
        return self.partitions((name,)).get(name)

    def partitions(self, names: Iterable[KafkaTopicPartition]) -> dict[KafkaTopicPartition, Partition]:
        """Return partitions as they are now, all at one moment, without those that do not exist."""
        topics = self._catalog.read().topics
        return {
            name: topics[name.topic].partitions[name.partition]
            for name in names
            if name.topic in topics and name.partition < len(topics[name.topic].partitions)
        }

    def offsets(self, topic: str) -> list[tuple[int, int]]:
        """Return the first offset and the one after the last of each partition of a topic, none for a missing one."""
        found = self._catalog.read().topics.get(topic)
        return [(partition.start, partition.end) for partition in found.partitions] if found is not None else []

    # ---------------------------------------------------------------- writing

    def append(self, additions: Iterable[Addition], batch: tuple[str, int] | None = None) -> bool:
        """Append blocks to partitions, which become visible all at once.

        Args:
            additions: The blocks, and where they go.
            batch: A sink and its micro-batch, which is appended only once.

        Returns:
            Whether they were appended; False if the micro-batch is there already.

        Raises:
            StorageError: The directory cannot be written to, or a segment is damaged.
        """
        with self._catalog.locked():
            with self._catalog.edited() as content:
                if batch is not None:
                    if content.batches.get(batch[0], -1) >= batch[1]:
                        self._catalog.force()  # who appended it may have been killed before
                        return False
                    content.note_batch(*batch)
                expired = self._write(content, additions)
            # under the lock: who makes the topic anew gives its segments the same names
            for directory, segment in expired:
                segments.delete_segment(directory, segment)
        return True

    def _write(self, content: Content, additions: Iterable[Addition]) -> list[tuple[Path, int]]:
        """Write blocks behind the ends of partitions, and return the segments that are to be deleted."""
        expired: list[tuple[Path, int]] = []
        writers: dict[tuple[str, int], PartitionWriter] = {}
        made: set[Path] = set()
        try:
            for topic, number, blocks in additions:
                writer = writers.get((topic, number))
                if writer is None:
                    content.ensure(topic, TopicSettings(number + 1))
                    if not (directory := self._directory(topic, number)).is_dir():
                        made |= {directory.parent, directory.parent.parent}
                    writer = writers[topic, number] = self._writer(content, topic, number)
                for block in blocks:
                    writer.append(block)
            for (topic, number), writer in writers.items():
                expired += self._expired(content, topic, number, writer)
        finally:
            for writer in writers.values():
                writer.close()
        for directory in made:
            force_directory(directory)
        return expired

    def _writer(self, content: Content, topic: str, number: int) -> PartitionWriter:
        found = content.topics[topic]
        return PartitionWriter(self._directory(topic, number), found.partitions[number], found.settings)

    def _expired(
        self, content: Content, topic: str, number: int, writer: PartitionWriter
    ) -> Iterator[tuple[Path, int]]:
        """Remove the segments that need not be kept any more from the content, and yield them."""
        settings, partition = content.topics[topic].settings, content.topics[topic].partitions[number]
        directory = self._directory(topic, number)
        if settings.retention_bytes is not None:
            sizes = [segments.size_of(directory, each) for each in partition.segments[:-1]]
            left = sum(sizes) + partition.position
            for size in sizes:
                if left - size < settings.retention_bytes:
                    break
                left -= size
                yield directory, partition.segments.pop(0)
        if settings.retention_ms is not None:
            oldest = int(time.time() * 1000) - settings.retention_ms
            if partition.blocks and writer.latest < oldest:
                writer.roll()
            while len(partition.segments) > 1 and segments.latest_of(directory, partition.segments[0]) < oldest:
                yield directory, partition.segments.pop(0)

    def trim(self, name: KafkaTopicPartition, offset: int) -> None:
        """Delete the segments of a partition that have no records from an offset on."""
        deleted: list[int] = []
        with self._catalog.locked():
            with self._catalog.edited() as content:
                partition = content.topics[name.topic].partitions[name.partition]
                if partition.end <= offset and partition.position:
                    writer = self._writer(content, *name)
                    writer.roll()
                    writer.close()
                while len(partition.segments) > 1 and partition.segments[1] <= offset:
                    deleted.append(partition.segments.pop(0))
            for segment in deleted:
                segments.delete_segment(self._directory(*name), segment)

    def staging(self, sink: str) -> Path:
        """Return the directory of records that a sink has not committed yet."""
        return self._root / "staged" / _file_name(sink)

    # ---------------------------------------------------------------- reading

    def blocks(self, name: KafkaTopicPartition, offset: int) -> Iterator[tuple[Header, Columns]]:
        """Yield the blocks of a partition that there are now, from the one with an offset.

        Raises:
            StorageError: A segment is damaged.
            FileNotFoundError: A segment has been deleted since.
        """
        partition = self.partition(name)
        if partition is not None:
            yield from segments.blocks_from(self._directory(*name), partition, offset)

    def offset_at(self, name: KafkaTopicPartition, timestamp: int) -> int:
        """Return the offset of the first record with this timestamp (ms) or a later one, -1 without such a record."""
        while (partition := self.partition(name)) is not None:
            try:
                return segments.offset_at(self._directory(*name), partition, timestamp)
            except FileNotFoundError as error:
                if self.partition(name) == partition:
                    raise StorageError(f"the log at {self.path} is damaged: {error}; restore it from a copy") from None
        return -1

    # ---------------------------------------------------------------- groups

    def committed(self, group: str) -> dict[KafkaTopicPartition, int]:
        """Return the offsets that a consumer group has committed."""
        path = self._root / "groups" / _file_name(group)
        try:
            found = json.loads(path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError as error:  # it is not forced to the disk
            raise StorageError(f"{path}, with the offsets of a group, is damaged: {error}; delete it") from None
        return {KafkaTopicPartition(topic, number): offset for topic, number, offset in found}

    def commit(self, group: str, offsets: Mapping[KafkaTopicPartition, int]) -> None:
        """Store offsets of a consumer group, besides those of other partitions."""
        with self._catalog.locked():
            path = self._root / "groups" / _file_name(group)
            path.parent.mkdir(exist_ok=True)
            every = {**self.committed(group), **offsets}
            text = json.dumps([[*name, offset] for name, offset in sorted(every.items())])
            replace_file(path, text)

    def groups(self) -> list[str]:
        """Return the consumer groups that have committed offsets."""
        with suppress(FileNotFoundError):
            return sorted(unquote(name) for name in os.listdir(self._root / "groups") if not name.startswith("."))
        return []


def _file_name(text: str) -> str:
    """Return the name of a file for any text, which `unquote` gives back; it is not hidden, and not `..`."""
    quoted = quote(text, safe="")
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted
