"""Write-ahead staging: exactly once into servers that drop messages whose sequence number they have.

Such a server has no transactions, and a repeated micro-batch may hold other records than before. So the driver first
stages the records of a micro-batch durably under its number, then sends what is staged; sequence numbers are the places
in the staging area. Whatever is repeated, the same message is sent under the same number, which the server drops.

The staging area is a log in a directory (`connectors/log`), with a topic for each destination.
"""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from scurry.connectors.kafka.partitions import KafkaTopicPartition
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.log.blocks import Columns, Entry, Header, encoded
from scurry.connectors.log.directory import LogDirectory
from scurry.connectors.sink import Committer, SinkWriter

#: Records in one committable.
_PARCEL_RECORDS = 16_384
#: A group of the staging area. Its offsets are the last numbers that were sent, partition 0, and marks, partition 1.
_SENT = "sent"

#: sequence number, from 1, and the record
Numbered = tuple[int, ProducerRecord]


class Delivery(ABC):
    """A connection that sends staged records.

    Some servers know messages for a limited time only, and take one that comes again later. Their deliveries return
    marks, and look behind them for records that an earlier connection has sent.
    """

    def mark(self, topic: str) -> int | None:
        """Return a place at the server behind all records of a topic that were sent; None if it is not needed."""
        return None

    def resume(self, topic: str, mark: int) -> None:
        """Look for records behind the last mark of a topic; called on a new connection, before records are sent.

        Raises:
            SinkConnectionError: The server cannot be reached.
        """
        return

    @abstractmethod
    def send(self, topic: str, records: Sequence[Numbered]) -> None:
        """Send records with their sequence numbers, and wait until the server has them all.

        Args:
            topic: Their topic.
            records: In ascending order; the numbers of a topic have no gaps; some may be repeated.

        Raises:
            SinkConnectionError: The server cannot be reached, or refuses a record.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""


class StagingWriter(SinkWriter):
    """Serialize records in a task; the committer stages them."""

    def __init__(self, serializer: RecordSerializer) -> None:
        """Begin with no records."""
        self._serialize = serializer.records
        self._parcels: list[list[ProducerRecord]] = [[]]

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        """Serialize records."""
        if len(self._parcels[-1]) >= _PARCEL_RECORDS:
            self._parcels.append([])
        self._parcels[-1] += self._serialize(values, timestamps)

    def prepare_commit(self) -> list[Any]:
        """Return the records, in parcels."""
        return [parcel for parcel in self._parcels if parcel]


class StagingCommitter(Committer):
    """Stage the records of a micro-batch, unless it is staged already, and send all that has not been sent."""

    def __init__(self, directory: str, sink_id: str, connect: Callable[[str], Delivery]) -> None:
        """Refer to a staging area.

        Args:
            directory: Its directory, which outlives the driver; sinks may share one.
            sink_id: The sink.
            connect: Connects, given a name that no other sink has.
        """
        self._name = _coded(sink_id)
        self._log = LogDirectory(f"{directory}/{self._name}")
        self._connect = connect
        self._delivery: Delivery | None = None
        #: topics whose marks the connection knows
        self._known: set[str] = set()

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        """Make a micro-batch visible.

        Raises:
            SinkConnectionError: The server cannot be reached.
            StorageError: The directory cannot be written to.
        """
        if committables:
            self._log.append(_blocks(committables), (self._name, batch_id))
        self._send()

    def _send(self) -> None:
        sent = self._log.committed(_SENT)
        try:
            for topic in self._log.topics():
                name = KafkaTopicPartition(topic, 0)
                partition, offset = self._log.partition(name), sent.get(name, 0)
                if partition is None or partition.end <= offset:
                    continue
                delivery = self._resumed(topic, sent)
                for block in self._log.blocks(name, offset):
                    delivery.send(_decoded(topic), list(_numbered(_decoded(topic), offset, *block)))
                self._log.commit(_SENT, {name: partition.end, **self._mark(topic, delivery)})
                self._log.trim(name, partition.end)
        except BaseException:
            self._drop()
            raise

    def _resumed(self, topic: str, sent: Mapping[KafkaTopicPartition, int]) -> Delivery:
        """Return the connection, which knows the mark of a topic."""
        if self._delivery is None:
            self._delivery = self._connect(self._name)
        if topic not in self._known:
            name = KafkaTopicPartition(topic, 1)
            if name not in sent:  # nothing was sent so far
                sent = self._mark(topic, self._delivery)
                if sent:
                    self._log.commit(_SENT, sent)
            if name in sent:
                self._delivery.resume(_decoded(topic), sent[name])
            self._known.add(topic)
        return self._delivery

    @staticmethod
    def _mark(topic: str, delivery: Delivery) -> dict[KafkaTopicPartition, int]:
        mark = delivery.mark(_decoded(topic))
        return {} if mark is None else {KafkaTopicPartition(topic, 1): mark}

    def restarted(self) -> None:
        """Close the connection; the next commit connects again."""
        self._drop()

    def finish(self) -> None:
        """Close the connection."""
        self._drop()

    def _drop(self) -> None:
        delivery, self._delivery = self._delivery, None
        self._known.clear()
        if delivery is not None:
            delivery.close()


def _blocks(parcels: Sequence[Sequence[ProducerRecord]]) -> Iterator[tuple[str, int, Iterator[bytes]]]:
    by_topic: dict[str, list[Entry]] = defaultdict(list)
    for parcel in parcels:
        for topic, key, value, timestamp, headers in parcel:
            by_topic[topic].append((key, value, timestamp, headers))
    for topic, entries in by_topic.items():
        yield _coded(topic), 0, encoded(entries)


def _numbered(topic: str, begin: int, header: Header, columns: Columns) -> Iterator[Numbered]:
    times, keys, values, headers = columns
    none: list[Any] = [None] * header.records
    rows = zip(times, keys or none, values, headers or none, strict=True)
    for offset, (time, key, value, of_record) in enumerate(rows, header.offset):
        if offset >= begin:
            kept = None if of_record is None else [(name, text or b"") for name, text in of_record]
            yield offset + 1, (topic, key, value, time, kept)


def _coded(name: str) -> str:
    """Return a name as one of topics and files, from which it can be decoded."""
    return base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


def _decoded(coded: str) -> str:
    return base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4)).decode()
