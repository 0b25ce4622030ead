"""KafkaSink: writes records to topics, at least once from the tasks or exactly once from the driver."""

from __future__ import annotations

from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.producer import PRODUCERS, TopicProducer
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.kafka.transactions import TransactionCommitter
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext

#: Records in one committable.
PARCEL_RECORDS = 16_384


@dataclass(frozen=True)
class KafkaSink(Sink):
    """Write records to topics.

    At least once: the tasks write, and wait until the brokers have all records before their batch is committed. A
    repeated batch is written again.

    Exactly once: the tasks serialize, and the driver writes all records of a micro-batch in one transaction, together
    with the number of the batch (see `TransactionCommitter`). Readers with isolation.level=read_committed see every
    record once.

    Attributes:
        properties: The clients' properties.
        serializer: Serializes the records.
        exactly_once: Whether records are written exactly once.
        transactional_id_prefix: Prefix of the transactional id, which is also the group that stores batch numbers.
    """

    properties: ClientProperties
    serializer: RecordSerializer
    exactly_once: bool = False
    transactional_id_prefix: str = "kafka-sink"

    def connect(self) -> None:
        """Let this process have a producer for at least once."""
        if not self.exactly_once:
            key = self._producer_key
            PRODUCERS.give(key, PRODUCERS.take(key, lambda: TopicProducer(*key)))

    @property
    def _producer_key(self) -> tuple[ClientProperties, str | None]:
        """Return the settings that sinks must share to share a producer."""
        return self.properties, self.serializer.topic

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that sends records, or for exactly once one that serializes them for the committer."""
        return SerializingWriter(self.serializer) if self.exactly_once else _ProducingWriter(self)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a transactional committer for exactly once, else one that has nothing to do."""
        if not self.exactly_once:
            return super().create_committer(sink_id)
        name = f"{self.transactional_id_prefix}-{sink_id}"
        return TransactionCommitter(self.properties, name, self.serializer.topic)


class _ProducingWriter(SinkWriter):
    def __init__(self, sink: KafkaSink) -> None:
        self._serialize = sink.serializer.records
        self._key = sink._producer_key
        self._producer = PRODUCERS.take(self._key, lambda: TopicProducer(*self._key))
        self._producer.connect()
        self._done = False

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self._producer.send(self._serialize(values, timestamps))

    def prepare_commit(self) -> list[Any]:
        self._producer.flush()
        self._done = True
        PRODUCERS.give(self._key, self._producer)
        return []

    def abort(self) -> None:
        if not self._done:  # otherwise it is back in the pool
            self._producer.close()


class SerializingWriter(SinkWriter):
    """Serialize records, in parcels for the committer, which writes them."""

    def __init__(self, serializer: RecordSerializer) -> None:
        """Hold nothing yet."""
        self._serialize = serializer.records
        self._parcels: list[list[ProducerRecord]] = [[]]

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        """Serialize records."""
        if len(self._parcels[-1]) >= PARCEL_RECORDS:
            self._parcels.append([])
        self._parcels[-1] += self._serialize(values, timestamps)

    def prepare_commit(self) -> list[Any]:
        """Return the parcels."""
        return [parcel for parcel in self._parcels if parcel]
