"""TopicProducer: writes records to topics."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from scurry.connectors.kafka import client
from scurry.connectors.kafka.client import ClientPool, Trouble, confluent
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.kafka.serializer import ProducerRecord
from scurry.errors import SinkConnectionError

#: Timeout of a broker's automatic creation of a topic.
_TOPIC_SECONDS = 5.0

_DEFAULTS = {
    "partitioner": "murmur2_random",  # keys are partitioned as by Java's producers, others in sticky batches
    "queue.buffering.max.messages": 500_000,
    "topic.metadata.propagation.max.ms": 10_000,
}
#: Properties that rule out idempotence, which keeps the order and avoids duplicates when librdkafka resends.
_NOT_IDEMPOTENT = ("acks", "enable.idempotence", "max.in.flight", "max.in.flight.requests.per.connection", "retries")


class TopicProducer:
    """A producer that raises an error for undelivered records.

    Its client connects in the background, and asks for the id of an idempotent producer, which takes half a second.
    """

    def __init__(self, properties: ClientProperties, topic: str | None, transactional_id: str | None = None) -> None:
        """Begin to connect.

        Args:
            properties: The client's properties.
            topic: A topic that must exist, or None.
            transactional_id: The id of a transactional producer; None for one without transactions.
        """
        self._module = confluent()
        self._trouble = Trouble()
        self._servers = properties.servers
        self._patience = properties.patience_seconds
        self._failures: list[Any] = []
        configuration = properties.client(_DEFAULTS, delivery_report_only_error=True)
        configuration["on_delivery"] = self._undelivered
        if transactional_id is not None:
            configuration["transactional.id"] = transactional_id
        elif not any(properties.text(name) for name in _NOT_IDEMPOTENT):
            configuration["enable.idempotence"] = True
        self.client = self._module.Producer(self._trouble.watched(configuration))
        self._topic = topic
        self._connected = False

    def connect(self) -> None:
        """Wait for the connection, unless it was made before.

        Raises:
            SinkConnectionError: The cluster does not answer, denies access, or has no such topic.
        """
        begun, topic, announced = time.monotonic(), self._topic, False
        while not self._connected:
            try:
                found = self.client.list_topics(*([topic] if topic is not None else []), timeout=1.0)
            except self._module.KafkaException as error:
                self.client.poll(0)
                if self._trouble.refused or time.monotonic() > begun + self._patience:
                    reason = self._trouble.reason_of_silence(error.args[0].str())
                    raise SinkConnectionError(self._unwritable(reason)) from None
                if not announced and time.monotonic() > begun + client.SILENCE_SECONDS:
                    announced = True
                    client.announce_wait(self._servers, self._patience)
                continue
            missing = topic is not None and found.topics[topic].error
            if not missing:
                self._connected = True
            elif time.monotonic() > begun + _TOPIC_SECONDS:
                raise SinkConnectionError(f"topic {topic!r} at {self._servers}: {missing.str()}; create it")
            else:
                time.sleep(0.2)

    def error(self, reason: str) -> SinkConnectionError:
        """Return the error for a cluster that does not accept records."""
        return SinkConnectionError(self._unwritable(self._trouble.reason(reason)))

    def _unwritable(self, reason: str) -> str:
        return f"the Kafka cluster at {self._servers} cannot be written to: {reason}"

    def _undelivered(self, error: Any, message: Any) -> None:
        if error is not None and not self._failures:
            self._failures.append(f"a record for topic {message.topic()!r} was not delivered: {error.str()}")

    def send(self, records: Iterable[ProducerRecord]) -> None:
        """Enqueue records for sending.

        Raises:
            SinkConnectionError: Earlier records were not delivered, or a record is rejected.
        """
        produce = self.client.produce
        for topic, key, value, timestamp, headers in records:
            while True:
                try:
                    produce(topic, value, key, timestamp=timestamp, headers=headers)
                    break
                except BufferError:  # librdkafka's queue is full
                    self.client.poll(0.1)
                    self.check()
                except self._module.KafkaException as error:
                    raise self.error(f"a record for topic {topic!r} was refused: {error.args[0].str()}") from None
        self.client.poll(0)
        self.check()

    def flush(self) -> None:
        """Wait until all records are delivered.

        Raises:
            SinkConnectionError: A record was not delivered.
        """
        while self.client.flush(1.0):
            self.check()
        self.check()

    def check(self) -> None:
        """Raise if a record was not delivered."""
        if self._failures:
            raise self.error(self._failures[0])

    def forget(self) -> None:
        """Forget undelivered records, because their transaction was aborted."""
        self._failures.clear()

    def close(self) -> None:
        """Drop undelivered records and close the producer."""
        self.client.purge()
        self.client.flush(1.0)


#: The pool of this process's producers without transactions.
PRODUCERS: ClientPool[TopicProducer] = ClientPool()
