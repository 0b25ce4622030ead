"""Topics of a log in a directory as sources and sinks: FileLogSource, FileLogSink, and their builders.

A log has what a program needs of Kafka, without a broker. The builders have the methods of Kafka's, so that a program
changes from one to the other by an import.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Self

from scurry.common._api import ApiObject, made_by
from scurry.connectors.kafka.records import ConsumerRecord
from scurry.connectors.kafka.topics import DISCOVERY_MS
from scurry.connectors.log.directory import LogDirectory, default_path
from scurry.connectors.log.sink import PARTITIONERS
from scurry.connectors.log.sink import FileLogSink as _FileLogSink
from scurry.connectors.log.topics import LogTopics, read_records, topic_settings, written_blocks
from scurry.connectors.messages import MessageSource
from scurry.datastream.connectors._topics import TopicsSinkBuilder, TopicsSourceBuilder
from scurry.datastream.connectors.base import DeliveryGuarantee
from scurry.errors import ArgumentError

__all__ = ["FileLog", "FileLogSink", "FileLogSinkBuilder", "FileLogSource", "FileLogSourceBuilder"]


def _whole(properties: dict[str, str], key: str, default: int) -> int:
    text = str(properties.get(key, default))
    if not text.removeprefix("-").isdecimal():
        raise ArgumentError(f"property {key} must be a whole number, got {text!r}")
    return int(text)


@made_by("builder")
class FileLogSource(ApiObject, MessageSource):
    """Read topics of a log exactly once: the offsets of the records read are part of the checkpoint."""

    @staticmethod
    def builder() -> FileLogSourceBuilder:
        """Return a builder; topics and a deserializer must be set."""
        return FileLogSourceBuilder()


class FileLogSourceBuilder(TopicsSourceBuilder):
    """Builder of a FileLogSource: that of KafkaSource, with a path.

    Of Kafka's properties these have an effect: `group.id`, `auto.offset.reset`, `commit.offsets.on.checkpoint`,
    `partition.discovery.interval.ms` and `scurry.channels`. Those of connections have none, for there is no broker.
    """

    _path: str | None = None

    def set_path(self, path: str) -> Self:
        """Set the directory of the log; by default `$SCURRY_LOG_DIR`, else `scurry-log` in the working directory."""
        self._path = path
        return self

    def build(self) -> FileLogSource:
        """Return the source.

        Raises:
            ArgumentError: Topics or deserializer are missing, or a property has a wrong value.
        """
        properties = self._properties
        group = properties.get("group.id") or None
        subscription, decoder = self._checked(group)
        reset = str(properties.get("auto.offset.reset", "none"))
        if reset not in ("earliest", "latest", "none", "error"):
            raise ArgumentError(f"auto.offset.reset is earliest, latest or none, got {reset!r}")
        scan = LogTopics(
            default_path() if self._path is None else os.path.abspath(self._path),
            subscription,
            self._start,
            self._stop,
            group,
            reset,
            _whole(properties, "partition.discovery.interval.ms", DISCOVERY_MS),
            max(0, _whole(properties, "scurry.channels", 0)),
            str(properties.get("commit.offsets.on.checkpoint", True)).lower() == "true",
        )
        return FileLogSource(scan, decoder, self._bounded, self._drop_malformed)


@made_by("builder")
class FileLogSink(ApiObject, _FileLogSink):
    """Write records to topics of a log, with the delivery guarantee that is set."""

    @staticmethod
    def builder() -> FileLogSinkBuilder:
        """Return a builder; a record serializer must be set."""
        return FileLogSinkBuilder()


class FileLogSinkBuilder(TopicsSinkBuilder):
    """Builder of a FileLogSink: that of KafkaSink, with a path.

    Of Kafka's properties those of topics have an effect, for topics that the sink creates: `num.partitions`,
    `retention.ms`, `retention.bytes` and `segment.bytes`.
    """

    _path: str | None = None
    _partitioner = "default"

    def set_path(self, path: str) -> Self:
        """Set the directory of the log; by default `$SCURRY_LOG_DIR`, else `scurry-log` in the working directory."""
        self._path = path
        return self

    def set_partitioner(self, partitioner: str) -> Self:
        """Set how records get to partitions.

        Args:
            partitioner: `default`: by key, records without one in turns; `fixed`: all of a task to one partition;
                `round-robin`: in turns, whatever their keys are.

        Raises:
            ArgumentError: There is no such way.
        """
        if partitioner not in PARTITIONERS:
            raise ArgumentError(f"the partitioner is one of {', '.join(PARTITIONERS)}, got {partitioner!r}")
        self._partitioner = partitioner
        return self

    def build(self) -> FileLogSink:
        """Return the sink.

        Raises:
            ArgumentError: The serializer is missing, or a property has a wrong value.
        """
        return FileLogSink(
            default_path() if self._path is None else os.path.abspath(self._path),
            self._checked_serializer(),
            self._guarantee is DeliveryGuarantee.EXACTLY_ONCE,
            self._partitioner,
            topic_settings(self._properties),
        )


class FileLog(ApiObject):
    """A log, for programs and tests that create topics, write records and look at them without a job."""

    def __init__(self, path: str | None = None) -> None:
        """Refer to a log.

        Args:
            path: Its directory; by default `$SCURRY_LOG_DIR`, else `scurry-log` in the working directory.
        """
        self._log = LogDirectory(default_path() if path is None else path)

    @property
    def path(self) -> str:
        """The directory."""
        return self._log.path

    def create_topic(self, name: str, partitions: int = 1, properties: dict[str, str] | None = None) -> None:
        """Create a topic, or let one that exists have at least some partitions.

        Args:
            name: The name: letters, digits, `.`, `_` and `-`.
            partitions: Number of partitions.
            properties: Kafka's settings `retention.ms`, `retention.bytes` and `segment.bytes`.

        Raises:
            ArgumentError: A name or a number is wrong.
            StorageError: The directory cannot be written to.
        """
        self._log.ensure(name, topic_settings({**(properties or {}), "num.partitions": str(partitions)}))

    def delete_topic(self, name: str) -> None:
        """Delete a topic with its records.

        Raises:
            ArgumentError: There is no such topic.
        """
        self._log.delete(name)

    def topics(self) -> dict[str, int]:
        """Return the number of partitions of every topic."""
        return self._log.topics()

    def offsets(self, topic: str) -> list[tuple[int, int]]:
        """Return the first offset and the one after the last of each partition of a topic.

        Raises:
            ArgumentError: There is no such topic.
        """
        if topic not in self.topics():
            raise ArgumentError(f"there is no topic {topic!r} at {self.path}")
        return self._log.offsets(topic)

    def append(
        self,
        topic: str,
        values: Sequence[bytes | str | None],
        keys: Sequence[bytes | str | None] | None = None,
        timestamps: Sequence[int] | None = None,
        partition: int | None = None,
    ) -> None:
        """Append records, which become visible together.

        Args:
            topic: The topic, which is created if it is missing.
            values: The values; texts in UTF-8.
            keys: The keys, one for each value.
            timestamps: Milliseconds since 1970, one for each value; by default now.
            partition: The partition; by default that of the key, and 0 without one.

        Raises:
            StorageError: The directory cannot be written to.
        """
        self._log.ensure(topic, topic_settings({}))
        count = self.topics()[topic]
        self._log.append(written_blocks(topic, count, values, keys, timestamps, partition))

    def read(self, topic: str) -> list[ConsumerRecord]:
        """Return all records of a topic, partition by partition.

        Raises:
            SourceNotFoundError: There is no such topic.
        """
        return read_records(self.path, topic)
